"""Rankings keep what they say: a few runs of what ``benchmarks/coverage.py`` does with many.

The bounds are two-sided, and wide enough for the few runs: with 12 runs of 20 items a coverage of .90 has a standard
error of about .02.
"""

import runpy
from pathlib import Path

import pytest

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "coverage.py"))
PROBLEMS = {problem.name: problem for base in SCRIPT["PROBLEMS"] for problem in base.variants()}


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("20/300/15", 12),
        ("20/300/15, ties", 10),
        ("20/300/15 Bradley–Terry, bias .8", 10),
        ("6/1500/30", 24),
        ("40 in 2 groups/300/15", 8),
    ],
)
def test_intervals_ranks_and_tiers_hold_as_often_as_they_say(name, runs):
    found = SCRIPT["coverage"](PROBLEMS[name], runs)
    assert 0.83 <= found["coverage"] <= 0.97
    assert found["ranks"] >= 0.86
    assert found["wrong tiers"] <= 0.2
    assert found["rate honest"] <= 0.08
    assert found["gain"] >= -0.003
    if "bias" in name:
        assert found["bias"] == pytest.approx(0.8 if "Terry" not in name else 0.8 * 0.83, abs=0.1)


@pytest.mark.parametrize(("name", "runs"), [("20/300/15, 5 random", 12), ("6/1500/30, 10 random", 12)])
def test_random_voters_are_found_and_allowed_for(name, runs):
    found = SCRIPT["coverage"](PROBLEMS[name], runs)
    assert 0.75 <= found["coverage"] <= 0.97
    assert found["ranks"] >= 0.86
    assert found["rate random"] > found["rate honest"] + 0.3
    assert found["gain"] > 0.005
