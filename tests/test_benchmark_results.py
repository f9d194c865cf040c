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


run, page = module_of("run"), module_of("page")
STORED = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
EARLIER = {"date": "2026-01-01", "machine": "another", "load": None, "versions": "old"}


def row(peer="choix", ours=1.0, theirs=2.0, name="ranking"):
    ratio = None if theirs is None else theirs / ours
    return {"name": name, "peer": peer, "ours_s": ours, "peer_s": theirs, "ratio": ratio, "note": ""}


def test_runs_that_are_added_one_by_one_give_what_they_give_together():
    runs = [[row(ours=ours), row("none", ours, None, "reading")] for ours in (1.0, 4.0, 2.0)]
    by_and_by = run.joined(runs[:1])
    for one in runs[1:]:
        stored = [row | EARLIER for row in json.loads(json.dumps(by_and_by))]
        by_and_by = run.joined([*run.stored_runs(stored), one])
    assert by_and_by == run.joined(runs)
    assert by_and_by[0]["ours_s"] == 2.0
    assert by_and_by[0]["ratios"] == [0.5, 1.0, 2.0]


def test_rows_of_an_earlier_day_are_not_added_to():
    old, new = (run.joined([[row(peer)]])[0] for peer in ("PGMax", "choix"))
    (again,) = run.stored_runs([old | EARLIER, new | EARLIER | {"date": "2026-01-02"}])
    assert [one["peer"] for one in again] == ["choix"]


def test_a_run_without_the_peers_apart_keeps_what_was_measured_of_them():
    before = [one | EARLIER for one in run.joined([[row(), row("BoTorch PairwiseGP", 1.0, 30.0)]])]
    now = run.joined([[row(ours=3.0), row("BoTorch PairwiseGP", None, None), row("none", 1.0, None, "reading")]])
    rows = {(one["name"], one["peer"]): one for one in run.with_peers_apart(now, before)}
    assert rows["ranking", "choix"]["ours_s"] == 3.0
    assert rows["ranking", "BoTorch PairwiseGP"]["peer_s"] == 30.0
    assert rows["ranking", "BoTorch PairwiseGP"]["date"] == "2026-01-01"
    assert ("reading", "none") in rows


def test_a_row_that_says_that_a_peer_was_not_run_gives_way_to_the_one_where_it_was():
    before = [one | EARLIER for one in run.joined([[row("PGMax")]])]
    assert [one["peer"] for one in run.with_peers_apart(run.joined([[row("none", 1.0, None)]]), before)] == ["PGMax"]


def test_peers_that_are_measured_again_are_not_kept_twice():
    before = [one | EARLIER for one in run.joined([[row("PGMax", 1.0, 9.0)]])]
    (found,) = run.with_peers_apart(run.joined([[row("PGMax", 1.0, 5.0)]]), before)
    assert found["peer_s"] == 5.0


def test_a_run_of_some_rows_keeps_the_others_where_they_were():
    before = [one | EARLIER for one in run.joined([[row(), row("BoTorch", 1.0, 30.0), row("none", 1.0, None)]])]
    found = run.with_others([row("BoTorch", 1.0, 20.0), row("GPyTorch")], before)
    assert [(one["peer"], one["peer_s"]) for one in found] == [
        ("choix", 2.0),
        ("BoTorch", 20.0),
        ("none", None),
        ("GPyTorch", 2.0),
    ]


def test_the_rows_of_one_benchmark_are_replaced_and_the_others_stay():
    before = [row(name=name) | {"benchmark": name} for name in ("aspects", "links", "threads")]
    after = run.replaced(before, "links", [row(ours=9.0), row("none", 9.0, None)])
    assert [one["benchmark"] for one in after] == ["aspects", "links", "links", "threads"]
    assert [one["ours_s"] for one in after] == [1.0, 9.0, 9.0, 1.0]


def test_results_are_a_plain_list_of_rows():
    assert isinstance(STORED, list)
    assert STORED
    for one in STORED:
        assert set(run.COLUMNS) <= set(one)
        assert one["name"]
        assert all(isinstance(one[column], str) for column in ("benchmark", "name", "peer", "note", "date", "machine"))
        assert all(one[column] is None or one[column] > 0 for column in run.TIMES)


def test_a_ratio_is_the_time_of_the_peer_over_ours():
    for one in STORED:
        if one["ours_s"] is None or one["peer_s"] is None:
            assert one["ratio"] is None
            assert one["ratios"] == []
        else:
            assert one["ratio"] == pytest.approx(one["peer_s"] / one["ours_s"])
            assert len(one["ratios"]) == len(one["runs"])


def test_every_row_with_a_peer_was_measured_or_says_why_it_was_not():
    for one in STORED:
        if one["peer"] not in ("", "none") and one["peer_s"] is None:
            assert one["note"]


def test_every_row_where_the_peer_is_faster_says_why():
    slower = [one for one in STORED if one["ratio"] is not None and max(one["ratios"]) < 1.0]  # in every run
    assert [(one["name"], one["peer"]) for one in slower if not page.slower(one)] == []
    assert page.slower(row(ours=1.0, theirs=2.0, name="pairs")) == ""
    assert page.slower(row(ours=2.0, theirs=1.0, name="pairs"))


@pytest.mark.parametrize("name", sorted({one["benchmark"] for one in STORED}))
def test_every_stored_benchmark_is_one_that_can_be_run(name):
    assert name in run.benchmarks()


def test_the_page_is_the_one_that_the_results_give(tmp_path, monkeypatch):
    written = page.PAGE.read_text(encoding="utf-8")
    monkeypatch.setattr(page, "PAGE", tmp_path / "benchmarks.md")
    page.write(STORED)
    assert (tmp_path / "benchmarks.md").read_text(encoding="utf-8") == written
