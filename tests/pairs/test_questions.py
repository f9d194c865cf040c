import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtr

from accord.errors import InputError
from accord.pairs.questions import answer_precision, first_pairs, pick_pairs, transfer


def test_the_precision_of_an_answer_is_its_expected_fisher_information():
    rng = np.random.default_rng(0)
    mean, variance = np.array([0.0, 1.5, -3.0]), np.array([0.0, 2.0, 0.5])
    z = mean + np.sqrt(variance) * rng.normal(size=(200_000, 1))
    p, step = ndtr(z / np.sqrt(2)), 1e-4
    slope = (ndtr((z + step) / np.sqrt(2)) - ndtr((z - step) / np.sqrt(2))) / (2 * step)
    assert_allclose(answer_precision(mean, variance), np.mean(slope**2 / (p * (1 - p)), axis=0), rtol=0.02)


def test_a_vote_transfers_what_its_difference_has_in_common_with_others():
    mean, variance = np.zeros(3), np.array([1.0, 1.0, 4.0])
    covariance = np.array([[0.0, 0.0], [0.9, 0.0], [0.9, 0.0]])
    gain = transfer(mean, variance, np.zeros(2), np.ones(2), covariance)
    assert gain[0] == 0.0
    # The same covariance out of a larger variance is a weaker correlation.
    assert gain[1] > gain[2] > 0.0
    noise = 1.0 / answer_precision(np.zeros(1), np.ones(1))[0]
    assert_allclose(gain[1], -0.25 * np.log(1.0 - (0.9 / (1.0 + noise)) ** 2))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 9, 10, 31])
def test_the_first_pairs_meet_every_item_and_then_connect_all(n):
    left, right = first_pairs(n, None, n - 1, np.random.default_rng(n))
    assert (left != right).all()
    assert len(set(left[: (n + 1) // 2]) | set(right[: (n + 1) // 2])) == n
    graph = coo_array((np.ones(left.size), (left, right)), shape=(n, n))
    assert connected_components(graph, directed=False)[0] == 1


def test_the_first_pairs_stay_inside_groups_which_take_turns_by_their_size():
    groups = np.array([0] * 20 + [1] * 10 + [2] + [3] * 2)
    order = np.random.default_rng(0).permutation(groups.size)
    left, right = first_pairs(groups.size, groups[order], 16, np.random.default_rng(1))
    told = groups[order][left]
    assert (told == groups[order][right]).all()
    assert np.bincount(told, minlength=4).tolist() == [10, 5, 0, 1]


@pytest.mark.parametrize("n", [2, 5, 12])
def test_no_first_pair_comes_twice_and_all_come_where_all_are_wanted(n):
    left, right = first_pairs(n, None, 1000, np.random.default_rng(2))
    assert len({frozenset(pair) for pair in zip(left, right, strict=True)}) == len(left) == n * (n - 1) // 2


def test_first_pairs_show_each_item_on_either_side():
    left, right = first_pairs(500, None, 5000, np.random.default_rng(3))
    shown = np.bincount(left, minlength=500) / np.bincount(np.append(left, right), minlength=500)
    assert 0.45 < shown.mean() < 0.55
    assert shown.min() > 0.05
    assert shown.max() < 0.95


@pytest.mark.parametrize("n", [-1, 2.5, "3"])
def test_a_number_of_questions_without_a_meaning_is_refused(n):
    with pytest.raises(InputError, match="the number of pairs to ask about, must be a whole number of at least 0"):
        pick_pairs(np.ones(3), np.array([0, 0, 1]), np.array([1, 2, 2]), n)
