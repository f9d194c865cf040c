"""Calibration recovers known distortions."""

import numpy as np
import pytest
from scipy.special import expit

from accord.errors import InputError
from accord.evaluation.calibration import (
    binary_log_scores,
    fit_isotonic,
    fit_platt,
    fit_temperature,
    reliability_table,
)
from accord.evaluation.metrics import cross_entropy, expected_calibration_error


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=20_000)
    return scores, (rng.random(20_000) < expit(2.0 * scores - 0.5)).astype(int)


def test_the_table_sums_to_the_calibration_error(sample):
    scores, truth = sample
    p = expit(scores)
    table = reliability_table(truth, p, n_bins=15)
    assert table["n"].sum() == len(p)
    gap = (table["n"] * (table["observed"] - table["predicted"]).abs()).sum() / len(p)
    assert gap == pytest.approx(expected_calibration_error(truth, p, n_bins=15))


def test_platt_recovers_slope_and_intercept(sample):
    scores, truth = sample
    platt = fit_platt(truth, scores)
    assert platt.slope == pytest.approx(2.0, abs=0.1)  # 3 standard errors
    assert platt.intercept == pytest.approx(-0.5, abs=0.1)
    assert expected_calibration_error(truth, platt(scores)) < 0.01


def test_platt_moves_its_targets_off_zero_and_one():
    # Two points that a plain sigmoid would separate with an infinite slope: P(1) becomes (1 + 1) / (1 + 2).
    platt = fit_platt([0, 1], [-1.0, 1.0])
    np.testing.assert_allclose(platt(np.array([-1.0, 1.0])), [1 / 3, 2 / 3], atol=1e-4)
    with pytest.raises(InputError, match="both classes"):
        fit_platt([1, 1], [0.0, 1.0])


def test_temperature_recovers_a_known_one(sample):
    scores, truth = sample
    logits = 2.0 * scores - 0.5
    too_sure = expit(3.0 * logits)
    t = fit_temperature(truth, binary_log_scores(too_sure))
    assert t == pytest.approx(3.0, rel=0.05)
    assert cross_entropy(truth, expit(3.0 * logits / t)) < cross_entropy(truth, too_sure)


def test_isotonic_repairs_a_monotone_distortion(sample):
    scores, truth = sample
    p = expit(2.0 * scores - 0.5) ** 3
    repaired = fit_isotonic(truth, p).predict(p)
    assert expected_calibration_error(truth, repaired) < 0.01 < expected_calibration_error(truth, p)
    with pytest.raises(InputError, match=r"lie in \[0, 1\]"):
        fit_isotonic([1], [1.5])
