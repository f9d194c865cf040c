"""Rankings keep what they say: a few runs of what ``benchmarks/rankings.py`` does with many.

The bounds are two-sided, and wide enough for the few runs: with 6 runs of 20 items a coverage of .90 has a standard
error of about .03.
"""

import runpy
from pathlib import Path

import pytest

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "rankings.py"))
PROBLEMS = {problem.name: problem for base in SCRIPT["PROBLEMS"] for problem in base.variants()}


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("20/300/15", 6),
        ("20/300/15, ties", 5),
        ("20/300/15 Bradley–Terry, bias .8", 5),
        ("6/1500/30", 14),
        ("40 in 2 groups/300/15", 4),
    ],
)
def test_intervals_ranks_and_tiers_hold_as_often_as_they_say(name, runs):
    found = SCRIPT["coverage"](PROBLEMS[name], runs)
    assert 0.8 <= found["coverage"] <= 0.98
    assert found["ranks"] >= 0.86
    assert found["wrong tiers"] <= 0.25
    assert found["rate honest"] <= 0.08
    assert found["gain"] >= -0.005
    if "bias" in name:
        assert found["bias"] == pytest.approx(0.8 if "Terry" not in name else 0.8 * 0.83, abs=0.15)


@pytest.mark.parametrize(("name", "runs"), [("20/300/15, 5 random", 8), ("6/1500/30, 10 random", 8)])
def test_random_voters_are_found_and_allowed_for(name, runs):
    found = SCRIPT["coverage"](PROBLEMS[name], runs)
    assert 0.72 <= found["coverage"] <= 0.98
    assert found["ranks"] >= 0.86
    assert found["rate random"] > found["rate honest"] + 0.3
    assert found["gain"] > 0.0
