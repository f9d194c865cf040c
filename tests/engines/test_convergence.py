import numpy as np
import pytest
from numpy.testing import assert_allclose

from accord.engines.convergence import Convergence, iterate, warn_unconverged
from accord.errors import ConvergenceWarning


def test_iterate_finds_the_fixed_point_of_cosine():
    # The Dottie number, known to ten decimals.
    state, convergence = iterate(np.cos, np.array([1.0]), max_iter=200, tol=1e-12)
    assert_allclose(state, 0.7390851332, atol=1e-10)
    assert convergence.converged
    assert convergence.residual <= 1e-12


def test_iterate_counts_its_steps():
    _, convergence = iterate(lambda x: x / 2, np.array([1.0]), max_iter=100, tol=0.1)
    # Changes are 1/2, 1/4, 1/8, 1/16: the fourth is the first below 0.1.
    assert convergence == Convergence(True, 4, 0.0625)


def test_iterate_says_when_it_did_not_converge():
    _, convergence = iterate(lambda x: -x, np.array([1.0]), max_iter=7)
    assert convergence == Convergence(False, 7, 2.0)


def test_a_step_that_returns_its_own_input_is_refused():
    def in_place(x):
        x += 1.0
        return x

    with pytest.raises(RuntimeError, match="its own input"):
        iterate(in_place, np.array([0.0]))


def test_states_may_be_tuples_and_empty():
    (a, b), convergence = iterate(lambda s: (s[0] / 2, s[1] * 1.0), (np.ones(3), np.zeros(0)), tol=1e-3)
    assert convergence.converged
    assert a.max() < 2e-3
    assert b.size == 0


def test_the_warning_names_residual_and_cure():
    with pytest.warns(ConvergenceWarning, match=r"residual of 0\.25\. Raise max_iter\."):
        warn_unconverged("The ranking", Convergence(False, 3, 0.25), cure="Raise max_iter.")
    warn_unconverged("The ranking", Convergence(True, 3, 0.0), cure="")
