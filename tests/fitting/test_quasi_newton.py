import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from accord.fitting.quasi_newton import Curvature, minimise_boxed


def rosenbrock(w):
    a, b = w
    value = (1 - a) ** 2 + 100 * (b - a * a) ** 2
    return value, np.array([-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)])


def counted(loss):
    values = []

    def wrapped(w):
        found = loss(w)
        values.append(found[0])
        return found

    return wrapped, values


def bowl(seed, n=30):
    """A quadratic loss whose curvatures differ a thousandfold, and its minimum."""
    rng = np.random.default_rng(seed)
    q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(n, n)))
    hessian, best = (q * np.logspace(0, 3, n)) @ q.T, rng.normal(size=n)
    return lambda w: (0.5 * (w - best) @ hessian @ (w - best), hessian @ (w - best)), best


def test_it_finds_the_minimum_of_rosenbrock():
    found, _ = minimise_boxed(rosenbrock, np.array([-1.2, 1.0]), low=-5.0, high=5.0)
    assert_allclose(found.weights, [1.0, 1.0], atol=1e-6)
    assert found.convergence.converged


@pytest.mark.parametrize("seed", range(5))
def test_between_bounds_it_ends_where_scipy_ends(seed):
    loss, _ = bowl(seed)
    found, _ = minimise_boxed(loss, np.zeros(30), low=-0.4, high=0.7, max_iter=2000, tol=1e-5)
    theirs = minimize(
        loss, np.zeros(30), jac=True, method="L-BFGS-B", bounds=[(-0.4, 0.7)] * 30,
        options={"gtol": 1e-8, "ftol": 1e-15, "maxiter": 2000},
    )  # fmt: skip
    assert found.convergence.converged
    assert_allclose(found.weights, theirs.x, atol=1e-4)
    assert np.isclose(np.abs(found.weights - 0.15), 0.55).any()  # some weights are held by a bound


def test_every_step_lowers_the_loss():
    reached = [minimise_boxed(rosenbrock, np.array([-1.2, 1.0]), low=-5.0, high=5.0, max_iter=k)[0] for k in range(25)]
    assert np.diff([one.value for one in reached]).max() < 0.0
    assert [one.convergence.n_iter for one in reached] == list(range(25))


@pytest.mark.parametrize("seed", range(4))
def test_what_was_learnt_of_one_loss_saves_evaluations_of_the_next(seed):
    _, curvature = minimise_boxed(bowl(10 + seed, 8)[0], np.zeros(8), low=-9.0, high=9.0, max_iter=30)
    spent = []
    for known in (None, curvature):
        loss, values = counted(bowl(20 + seed, 8)[0])
        minimise_boxed(loss, np.zeros(8), low=-9.0, high=9.0, curvature=known, tol=1e-2)
        spent.append(len(values))
    assert spent[1] < 0.6 * spent[0]


def test_curvature_of_another_loss_does_not_keep_it_from_the_minimum():
    misleading = Curvature((np.array([1.0, 0.0]), np.array([0.0, 1.0])), (np.array([1e-6, 0.0]), np.array([0.0, 1e6])))
    found, _ = minimise_boxed(rosenbrock, np.array([-1.2, 1.0]), low=-5.0, high=5.0, curvature=misleading)
    assert_allclose(found.weights, [1.0, 1.0], atol=1e-6)


def test_a_loss_that_only_rounding_changes_ends_the_search():
    def flat(w):
        return 1.0, np.ones(2)  # no step keeps what the slope promises

    loss, values = counted(flat)
    found, _ = minimise_boxed(loss, np.zeros(2), low=-1.0, high=1.0)
    assert not found.convergence.converged
    assert len(values) < 20
    assert_allclose(found.weights, 0.0)


def test_a_step_along_which_the_loss_bends_down_teaches_nothing():
    assert Curvature().followed_by(np.ones(2), -np.ones(2)).steps == ()
