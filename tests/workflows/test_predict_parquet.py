"""Parquet to Parquet by blocks: the same rows as in one piece, whatever stops a run."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

import synthetic
from accord import ThreadClassifier
from accord.cli.main import main
from accord.data.parquet_blocks import plan_blocks
from accord.errors import InputError
from accord.scale import Workers
from accord.store.models import load_model, save_model
from accord.workflows import predict_parquet as module
from accord.workflows.predict import predict
from accord.workflows.predict_parquet import predict_parquet
from accord.workflows.projects import open_example
from accord.workflows.train import train

SMALL = {"min_rows": 10, "max_rows": 40}
EXAMPLES = {
    "threads": ("cafe-threads", {}),
    "aspects": ("cafe-reviews", {"min_texts": 1}),
    "links": ("cafe-statements", {}),
    "rationales": ("cafe-notes", {"C": 0.1, "theta_variance": 1.0, "min_count": 1}),
    "pairs": ("arguments", {"length_scales": "base"}),
}


def quiet(what, done, total):
    pass


@pytest.fixture(scope="module")
def features():
    """A feature model of threads, its table, and what it says of the table in one piece."""
    made = synthetic.threads(60, low=1, high=9, n_features=3)
    threads = made.threads
    names = ["a", "b", "c"]
    X = pd.DataFrame(made.features, columns=names)
    groups = threads.thread_ids[threads.thread_of]
    model = ThreadClassifier().fit(X, threads.labels, groups=groups)
    table = X.assign(group_id=groups, item_id=threads.comment_ids)
    return model, table, model.predict_proba(X, groups=groups)


@pytest.fixture
def files(features, tmp_path):
    model, table, _ = features
    save_model(model, tmp_path / "model.accord", kind="threads")
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False), tmp_path / "in.parquet", row_group_size=16)
    return tmp_path / "model.accord", tmp_path / "in.parquet", tmp_path / "out.parquet"


def written(path):
    return pq.read_table(path).to_pandas()


@pytest.mark.parametrize("workers", [Workers(), Workers(2)], ids=["serial", "joblib"])
def test_every_row_is_written_once_and_in_order(features, files, workers):
    _, table, p = features
    done = predict_parquet(*files, workers=workers, **SMALL)
    out = written(files[2])
    assert done.n_blocks > 5
    assert done.n_rows == len(table)
    assert out["item_id"].tolist() == table["item_id"].tolist()
    assert out["group_id"].tolist() == table["group_id"].tolist()
    assert_allclose(out[["p.Bad", "p.Good"]].to_numpy(), p, rtol=1e-12)
    assert [file.name for file in files[2].parent.iterdir() if "parts" in file.name] == []


@pytest.mark.parametrize("kind", EXAMPLES)
def test_blocks_say_what_a_project_says(kind, tmp_path):
    name, settings = EXAMPLES[kind]
    project = open_example(name)
    saved = train(project, tmp_path / "model", settings=settings, progress=quiet)
    # A table of texts has no column of scores or highlights: nothing is given there.
    shown = replace(project, judgement_table=project.judgement_table.slice(0, 0))
    whole = predict(saved, shown if kind in ("aspects", "rationales") else project)
    frames = project.frames()
    table, more = frames["items"].dropna(axis="columns", how="all"), {}
    if kind == "pairs":
        table = whole[["left", "right"]]
    if kind in ("threads", "links"):
        table = table.assign(label=project.labels())
    if kind == "threads":
        table = table.iloc[np.argsort(pd.factorize(table["group_id"])[0], kind="stable")]
    if kind == "links":
        table = table if "group_id" in table else table.assign(group_id="all")
        frames["links"].dropna(axis="columns", how="all").to_parquet(tmp_path / "links.parquet")
        more = {"links": tmp_path / "links.parquet"}
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False), tmp_path / "in.parquet", row_group_size=5)
    done = predict_parquet(tmp_path / "model", tmp_path / "in.parquet", tmp_path / "out.parquet", **more, **SMALL)
    out = written(tmp_path / "out.parquet")
    assert done.kind == kind
    if "highlights" in whole:  # spans are records in a columnar file
        spans = [[tuple(span.values()) for span in cell] for cell in out["highlights"]]
        assert spans == [list(map(tuple, cell)) for cell in whole.pop("highlights")]
    common = [column for column in whole.columns if column in out.columns]
    assert {"aspects": 4, "threads": 5, "links": 4, "rationales": 4, "pairs": 5}[kind] <= len(common)
    keys = [column for column in ("item_id", "left", "right", "aspect") if column in whole.columns]
    whole, out = (frame.set_index(keys)[[c for c in common if c not in keys]] for frame in (whole, out))
    assert list(out.index) == list(whole.index)
    for column in whole.columns:
        if whole[column].dtype.kind == "f":
            # The block model of links sees all texts that are read together: a cut changes what it says a little.
            atol = 0.02 if kind == "links" else 2e-6
            assert_allclose(out[column].to_numpy(), whole[column].to_numpy(), atol=atol)
        else:
            assert out[column].astype(str).tolist() == whole[column].astype(str).tolist()


def test_a_stopped_run_goes_on_where_it_was(features, files, monkeypatch):
    _, table, p = features
    calls = []

    def stopping(kind, model, rows, links=None):
        calls.extend(rows.column("item_id").to_pylist())
        if 100 < len(calls) < 130:
            raise KeyboardInterrupt
        return real(kind, model, rows, links)

    real = module.predict_rows
    monkeypatch.setattr(module, "predict_rows", stopping)
    with pytest.raises(KeyboardInterrupt):
        predict_parquet(*files, **SMALL)
    assert not files[2].exists()
    parts = list((files[2].parent / ".out.parquet.parts").glob("part-*"))
    kept = [name for part in parts for name in written(part)["item_id"]]
    stopped, calls[:] = list(calls), ["done"] * 130
    done = predict_parquet(*files, **SMALL)
    assert 0 < done.n_resumed == len(parts) < done.n_blocks
    assert sorted(kept + calls[130:]) == sorted(table["item_id"])  # what was kept is not computed again
    assert set(kept) < set(stopped)
    assert_allclose(written(files[2])[["p.Bad", "p.Good"]].to_numpy(), p, rtol=1e-12)


def test_parts_of_another_model_are_not_used(features, files, monkeypatch):
    _, table, _ = features
    monkeypatch.setattr(module, "_join", lambda *arguments: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        predict_parquet(*files, **SMALL)
    monkeypatch.undo()
    other = ThreadClassifier(node_penalty=10.0).fit(
        table[["a", "b", "c"]], np.where(table["a"] > 0, "Good", "Bad"), groups=table["group_id"]
    )
    save_model(other, files[0], kind="threads")
    done = predict_parquet(*files, **SMALL)
    assert done.n_resumed == 0
    expected = other.predict_proba(table[["a", "b", "c"]], groups=table["group_id"])
    assert_allclose(written(files[2])[["p.Bad", "p.Good"]].to_numpy(), expected, rtol=1e-12)


def test_a_killed_run_goes_on_and_writes_the_same_rows(features, files, tmp_path):
    predict_parquet(*files, **SMALL)
    expected = written(files[2])
    files[2].unlink()
    script = tmp_path / "run.py"
    script.write_text(
        "import sys, time\n"
        "from accord.workflows import predict_parquet as module\n"
        "real = module.predict_rows\n"
        "def slow(*arguments):\n"
        "    time.sleep(0.3)\n"
        "    return real(*arguments)\n"
        "module.predict_rows = slow\n"
        f"module.predict_parquet(*sys.argv[1:], min_rows={SMALL['min_rows']}, max_rows={SMALL['max_rows']})\n"
    )
    parts = tmp_path / ".out.parquet.parts"
    process = subprocess.Popen([sys.executable, str(script), *map(str, files)])
    while process.poll() is None and len(list(parts.glob("part-*"))) < 2:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not files[2].exists()
    done = predict_parquet(*files, **SMALL)
    assert 2 <= done.n_resumed < done.n_blocks
    # A product of matrices may round otherwise in another process: the last bit depends on where its arrays lie.
    pd.testing.assert_frame_equal(written(files[2]), expected, rtol=1e-12)


def test_only_one_run_at_a_time(files):
    with (
        module._checkpoint(files[2].with_name(f".{files[2].name}.parts"), {}),
        pytest.raises(InputError, match="one run at a time"),
    ):
        predict_parquet(*files, **SMALL)


def test_a_bad_row_is_named(features, files):
    _, table, _ = features
    table = table.copy()
    table.loc[100, "b"] = np.inf
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False), files[1], row_group_size=16)
    with pytest.raises(InputError, match=r"in rows \d+ to \d+ of the input: X must be finite"):
        predict_parquet(*files, **SMALL)


def test_groups_that_are_torn_apart_are_refused(features, files):
    _, table, _ = features
    pq.write_table(pa.Table.from_pandas(table.iloc[::-1].sample(frac=1.0, random_state=0)), files[1])
    with pytest.raises(InputError, match="must stand together"):
        predict_parquet(*files, **SMALL)


@pytest.mark.parametrize("row_group", [1, 7, 64, 1000])
@pytest.mark.parametrize("rows", [(1, 3), (10, 40), (1000, 2000)])
def test_blocks_hold_every_row_once_and_no_group_twice(features, tmp_path, row_group, rows):
    _, table, _ = features
    half = len(table) // 2
    for name, part in (("a", table.iloc[:half]), ("b", table.iloc[half:])):
        pq.write_table(pa.Table.from_pandas(part), tmp_path / f"{name}.parquet", row_group_size=row_group)
    files = [str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")]
    blocks = plan_blocks(files, group="group_id", min_rows=rows[0], max_rows=rows[1])
    read = [pa.concat_tables(block.batches(["group_id", "item_id"], rows=5)).to_pandas() for block in blocks]
    assert pd.concat(read)["item_id"].tolist() == table["item_id"].tolist()
    seen = [set(part["group_id"]) for part in read]
    assert sum(map(len, seen)) == table["group_id"].nunique()
    assert [block.n_rows for block in blocks] == [len(part) for part in read]


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--scheduler", "tcp://127.0.0.1:1"], "none answered"),
        (["--scheduler", "nowhere"], "looks like tcp://"),
        (["--workers", "2", "--scheduler", "tcp://127.0.0.1:1"], "give --workers or --scheduler"),
        (["--links", "links.parquet"], "a model of links"),
    ],
)
def test_bad_workers_end_with_one_sentence_and_exit_2(files, capsys, arguments, sentence):
    assert main(["predict", *map(str, files), *arguments]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_the_command_says_what_it_wrote(features, files, capsys):
    _, table, _ = features
    assert main(["predict", *map(str, files), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["n_rows"], said["n_blocks"], said["n_resumed"]) == (len(table), 1, 0)
    assert load_model(files[0]).fingerprint == ""


def test_ctrl_c_stops_cleanly_and_leaves_no_half_written_file(files):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background may ignore it\n"
        "from accord.workflows import predict_parquet as module\n"
        "def slow(*arguments): print('working', flush=True); time.sleep(3600)\n"
        "module.predict_rows = slow\n"
        "from accord.cli.main import main\n"
        f"raise SystemExit(main(['predict', *{list(map(str, files))!r}]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout.readline() == "working\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 130
    assert said == "accord: stopped.\n"
    left = {file.name for file in Path(files[2].parent / ".out.parquet.parts").iterdir()}
    assert left == {"lock", "manifest.json"}
