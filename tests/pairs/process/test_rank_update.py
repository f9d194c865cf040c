from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from accord.pairs.process.likelihoods import Ballots, Preference
from accord.pairs.process.posterior import Prior, Votes, infer, item_sites, whitened_update
from accord.pairs.process.rank_update import add_votes, cholesky_update


@pytest.mark.parametrize(("n", "k"), [(1, 1), (3, 0), (7, 1), (20, 5)])
def test_an_updated_factor_is_the_factor_of_the_sum(n, k):
    rng = np.random.default_rng(n)
    half, rows = rng.normal(size=(n, n + 1)), rng.normal(size=(k, n))
    factor = np.linalg.cholesky(half @ half.T)
    before = factor.copy()
    assert_allclose(cholesky_update(factor, rows), np.linalg.cholesky(half @ half.T + rows.T @ rows), atol=1e-10)
    assert_allclose(factor, before)


def posterior(n=12, n_votes=40, seed=0):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(n, n))
    root = np.linalg.cholesky(half @ half.T / n + 0.1 * np.eye(n))
    left = rng.integers(0, n, n_votes)
    right = (left + rng.integers(1, n, n_votes)) % n
    value = rng.choice([0.0, 0.5, 1.0], n_votes)
    votes = Votes(left, right, Ballots.of(value), rng.uniform(0.5, 2.0, n_votes), n)
    prior = Prior(root, root, np.zeros(n_votes), np.zeros(0))
    return prior, votes, infer(prior, votes, Preference(), tol=1e-10, max_iter=500)


def test_an_added_vote_changes_the_posterior_as_inference_anew_does():
    prior, votes, found = posterior()
    more = Votes(np.array([0, 3, 0]), np.array([1, 4, 2]), Ballots.of([1.0, 0.0, 0.5]), np.array([1.0, 2.0, 1.0]), 12)
    added, everyone = add_votes(prior.design, found, votes, more, Preference())
    anew = infer(replace(prior, residual=np.zeros(43)), everyone, Preference(), tol=1e-10, max_iter=500)
    scores, before, want = (prior.design @ one.mean for one in (added, found, anew))
    assert np.abs(scores - want).max() < 0.02 * np.abs(before - want).max()
    assert_allclose(added.vote_mean, scores[everyone.left] - scores[everyone.right])
    # The sites say the same as mean and factor.
    precision, shift = item_sites(everyone, added.sites, None)
    mean, factor = whitened_update(prior.design, precision @ prior.design, shift)
    assert_allclose(factor, added.factor, atol=1e-8)
    assert_allclose(mean, added.mean, atol=1e-2)
