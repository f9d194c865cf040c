import random
from collections import Counter

import pytest

from accord.workflows.collecting.mix import PairMix

SHARES = {"informative": 0.5, "coverage": 0.2, "random": 0.2, "repeat": 0.1}


@pytest.mark.parametrize("left_out", [None, *SHARES])
def test_propensities_are_the_shares_of_counted_draws(left_out):
    shares = {way: share for way, share in SHARES.items() if way != left_out}
    mix = PairMix(
        [[0, 1, 2, 3], [4, 5, 6], [7]], {0: 2, 1: 1, 2: 1, 3: 5, 4: 3, 5: 3}, [(0, 1), (4, 6), (1, 2)],
        [(0, 1), (1, 0), (5, 4)], shares,
    )  # fmt: skip
    rng, n = random.Random(0), 60_000
    counted = Counter(frozenset(mix.draw(rng)[1]) for _ in range(n))
    pairs = [(a, b) for pool in ([0, 1, 2, 3], [4, 5, 6]) for a in pool for b in pool if a < b]
    assert sum(mix.propensity(pair) for pair in pairs) == pytest.approx(1.0)
    for pair in pairs:
        p = mix.propensity(pair)
        assert counted[frozenset(pair)] / n == pytest.approx(p, abs=4.5 * (p * (1 - p) / n) ** 0.5 + 1e-9)
        assert mix.propensity(pair[::-1]) == p


def test_a_way_without_anything_to_draw_from_is_left_out_and_coverage_follows_the_questions():
    mix = PairMix([[0, 1, 2]], {}, [], [], SHARES)
    assert set(mix.shares) == {"coverage", "random"}
    assert sum(mix.shares.values()) == pytest.approx(1.0)
    before = mix.propensity((0, 1))
    mix.count((0, 1))
    assert mix.propensity((0, 1)) < before < mix.propensity((0, 2))
    assert PairMix([[0], [1]], {}, [], [], SHARES).n_pairs == 0
