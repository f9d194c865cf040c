import numpy as np
from numpy.testing import assert_allclose
from scipy.special import ndtr

from accord.pairs.questions import answer_precision, transfer


def test_the_precision_of_an_answer_is_its_expected_fisher_information():
    rng = np.random.default_rng(0)
    mean, variance = np.array([0.0, 1.5, -3.0]), np.array([0.0, 2.0, 0.5])
    z = mean + np.sqrt(variance) * rng.normal(size=(200_000, 1))
    p, step = ndtr(z / np.sqrt(2)), 1e-4
    slope = (ndtr((z + step) / np.sqrt(2)) - ndtr((z - step) / np.sqrt(2))) / (2 * step)
    assert_allclose(answer_precision(mean, variance), np.mean(slope**2 / (p * (1 - p)), axis=0), rtol=0.02)


def test_a_vote_transfers_what_its_difference_has_in_common_with_others():
    mean, variance = np.zeros(3), np.array([1.0, 1.0, 4.0])
    covariance = np.array([[0.0, 0.0], [0.9, 0.0], [0.9, 0.0]])
    gain = transfer(mean, variance, np.zeros(2), np.ones(2), covariance)
    assert gain[0] == 0.0
    # The same covariance out of a larger variance is a weaker correlation.
    assert gain[1] > gain[2] > 0.0
    noise = 1.0 / answer_precision(np.zeros(1), np.ones(1))[0]
    assert_allclose(gain[1], -0.25 * np.log(1.0 - (0.9 / (1.0 + noise)) ** 2))
