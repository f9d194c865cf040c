from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import norm

from accord.pairs.process.likelihoods import Ballots, Preference, expectation, linearised, log_rates, log_votes, point

RATES = (0.0, 0.3, 1.0)
CASES = [
    Preference(),
    Preference(bias=0.4),
    Preference(margin=0.7),
    Preference(bias=-0.3, margin=0.2),
    Preference(bias=0.2, margin=0.4, rates=RATES, tie_chance=0.2),
    Preference(rates=RATES),
    Preference(bias=0.3, margin=0.2, rates=(0.0, 0.0, 1.0), tie_chance=0.1, leans=(0.0, 0.8, 0.0)),
]
Z = np.linspace(-9.0, 9.0, 37)


def ballots(likelihood, vote, n, rate=None, side=1.0):
    """Votes of one kind, by people of one rate of random answers, or of all rates alike."""
    k = len(likelihood.rates)
    share = np.full((n, k), 1.0 / k) if rate is None else np.eye(k)[np.full(n, rate)]
    return Ballots(np.full(n, vote), np.full(n, side), share)


def log_density(likelihood, z, vote, rate=None, side=1.0):
    return point(
        likelihood, np.asarray(z, dtype=float), np.zeros(len(z)), ballots(likelihood, vote, len(z), rate, side)
    )


@pytest.mark.parametrize("likelihood", CASES)
@pytest.mark.parametrize("vote", [0.0, 0.5, 1.0])
def test_derivatives_match_central_differences(likelihood, vote):
    h = 1e-5
    _, slope, curve = log_density(likelihood, Z, vote)
    up, up_slope, _ = log_density(likelihood, Z + h, vote)
    down, down_slope, _ = log_density(likelihood, Z - h, vote)
    assert_allclose(slope, (up - down) / (2 * h), atol=1e-6)
    assert_allclose(curve, -(up_slope - down_slope) / (2 * h), atol=1e-5)
    if len(likelihood.rates) == 1:
        assert (curve >= 0).all()  # log-concave


