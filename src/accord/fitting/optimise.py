"""Optimisers: L-BFGS for whole-data losses and plain stochastic gradient steps.

A loss is a function ``weights -> (value, gradient)``. The optimisers know nothing of what the weights mean.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from accord.engines.convergence import Convergence, step_done
from accord.typing import FloatArray

__all__ = ["Loss", "Optimum", "l2_penalised", "minimise_lbfgs", "minimise_sgd"]

# The value no longer changes to working precision.
_PRECISION = 1e-14

Loss = Callable[[FloatArray], tuple[float, FloatArray]]


@dataclass(frozen=True, eq=False)
class Optimum:
    """The end of an optimisation."""

    weights: FloatArray  # (n_weights,)
    value: float
    convergence: Convergence


def l2_penalised(loss: Loss, strength: float | FloatArray) -> Loss:
    """The loss plus ½ Σ strength·weight². A strength of 0 leaves a weight (a bias) free."""

    def penalised(weights: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = loss(weights)
        return value + 0.5 * float(np.sum(strength * weights**2)), gradient + strength * weights

    return penalised


def minimise_lbfgs(
    loss: Loss,
    start: FloatArray,
    *,
    max_iter: int = 500,
    tol: float = 1e-6,
    value_tol: float | None = None,
    bounds: Sequence[tuple[float | None, float | None]] | None = None,
    callback: Callable[[FloatArray], Any] | None = None,
) -> Optimum:
    """Minimise a smooth loss by L-BFGS.

    Parameters
    ----------
    loss : callable
        Weights to (value, gradient).
    start : array of shape (n_weights,)
    max_iter : int
    tol : float
        Largest absolute (projected) gradient entry at which the search stops. Where the value, and with it rounding, is
        larger than 1, the optimum counts as reached up to this share of it.
    value_tol : float, optional
        The optimum also counts as reached once a step improves the value by less than this share of it. Without it
        the search ends where the value no longer changes, and has converged only if the gradient says so.
    bounds : sequence of (low, high), optional
        One pair a weight; ``None`` for no bound.
    callback : callable, optional
        Called with the weights after every iteration.

    Returns
    -------
    Optimum
        ``convergence.residual`` is the largest absolute projected gradient entry.
    """
    ftol = _PRECISION if value_tol is None else value_tol

    def after(weights: FloatArray) -> None:
        step_done()
        if callback is not None:
            callback(weights)

    result = minimize(
        loss,
        np.asarray(start, dtype=np.float64),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        callback=after,
        options={"maxiter": max_iter, "maxfun": 4 * max_iter + 50, "gtol": tol, "ftol": ftol, "maxcor": 20},
    )
    gradient = np.asarray(result.jac, dtype=np.float64)
    if bounds is not None:
        low = np.array([-np.inf if b[0] is None else b[0] for b in bounds])
        high = np.array([np.inf if b[1] is None else b[1] for b in bounds])
        gradient = result.x - np.clip(result.x - gradient, low, high)
    residual = float(np.abs(gradient).max(initial=0.0))
    met = residual <= tol * max(1.0, abs(float(result.fun)))
    converged = met or (value_tol is not None and bool(result.success))
    return Optimum(np.asarray(result.x), float(result.fun), Convergence(converged, int(result.nit), residual))


def minimise_sgd(
    gradient: Callable[[FloatArray, Any], FloatArray],
    start: FloatArray,
    batches: Callable[[int, np.random.Generator], Iterable[Any]],
    *,
    n_epochs: int,
    step_size: Callable[[int], float],
    rng: np.random.Generator,
    average: bool = False,
) -> FloatArray:
    """Stochastic gradient descent: ``weights ← weights − step_size(t)·gradient(weights, batch)``.

    Parameters
    ----------
    gradient : callable
        ``(weights, batch) -> gradient`` of shape (n_weights,).
    start : array of shape (n_weights,)
    batches : callable
        ``(epoch, rng) -> iterable of batches``; shuffles itself with the given generator.
    n_epochs : int
    step_size : callable
        Step number, from 0, to step size.
    rng : numpy.random.Generator
    average : bool
        Return the mean of all iterates instead of the last one.

    Returns
    -------
    weights : array of shape (n_weights,)
    """
    weights = np.array(start, dtype=np.float64)
    total, t = np.zeros_like(weights), 0
    for epoch in range(n_epochs):
        for batch in batches(epoch, rng):
            weights = weights - step_size(t) * gradient(weights, batch)
            total += weights
            t += 1
    return total / t if average and t else weights
