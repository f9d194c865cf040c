import numpy as np
import pytest

from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.pairs.stability import pieces, stability, win_probability


def test_far_apart_scores_are_stable_and_equal_ones_never():
    score = np.arange(5.0) * 10
    assert stability(score, score - 1, score + 1, n_votes=100).is_stable
    same = stability(np.zeros(5), -np.ones(5), np.ones(5), n_votes=100)
    assert not same.is_stable
    assert np.isinf(same.votes_left)


def test_only_texts_of_one_group_are_compared():
    score = np.array([0.0, 0.0, 10.0, 10.0])
    state = stability(score, score - 1, score + 1, n_votes=9, groups=np.array(["g", "h", "g", "h"]))
    assert state.settled == 1.0


def test_the_forecast_is_the_number_of_votes_after_which_intervals_are_narrow_enough():
    score = np.array([0.0, 1.0])
    half = 2.0  # one pair: sure once 1 ≥ 1.2816·√2·(half/1.645)/√factor
    state = stability(score, score - half, score + half, n_votes=50)
    factor = (1.2815516 * np.sqrt(2) * half / 1.6448536) ** 2
    assert state.settled == 0.0
    assert state.votes_left == pytest.approx((factor - 1) * 50, rel=1e-6)


def test_win_probability_of_equal_texts_is_a_half():
    assert win_probability(np.array(1.0), np.array(1.0), np.array(3.0)) == pytest.approx(0.5)


def test_pieces_counts_the_missing_links_inside_groups():
    items = Items(np.array(list("abcde"), dtype=object), groups=np.array(["g", "g", "g", "h", "h"], dtype=object))
    votes = Comparisons(items, np.array([0]), np.array([1]), np.array([1.0]))
    assert pieces(votes) == 2  # c is alone in g, and d and e are not joined in h
    joined = Comparisons(items, np.array([0, 1, 3]), np.array([1, 2, 4]), np.array([1.0, 1.0, 0.5]))
    assert pieces(joined) == 0
