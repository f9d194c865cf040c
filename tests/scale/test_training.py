"""Training and prediction on a real cluster: the same up to rounding, whoever does the work and whoever dies."""

import os
import signal
import sys
import threading
import time
from contextlib import suppress

import jobs
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from joblib import Parallel, delayed
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import synthetic
from accord import AspectRanker, CollectiveClassifier, PreferenceRanker, RationaleClassifier, ThreadClassifier
from accord.aspects import field_fit as aspect_crf
from accord.cli.main import main
from accord.errors import InputError
from accord.fitting import blocked_crf
from accord.pairs.process import blocked_votes
from accord.rationales import marked_texts
from accord.scale import Workers, joblib_on, map_blocks
from accord.store.models import save_model
from accord.threads import local
from accord.workflows.predict_parquet import predict_parquet

THREADS = synthetic.threads(60, low=1, high=9, n_features=3)
TEXTS = synthetic.texts_with_rationales(60, n_tokens=20, n_words=40)
LINKED = synthetic.linked_texts(6, 8)
RATED = synthetic.aspect_ratings(80, n_aspects=2, n_ranks=3, n_features=4, missing=0.1)
VOTES = synthetic.votes(30, 400, n_features=3)
GROUPS = THREADS.threads.thread_ids[THREADS.threads.thread_of]


def threads(**where):
    model = ThreadClassifier(**where).fit(THREADS.features, THREADS.threads.labels, groups=GROUPS)
    return [model.weights_.local, model.weights_.nodes, model.weights_.edges]


def rationales(**where):
    model = RationaleClassifier(theta_variance=0.1, n_inner_folds=2, min_count=1, value_tol=1e-5, **where)
    model.fit(TEXTS.items.texts, TEXTS.labels, rationales=TEXTS.rationales)
    return [model.class_weights_, model.phi_, np.array([model.C_])]


def links(**where):
    frame = LINKED.items.to_table()
    model = CollectiveClassifier(training="joint", content=LogisticRegression(), n_folds=3, **where)
    model.fit(frame, LINKED.labels, links=LINKED.links)
    return [model.model_.calibration.slopes, *(agreement.weights for agreement in model.model_.agreements)]


def aspects(**where):
    model = AspectRanker(n_ranks=3, random_state=0, **where).fit(RATED.ratings.items.features, RATED.ratings.ranks)
    return [model.ranker_.weights, model.crf_.weights, model.crf_.pair_scores]


def pairs(**where):
    X, y = VOTES.comparisons.xy()
    model = PreferenceRanker(inference="svi", n_inducing=8, batch_size=100, length_scales="base", **where)
    model.fit(X, y, items=VOTES.comparisons.items)
    return [model.scorer_.mean, model.scorer_.factor]


FITS = [threads, rationales, links, aspects, pairs]


@pytest.fixture(scope="module", autouse=True)
def small_blocks():
    """Blocks so small that the data are several of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocked_crf, "BLOCK_COST", 150)
        patch.setattr(marked_texts, "BLOCK_COST", 800)
        patch.setattr(local, "BLOCK_ENTRIES", 300)
        patch.setattr(aspect_crf, "BLOCK_TEXTS", 25)
        patch.setattr(blocked_votes, "CHUNK", 30)
        yield


@pytest.fixture(scope="module")
def serial(small_blocks):
    return {fit.__name__: fit() for fit in FITS}


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and four worker processes, which restart when they die."""
    from accord.scale.cluster import local_cluster

    with suppress(KeyError), local_cluster(4) as cluster:  # Dask may look up a killed worker that it has forgotten
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    from distributed import Client

    path = [entry for entry in sys.path if entry.endswith(("tests/scale", "src"))]
    with Client(cluster) as client:
        client.run(lambda: sys.path.extend(path))
        yield client


