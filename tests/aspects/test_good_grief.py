from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from accord.aspects.good_grief import good_grief_decode, prank_ranks
from accord.errors import InputError


def grief_by_hand(score, thresholds, rank):
    """The smallest |c| with b_{r−1} ≤ score + c < b_r, the lower bound being the highest threshold passed so far."""
    low = max([-np.inf, *thresholds[: rank - 1]])
    high = thresholds[rank - 1] if rank <= len(thresholds) else np.inf
    if high <= low:
        return np.inf
    if low <= score < high:
        return 0.0
    return min(abs(low - score), abs(high - score))


def total_griefs(scores, thresholds, agreement):
    """Every one of the kᵐ joint ranks with its total grief."""
    m, k = thresholds.shape[0], thresholds.shape[1] + 1
    table = [[grief_by_hand(scores[i], thresholds[i], r) for r in range(1, k + 1)] for i in range(m)]
    totals = {}
    for ranks in product(range(1, k + 1), repeat=m):
        says_equal, is_equal = agreement > 0, len(set(ranks)) == 1
        totals[ranks] = sum(table[i][r - 1] for i, r in enumerate(ranks)) + abs(agreement) * (says_equal != is_equal)
    return totals


def random_case(rng):
    m, k = int(rng.integers(1, 5)), int(rng.integers(2, 5))
    if rng.random() < 0.5:  # whole numbers: ties and empty segments
        thresholds = rng.integers(-2, 3, size=(m, k - 1)).astype(float)
        scores, agreement = rng.integers(-3, 4, size=m).astype(float), float(rng.integers(-3, 4))
    else:
        thresholds, scores, agreement = rng.normal(size=(m, k - 1)), 2 * rng.normal(size=m), 2 * rng.normal()
    if rng.random() < 0.8:
        thresholds = np.sort(thresholds, axis=1)
    return scores, thresholds, float(agreement)


def test_decoding_equals_brute_force_on_ten_thousand_cases():
    rng = np.random.default_rng(0)
    for _ in range(10_000):
        scores, thresholds, agreement = random_case(rng)
        totals = total_griefs(scores, thresholds, agreement)
        decoded = tuple(good_grief_decode(scores[None], thresholds, np.array([agreement]))[0])
        assert totals[decoded] == pytest.approx(min(totals.values()), abs=1e-12)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=50)
def test_without_an_agreement_score_each_aspect_has_the_rank_of_its_segment(seed):
    scores, thresholds, _ = random_case(np.random.default_rng(seed))
    ranks = prank_ranks(scores[None], thresholds)[0]
    for i, rank in enumerate(ranks):
        assert grief_by_hand(scores[i], thresholds[i], rank) == 0.0


# [SB07] section 4: "good", "bad", "but not"; food and ambience on a scale of 1 to 2.
X = np.array([[1.0, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]])
Y = np.array([[2, 1], [2, 2], [1, 2], [1, 1]])


def test_the_four_instances_are_ranked_perfectly_with_an_agreement_model():
    w = np.array([[1.0, 1.0], [-1.0, -1.0], [0.0, 0.0]])
    # The food model's margin is wider, so that its rank is the dearer one to change.
    scores, thresholds = X @ (w * [2.0, 1.0]), np.zeros((2, 1))
    assert_array_equal(good_grief_decode(scores, thresholds, X @ [0, 0, -5.0]), Y)


def test_no_ranker_on_its_own_ranks_the_four_instances():
    """w·x₁ < b ≤ w·x₂ needs w₃ < 0; w·x₄ < b ≤ w·x₃ needs w₃ > 0. The linear programme has no solution."""
    from scipy.optimize import linprog

    ambience_high = Y[:, 1] == 2
    sign = np.where(ambience_high, -1.0, 1.0)  # sign·(w·x − b) ≤ −margin, scaled to a margin of 1
    rows = sign[:, None] * np.column_stack([X, -np.ones(4)])
    assert linprog(np.zeros(4), A_ub=rows, b_ub=-np.ones(4), bounds=[(None, None)] * 4).status == 2  # infeasible
    food = np.where(Y[:, 0] == 2, -1.0, 1.0)[:, None] * np.column_stack([X, -np.ones(4)])
    assert linprog(np.zeros(4), A_ub=food, b_ub=-np.ones(4), bounds=[(None, None)] * 4).status == 0


def test_a_perfect_ranking_survives_any_agreement_model_after_rescaling():
    """[SB07] section 4, first half: scaled up, perfect rankers outweigh every error of the agreement model."""
    rng = np.random.default_rng(2)
    scores, thresholds = rng.normal(size=(50, 3)), np.sort(rng.normal(size=(3, 4)), axis=1)
    ranks, agreement = prank_ranks(scores, thresholds), rng.normal(size=50)
    margin = np.abs(scores[:, :, None] - thresholds[None]).min()
    scale = (np.abs(agreement).max() + 1e-9) / margin
    assert_array_equal(good_grief_decode(scale * scores, scale * thresholds, agreement), ranks)


def test_shapes_that_do_not_match_are_refused():
    with pytest.raises(InputError, match="same aspects"):
        prank_ranks(np.zeros((2, 3)), np.zeros((2, 4)))
