"""Results of benchmarks: runs are joined, added to, and not lost."""

import importlib.util
import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


def module_of(name: str):
    """A module of the folder of benchmarks."""
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


run = module_of("run")


def row(peer="choix", ours=1.0, theirs=2.0, name="ranking"):
    ratio = None if theirs is None else theirs / ours
    return {"name": name, "peer": peer, "ours_s": ours, "peer_s": theirs, "ratio": ratio, "note": ""}


def test_runs_that_are_added_one_by_one_give_what_they_give_together():
    runs = [[row(ours=ours), row("none", ours, None, "reading")] for ours in (1.0, 4.0, 2.0)]
    by_and_by = run.joined(runs[:1])
    for one in runs[1:]:
        by_and_by = run.joined([*run.stored_runs(json.loads(json.dumps(by_and_by))), one])
    assert by_and_by == run.joined(runs)
    assert by_and_by[0]["ours_s"] == 2.0
    assert by_and_by[0]["ratios"] == [0.5, 1.0, 2.0]


def test_a_run_without_the_peers_apart_keeps_what_was_measured_of_them():
    before = {"date": "2026-01-01", "rows": run.joined([[row(), row("BoTorch PairwiseGP", 1.0, 30.0)]])}
    now = run.joined([[row(ours=3.0), row("BoTorch PairwiseGP", None, None), row("none", 1.0, None, "reading")]])
    rows = {(one["name"], one["peer"]): one for one in run.with_peers_apart(now, before)}
    assert rows["ranking", "choix"]["ours_s"] == 3.0
    assert rows["ranking", "BoTorch PairwiseGP"]["peer_s"] == 30.0
    assert rows["ranking", "BoTorch PairwiseGP"]["date"] == "2026-01-01"
    assert ("reading", "none") in rows


def test_a_row_that_says_that_a_peer_was_not_run_gives_way_to_the_one_where_it_was():
    before = {"date": "2026-01-01", "rows": run.joined([[row("PGMax")]])}
    assert [one["peer"] for one in run.with_peers_apart(run.joined([[row("none", 1.0, None)]]), before)] == ["PGMax"]


def test_peers_that_are_measured_again_are_not_kept_twice():
    before = {"date": "2026-01-01", "rows": run.joined([[row("PGMax", 1.0, 9.0)]])}
    (found,) = run.with_peers_apart(run.joined([[row("PGMax", 1.0, 5.0)]]), before)
    assert found["peer_s"] == 5.0


@pytest.mark.parametrize("name", sorted(json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))))
def test_every_stored_benchmark_is_one_that_can_be_run(name):
    assert name in run.benchmarks()
