import numpy as np
import pytest

from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.errors import InputError
from accord.pairs.ranking import rank_columns, tiers, top_probability
from accord.pairs.stability import GroupState, pieces, stability

RNG = np.random.default_rng(0)


def normal(mean, std, n=2000):
    return np.asarray(mean, dtype=float) + np.asarray(std) * np.random.default_rng(1).normal(size=(n, len(mean)))


def judged(draws, **settings):
    states = [GroupState(None, part) for part in draws]
    return stability(states, **{"top": 1, "sure": 0.95, "n_votes": 100, "rng": np.random.default_rng(0), **settings})


def test_far_apart_scores_are_stable_and_equal_ones_are_not():
    state = judged([normal(10.0 * np.arange(5), 1.0)])
    assert state.is_stable
    assert state.reached
    assert state.votes_left is None
    same = judged([normal(np.zeros(5), 1.0)])
    assert not same.is_stable
    assert not same.reached
    assert same.votes_left > 1000


def test_a_common_level_unsettles_nothing():
    level = 50.0 * np.random.default_rng(2).normal(size=(2000, 1))
    assert judged([normal(10.0 * np.arange(5), 1.0) + level]).settled == 1.0


def test_groups_are_judged_apart_and_held_together():
    sure, open_ = normal([9.0, 0.0], 1.0), normal([0.1, 0.0], 1.0)
    both = judged([sure, open_])
    assert both.settled == 0.5
    assert both.p_best == pytest.approx(judged([sure]).p_best * judged([open_]).p_best)


def test_the_forecast_of_two_items_is_what_arithmetic_says():
    # Difference N(1, 1) and a truth d: c times the votes make it N(m, 1/c), m = (1 + (c − 1) d + B(c − 1)) / c with a
    # Brownian motion B, which is sure when |m|·√c reaches the quantile; simulated here with steps ten times as small.
    rng = np.random.default_rng(3)
    draws = np.stack([1.0 + rng.normal(size=4000), np.zeros(4000)], axis=1)
    state = judged([draws], n_votes=100)
    grid = np.geomspace(1.0, 1000.0, 1400)
    d, walk = 1.0 + rng.normal(size=(4000, 1)), np.zeros(4000)
    needed, before = np.full(4000, 1000.0), 1.0
    for c in grid:
        walk += np.sqrt(c - before) * rng.normal(size=4000)
        before = c
        sure = np.abs(1.0 + (c - 1.0) * d[:, 0] + walk) / np.sqrt(c) >= 1.70  # .955, what 4,000 draws have to show
        needed = np.where(sure & (needed == 1000.0), c, needed)
    more = 100 * (needed - 1.0)
    share = np.mean((more >= 0.5 * state.votes_left) & (more <= 2.0 * state.votes_left))
    best = max(np.mean((more >= 0.5 * x) & (more <= 2.0 * x)) for x in np.geomspace(1, 1e5, 200))
    assert share >= best - 0.06
    assert np.mean((more >= state.votes_low) & (more <= state.votes_high)) == pytest.approx(0.8, abs=0.1)


def test_the_top_is_a_set_and_its_probability_a_share_of_draws():
    draws = np.array([[3.0, 2.0, 1.0], [2.0, 3.0, 1.0], [3.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    assert top_probability(draws, np.array([0, 1, 2]), 2) == 0.5
    assert top_probability(draws, np.array([0, 1, 2]), 1) == 0.5
    assert top_probability(draws, np.array([0, 1, 2]), 3) == 1.0


def test_a_top_of_nothing_is_refused():
    with pytest.raises(InputError, match="at least 1"):
        judged([normal([0.0, 1.0], 1.0)], top=0)


def test_all_statements_across_tiers_hold_together():
    rng = np.random.default_rng(0)
    mean = np.sort(rng.normal(0, 2.0, 12))[::-1]
    draws = normal(mean, 0.4, 4000)
    found = tiers(draws, np.arange(12), sure=0.95)
    assert 1 < found.max() < 12
    a, b = np.triu_indices(12, 1)
    across = found[a] != found[b]
    assert (draws[:, a[across]] > draws[:, b[across]]).all(axis=1).mean() >= 0.95


def test_ranks_and_intervals_are_those_of_the_draws():
    draws = normal([2.0, 0.0, -1.0], [0.5, 0.5, 0.1], 4000)
    order, columns = rank_columns(draws, level=0.9, sure=0.95)
    assert order.tolist() == [0, 1, 2]
    centred = draws - draws.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(columns["low"], np.quantile(centred, 0.05, axis=0))
    places = (draws[:, None, :] > draws[:, :, None]).sum(axis=2) + 1
    np.testing.assert_allclose(columns["p_best"], (places == 1).mean(axis=0))
    for k in range(3):
        inside = (columns["rank_low"][k] <= places[:, k]) & (places[:, k] <= columns["rank_high"][k])
        assert inside.mean() >= 0.9
    with pytest.raises(InputError, match="scale"):
        rank_columns(draws, level=0.9, sure=0.95, scale="stars")


def test_pieces_counts_the_missing_links_inside_groups():
    items = Items(np.array(list("abcde"), dtype=object), groups=np.array(["g", "g", "g", "h", "h"], dtype=object))
    votes = Comparisons(items, np.array([0]), np.array([1]), np.array([1.0]))
    assert pieces(votes) == 2  # c is alone in g, and d and e are not joined in h
    joined = Comparisons(items, np.array([0, 1, 3]), np.array([1, 2, 4]), np.array([1.0, 1.0, 0.5]))
    assert pieces(joined) == 0


def test_without_a_forecast_everything_else_is_the_same():
    draws = [normal([0.3, 0.2, 0.1], 1.0)]
    with_, without = judged(draws), judged(draws, forecast=False)
    assert with_.votes_left is not None
    assert (without.votes_left, without.votes_low, without.votes_high) == (None, None, None)
    assert (without.settled, without.p_best, without.p_top, without.reached) == (
        with_.settled, with_.p_best, with_.p_top, with_.reached
    )  # fmt: skip
