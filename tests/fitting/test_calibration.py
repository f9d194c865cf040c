"""Platt's sigmoid against scikit-learn's, and on scores whose true sigmoid is known."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.calibration import _SigmoidCalibration

from accord.fitting.calibration import fit_platt, log_probabilities


def _scores(n=400, slope=1.7, offset=-0.4):
    rng = np.random.default_rng(1)
    d = rng.normal(size=n)
    return d, (rng.random(n) < 1 / (1 + np.exp(-(slope * d + offset)))).astype(int)


def test_sigmoid_equals_scikit_learn():
    d, codes = _scores()
    other = _SigmoidCalibration().fit(d, codes)  # P = 1 / (1 + exp(a·d + b))
    assert_allclose(fit_platt(d, codes).ravel(), [-other.a_, -other.b_], rtol=1e-3)


def test_many_scores_find_the_true_sigmoid():
    d, codes = _scores(n=20000)
    assert_allclose(fit_platt(d, codes).ravel(), [1.7, -0.4], atol=0.1)


def test_separable_scores_do_not_give_certainty():
    d = np.array([-2.0, -1.0, 1.0, 2.0])
    log_p = log_probabilities(d, fit_platt(d, np.array([0, 0, 1, 1])))
    assert np.exp(log_p).min() > 0.1


def test_a_score_that_points_the_wrong_way_gives_the_share():
    d = np.array([1.0, 2.0, -1.0, -2.0])
    assert_allclose(np.exp(log_probabilities(d, fit_platt(d, np.array([0, 0, 1, 1])))), 0.5, atol=1e-6)


def test_probabilities_of_three_labels_sum_to_one():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, 300)
    scores = rng.normal(size=(300, 3)) + 2.0 * np.eye(3)[codes]
    p = np.exp(log_probabilities(scores, fit_platt(scores, codes, n_labels=3)))
    assert_allclose(p.sum(axis=1), 1.0)
    assert (p.argmax(axis=1) == codes).mean() > 0.8
