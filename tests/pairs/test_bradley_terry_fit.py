"""Bradley–Terry: gradients by central differences, scores against choix, deviations against the dense inverse."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from accord.fitting.optimise import l2_penalised
from accord.pairs.bradley_terry import bradley_terry, curvature, vote_loss


def random_votes(rng, n_items, n_votes, spread=1.0):
    scores = spread * rng.standard_normal(n_items)
    left = rng.integers(n_items, size=n_votes)
    right = (left + 1 + rng.integers(n_items - 1, size=n_votes)) % n_items
    value = (rng.random(n_votes) < 1 / (1 + np.exp(scores[right] - scores[left]))).astype(float)
    value[rng.random(n_votes) < 0.1] = 0.5
    return scores, left, right, value


@given(seed=st.integers(0, 10_000), n_items=st.integers(2, 6), n_votes=st.integers(0, 20))
def test_gradient_and_curvature_match_central_differences(seed, n_items, n_votes):
    rng = np.random.default_rng(seed)
    _, left, right, value = random_votes(rng, n_items, n_votes)
    weight, at = rng.random(n_votes), rng.standard_normal(n_items)
    loss = l2_penalised(vote_loss(left, right, value, weight, n_items=n_items), 0.3)
    step = 1e-6 * np.eye(n_items)
    central = [(loss(at + e)[0] - loss(at - e)[0]) / 2e-6 for e in step]
    assert_allclose(loss(at)[1], central, atol=1e-6)
    second = [(loss(at + e)[1] - loss(at - e)[1]) / 2e-6 for e in step]
    assert_allclose(curvature(at, left, right, weight, alpha=0.3).toarray(), second, atol=1e-6)


def test_scores_equal_those_of_choix():
    import choix

    rng = np.random.default_rng(0)
    _, left, right, value = random_votes(rng, 12, 300)
    left, right, value = left[value != 0.5], right[value != 0.5], value[value != 0.5]
    winners, losers = np.where(value == 1, left, right), np.where(value == 1, right, left)
    # choix.opt_pairwise minimises the same loss with alpha·‖s‖² instead of ½·alpha·‖s‖²
    theirs = choix.opt_pairwise(12, list(zip(winners, losers, strict=True)), alpha=0.1, tol=1e-10)
    ours = bradley_terry(left, right, value, n_items=12, alpha=0.2, tol=1e-9, rng=rng)
    assert_allclose(ours.mean, theirs, atol=1e-4)


def test_the_sparse_way_agrees_with_the_dense_one():
    rng = np.random.default_rng(1)
    _, left, right, value = random_votes(rng, 300, 3000)
    dense = bradley_terry(left, right, value, n_items=300, rng=np.random.default_rng(2))
    sparse = bradley_terry(left, right, value, n_items=300, largest_dense=10, rng=np.random.default_rng(2))
    assert_allclose(sparse.mean, dense.mean)
    assert_allclose(sparse.std, dense.std, rtol=0.05)
    i, j = np.arange(150), np.arange(150, 300)
    assert abs(np.mean(sparse.difference_std(i, j) / dense.difference_std(i, j)) - 1) < 0.1


def test_draws_have_the_covariance():
    rng = np.random.default_rng(3)
    _, left, right, value = random_votes(rng, 4, 30)
    scores = bradley_terry(left, right, value, n_items=4, n_draws=200_000, rng=rng)
    assert_allclose(np.cov(scores.draws.T), scores.covariance, atol=0.02)


def test_intervals_hold_the_truth_as_often_as_they_say():
    inside, n_items = [], 30
    for seed in range(20):
        rng = np.random.default_rng(seed)
        truth, left, right, value = random_votes(rng, n_items, 600)
        decided = value != 0.5
        scores = bradley_terry(left[decided], right[decided], value[decided], n_items=n_items, alpha=1.0, rng=rng)
        inside.append(np.abs(scores.mean - truth) <= 1.645 * scores.std)
    assert abs(np.mean(inside) - 0.9) < 0.05


def test_no_votes_give_the_prior():
    none = np.empty(0, dtype=np.int64)
    scores = bradley_terry(none, none, np.empty(0), n_items=3, alpha=4.0, rng=np.random.default_rng(0))
    assert_allclose(scores.mean, 0.0)
    assert_allclose(scores.std, 0.5)


def test_weights_stand_for_repeated_votes():
    rng = np.random.default_rng(4)
    _, left, right, value = random_votes(rng, 5, 20)
    times = rng.integers(1, 4, size=20)
    repeated = [np.repeat(column, times) for column in (left, right, value)]
    one = bradley_terry(left, right, value, n_items=5, weight=times, rng=np.random.default_rng(0))
    two = bradley_terry(*repeated, n_items=5, rng=np.random.default_rng(0))
    assert_allclose(one.mean, two.mean, atol=1e-6)
    assert_allclose(one.std, two.std, atol=1e-6)
