"""The one convergence loop of the project.

Every iterative method hands a pure step to :func:`iterate`. States are never changed in place by the loop's
caller, so a state can never be compared with its own alias.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from accord.errors import ConvergenceWarning

__all__ = ["Convergence", "iterate", "step_done", "telling_steps", "warn_unconverged"]

State = TypeVar("State")
_told: ContextVar[Callable[[], None] | None] = ContextVar("told", default=None)


@contextmanager
def telling_steps(told: Callable[[], None]) -> Iterator[None]:
    """Call ``told`` after every step of every iteration inside, so that a person sees that a long fit moves."""
    token = _told.set(told)
    try:
        yield
    finally:
        _told.reset(token)


def step_done() -> None:
    """One step of an iteration is done."""
    told = _told.get()
    if told is not None:
        told()


@dataclass(frozen=True)
class Convergence:
    """How an iteration ended."""

    converged: bool
    n_iter: int
    residual: float


def largest_change(old: Any, new: Any) -> float:
    """Largest absolute difference between two states, each an array or a tuple of arrays."""
    if isinstance(new, tuple):
        return max((largest_change(o, n) for o, n in zip(old, new, strict=True)), default=0.0)
    if new is old:
        raise RuntimeError("the step returned its own input; a step must return a new state, or it always 'converges'")
    difference = np.abs(np.asarray(new) - np.asarray(old))
    return float(difference.max(initial=0.0))


def iterate(
    step: Callable[[State], State],
    start: State,
    *,
    max_iter: int = 100,
    tol: float = 1e-6,
    change: Callable[[State, State], float] = largest_change,
) -> tuple[State, Convergence]:
    """Repeat ``step`` from ``start`` until the state changes by at most ``tol``.

    Parameters
    ----------
    step : callable
        A pure function from state to state. It must not change its argument.
    start : array or tuple of arrays
        The first state.
    max_iter : int
        Most steps taken.
    tol : float
        The iteration has converged when ``change(old, new) <= tol``.
    change : callable
        Distance between two states; by default the largest absolute difference.

    Returns
    -------
    state : array or tuple of arrays
        The last state.
    convergence : Convergence
        Whether it converged, after how many steps, and the last change.
    """
    state, residual = start, np.inf
    for n_iter in range(1, max_iter + 1):
        new = step(state)
        step_done()
        residual = change(state, new)
        state = new
        if residual <= tol:
            return state, Convergence(True, n_iter, residual)
    return state, Convergence(False, max_iter, residual)


def warn_unconverged(what: str, convergence: Convergence, *, cure: str, stacklevel: int = 3) -> None:
    """Warn, naming the residual and the cure, if an iteration did not converge."""
    if not convergence.converged:
        warnings.warn(
            f"{what} stopped after {convergence.n_iter} steps with a residual of {convergence.residual:.3g}. {cure}",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
