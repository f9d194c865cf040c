import numpy as np
import pytest
from numpy.testing import assert_allclose

from accord.pairs.baselines import pagerank
from accord.pairs.process import evidence
from accord.pairs.process.evidence import Shrinkage, _log_gamma, evidence_loss, fit, gamma_scale
from accord.pairs.process.kernels import Factor, Inputs, Kernel, Term
from accord.pairs.process.leave_group_out import leave_group_out_loss
from accord.pairs.process.likelihoods import Ballots, Preference
from accord.pairs.process.posterior import Marks, Votes, infer, make_prior, prepare, start_sites
from accord.pairs.process.vote_counts import SiteMemory, count_votes
from accord.pairs.questions import bald, candidate_pairs, pick_pairs, uncertainty

KERNEL = Kernel(
    (
        Term("m", (Factor("matern", 0, np.array([1.0, 2.0]), True),)),
        Term("l", (Factor("linear", 0, np.array([2.0])),)),
        Term("item", ()),
    )
)


def problem(n=14, n_votes=40, seed=0):
    rng = np.random.default_rng(seed)
    x = Inputs((rng.normal(size=(n, 2)),), np.arange(n))
    left = rng.integers(0, n, n_votes)
    right = (left + rng.integers(1, n, n_votes)) % n
    value = (x.parts[0][left, 0] + rng.normal(size=n_votes) > x.parts[0][right, 0]).astype(float)
    return x, Votes(left, right, Ballots.of(value), rng.uniform(0.5, 2.0, n_votes), n)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("scored", [True, False])
def test_the_evidence_gradient_matches_central_differences(exact, scored):
    x, votes = problem()
    z = None if exact else Inputs((x.parts[0][:5] + 0.1,), np.full(5, -1))
    scores = Marks(np.array([1, 4]), np.array([0.3, -1.0]), 0.1, 0.7, 0.5) if scored else None
    prepared = prepare(KERNEL, x, z, votes)
    theta = np.random.default_rng(1).normal(size=KERNEL.n_parameters) * 0.4
    sites = infer(make_prior(prepared, theta, votes, scores), votes, Preference(), scores=scores).sites
    loss = evidence_loss(KERNEL, prepared, votes, sites, scores, shrinkage=Shrinkage())
    _, gradient = loss(theta)
    numeric = [(loss(theta + h)[0] - loss(theta - h)[0]) / 2e-5 for h in 1e-5 * np.eye(theta.size)]
    assert_allclose(gradient, numeric, atol=2e-4)


@pytest.mark.parametrize("exact", [True, False])
def test_the_evidence_gradient_knows_that_jitter_grows_with_the_kernel(exact):
    x, votes = problem()
    prepared = prepare(KERNEL, x, None if exact else Inputs((x.parts[0][:5] + 0.1,), np.full(5, -1)), votes)
    theta = np.random.default_rng(2).normal(size=KERNEL.n_parameters) * 0.4
    loss = evidence_loss(KERNEL, prepared, votes, start_sites(votes), jitter=0.3)
    numeric = [(loss(theta + h)[0] - loss(theta - h)[0]) / 2e-5 for h in 1e-5 * np.eye(theta.size)]
    assert_allclose(loss(theta)[1], numeric, atol=2e-4)


@pytest.mark.parametrize("exact", [True, False])
def test_at_converged_sites_it_is_the_gradient_of_the_bound_itself(exact):
    x, votes = problem()
    z = None if exact else Inputs((x.parts[0][:6] + 0.1,), np.full(6, -1))
    prepared = prepare(KERNEL, x, z, votes)
    theta = np.array([0.2, 0.1, -0.2, -0.5, -1.0])

    def bound(t):
        return infer(make_prior(prepared, t, votes), votes, Preference(), tol=1e-12, max_iter=300).bound

    sites = infer(make_prior(prepared, theta, votes), votes, Preference(), tol=1e-12, max_iter=300).sites
    _, gradient = evidence_loss(KERNEL, prepared, votes, sites)(theta)
    numeric = [(bound(theta + h) - bound(theta - h)) / 2e-4 for h in 1e-4 * np.eye(theta.size)]
    assert_allclose(-gradient, numeric, atol=1e-3)


def test_learning_raises_the_bound_and_shrinkage_holds_it_back():
    x, votes = problem(30, 200)
    start = np.zeros(KERNEL.n_parameters)
    fixed = fit(KERNEL, x, None, votes, start=start, likelihood=Preference(), learn="fixed")
    free = fit(KERNEL, x, None, votes, start=start, likelihood=Preference())
    held = fit(KERNEL, x, None, votes, start=start, likelihood=Preference(), shrinkage=Shrinkage(0.05, 0.05))
    assert free.posterior.bound > fixed.posterior.bound
    assert np.abs(held.theta).max() < 0.3 < np.abs(free.theta).max()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("exact", [True, False])
