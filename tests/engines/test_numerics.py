import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from accord.engines.numerics import (
    cholesky,
    inverse_from_cholesky,
    inverse_mills,
    log_normalise,
    log_sigmoid,
    log_sum_exp,
    normalise_log,
    sigmoid,
    spread,
)
from accord.errors import InputError

numbers = st.floats(-700, 700)


@given(st.lists(numbers, min_size=1, max_size=6))
def test_probabilities_sum_to_one(weights):
    assert_allclose(normalise_log(np.array(weights)).sum(), 1.0, atol=1e-12)


def test_log_normalise_keeps_impossible_entries_and_refuses_impossible_slices():
    assert_allclose(np.exp(log_normalise(np.array([0.0, -np.inf, 0.0]))), [0.5, 0.0, 0.5])
    with pytest.raises(InputError, match="at least one finite"):
        log_normalise(np.array([-np.inf, -np.inf]))


@given(st.lists(st.lists(numbers | st.just(-np.inf), min_size=3, max_size=3), min_size=1, max_size=4))
def test_log_sum_exp_is_that_of_scipy(weights):
    rows = np.array(weights)
    for axis in (0, 1, -1):
        assert_allclose(log_sum_exp(rows, axis=axis), logsumexp(rows, axis=axis, keepdims=True), rtol=1e-14, atol=1e-14)


@given(numbers)
def test_sigmoid_matches_high_precision(x):
    exact = 1 / (1 + mpmath.exp(-mpmath.mpf(x)))
    assert_allclose(sigmoid(np.array(x)), float(exact), atol=1e-15)
    assert_allclose(log_sigmoid(np.array(x)), float(mpmath.log(exact)), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("z", [-40.0, -8.0, -1.0, 0.0, 2.0, 9.0])
def test_inverse_mills_matches_high_precision(z):
    mpmath.mp.dps = 60
    exact = mpmath.npdf(z) / mpmath.ncdf(z)
    assert_allclose(inverse_mills(np.array(z)), float(exact), rtol=1e-8, atol=1e-300)


def test_cholesky_adds_no_jitter_where_none_is_needed():
    matrix = np.array([[4.0, 2.0], [2.0, 3.0]])
    factor = cholesky(matrix)
    assert_allclose(factor @ factor.T, matrix, rtol=1e-14)


def test_cholesky_mends_a_singular_matrix_and_refuses_a_negative_one():
    ones = np.ones((5, 5))
    factor = cholesky(ones)
    assert_allclose(factor @ factor.T, ones, atol=1e-3)
    with pytest.raises(InputError, match="positive definite"):
        cholesky(np.array([[1.0, 3.0], [3.0, 1.0]]))


def test_cholesky_names_the_jitter_it_tried():
    with pytest.raises(InputError, match=r"with 0\.01 added"):
        cholesky(np.diag([-1.0, 3.0]), jitter=1e-4, max_tries=3)


def test_the_inverse_from_a_factor_is_the_inverse():
    half = np.random.default_rng(0).normal(size=(6, 8))
    matrix = half @ half.T
    assert_allclose(inverse_from_cholesky(np.linalg.cholesky(matrix)), np.linalg.inv(matrix), atol=1e-10)
    with pytest.raises(InputError, match="positive diagonal"):
        inverse_from_cholesky(np.zeros((2, 2)))


def test_a_spread_is_the_standard_deviation_and_rounding_is_none():
    rng = np.random.default_rng(0)
    varied, noise = rng.normal(size=50), 1e-16 * rng.integers(-1, 2, 50)
    values = np.column_stack([varied, 1e-6 * varied, noise, 1.0 + noise, 1e6 * (1.0 + noise)])
    assert_allclose(spread(values), [varied.std(), 1e-6 * varied.std(), 1.0, 1.0, 1.0])
    assert_allclose(spread(np.empty((0, 2))), [1.0, 1.0])
