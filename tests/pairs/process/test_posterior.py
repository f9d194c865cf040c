from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import dblquad
from scipy.stats import multivariate_normal

from accord.pairs.process import stochastic
from accord.pairs.process.blocked_votes import stochastic_inference
from accord.pairs.process.kernels import Factor, Inputs, Kernel, Term
from accord.pairs.process.likelihoods import Ballots, Preference
from accord.pairs.process.posterior import Marks, Votes, infer, make_prior, prepare
from accord.pairs.process.scorer import Scorer

MATERN = Kernel((Term("m", (Factor("matern", 0, np.array([1.5])),)), Term("item", ())))
THETA = np.array([np.log(1.5), 0.0, np.log(0.2)])


def problem(n=12, n_votes=30, *, ties=False, seed=0):
    rng = np.random.default_rng(seed)
    x = Inputs((rng.normal(size=(n, 2)),), np.arange(n))
    left = rng.integers(0, n, n_votes)
    right = (left + rng.integers(1, n, n_votes)) % n
    value = (rng.random(n_votes) < 0.5 + 0.3 * np.sign(x.parts[0][left, 0] - x.parts[0][right, 0])).astype(float)
    if ties:
        value[::4] = 0.5
    return x, Votes(left, right, Ballots.of(value), np.ones(n_votes), n)


def log_density(likelihood, z, value):
    """log p(value | z) from the closed probabilities, for z of shape (n_votes, n_draws)."""
    p = likelihood.probability(z.ravel(), np.zeros(z.size)).reshape(*z.shape, 3)
    ties = np.log(p[..., 1]) if likelihood.margin else 0.5 * np.log(p[..., 0] * p[..., 2])
    value = np.asarray(value)[:, None]
    return np.where(value == 1.0, np.log(p[..., 0]), np.where(value == 0.0, np.log(p[..., 2]), ties))


def slice_sample(covariance, log_likelihood, *, n_chains, n_steps, burn, rng):
    """Elliptical slice sampling (Murray, Adams, MacKay 2010), many chains at once: exact in the long run."""
    root = np.linalg.cholesky(covariance + 1e-9 * np.eye(len(covariance)))
    f = rng.standard_normal((n_chains, len(covariance))) @ root.T
    total, kept = log_likelihood(f), []
    for step in range(burn + n_steps):
        nu = rng.standard_normal(f.shape) @ root.T
        threshold = total + np.log(rng.random(n_chains))
        angle = rng.uniform(0, 2 * np.pi, n_chains)
        low, high = angle - 2 * np.pi, angle.copy()
        new, open_ = f.copy(), np.arange(n_chains)
        while open_.size:
            a = angle[open_, None]
            new[open_] = f[open_] * np.cos(a) + nu[open_] * np.sin(a)
            value = log_likelihood(new[open_])
            done = value > threshold[open_]
            total[open_[done]] = value[done]
            open_ = open_[~done]
            below = angle[open_] < 0
            low[open_[below]], high[open_[~below]] = angle[open_[below]], angle[open_[~below]]
            angle[open_] = rng.uniform(low[open_], high[open_])
        f = new
        if step >= burn:
            kept.append(f)
    return np.concatenate(kept)


@pytest.mark.parametrize(
    ("ties", "likelihood"), [(False, Preference()), (True, Preference()), (True, Preference(margin=0.5))]
)
def test_posterior_matches_elliptical_slice_sampling(ties, likelihood):
    x, votes = problem(20, 60, ties=ties)
    covariance = MATERN.block(x).value(THETA)

    def log_likelihood(f):
        return log_density(likelihood, (f[:, votes.left] - f[:, votes.right]).T, votes.ballots.value).sum(axis=0)

    draws = slice_sample(covariance, log_likelihood, n_chains=300, n_steps=60, burn=150, rng=np.random.default_rng(1))
    prior = make_prior(prepare(MATERN, x, None, votes), THETA, votes)
    found = infer(prior, votes, likelihood)
    scorer = Scorer(MATERN, THETA, x, prior.root, found.mean, found.factor)
    scale = np.sqrt(np.diag(covariance).max())
    # within 5 % of the prior scale
    assert_allclose(scorer.score(x), draws.mean(axis=0), atol=0.05 * scale)
    assert_allclose(np.sqrt(scorer.variance(x)), draws.std(axis=0), atol=0.05 * scale)
    mean, variance = scorer.differences(x, votes.left, votes.right)
    gap = draws[:, votes.left] - draws[:, votes.right]
    sampled = np.exp(log_density(likelihood, gap.T, np.ones(votes.left.size))).mean(axis=1)
    assert_allclose(likelihood.probability(mean, variance)[:, 0], sampled, atol=0.02)


def test_the_bound_lies_below_the_evidence_and_close_to_it():
    x, votes = problem(2, 3)
    covariance = MATERN.block(x).value(THETA)
    prior = multivariate_normal(np.zeros(2), covariance)

    def joint(a, b):
        z = np.full(3, a - b) * np.where(votes.left == 0, 1.0, -1.0)
        return prior.pdf([a, b]) * np.exp(log_density(Preference(), z[:, None], votes.ballots.value).sum())

    exact = np.log(dblquad(joint, -8, 8, -8, 8, epsabs=1e-9)[0])
    bound = infer(
        make_prior(prepare(MATERN, x, None, votes), THETA, votes, jitter=1e-12), votes, Preference(), tol=1e-9
    ).bound
    assert bound <= exact + 1e-6
    assert bound >= exact - 0.05