def test_learning_costs_hardly_more_bounds_than_steps(monkeypatch, exact, seed):
    x, votes = problem(60, 600, seed)
    spent = {"bounds": 0, "steps": 0}
    plain_loss, plain_search = evidence.evidence_loss, evidence.minimise_boxed

    def loss_of(*args, **settings):
        loss = plain_loss(*args, **settings)

        def counted(theta):
            spent["bounds"] += 1
            return loss(theta)

        return counted

    def search(*args, **settings):
        found = plain_search(*args, **settings)
        spent["steps"] += found[0].convergence.n_iter
        return found

    monkeypatch.setattr(evidence, "evidence_loss", loss_of)
    monkeypatch.setattr(evidence, "minimise_boxed", search)
    z = None if exact else Inputs((x.parts[0][:20] + 0.1,), np.full(20, -1))
    fit(KERNEL, x, z, votes, start=np.zeros(KERNEL.n_parameters), likelihood=Preference(), shrinkage=Shrinkage())
    assert spent["steps"] >= 5
    assert spent["bounds"] <= 1.6 * spent["steps"] + 5


def test_the_gamma_prior_moves_one_common_variance():
    x, votes = problem(30, 200)
    found = fit(KERNEL, x, None, votes, start=np.zeros(KERNEL.n_parameters), likelihood=Preference(), learn="gamma")
    moved = found.theta[KERNEL.is_variance]
    assert_allclose(moved, moved[0])
    assert_allclose(found.theta[~KERNEL.is_variance], 0.0)
    # a prior that is sure of 1/s = 100 wins over 200 votes
    sure = fit(
        KERNEL,
        x,
        None,
        votes,
        start=np.zeros(KERNEL.n_parameters),
        likelihood=Preference(),
        learn="gamma",
        gamma=(1e6, 1e4),
        max_outer=60,
    )
    assert_allclose(np.exp(sure.theta[0]), 0.01, rtol=0.05)


# Almost flat, so that the variance has to become large.
FLAT = Kernel((Term("m", (Factor("matern", 0, np.array([20.0])),)),))


def test_the_published_update_of_the_variance_is_that_of_the_whole_covariance():
    """1/s has the mean (a₀ + ½ n) / (b₀ + ½ fᵀ K⁻¹ f) under q, with everything written out."""
    x, votes = problem(30, 200)
    shape, rate, theta = 2.0, 200.0, np.array([3.0, 0.0])
    prior = make_prior(prepare(FLAT, x, None, votes), theta, votes)
    posterior = infer(prior, votes, Preference(spread=rate / shape), method="variational")
    covariance = prior.design @ np.linalg.solve(posterior.factor @ posterior.factor.T, prior.design.T)
    mean = prior.design @ posterior.mean
    gram = FLAT.block(x).value(np.zeros(2)) + 1e-6 * np.eye(30)
    expected = np.trace(np.linalg.solve(gram, covariance + np.outer(mean, mean)))
    moved = gamma_scale(theta, FLAT.is_variance, posterior, prior, votes, shape, rate)
    assert_allclose(np.exp(moved[0]), (rate + 0.5 * expected) / (shape + 15.0), rtol=1e-3)
    assert moved[1] == theta[1]


def test_the_published_inference_ends_with_the_first_step_from_the_fifth_on_that_does_not_raise_the_bound(monkeypatch):
    x, votes = problem(30, 200)
    bounds = []

    def noted(theta, is_variance, posterior, prior, counted, shape, rate):
        bounds.append(posterior.bound + _log_gamma(theta[is_variance].mean(), shape, rate))
        return gamma_scale(theta, is_variance, posterior, prior, counted, shape, rate)

    monkeypatch.setattr(evidence, "gamma_scale", noted)
    found = fit(
        FLAT, x, None, votes, start=np.zeros(2), likelihood=Preference(spread=100.0), learn="gamma",
        method="variational", gamma=(2.0, 200.0), max_outer=200, tol=1e-4,
    )  # fmt: skip
    assert found.convergence.converged
    assert len(bounds) >= 5
    rises = np.diff(bounds) / np.abs(bounds[1:])
    assert rises[-1] <= 1e-4
    assert np.all(rises[3:-1] > 1e-4)
    assert np.exp(found.theta[0]) > 100.0  # it began at 100


