import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import norm

from accord.pairs.process.likelihoods import Preference, expectation, linearised, point

CASES = [Preference(), Preference(bias=0.4), Preference(margin=0.7), Preference(bias=-0.3, margin=0.2)]
Z = np.linspace(-9.0, 9.0, 37)


@pytest.mark.parametrize("likelihood", CASES)
@pytest.mark.parametrize("vote", [0.0, 0.5, 1.0])
def test_derivatives_match_central_differences(likelihood, vote):
    value, h = np.full(Z.size, vote), 1e-5
    _, slope, curve = likelihood.log_density(Z, value)
    up, up_slope, _ = likelihood.log_density(Z + h, value)
    down, down_slope, _ = likelihood.log_density(Z - h, value)
    assert_allclose(slope, (up - down) / (2 * h), atol=1e-6)
    assert_allclose(curve, -(up_slope - down_slope) / (2 * h), atol=1e-5)
    assert (curve >= 0).all()  # log-concave


@pytest.mark.parametrize("likelihood", [Preference(margin=0.7), Preference(bias=0.2, margin=0.05)])
def test_three_answers_share_all_the_probability(likelihood):
    total = sum(np.exp(likelihood.log_density(Z, np.full(Z.size, vote))[0]) for vote in (0.0, 0.5, 1.0))
    assert_allclose(total, 1.0, atol=1e-12)
    assert_allclose(likelihood.probability(Z, np.ones(Z.size)).sum(axis=1), 1.0, atol=1e-12)


def test_far_tails_are_not_clamped():
    # log Φ(−30/√2) from SciPy's normal distribution; a z clamped at ±3 would give −6.6.
    log_p, slope, _ = Preference().log_density(np.array([-30.0]), np.array([1.0]))
    assert_allclose(log_p[0], norm.logcdf(-30 / np.sqrt(2)), rtol=1e-12)
    assert slope[0] > 14


def test_swapping_sides_and_answer_changes_nothing():
    for likelihood in (Preference(), Preference(margin=0.4)):
        a = likelihood.log_density(Z, np.ones(Z.size))
        b = likelihood.log_density(-Z, np.zeros(Z.size))
        assert_allclose(a[0], b[0])
        assert_allclose(a[1], -b[1])


@pytest.mark.parametrize("vote", [0.0, 0.5, 1.0])
def test_expectations_match_adaptive_integration(vote):
    likelihood = Preference(margin=0.5)
    mean, variance = np.array([-1.5, 0.3, 2.0]), np.array([0.2, 1.0, 3.0])
    value = np.full(3, vote)
    got = expectation(likelihood, mean, variance, value)
    for k in range(3):
        for which in range(3):

            def integrand(z, k=k, which=which):
                term = likelihood.log_density(np.array([z]), np.array([vote]))[which][0]
                return term * norm.pdf(z, mean[k], np.sqrt(variance[k]))

            width = 12 * np.sqrt(variance[k])
            assert_allclose(got[which][k], quad(integrand, mean[k] - width, mean[k] + width)[0], atol=2e-4)


def test_predicted_probabilities_match_sampling():
    likelihood, rng = Preference(bias=0.3, margin=0.4), np.random.default_rng(0)
    z = rng.normal(0.5, 1.2, 400_000)
    sampled = [np.exp(likelihood.log_density(z, np.full(z.size, vote))[0]).mean() for vote in (1.0, 0.5, 0.0)]
    assert_allclose(likelihood.probability(np.array([0.5]), np.array([1.44]))[0], sampled, atol=2e-3)


def test_the_point_rule_is_the_limit_of_the_expectation():
    value = np.array([1.0, 0.0, 0.5])
    mean = np.array([0.3, -0.2, 1.0])
    for a, b in zip(
        point(Preference(), mean, np.ones(3), value),
        expectation(Preference(), mean, np.full(3, 1e-14), value),
        strict=True,
    ):
        assert_allclose(a, b, atol=1e-6)


def test_the_published_linearisation_pulls_towards_the_vote():
    _, slope, precision = linearised(Preference(), np.zeros(3), np.ones(3), np.array([1.0, 0.5, 0.0]))
    assert slope[0] > 0
    assert_allclose(slope[1], 0.0)
    assert_allclose(slope[2], -slope[0])
    assert (precision > 0).all()


def test_bias_and_margin_are_recovered():
    rng = np.random.default_rng(1)
    z = rng.normal(0, 1.0, 5_000)
    noisy = z + 0.5 + rng.normal(0, np.sqrt(2), z.size)
    value = np.where(noisy > 0.6, 1.0, np.where(noisy < -0.6, 0.0, 0.5))
    found = Preference(margin=0.3)
    for _ in range(3):
        found = found.refit(z, np.full(z.size, 1e-12), value, np.ones(z.size), bias=True, margin=True)
    assert_allclose([found.bias, found.margin], [0.5, 0.6], atol=0.08)