@pytest.mark.parametrize("method", ["auto", "laplace"])
def test_no_sweep_lowers_the_bound(method):
    x, votes = problem(15, 60, ties=True)
    prior = make_prior(prepare(MATERN, x, None, votes), THETA + 3.0, votes)
    bounds = [infer(prior, votes, Preference(), method=method, max_iter=k, tol=0.0).bound for k in range(1, 12)]
    assert min(np.diff(bounds)) >= -1e-7


@pytest.mark.parametrize("method", ["auto", "variational", "laplace"])
def test_every_method_agrees_on_the_order(method):
    x, votes = problem(12, 200)
    prior = make_prior(prepare(MATERN, x, None, votes), THETA, votes)
    found = infer(prior, votes, Preference(), method=method)
    exact = infer(prior, votes, Preference())
    assert np.corrcoef(prior.design @ found.mean, prior.design @ exact.mean)[0, 1] > 0.99
    assert found.convergence.converged


def test_items_as_inducing_points_change_nothing():
    kernel, theta = Kernel((Term("m", (Factor("matern", 0, np.array([1.5])),)),)), np.array([0.4, 0.0])
    x, votes = problem(12, 40)
    marks = Marks(np.array([0, 3]), np.array([1.0, -1.0]), 0.1, 0.8, 0.5)
    exact = infer(
        make_prior(prepare(kernel, x, None, votes), theta, votes, marks), votes, Preference(), scores=marks, tol=1e-8
    )
    points = infer(
        make_prior(prepare(kernel, x, x, votes), theta, votes, marks), votes, Preference(), scores=marks, tol=1e-8
    )
    assert_allclose(points.vote_mean, exact.vote_mean, atol=1e-3)
    assert_allclose(points.vote_variance, exact.vote_variance, atol=1e-3)
    assert_allclose(points.bound, exact.bound, atol=1e-2)


def test_scores_alone_give_plain_gaussian_regression():
    kernel, theta = Kernel((Term("m", (Factor("matern", 0, np.array([1.5])),)),)), np.array([0.4, 0.0])
    x, _ = problem(6, 1)
    none = Votes(np.zeros(0, int), np.zeros(0, int), Ballots.of(np.zeros(0)), np.zeros(0), 6)
    marks = Marks(np.array([0, 2, 5]), np.array([1.0, -0.5, 2.0]), offset=0.3, slope=1.0, noise=0.25)
    prior = make_prior(prepare(kernel, x, None, none), theta, none, marks, jitter=1e-12)
    found = infer(prior, none, Preference(), scores=marks)
    gram = kernel.block(x).value(theta)
    seen = gram[np.ix_(marks.item, marks.item)] + 0.25 * np.eye(3)
    expected = gram[:, marks.item] @ np.linalg.solve(seen, marks.value - 0.3)
    assert_allclose(prior.design @ found.mean, expected, atol=1e-6)
    # all Gaussian: the bound is the evidence
    evidence = multivariate_normal(np.zeros(3), seen).logpdf(marks.value - 0.3)
    assert_allclose(found.bound, evidence, atol=1e-6)


def test_stochastic_inference_comes_close_to_the_exact_one():
    x, votes = problem(20, 400)
    kernel, theta = Kernel((Term("m", (Factor("matern", 0, np.array([1.5])),)),)), np.array([0.4, 0.0])
    prior = make_prior(prepare(kernel, x, None, votes), theta, votes)
    exact = infer(prior, votes, Preference())
    found = stochastic_inference(
        kernel, theta, x, x, votes, Preference(), rng=np.random.default_rng(0), batch_size=100, n_epochs=30
    )
    assert_allclose(found.root @ found.mean, prior.design @ exact.mean, atol=0.1)
    whole = stochastic_inference(
        kernel, theta, x, x, votes, Preference(), rng=np.random.default_rng(0), batch_size=400, n_epochs=1
    )
    assert whole.n_steps == 1


def test_kernel_values_that_are_kept_do_not_change_stochastic_inference(monkeypatch):
    x, votes = problem(20, 60, ties=True)
    z = Inputs((x.parts[0][:6] + 0.1,), np.full(6, -1))

    def run():
        return stochastic_inference(
            MATERN, THETA, x, z, votes, Preference(), rng=np.random.default_rng(0), batch_size=20, method="variational"
        )

    kept = run()
    monkeypatch.setattr(stochastic, "_MOST_KEPT", 0)
    assert_allclose(run().mean, kept.mean, rtol=1e-12)


def test_weights_count_like_repeated_votes():
    x, votes = problem(8, 10)
    twice = votes.take(np.repeat(np.arange(votes.left.size), 2))
    heavy = replace(votes, weight=2.0 * votes.weight)
    a = infer(make_prior(prepare(MATERN, x, None, twice), THETA, twice), twice, Preference(), tol=1e-9)
    b = infer(make_prior(prepare(MATERN, x, None, heavy), THETA, heavy), heavy, Preference(), tol=1e-9)
    assert_allclose(a.mean, b.mean, atol=1e-5)
    assert_allclose(a.bound, b.bound, atol=1e-5)
