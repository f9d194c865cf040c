from itertools import product
from math import lgamma

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import ndtr
from scipy.stats import norm

from accord.pairs.process.evidence import fit
from accord.pairs.process.kernels import Inputs, Kernel, Term
from accord.pairs.process.likelihoods import Preference
from accord.pairs.process.sampling import draw_posterior
from accord.pairs.process.sparse import SparseScorer, fit_sparse
from accord.pairs.process.vote_counts import count_votes
from accord.pairs.voters import RATES, SHARES_PRIOR, Voters


def enumerated(voter, value, prior_sd=1.5):
    """Two items and two voters: the difference, the scale and both rates on a grid, the shares in closed form."""
    d, t = np.linspace(-60, 60, 3001)[:, None], np.linspace(-3.5, 3.5, 101)[None, :]
    prior = norm.pdf(d, 0, np.sqrt(2.0) * np.exp(t)) * norm.pdf(2 * t, 0, prior_sd)
    p = ndtr(d / np.sqrt(2.0))
    total, rate_mass, log_scale, density = 0.0, np.zeros((2, len(RATES))), 0.0, np.zeros(d.size)
    for a, b in product(range(len(RATES)), repeat=2):
        counts = np.bincount([a, b], minlength=len(RATES))
        shares = np.exp(sum(lgamma(c + k) - lgamma(c) for c, k in zip(SHARES_PRIOR, counts, strict=True)))
        likelihood = np.ones_like(d)
        for who, said in zip(voter, value, strict=True):
            rate = RATES[(a, b)[who]]
            likelihood = likelihood * ((1 - rate) * (p if said == 1.0 else 1 - p) + rate / 2)
        weight = shares * prior * likelihood
        mass = weight.sum()
        total += mass
        rate_mass[0, a] += mass
        rate_mass[1, b] += mass
        log_scale += float((weight * t).sum())
        density += weight.sum(axis=1)
    quantiles = np.interp([0.05, 0.25, 0.5, 0.75, 0.95], np.cumsum(density) / total, d.ravel())
    return quantiles, log_scale / total, rate_mass @ np.array(RATES) / total


def test_draws_are_those_of_the_enumerated_joint_posterior():
    voter = np.array([0] * 8 + [1] * 8)
    value = np.array([1.0] * 7 + [0.0] + [1.0, 0.0] * 4)
    quantiles, log_scale, rates = enumerated(voter, value)
    left, right = np.zeros(16, dtype=int), np.ones(16, dtype=int)
    counts = count_votes(left, right, value, None)
    voters = Voters.of(voter, counts.row, counts.raw_weight, Voters.first_belief(2), counts.left.size)
    votes = counts.votes(np.arange(2), voters.row_shares())
    x, likelihood = Inputs((), np.arange(2)), Preference(rates=RATES)
    found = fit(Kernel((Term("item", ()),)), x, None, votes, start=np.zeros(1), likelihood=likelihood, learn="fixed",
                voters=voters)  # fmt: skip
    draws = draw_posterior(
        found.prior.design, found.posterior, found.votes, found.likelihood, found.voters, log_variance=0.0,
        learn_scale=True, learn_bias=False, n_draws=30_000, rng=np.random.default_rng(0),
    )  # fmt: skip
    difference = (draws.whitened @ found.prior.design.T) @ np.array([1.0, -1.0])
    assert_allclose(np.quantile(difference, [0.05, 0.25, 0.5, 0.75, 0.95]), quantiles, atol=0.06)
    assert_allclose(np.log(draws.scale).mean(), log_scale, atol=0.05)
    assert_allclose(np.array(RATES)[draws.habits].mean(axis=0), rates, atol=0.03)


def test_a_sparse_posterior_is_the_dense_one():
    rng = np.random.default_rng(0)
    n, m = 40, 300
    truth = rng.normal(size=n)
    left = rng.integers(0, n, m)
    right = (left + rng.integers(1, n, m)) % n
    value = (truth[left] - truth[right] + rng.normal(0, np.sqrt(2), m) > 0).astype(float)
    votes = count_votes(left, right, value, None).votes(np.arange(n))
    found = fit_sparse(votes, Preference(), None, variance=1.0, learn_variance=False, learn_bias=False, rng=rng)
    x, kernel = Inputs((), np.arange(n)), Kernel((Term("item", ()),))
    dense = fit(kernel, x, None, votes, start=np.zeros(1), likelihood=Preference(), learn="fixed", bound_tol=1e-6)
    assert_allclose(found.mean, dense.prior.design @ dense.posterior.mean, atol=0.03)
    covariance = np.linalg.inv(found.precision.toarray())
    assert_allclose(found.marginal, np.diag(covariance), rtol=0.15)
    scorer = SparseScorer(kernel, np.zeros(1), x, found.mean, found.marginal, found.precision)
    drawn = np.concatenate([scorer.draw(200, rng)[0] for _ in range(40)])
    assert_allclose(np.cov(drawn, rowvar=False), covariance, atol=0.03)
    new = Inputs((), np.array([3, -1]))
    assert_allclose(scorer.score(new), [found.mean[3], 0.0])
    assert_allclose(scorer.variance(new), [found.marginal[3], 1.0])
