"""Asking in every kind: what is asked, why, how probable it was; and what is done before anything is known."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from accord import AspectRanker, CollectiveClassifier, Links, ThreadClassifier
from accord.cli.main import main
from accord.data.project import ITEMS, JUDGEMENTS, LINKS, Project, with_schema
from accord.engines.numerics import entropy
from accord.errors import InputError
from accord.texts.similar import weighted_words
from accord.workflows import stopping
from accord.workflows.ask import STRATEGIES, ask, askable, informative_texts
from accord.workflows.kinds import task_of
from accord.workflows.projects import open_example
from accord.workflows.report import simulation_report
from accord.workflows.simulate import Simulation, _table, _words, replay, simulate
from accord.workflows.stopping import estimate_rest

KINDS = {
    "threads": "cafe-threads", "aspects": "cafe-reviews", "links": "cafe-statements", "rationales": "cafe-notes",
}  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore::accord.errors.ConvergenceWarning")  # ten answers fit nothing well


def quiet(what, done, total):
    pass


def partly(kind, keep=60):
    """An example with the judgements of its first texts alone."""
    project = open_example(KINDS[kind])
    ids = set(askable(project).ids[:keep])
    rows = [name in ids for name in project.judgement_table.column("item_id").to_pylist()]
    return replace(project, judgement_table=project.judgement_table.filter(pa.array(rows)))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_says_what_to_ask_why_and_how_probable_that_was(kind):
    project = partly(kind)
    found = askable(project)
    table = ask(None, project, n=12, progress=quiet)
    assert len(table) == table["item_id"].nunique() == 12
    assert not set(table["item_id"]) & set(found.ids[found.given])
    usual = "uncertainty" if kind == "aspects" else "information"
    assert usual in set(table["strategy"]) <= {usual, "random"}
    assert ((table["propensity"] > 0) & (table["propensity"] < 1)).all()
    assert table["why"].str.len().min() > 10
    assert "aspect" in table or kind != "aspects"
    if kind == "threads":
        comments = dict(zip(found.ids, found.groups, strict=True))
        asked = table[table["strategy"] == "information"]["item_id"].map(comments)
        assert asked.nunique() == len(asked)


@pytest.mark.parametrize("kind", KINDS)
def test_before_there_is_any_judgement_texts_are_asked_that_cover_the_project(kind):
    project = replace(open_example(KINDS[kind]), judgement_table=JUDGEMENTS.empty_table())
    table = ask(None, project, n=5, progress=quiet)
    assert set(table["strategy"]) == {"coverage"}
    assert (table["propensity"] > 0).all()
    assert table["gain"].isna().all()


def test_before_there_is_any_vote_pairs_are_asked_that_connect_the_texts_of_each_question(tmp_path, capsys):
    project = replace(open_example("arguments"), judgement_table=JUDGEMENTS.empty_table())
    items = project.items()
    table = ask(None, project, n=items.n_items, progress=quiet)
    assert list(table.columns) == ["left", "right", "strategy", "seconds"]
    group = dict(zip(items.ids, items.groups, strict=True))
    assert all(group[a] == group[b] for a, b in zip(table["left"], table["right"], strict=True))
    assert set(table["left"]) | set(table["right"]) == set(items.ids)
    assert not table.equals(ask(None, project, n=items.n_items, seed=1, progress=quiet))
    (tmp_path / "texts.csv").write_text("id,text\na,The bus is late.\nb,The tram is quick.\nc,I would walk.\n")
    assert main(["import", str(tmp_path / "texts.csv"), "--texts-only", "--out", str(tmp_path / "texts")]) == 0
    capsys.readouterr()
    assert main(["ask", "pairs", str(tmp_path / "texts"), "-n", "3"]) == 0
    assert "no vote is known yet" in capsys.readouterr().out


def test_one_text_makes_no_pair_to_ask_about():
    project = Project("pairs", with_schema({"item_id": ["a"], "text": ["alone"]}, ITEMS), JUDGEMENTS.empty_table())
    with pytest.raises(InputError, match="needs two texts"):
        ask(None, project, n=3, progress=quiet)


def test_ways_of_asking_differ_and_unknown_ones_are_refused():
    project = partly("links")
    asked = {way: tuple(ask(None, project, n=8, strategy=way, progress=quiet)["item_id"]) for way in STRATEGIES}
    assert len(set(asked.values())) == len(STRATEGIES)
    with pytest.raises(InputError, match=r"one of information, accuracy, uncertainty, coverage, random; got 'bald'"):
        ask(None, project, n=3, strategy="bald", progress=quiet)
    done = set(askable(project).ids[askable(project).given])
    rows = [name in done for name in project.item_table.column("item_id").to_pylist()]
    whole = replace(project, item_table=project.item_table.filter(pa.array(rows)), link_table=LINKS.empty_table())
    with pytest.raises(InputError, match="every text is answered"):
        ask(None, whole, n=3, progress=quiet)


@pytest.mark.parametrize(
    ("kind", "way"), [("links", "accuracy"), ("rationales", "accuracy"), ("rationales", "information")]
)
def test_the_most_informative_are_among_the_least_certain(kind, way, monkeypatch):
    monkeypatch.setattr("accord.fitting.asking._LEAST_UNSURE", 1)
    monkeypatch.setattr("accord.fitting.asking._LEAST_WIDE", 1)
    project, task = partly(kind), task_of(kind)
    model = task.train(project, {}, quiet)
    found = askable(project)
    names, gains = informative_texts(task, model, project, found, 8, way)
    unsure, _ = informative_texts(task, model, project, found, 28, "uncertainty")
    assert len(names) == len(gains) == 10
    assert set(names) <= set(unsure[: 30 if way == "information" else 20])
    assert names != unsure[:10]
    usual, _ = informative_texts(task, model, project, found, 8)
    assert (usual == names) == (way == "information")


def test_of_linked_texts_those_that_tell_most_are_asked_about_though_others_are_less_certain():
    project, task = partly("links"), task_of("links")
    model = task.train(project, {}, quiet)
    found = askable(project)
    names, gains = informative_texts(task, model, project, found, 8)
    unsure, _ = informative_texts(task, model, project, found, 28, "uncertainty")
    assert not set(names) <= set(unsure)
    _, fewer = informative_texts(task, model, project, found, 8, open_=~found.given & np.isin(found.ids, unsure))
    assert gains.sum() > fewer.sum()


def test_where_all_other_labels_are_sure_the_least_sure_text_is_asked_about_and_why_says_so():
    sides = ["good tea", "bad cake"]
    items = {"item_id": [f"t{i:02d}" for i in range(30)], "text": [sides[i % 2] for i in range(29)] + [" ".join(sides)]}
    judged = {"judgement_id": [str(i) for i in range(20)], "kind": ["label"] * 20, "item_id": items["item_id"][:20]}
    judged |= {"value": ["pos", "neg"] * 10}
    project = Project("rationales", with_schema(items, ITEMS), with_schema(judged, JUDGEMENTS))
    table = ask(None, project, n=1, seed=1, strategy="accuracy", progress=quiet)
    assert table["strategy"].tolist() == ["accuracy"]
    assert table["gain"][0] < 0.01
    (why,) = table["why"]
    assert why.startswith("no other label is expected to change")
    both = ask(None, project, n=3, seed=1, cost={"label": 10.0, "highlight": 20.0}, progress=quiet)
    assert set(both["strategy"]) <= {"information", "random"}  # labels and highlights are compared in nats


def test_ranks_are_not_put_right_and_this_is_said():
    project = partly("aspects")
    with pytest.raises(
        InputError, match=r"a strategy for aspects is one of information, uncertainty, coverage, random"
    ):
        ask(None, project, n=3, strategy="accuracy", progress=quiet)
    with pytest.raises(InputError, match=r"a way of asking about aspects is one of information, .*; got 'accuracy'"):
        simulate(project, settings={}, strategies=("random", "accuracy"), progress=quiet)


def test_pairs_of_comments_agree_as_often_as_conditioning_says():
    rng = np.random.default_rng(0)
    x, groups = rng.normal(size=(60, 3)), np.repeat(np.arange(15), 4)
    y = np.where(x[:, 0] + rng.normal(size=15)[groups] > 0, "Good", "Bad")
    model = ThreadClassifier(coupling="joint", edge_penalty=1.0).fit(x, y, groups=groups)
    new, thread = rng.normal(size=(4, 3)), np.zeros(4)
    p, ends, equal = model.pairwise_proba(new, groups=thread)
    assert {tuple(sorted(pair)) for pair in ends.tolist()} == {(i, j) for i in range(4) for j in range(i)} or len(
        ends
    ) == 6
    for (i, j), same in zip(ends, equal, strict=True):
        total = 0.0
        for k, label in enumerate(model.classes_):
            known = np.full(4, None, dtype=object)
            known[i] = label
            total += p[i, k] * model.predict_proba(new, groups=thread, known=known)[j, k]
        assert same == pytest.approx(total, abs=1e-6)
    assert np.abs(equal - (p[ends[:, 0]] * p[ends[:, 1]]).sum(axis=1)).max() > 1e-3


def test_linked_texts_that_agree_are_said_to():
    texts = {"item_id": list("abcdefgh"), "text": ["yes"] * 3 + ["no"] * 3 + ["well", "hm"]}
    links = Links(list("abdega"), list("bcefhg"))
    labels = ["for", "for", "for", "against", "against", "against", None, None]
    model = CollectiveClassifier(coupling=1.0).fit(pd.DataFrame(texts), labels, links=links)
    p, ends, equal = model.pairwise_proba(pd.DataFrame(texts), links=links)
    assert p.shape == (8, 2)
    assert ((equal >= 0) & (equal <= 1)).all()
    apart = (p[ends[:, 0]] * p[ends[:, 1]]).sum(axis=1)
    linked = [{"g", "h"} == {texts["item_id"][i] for i in pair} for pair in ends.tolist()]
    assert (equal[linked] > apart[linked]).all()


def test_the_aspect_that_is_asked_lowers_the_entropy_of_all_most():
    project = partly("aspects", keep=80)
    task = task_of("aspects")
    model = task.train(project, {}, quiet)
    assert isinstance(model, AspectRanker)
    name = askable(project).ids[100]
    row = task.parts(model, project, [name]).iloc[0]
    text = [str(project.items().texts[project.items().positions([name])[0]])]
    p, gains = model.predict_proba(text)[0], {}
    for place, aspect in enumerate(model.aspects_):
        left = 0.0
        for rank in range(1, model.n_ranks + 1):
            known = np.zeros((1, len(model.aspects_)), dtype=int)
            known[0, place] = rank
            left += p[place, rank - 1] * entropy(model.predict_proba(text, known=known)[0]).sum()
        gains[aspect] = entropy(p).sum() - left
    assert row["aspect"] == max(gains, key=gains.get)
    assert row["gain"] == pytest.approx(gains[row["aspect"]], abs=1e-3)  # the field keeps its marginals to four digits


def test_the_command_takes_a_kind_and_a_project(capsys):
    assert main(["ask", "rationales", "example:cafe-notes", "-n", "3", "--strategy", "random", "--json"]) == 0
    assert '"propensity"' in capsys.readouterr().out
    assert main(["ask", "rationales"]) == 2
    assert main(["ask", "links", "example:cafe-notes"]) == 2
    assert main(["simulate", "letters", "example:cafe-notes"]) == 2


def test_a_table_without_a_kind_is_asked_about_and_the_texts_come_first(tmp_path, capsys):
    notes = pd.DataFrame({"text": [f"a {'good' if i % 2 else 'bad'} place {i}" for i in range(60)]})
    notes["label"] = [("yes", "no")[i % 2] if i < 40 else None for i in range(60)]
    notes.to_csv(tmp_path / "notes.csv", index=False)
    assert main(["ask", str(tmp_path / "notes.csv"), "-n", "3"]) == 0
    said = capsys.readouterr()
    assert "this is a project of rationales" in said.err
    heading = said.out.splitlines()[2]
    assert heading.index("text") < heading.index("question")
    assert "about the other texts, in nats" in said.out
    assert main(["ask", str(tmp_path / "notes.csv"), "-n", "3", "--strategy", "uncertainty"]) == 0
    assert "how unsure the model is" in capsys.readouterr().out
    assert main(["ask", str(tmp_path / "notes.csv"), "-n", "3", "--strategy", "random"]) == 0
    assert "gain" not in capsys.readouterr().out  # no gain is known of random questions


def test_a_replay_compares_ways_on_texts_that_were_never_asked_about(tmp_path, capsys):
    project = open_example("cafe-notes")
    found = simulate(project, settings={"n_labels": 20, "seeds": 2}, progress=quiet)
    table = found.table.set_index(["strategy", "n_labels"])
    assert set(table.index.get_level_values(0)) == set(STRATEGIES)
    assert set(table.index.get_level_values(1)) == {10, 20}
    first = table.xs(10, level="n_labels")["mean"]
    assert first.nunique() == 1  # all ways begin with the same answers
    assert (table.loc["random", "gain"] == 0).all()
    assert (table["n"] == 2).all()
    assert ((table["low"] >= 0) & (table["high"] <= 1)).all()
    written = tmp_path / "curves.html"
    again = ["simulate", "rationales", "example:cafe-notes", "--set", "n_labels=12", "--set", "seeds=1"]
    assert main([*again, "--report", str(written), "--json"]) == 0
    page = written.read_text()
    drawn = re.findall(r'<polyline [^>]*stroke="([^"]*)"[^>]*stroke-dasharray="([^"]*)"', page)
    assert len(drawn) == len(set(drawn)) == len(STRATEGIES)  # every way has a line of its own
    assert '"needed"' in capsys.readouterr().out
    with pytest.raises(InputError, match="at least 40 answered texts"):
        simulate(partly("rationales", keep=20), settings={}, progress=quiet)


def test_a_replay_may_fit_after_given_numbers_of_answers_alone():
    project = open_example("cafe-notes")
    curve = replay(project, "random", split=3, seed=1, batch=10, at=(15, 30))
    assert list(curve) == [10, 15, 30]
    assert curve == replay(project, "random", split=3, seed=1, batch=10, at=(15, 30))


def test_a_replay_learns_from_the_highlights_of_the_texts_that_are_asked_about(monkeypatch):
    project = open_example("cafe-notes")
    held = pd.DataFrame(project.judgement_table.to_pandas())
    marked = held[held["kind"] == "span"].groupby("item_id").size()
    assert len(marked) > 10
    seen, task = [], task_of("rationales")

    def train(part, settings, progress):
        rows = pd.DataFrame(part.judgement_table.to_pandas())
        labelled = set(rows.loc[rows["kind"] == "label", "item_id"])
        seen.append(rows[rows["kind"] == "span"].groupby("item_id").size().to_dict())
        assert seen[-1] == {name: n for name, n in marked.items() if name in labelled}
        return task.train(part, settings, progress)

    monkeypatch.setattr("accord.workflows.simulate.task_of", lambda kind: replace(task, train=train))
    replay(project, "random", split=0, batch=10, at=(20,))
    assert all(seen)


def test_replays_run_linear_algebra_in_one_thread(monkeypatch):
    # Threads that wait for each other took seven times the processor time on a busy machine of two processors.
    threads = []

    def replayed(project, strategy, **how):
        threads.extend(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")
        return {10: 0.5}

    monkeypatch.setattr("accord.workflows.simulate.replay", replayed)
    with threadpool_limits(2, user_api="blas"):
        simulate(open_example("cafe-notes"), settings={"seeds": 1}, strategies=("random",), progress=quiet)
    assert set(threads) == {1}


def test_after_the_first_replay_people_are_told_how_long_all_will_take(capsys):
    again = ["simulate", "rationales", "example:cafe-notes", "--at", "12", "--ways", "coverage", "--set", "seeds=2"]
    assert main(again) == 0
    assert re.search(r"note: 4 replays take about \d+ (seconds|minutes); --ways", capsys.readouterr().err)
    assert main([*again, "--json"]) == 0
    assert "replays take" not in capsys.readouterr().err


def test_a_replay_reads_the_words_of_its_texts_once(monkeypatch):
    read = []
    monkeypatch.setattr(
        "accord.workflows.simulate.weighted_words", lambda texts: read.append(len(texts)) or weighted_words(texts)
    )
    _words.cache_clear()
    project = open_example("cafe-notes")
    curve = replay(project, "information", split=0, batch=10, at=(15, 30))
    assert read == [len(askable(project).ids)]
    monkeypatch.setattr("accord.workflows.simulate._read_once", weighted_words)
    assert curve == replay(project, "information", split=0, batch=10, at=(15, 30))


def test_a_simulation_may_compare_some_ways_at_some_numbers_of_answers(capsys):
    command = ["simulate", "example:cafe-notes", "--set", "seeds=1", "--json"]
    assert main([*command, "--at", "12,16", "--ways", "uncertainty"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["strategy"], row["n_labels"]) for row in rows] == [
        (way, n) for way in ("random", "uncertainty") for n in (12, 16)
    ]
    for wrong, told in (
        (["--at", "20,10"], "numbers of answers rise"),
        (["--at", "ten"], "got 'ten'"),
        (["--ways", "uncertanty"], "Did you mean 'uncertainty'"),
    ):
        assert main([*command, *wrong]) == 2
        assert told in capsys.readouterr().err
    assert main(["simulate", "example:arguments", "--at", "50"]) == 2
    assert "not for pairs" in capsys.readouterr().err


def test_answers_that_are_needed_are_read_off_the_curve():
    rows = [("random", 10, 0.5), ("random", 50, 0.6), ("random", 100, 0.7)]
    rows += [("information", 10, 0.5), ("information", 50, 0.68), ("information", 100, 0.72), ("uncertainty", 100, 0.6)]
    table = pd.DataFrame(rows, columns=["strategy", "n_labels", "mean"])
    found = Simulation("links", "accuracy", table)
    assert found.needed("information") == pytest.approx(75.0)
    assert found.needed("random") == pytest.approx(100.0)
    assert found.needed("uncertainty") is None
    assert "does not reach" in found.sentences[1]
    assert "cannot tell" not in " ".join(found.sentences)
    unsure = Simulation("links", "accuracy", table.assign(gain_low=-0.1, gain_high=0.1, n=2))
    assert all("2 splits cannot tell it from random questions" in sentence for sentence in unsure.sentences)


def simulation_of(n_splits):
    scores = {("random", 50): [0.6, 0.9, 0.7][:n_splits], ("information", 50): [0.8, 0.7, 0.9][:n_splits]}
    return Simulation("links", "accuracy", _table(scores, "accuracy"))


@pytest.mark.parametrize(("n_splits", "splits"), [(1, "one split"), (2, "2 splits")])
def test_one_split_or_two_are_said_to_tell_nothing_of_how_sure_figures_are(n_splits, splits):
    found = simulation_of(n_splits)
    assert "±" not in found.summary()["50 answers"].iloc[1]
    assert "±" not in found.measured
    assert f"{splits} say" in found.measured
    assert f"but {splits} cannot tell it from random questions" in found.sentences[0]
    row = found.table.iloc[1]
    assert np.isnan(row["gain_low"]) == np.isnan(row["low"]) == (n_splits == 1)
    page = simulation_report(open_example("cafe-notes"), found, title="Ways")
    assert "too few splits for intervals" in page
    assert "nan" not in page


def test_an_interval_of_a_gain_ends_at_what_is_possible():
    assert simulation_of(2).table[["gain_low", "gain_high"]].iloc[1].tolist() == [-1.0, 1.0]  # not -1.906 to 1.906
    three = simulation_of(3)
    assert "±" in three.summary()["50 answers"].iloc[1]
    assert three.has_intervals


def test_a_summary_has_a_row_for_each_way_and_says_how_much_better_than_random_questions_it_is():
    numbers = (10, 20, 50, 75, 100, 200, 400)
    columns = ["strategy", "n_labels", "mean", "gain", "gain_low", "gain_high"]
    rows = [("information", n, 0.7, -0.01, -0.03, 0.01) for n in numbers]
    rows += [("random", n, 0.71, 0.0, 0.0, 0.0) for n in numbers[:-1]]
    found = Simulation("links", "accuracy", pd.DataFrame(rows, columns=columns)).summary()
    assert found.columns.tolist() == ["way of asking", "50 answers", "100 answers", "200 answers", "400 answers"]
    assert found["way of asking"].tolist() == ["random", "information"]
    assert found["400 answers"].tolist() == ["–", "0.700 (−0.010 ± 0.020)"]
    assert found["50 answers"].tolist() == ["0.710", "0.700 (−0.010 ± 0.020)"]
    few = pd.DataFrame([row[:3] for row in rows if row[1] <= 20], columns=columns[:3])
    assert Simulation("pairs", "accuracy", few).summary()["20 answers"].tolist() == ["0.710", "0.700"]


@pytest.mark.parametrize("kind", ["links", "aspects"])
def test_how_good_the_model_is_on_the_rest_is_said(kind, monkeypatch):
    monkeypatch.setattr(stopping, "_FOLDS", 3)
    monkeypatch.setattr(stopping, "_SHARES", (0.5, 1.0))
    project = partly(kind, keep=70)
    n_judged = int(askable(project).given.sum())
    rest, notes = estimate_rest(None, project, progress=quiet)
    assert rest.n_random == n_judged
    assert rest.n_rest == len(askable(project).ids) - n_judged
    assert 0 <= rest.low <= rest.value <= rest.high <= 1
    assert "drawn at random" in notes[0]
    assert rest.forecast.n_more == min(round(n_judged, -1), rest.n_rest)
    assert "more answers" in rest.sentence
    whole = open_example(KINDS[kind])
    model = task_of(kind).train(project, {}, quiet)
    table = task_of(kind).predict(model, project)
    table = table[~table["given"]]
    if kind == "links":
        labels = dict(zip(whole.items().ids, whole.labels(), strict=True))
        said = zip(table["item_id"], table["label"], strict=True)
        truth = [label == labels[name] for name, label in said if labels[name]]
        error = 2.0 * np.sqrt(rest.value * (1.0 - rest.value) / len(truth))  # so few texts say little about the truth
        assert rest.low - error <= np.mean(truth) <= rest.high + error
    with pytest.raises(InputError, match="stability of their ranking"):
        estimate_rest(None, open_example("arguments"), progress=quiet)
