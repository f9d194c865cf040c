from itertools import product
from math import lgamma

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import kstest, norm

from accord.pairs.process.evidence import fit
from accord.pairs.process.kernels import Inputs, Kernel, Term
from accord.pairs.process.likelihoods import Preference
from accord.pairs.process.sampling import draw_posterior, draw_scale, log_prior
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
    below = np.cumsum(density) - density / 2  # half of a cell lies below its middle
    quantiles = np.interp([0.05, 0.25, 0.5, 0.75, 0.95], below / total, d.ravel())
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
    assert_allclose(np.log(draws.scale).mean(), log_scale, atol=0.03)
    assert_allclose(draws.beliefs(len(RATES)) @ np.array(RATES), rates, atol=0.02)


@pytest.mark.parametrize(("square", "size", "log_variance"), [(3.0, 6, 0.4), (250.0, 40, -1.0), (0.01, 2, 0.0)])
def test_the_prior_of_the_scores_is_that_of_every_scale_together(square, size, log_variance):
    def density(t, n=0):
        return np.exp(
            -size * t - 0.5 * square * np.exp(-2 * t) - 0.5 * (log_variance + 2 * t) ** 2 / 1.5**2 - 2 * n * t
        )

    limits = {"points": [0.5 * np.log(square / size)], "epsabs": 0.0, "limit": 400}
    whole, shrunk = quad(density, -8, 8, **limits)[0], quad(density, -8, 8, args=(1,), **limits)[0]
    other = quad(lambda t: density(t) * np.exp(-0.5 * 0.1 * square * np.exp(-2 * t)), -8, 8, **limits)[0]
    value, slope = log_prior(square, size, log_variance)
    assert_allclose(log_prior(1.1 * square, size, log_variance)[0] - value, np.log(other / whole), rtol=1e-6)
    assert_allclose(slope, -0.5 * shrunk / whole, rtol=1e-6)
    rng, grid = np.random.default_rng(0), np.linspace(-8, 8, 40_001)
    drawn = [draw_scale(rng, square, size, log_variance) for _ in range(20_000)]
    reached = np.cumsum(density(grid)) / density(grid).sum()
    assert kstest(drawn, lambda t: np.interp(t, grid, reached)).pvalue > 1e-3


def test_an_undecided_vote_without_a_margin_is_half_a_vote_for_each_side():
    left, right, value = np.array([0, 0, 1, 2, 2]), np.array([1, 2, 2, 0, 1]), np.array([1.0, 0.5, 0.0, 0.5, 0.5])
    undecided = np.flatnonzero(value == 0.5)
    row = np.append(np.arange(5), undecided)
    halves = np.append(np.where(value == 0.5, 1.0, value), np.zeros(undecided.size))
    whole = count_votes(left, right, value, None).votes(np.arange(3))
    split = count_votes(left[row], right[row], halves, np.where(value == 0.5, 0.5, 1.0)[row]).votes(np.arange(3))
    x, kernel = Inputs((), np.arange(3)), Kernel((Term("item", ()),))
    found = fit(kernel, x, None, whole, start=np.zeros(1), likelihood=Preference(), learn="fixed")
    drawn = [
        draw_posterior(
            found.prior.design,
            found.posterior,
            votes,
            Preference(),
            None,
            log_variance=0.0,
            learn_scale=True,
            learn_bias=False,
            n_draws=20,
            burn_in=0,
            rng=np.random.default_rng(0),
        ).whitened
        for votes in (whole, split)
    ]
    assert_allclose(*drawn, atol=1e-9)


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
