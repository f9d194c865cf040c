"""L-BFGS between bounds that remembers the curvature from one search to the next.

Where a loss is minimised many times and changes a little in between, the curvature learnt last time is as good as any:
the first step already has about the right length, and a search costs hardly more evaluations than it makes steps.
"""

from dataclasses import dataclass

import numpy as np

from accord.engines.convergence import Convergence, step_done
from accord.fitting.optimise import Loss, Optimum
from accord.typing import FloatArray

__all__ = ["Curvature", "minimise_boxed"]

_MOST_PAIRS, _MOST_HALVINGS = 20, 12
# Share of the decrease that the slope promises which a step has to keep.
_ENOUGH = 1e-4


@dataclass(frozen=True, eq=False)
class Curvature:
    """Steps and the changes of the gradient along them, the latest last; every product of the two is positive."""

    steps: tuple[FloatArray, ...] = ()
    changes: tuple[FloatArray, ...] = ()

    def followed_by(self, step: FloatArray, change: FloatArray) -> "Curvature":
        """With one more step, unless the loss bends down along it."""
        product = float(step @ change)
        if product <= 1e-8 * float(np.linalg.norm(step) * np.linalg.norm(change)):
            return self
        return Curvature((*self.steps, step)[-_MOST_PAIRS:], (*self.changes, change)[-_MOST_PAIRS:])

    def direction(self, gradient: FloatArray) -> FloatArray:
        """Downhill: minus the estimated inverse Hessian times the gradient (Nocedal and Wright, algorithm 7.4)."""
        if not self.steps:  # of length 1 at most
            return -gradient / max(1.0, float(np.linalg.norm(gradient)))
        q, parts = gradient.copy(), []
        for s, y in zip(reversed(self.steps), reversed(self.changes), strict=True):
            part = float(s @ q) / float(s @ y)
            parts.append(part)
            q -= part * y
        s, y = self.steps[-1], self.changes[-1]
        q *= float(s @ y) / float(y @ y)
        for s, y, part in zip(self.steps, self.changes, reversed(parts), strict=True):
            q += (part - float(y @ q) / float(s @ y)) * s
        return -q


def minimise_boxed(
    loss: Loss,
    start: FloatArray,
    *,
    low: float,
    high: float,
    curvature: Curvature | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    longest: float = 3.0,
) -> tuple[Optimum, Curvature]:
    """Minimise a smooth loss of weights between two bounds; the loss never rises.

    Parameters
    ----------
    loss : callable
        Weights to (value, gradient).
    start : array of shape (n_weights,)
    low, high : float
        Bounds of every weight.
    curvature : Curvature, optional
        What an earlier search of a similar loss has learnt.
    max_iter : int
    tol : float
        Largest absolute (projected) gradient entry at which the search stops.
    longest : float
        Most that one weight is moved in one step.

    Returns
    -------
    Optimum, Curvature
        ``convergence.residual`` is the largest absolute projected gradient entry.
    """
    known = Curvature() if curvature is None else curvature
    weights: FloatArray = np.clip(np.asarray(start, dtype=np.float64), low, high)
    value, gradient = loss(weights)
    n_iter = 0
    while True:
        held = ((weights <= low) & (gradient > 0.0)) | ((weights >= high) & (gradient < 0.0))
        slope = np.where(held, 0.0, gradient)
        residual = float(np.abs(slope).max(initial=0.0))
        if residual <= tol or n_iter == max_iter:
            break
        way = np.where(held, 0.0, known.direction(slope))
        if float(way @ slope) > -1e-10 * float(np.linalg.norm(way) * np.linalg.norm(slope)):
            known = Curvature()
            way = known.direction(slope)
        way *= min(1.0, longest / float(np.abs(way).max()))
        found = _step(loss, weights, value, gradient, way, low, high)
        if found is None:
            if not known.steps:
                break
            known = Curvature()  # it misled; once more straight down
            continue
        moved, value, after = found
        known = known.followed_by(moved - weights, after - gradient)
        weights, gradient, n_iter = moved, after, n_iter + 1
        step_done()
    return Optimum(weights, value, Convergence(residual <= tol, n_iter, residual)), known


def _step(
    loss: Loss, weights: FloatArray, value: float, gradient: FloatArray, way: FloatArray, low: float, high: float
) -> tuple[FloatArray, float, FloatArray] | None:
    """The longest of ever shorter steps that lowers the loss enough, with its value and gradient; None if none does."""
    length = 1.0
    for _ in range(_MOST_HALVINGS):
        moved = np.clip(weights + length * way, low, high)
        promised = float(gradient @ (moved - weights))
        reached, after = loss(moved)
        if reached < value and reached <= value + _ENOUGH * promised:
            return moved, reached, after
        # The lowest point of the parabola through both values and the slope at the start.
        bend = 2.0 * (reached - value - promised)
        length *= float(np.clip(-promised / bend, 0.1, 0.5)) if bend > 0.0 else 0.5
    return None