def test_leaving_a_group_out_in_closed_form_comes_close_to_refitting():
    rng = np.random.default_rng(3)
    n = 40
    x = Inputs((rng.normal(size=(n, 2)),), np.arange(n))
    groups = np.arange(n) % 4
    a, b = np.triu_indices(n, 1)
    keep = groups[a] == groups[b]
    a, b = a[keep], b[keep]
    value = (x.parts[0][a, 0] + rng.normal(size=a.size) > x.parts[0][b, 0]).astype(float)
    votes, theta = Votes(a, b, Ballots.of(value), np.ones(a.size), n), np.array([-1.0, 0.3, 0.3, -0.5, -2.0])
    prior = make_prior(prepare(KERNEL, x, None, votes), theta, votes)
    quick = leave_group_out_loss(prior, infer(prior, votes, Preference()), votes, Preference(), groups)
    total = 0.0
    for group in range(4):
        rest, own = groups[a] != group, groups[a] == group
        part = Votes(a[rest], b[rest], Ballots.of(value[rest]), np.ones(rest.sum()), n)
        prior = make_prior(prepare(KERNEL, x, None, part), theta, part)
        found = infer(prior, part, Preference())
        half = np.linalg.solve(found.factor, prior.design.T)
        f, cov = prior.design @ found.mean, half.T @ half
        i, j = a[own], b[own]
        variance = cov[i, i] + cov[j, j] - 2 * cov[i, j]
        p = Preference().probability(f[i] - f[j], variance)[:, 0]
        total -= np.sum(np.log(np.where(value[own] == 1, p, 1 - p)))
    assert_allclose(quick, total / a.size, atol=0.02)


def test_equal_votes_are_counted_together_whatever_their_side():
    left, right = np.array([0, 1, 0, 2]), np.array([1, 0, 1, 0])
    value = np.array([1.0, 0.0, 0.5, 1.0])
    counts = count_votes(left, right, value, None)
    table = set(
        zip(counts.left.tolist(), counts.right.tolist(), counts.value.tolist(), counts.weight.tolist(), strict=True)
    )
    assert table == {(0, 1, 1.0, 2.0), (0, 1, 0.5, 1.0), (0, 2, 0.0, 1.0)}
    assert count_votes(left, right, value, None, np.ones(4)).left.size == 4
    votes = counts.votes(np.array([0, 1, 2]))
    memory = SiteMemory.of(counts, start_sites(votes), votes.weight)
    more = count_votes(np.array([0, 0, 1]), np.array([1, 1, 2]), np.array([1.0, 1.0, 1.0]), None)
    recalled = memory.recall(more, more.votes(np.array([0, 1, 2])))
    assert_allclose(recalled.precision, [0.6, 0.3], atol=1e-5)


def test_information_is_zero_for_known_scores_and_grows_with_doubt():
    mean, variance = np.zeros(4), np.array([0.0, 0.5, 2.0, 50.0])
    gain = bald(Preference(), mean, variance)
    assert_allclose(gain[0], 0.0, atol=1e-9)
    assert (np.diff(gain) > 0).all()
    assert gain[-1] < np.log(2)
    assert_allclose(uncertainty(Preference(), mean, variance), np.log(2))  # the entropy alone cannot tell them apart


def test_a_batch_spreads_over_items():
    left, right = np.array([0, 0, 2, 0]), np.array([1, 2, 3, 3])
    assert pick_pairs(np.array([4.0, 3.0, 2.0, 1.0]), left, right, 3).tolist() == [0, 2, 1]


@pytest.mark.parametrize("limit", [10_000, 30])
def test_candidates_stay_inside_their_group(limit):
    groups = np.array([0, 1, 0, 1, 0, 2, 1, 0])
    a, b = candidate_pairs(8, groups, limit, np.random.default_rng(0))
    assert (groups[a] == groups[b]).all()
    assert (a != b).all()
    assert a.size == min(limit, 9)


def test_pagerank_is_the_stationary_vector_of_the_walk():
    left, right, value = np.array([0, 1, 2, 0]), np.array([1, 2, 0, 3]), np.array([1.0, 1.0, 0.5, 1.0])
    found = pagerank(left, right, value, n_items=4)
    walk = np.zeros((4, 4))
    for i, j, v in zip(left, right, value, strict=True):
        walk[i, j] += v
        walk[j, i] += 1 - v
    lost = walk.sum(axis=0)
    walk = np.where(lost > 0, walk / np.where(lost > 0, lost, 1), 0.25)
    values, vectors = np.linalg.eig(0.85 * walk + 0.15 / 4)
    stationary = np.real(vectors[:, np.argmax(np.real(values))])
    assert_allclose(found, stationary / stationary.sum(), atol=1e-8)
