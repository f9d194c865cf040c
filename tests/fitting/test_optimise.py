import numpy as np
from numpy.testing import assert_allclose

from accord.fitting.optimise import l2_penalised, minimise_lbfgs, minimise_sgd


def rosenbrock(w):
    a, b = w
    value = (1 - a) ** 2 + 100 * (b - a * a) ** 2
    return value, np.array([-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)])


def test_lbfgs_finds_the_minimum_of_rosenbrock():
    found = minimise_lbfgs(rosenbrock, np.array([-1.2, 1.0]))
    assert_allclose(found.weights, [1.0, 1.0], atol=1e-5)
    assert found.convergence.converged


def test_lbfgs_respects_bounds_and_measures_the_projected_gradient():
    found = minimise_lbfgs(lambda w: (float(w @ w), 2 * w), np.array([3.0, 3.0]), bounds=[(1.0, None), (None, None)])
    assert_allclose(found.weights, [1.0, 0.0], atol=1e-6)
    assert found.convergence.residual < 1e-5


def test_lbfgs_says_when_it_ran_out_of_steps():
    assert not minimise_lbfgs(rosenbrock, np.array([-1.2, 1.0]), max_iter=2).convergence.converged


def test_lbfgs_has_converged_only_where_a_tolerance_that_was_stated_is_met():
    def coarse(w):  # rounding hides the last improvements, as that of an engine that is not exact
        value, gradient = rosenbrock(w)
        return round(value, 2), gradient

    stopped = minimise_lbfgs(coarse, np.array([-1.2, 1.0]), tol=1e-6).convergence
    assert stopped.residual > 1e-4
    assert not stopped.converged
    assert minimise_lbfgs(coarse, np.array([-1.2, 1.0]), tol=1e-6, value_tol=0.01).convergence.converged


def test_a_sum_over_many_rows_has_converged_where_its_rounding_ends():
    def large(w):
        value, gradient = rosenbrock(w)
        return 1e5 * (1.0 + value), 1e5 * gradient

    found = minimise_lbfgs(large, np.array([-1.2, 1.0]), tol=1e-6)
    assert found.convergence.converged
    assert_allclose(found.weights, [1.0, 1.0], atol=1e-4)


def test_the_penalty_adds_to_value_and_gradient_and_can_spare_a_bias():
    value, gradient = l2_penalised(lambda w: (0.0, np.zeros(2)), np.array([2.0, 0.0]))(np.array([3.0, 5.0]))
    assert value == 9.0
    assert_allclose(gradient, [6.0, 0.0])


def test_sgd_solves_least_squares_and_averages():
    rng = np.random.default_rng(0)
    x, truth = rng.normal(size=(200, 3)), np.array([1.0, -2.0, 0.5])
    y = x @ truth

    def gradient(w, row):
        return (x[row] @ w - y[row]) * x[row]

    def run(average):
        return minimise_sgd(
            gradient, np.zeros(3), lambda epoch, r: r.permutation(200), n_epochs=20, step_size=lambda t: 0.05,
            rng=np.random.default_rng(1), average=average,
        )  # fmt: skip

    assert_allclose(run(False), truth, atol=1e-6)
    assert_allclose(run(True), truth, atol=0.02)
    assert_allclose(run(False), run(False), atol=0)
