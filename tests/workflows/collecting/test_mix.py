import random
from collections import Counter

import pytest

from accord.workflows.collecting.mix import PairMix, TextMix

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


def text_mix():
    groups = ["a", "a", "a", "b", "b", "c"]
    return TextMix(
        list("uvwxyz"),
        [0, 0, 2, 0, 1, 0],
        groups,
        {"informative": list("vxuzw"), "judges": ["y"]},
        {**SHARES, "judges": 0.1},
    )


def test_propensities_of_texts_are_the_shares_of_counted_draws_also_of_second_draws():
    rng, n = random.Random(0), 30_000
    first, second, told = Counter(), Counter(), {}
    for _ in range(n):
        mix = text_mix()
        one = mix.draw(rng)
        first[one.key] += 1
        if one.key == "v":
            told = mix.propensities()
            two = mix.draw(rng)
            assert two.propensity == pytest.approx(told[two.key])
            second[two.key] += 1
    for counted, p in ((first, text_mix().propensities()), (second, told)):
        total = sum(counted.values())
        assert sum(p.values()) == pytest.approx(1.0)
        for key in "uvwxyz":
            share, wanted = counted[key] / total, p.get(key, 0.0)
            assert share == pytest.approx(wanted, abs=4.5 * (wanted * (1 - wanted) / total) ** 0.5 + 1e-9)


def test_no_text_is_drawn_twice_and_coverage_goes_to_groups_with_few_judgements():
    mix = text_mix()
    drawn = [mix.draw(random.Random(seed)).key for seed in range(6)]
    assert sorted(drawn) == list("uvwxyz")
    assert len(mix) == 0
    alone = TextMix(list("uvwxyz"), [0, 0, 2, 0, 1, 0], ["a", "a", "a", "b", "b", "c"], {}, {"coverage": 1.0})
    assert [alone.draw(random.Random(0)).key for _ in range(2)] == ["z", "x"]
    assert TextMix(["u"], [0], [""], {"informative": []}, {"informative": 1.0}).draw(random.Random(0)) == (
        "random",
        "u",
        1.0,
    )