def same(found, expected):
    """Equal up to rounding: two processes may have compiled one sum with its terms in another order."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert_allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("fit", FITS)
def test_processes_learn_what_one_process_learns(fit, serial):
    same(fit(n_jobs=2), serial[fit.__name__])


@pytest.mark.parametrize("n_workers", [4, 2, 1])
def test_any_number_of_workers_learns_the_same(n_workers, cluster, client, serial):
    cluster.scale(n_workers)
    client.wait_for_workers(n_workers)
    while len(client.scheduler_info(n_workers=-1)["workers"]) > n_workers:
        time.sleep(0.05)
    for fit in FITS:
        same(fit(client=client), serial[fit.__name__])


class Killer(threading.Thread):
    """Kills a worker of a cluster, -9, again and again, while something runs.

    Only workers that have started: Dask does not start a worker again that died while it started.
    """

    def __init__(self, cluster, pauses):
        super().__init__(daemon=True)
        self.cluster, self.pauses, self.killed, self.done = cluster, pauses, 0, threading.Event()

    def run(self):
        rng = np.random.default_rng(0)
        for pause in self.pauses:
            if self.done.wait(pause):
                return
            nannies = [nanny for nanny in list(self.cluster.workers.values()) if nanny.process is not None]
            ids = [nanny.pid for nanny in nannies if nanny.process.status.name == "running"]
            if ids:
                os.kill(int(rng.choice(ids)), signal.SIGKILL)
                self.killed += 1

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.join()


@pytest.fixture
def two(cluster, client):
    cluster.scale(2)
    client.wait_for_workers(2)
    return client


def test_workers_killed_in_training_change_nothing(cluster, two, serial):
    with Killer(cluster, [0.3]) as killer:
        found = threads(client=two)
        while killer.killed < 1:
            found = threads(client=two)
    same(found, serial["threads"])


def test_workers_killed_in_prediction_change_nothing(cluster, two, tmp_path):
    names = ["a", "b", "c"]
    X = pd.DataFrame(THREADS.features, columns=names)
    save_model(ThreadClassifier().fit(X, THREADS.threads.labels, groups=GROUPS), tmp_path / "model", kind="threads")
    table = pa.Table.from_pandas(X.assign(group_id=GROUPS), preserve_index=False)
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=8)
    job = {"model": tmp_path / "model", "source": tmp_path / "in.parquet", "min_rows": 8, "max_rows": 8}
    predict_parquet(target=tmp_path / "serial.parquet", **job)
    with Killer(cluster, [0.2]) as killer:
        round_ = 0
        while killer.killed < 1 or round_ < 1:
            round_ += 1
            predict_parquet(target=tmp_path / f"{round_}.parquet", workers=Workers(client=two), **job)
    expected = pd.read_parquet(tmp_path / "serial.parquet")
    for k in range(1, round_ + 1):
        found = pd.read_parquet(tmp_path / f"{k}.parquet")
        pd.testing.assert_frame_equal(found, expected, rtol=1e-10, atol=1e-12)


def test_a_worker_with_too_little_memory_is_named_as_the_cause():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit="500MB", dashboard_address=":0", silence_logs=50
        ) as small,
        Client(small) as client,
    ):
        client.run(lambda path: sys.path.append(path), os.path.dirname(jobs.__file__))
        with pytest.raises(InputError, match="too little memory"):
            map_blocks(jobs.eats_memory, [np.zeros(1)], backend=client, retries=0)


def test_votes_in_a_file_are_learnt_alike_everywhere(client, tmp_path):
    X, y = VOTES.comparisons.xy()
    pq.write_table(pa.Table.from_pandas(X.assign(value=y)), tmp_path / "votes.parquet", row_group_size=50)
    plan = {"min_rows": 50, "max_rows": 50}

    def fitted(**where):
        model = PreferenceRanker(n_inducing=8, batch_size=100, length_scales="base", n_epochs=3, **where)
        return model.fit_parquet(tmp_path / "votes.parquet", items=VOTES.comparisons.items, **plan)

    alone, together = fitted(), fitted(client=client)
    same([together.scorer_.mean], [alone.scorer_.mean])
    assert alone.rank()["n_votes"].sum() == 2 * len(y)
    # The same votes in memory, one pass after the other: the same posterior up to the order of the steps.
    memory = PreferenceRanker(inference="svi", n_inducing=8, batch_size=100, length_scales="base", n_epochs=3)
    memory.fit(X, y, items=VOTES.comparisons.items)
    assert np.corrcoef(memory.score_items(), alone.score_items())[0, 1] > 0.98
    assert np.corrcoef(VOTES.scores, alone.score_items())[0, 1] > 0.8
    with pytest.raises(InputError, match="cannot be added"):
        alone.partial_fit(X[:1], y[:1])


@pytest.mark.parametrize("model, scale", [("fccrf", "none"), ("fccrf", "length"), ("local", "none"), ("chain", "none")])
def test_threads_in_a_file_are_learnt_as_in_a_table(client, tmp_path, model, scale):
    X = pd.DataFrame(THREADS.features, columns=["a", "b", "c"])
    labels = THREADS.threads.labels.copy()
    labels[::7] = None
    labels[:40] = None
    table = pa.Table.from_pandas(X.assign(group_id=GROUPS, label=labels), preserve_index=False)
    pq.write_table(table, tmp_path / "threads.parquet", row_group_size=20)
    plan = {"min_rows": 20, "max_rows": 20}
    # A file is trained jointly; a table by default learns its pull from held-out threads.
    settings = {"model": model, "edge_scale": scale, "tol": 1e-7, "node_penalty": 30.0, "coupling": "joint"}
    whole = ThreadClassifier(**settings).fit(X, labels, groups=GROUPS)
    alone = ThreadClassifier(**settings).fit_parquet(tmp_path / "threads.parquet", **plan)
    assert_allclose(alone.weights_.nodes, whole.weights_.nodes, atol=1e-5)
    assert_allclose(alone.weights_.edges, whole.weights_.edges, atol=1e-5)
    assert_allclose(alone.predict_proba(X, groups=GROUPS), whole.predict_proba(X, groups=GROUPS), atol=1e-5)
    if (model, scale) == ("fccrf", "none"):
        there = ThreadClassifier(**settings, client=client).fit_parquet(tmp_path / "threads.parquet", **plan)
        same([there.weights_.nodes], [alone.weights_.nodes])


def test_the_strength_of_a_file_is_chosen_on_threads_held_out_as_that_of_a_table(tmp_path):
    X = pd.DataFrame(THREADS.features, columns=["a", "b", "c"])
    groups = np.char.zfill(GROUPS.astype(str), 6)  # threads in the order of their names, as a table is read
    X.assign(group_id=groups, label=THREADS.threads.labels).to_parquet(tmp_path / "threads.parquet")
    table = ThreadClassifier(model="local").fit(X, THREADS.threads.labels, groups=groups)
    for plan in ({}, {"min_rows": 20, "max_rows": 20}):
        file = ThreadClassifier(model="local").fit_parquet(tmp_path / "threads.parquet", **plan)
        assert len(file.weights_.penalties_tried) > 3
        assert file.weights_.penalty == table.weights_.penalty
        assert_allclose(file.weights_.nodes, table.weights_.nodes, atol=1e-4)


def test_a_model_that_needs_all_threads_at_once_does_not_learn_from_files(tmp_path):
    table = pd.DataFrame({"a": [0.0, 1.0], "group_id": ["x", "y"], "label": ["p", "q"]})
    table.to_parquet(tmp_path / "threads.parquet")
    with pytest.raises(InputError, match="or fit to a table"):
        ThreadClassifier(edges="ising").fit_parquet(tmp_path / "threads.parquet")
    table.drop(columns="label").to_parquet(tmp_path / "threads.parquet")
    with pytest.raises(InputError, match="has no label"):
        ThreadClassifier().fit_parquet(tmp_path / "threads.parquet")


@pytest.mark.parametrize(
    "column, value, sentence",
    [("value", 0.3, "row 8 breaks"), ("left", "nobody", "one of the items"), ("right", None, "one of the items")],
)
def test_a_bad_vote_in_a_file_is_named(tmp_path, column, value, sentence):
    X, y = VOTES.comparisons.xy()
    table = X.assign(value=y)
    table.loc[7, column] = value
    table.to_parquet(tmp_path / "votes.parquet")
    with pytest.raises(InputError, match=sentence):
        PreferenceRanker(n_inducing=8, length_scales="base").fit_parquet(
            tmp_path / "votes.parquet", items=VOTES.comparisons.items
        )


def test_a_client_is_handed_on_to_clones(client):
    model = ThreadClassifier(client=client, n_jobs=3)
    twin = clone(model)
    assert twin.client is client
    assert twin.n_jobs == 3


@pytest.mark.parametrize("wrong, sentence", [({"n_jobs": 0}, "other than 0"), ({"client": "host"}, "looks like tcp")])
def test_bad_workers_are_refused_in_one_sentence(wrong, sentence):
    with pytest.raises(InputError, match=sentence):
        threads(**wrong)


def test_training_on_an_unreachable_cluster_ends_with_one_sentence(tmp_path, capsys):
    arguments = ["train", "threads", "example:cafe-threads", "--model", str(tmp_path / "m")]
    assert main([*arguments, "--scheduler", "tcp://127.0.0.1:1"]) == 2
    said = capsys.readouterr().err
    assert "none answered" in said
    assert said.count("\n") == 1


def test_a_model_does_not_remember_where_it_was_trained(cluster, client, tmp_path, capsys):
    arguments = ["train", "threads", "example:cafe-threads", "--json", "--model"]
    assert main([*arguments, str(tmp_path / "a"), "--scheduler", cluster.scheduler_address]) == 0
    assert main([*arguments, str(tmp_path / "b")]) == 0
    on_cluster, alone = capsys.readouterr().out.splitlines()
    assert on_cluster.replace(str(tmp_path / "a"), str(tmp_path / "b")) == alone


def test_what_runs_through_joblib_runs_on_a_cluster(cluster, two):
    with joblib_on(cluster.scheduler_address):
        ids = list(Parallel(n_jobs=-1, return_as="generator")(delayed(os.getpid)() for _ in range(4)))
    assert len(ids) == 4
    assert os.getpid() not in ids
    with joblib_on(None):
        assert Parallel(n_jobs=1)(delayed(os.getpid)() for _ in range(1)) == [os.getpid()]


def test_without_dask_a_cluster_is_asked_for_in_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "accord.scale.cluster", None)
    with pytest.raises(InputError, match=r"Install accord-learn\[dask\]"):
        threads(client="tcp://127.0.0.1:8786")