@pytest.mark.parametrize("likelihood", [Preference(margin=0.7), Preference(0.2, 0.05), CASES[4]])
@pytest.mark.parametrize("side", [-1.0, 0.0, 1.0])
def test_three_answers_share_all_the_probability(likelihood, side):
    for rate in range(len(likelihood.rates)):
        total = sum(np.exp(log_density(likelihood, Z, vote, rate, side)[0]) for vote in (0.0, 0.5, 1.0))
        assert_allclose(total, 1.0, atol=1e-12)
        assert_allclose(likelihood.probability(Z, np.ones(Z.size), side, rate=0.3).sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("margin", [0.0, 0.4])
@pytest.mark.parametrize("side", [-1.0, 0.0, 1.0])
def test_a_lean_is_a_bias_of_its_own(side, margin):
    leaning = Preference(
        bias=0.3, margin=margin, rates=(0.0, 0.3, 0.0), tie_chance=0.2 * margin, leans=(0.0, 0.0, -0.8)
    )
    plain = replace(leaning, bias=-0.5, rates=(0.0,), leans=())
    for vote in (0.0, 0.5, 1.0):
        mine, theirs = log_density(leaning, Z, vote, 2, side), log_density(plain, Z, vote, 0, side)
        assert_allclose(np.stack(mine), np.stack(theirs))
        logs = (one.answered(Z, np.ones(Z.size), ballots(one, vote, Z.size, 0, side)) for one in (leaning, plain))
        assert_allclose(next(logs)[:, 2], next(logs)[:, 0])


def test_far_tails_are_not_clamped():
    # log Φ(−30/√2) from SciPy's normal distribution; a z clamped at ±3 would give −6.6.
    log_p, slope, _ = log_density(Preference(), [-30.0], 1.0)
    assert_allclose(log_p[0], norm.logcdf(-30 / np.sqrt(2)), rtol=1e-9)
    assert slope[0] > 14


def test_swapping_sides_and_answer_changes_nothing():
    for likelihood in (Preference(), Preference(margin=0.4), CASES[4]):
        a, b = log_density(likelihood, Z, 1.0, side=1.0), log_density(likelihood, -Z, 0.0, side=-1.0)
        assert_allclose(a[0], b[0])
        assert_allclose(a[1], -b[1])


def test_random_answers_are_mixed_in_at_their_rate():
    likelihood = replace(CASES[4], bias=0.0)
    honest = np.exp(log_density(likelihood, Z, 1.0, 0)[0])
    assert_allclose(np.exp(log_density(likelihood, Z, 1.0, 1)[0]), 0.7 * honest + 0.3 * 0.4)
    assert_allclose(np.exp(log_density(likelihood, Z, 1.0, 2)[0]), 0.4)
    assert_allclose(np.exp(log_density(likelihood, Z, 0.5, 2)[0]), 0.2)


@pytest.mark.parametrize("likelihood", [Preference(margin=0.5), CASES[4]])
@pytest.mark.parametrize("vote", [0.0, 0.5, 1.0])
def test_expectations_match_adaptive_integration(likelihood, vote):
    mean, variance = np.array([-1.5, 0.3, 2.0, 0.7]), np.array([0.2, 1.0, 3.0, 0.03])
    got = expectation(likelihood, mean, variance, ballots(likelihood, vote, 4))
    for k in range(4):
        for which in range(3):

            def integrand(z, k=k, which=which):
                return log_density(likelihood, [z], vote)[which][0] * norm.pdf(z, mean[k], np.sqrt(variance[k]))

            width = 12 * np.sqrt(variance[k])
            assert_allclose(got[which][k], quad(integrand, mean[k] - width, mean[k] + width)[0], atol=5e-4)


def test_predicted_probabilities_match_sampling():
    likelihood, rng = CASES[4], np.random.default_rng(0)
    z = rng.normal(0.5, 1.2, 400_000)
    for rate in range(3):
        sampled = [np.exp(log_density(likelihood, z, vote, rate)[0]).mean() for vote in (1.0, 0.5, 0.0)]
        found = likelihood.probability(np.array([0.5]), np.array([1.44]), 1.0, rate=RATES[rate])[0]
        assert_allclose(found, sampled, atol=2e-3)
        for column, vote in enumerate((1.0, 0.5, 0.0)):
            logs = likelihood.answered(np.array([0.5]), np.array([1.44]), ballots(likelihood, vote, 1))[0]
            assert_allclose(np.exp(logs[rate]), sampled[column], atol=2e-3)


def test_the_likelihood_of_chains_is_that_of_the_formula_and_its_slopes_are_those_of_differences():
    rates, leans, margin = np.array([0.0, 0.3, 1.0, 0.0]), np.array([0.0, 0.0, 0.0, 0.8]), 0.5
    z, side = np.array([-9.0, -1.5, 0.2, 0.4, 3.0, 0.7]), np.array([1.0, -1.0, 0.0, 1.0, -1.0, 1.0])
    answer = np.array([1, -1, 0, 0, 1, 0])
    chance = np.where(answer == 0, 0.2, 0.4)
    counts = np.array([[1, 0, 0, 0], [0, 2, 0, 0], [0.5, 0.5, 0, 1], [0, 0, 3, 0], [0, 0, 0, 1], [1, 1, 1, 1.0]])

    def formula(z, margin):
        shown = z[:, None] + side[:, None] * leans
        right, left = norm.cdf((-margin - shown) / np.sqrt(2)), norm.sf((margin - shown) / np.sqrt(2))
        p = np.choose(1 + answer[:, None], [right, 1 - left - right, left])
        return np.log((1 - rates) * p + rates * chance[:, None])

    def whole(z, margin):
        return (counts * formula(z, margin)).sum()

    found, by_z, step = np.empty((6, 4)), np.empty(6), 1e-5
    log_rates(z, answer, side, margin, rates, leans, chance, found)
    assert_allclose(found, formula(z, margin), rtol=1e-9)
    total, by_margin = log_votes(z, answer, side, margin, rates, leans, chance, counts, by_z)
    assert_allclose(total, whole(z, margin), rtol=1e-9)
    assert_allclose(by_margin, (whole(z, margin + step) - whole(z, margin - step)) / (2 * step), rtol=1e-6)
    moved = [(whole(z + d, margin) - whole(z - d, margin)) / (2 * step) for d in step * np.eye(6)]
    assert_allclose(by_z, moved, rtol=1e-6, atol=1e-8)


def test_the_point_rule_is_the_limit_of_the_expectation():
    said = Ballots.of(np.array([1.0, 0.0, 0.5]))
    mean = np.array([0.3, -0.2, 1.0])
    for a, b in zip(
        point(Preference(), mean, np.ones(3), said),
        expectation(Preference(), mean, np.full(3, 1e-14), said),
        strict=True,
    ):
        assert_allclose(a, b, atol=1e-6)


def test_the_published_linearisation_pulls_towards_the_vote_with_the_published_noise():
    _, slope, precision = linearised(Preference(spread=100.0), np.zeros(3), np.ones(3), Ballots.of([1.0, 0.5, 0.0]))
    assert slope[0] > 0
    assert_allclose(slope[1], 0.0)
    assert_allclose(slope[2], -slope[0])
    # Q = G²/precision; the published code has .022 at a₀ = 2, b₀ = 200, where the scores' variance is 100.
    assert_allclose(1.0 / (4.0 * np.pi) / precision[0], 0.0224, atol=2e-4)
    # The Beta distribution has the mean and variance of Φ(u), u ~ N(0, 100); with the vote added, the mean of p(1 − p).
    p = norm.cdf(np.random.default_rng(0).normal(0, 10, 1_000_000))
    size = 0.25 / p.var() - 1.0
    a, b = 0.5 * size + 1.0, 0.5 * size
    assert_allclose(1.0 / (4.0 * np.pi) / precision[0], a * b / ((a + b) * (a + b + 1.0)), rtol=0.02)


def test_bias_and_margin_are_recovered():
    rng = np.random.default_rng(1)
    z = rng.normal(0, 1.0, 20_000)
    side = rng.choice([-1.0, 1.0], z.size)
    noisy = z + 0.5 * side + rng.normal(0, np.sqrt(2), z.size)
    value = np.where(noisy > 0.6, 1.0, np.where(noisy < -0.6, 0.0, 0.5))
    found = Preference(margin=0.3)
    said = Ballots(value, side, np.ones((z.size, 1)))
    for _ in range(4):
        found = found.refit(z, np.full(z.size, 1e-12), said, np.ones(z.size), bias=True, margin=True)
    assert_allclose([found.bias, found.margin], [0.5, 0.6], atol=0.1)
