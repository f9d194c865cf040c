"""Many binary logits over the same sparse texts, fitted together by dual coordinate ascent.

For each output j the loss is Σₙ log(1 + e^z) − D z + ½ λ‖w‖², z = w·x + o, D ∈ {0, 1}. At its minimum
w = Σₙ βₙ xₙ / λ with βₙ = Dₙ − σ(zₙ): the dual variable of a text is what is left of it to explain. A sweep solves that
equation for one text after another, with the rest held fixed. One pass over a row serves all outputs, so fifty logits
cost little more than one.

Outputs may be alike: with a prior covariance C of the weights that a feature has under all outputs, the penalty is
½ λ tr(W C⁻¹ Wᵀ), and W = Xᵀ β C / λ. What is left to explain of one output then moves the weights of those like it.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from scipy.special import logit

from accord.engines.convergence import Convergence, iterate
from accord.engines.numerics import sigmoid
from accord.typing import FloatArray, IntArray

__all__ = ["Logits", "base_logits", "fit_calibration", "fit_logits", "logit_scores"]


def base_logits(targets: IntArray) -> FloatArray:
    """Log odds of the base rates, held away from 0 and 1 by half a text on either side; shape (n_outputs,)."""
    return np.asarray(logit(((targets == 1).sum(axis=0) + 0.5) / ((targets >= 0).sum(axis=0) + 1.0)))


@dataclass(frozen=True, eq=False)
class Logits:
    """Weights of several binary logits."""

    weights: FloatArray  # (n_features, n_outputs)
    bias: FloatArray  # (n_outputs,)
    dual: FloatArray  # (n_texts, n_outputs): targets less probabilities, of the training texts
    convergence: Convergence


@njit(cache=True, error_model="numpy")
def _residual(target: float, offset: float, q: float, beta: float) -> float:
    """The root β of β = D − σ(o + qβ), by Newton steps kept within the bracket (D − 1, D)."""
    low, high = target - 1.0, target
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-(offset + q * beta)))
        gap = target - p - beta
        if abs(gap) < 1e-12:
            break
        if gap > 0.0:
            low = beta
        else:
            high = beta
        beta += gap / (1.0 + q * p * (1.0 - p))
        if not low < beta < high:
            beta = 0.5 * (low + high)
    return beta


@njit(cache=True, error_model="numpy")
def _sweep(
    indptr: Any, indices: Any, data: Any, squares: Any, targets: Any, offset: Any, penalty: float, alike: Any,
    turns: Any, order: Any, dual: Any, weights: Any, bias: Any,
) -> None:  # fmt: skip
    n_outputs = weights.shape[1]
    z, change = np.empty(n_outputs), np.empty(n_outputs)
    alone = len(alike) == 0
    for row in order:
        for j in range(n_outputs):
            z[j] = bias[j] + offset[j]
            change[j] = 0.0
        for p in range(indptr[row], indptr[row + 1]):
            f, value = indices[p], data[p]
            for j in range(n_outputs):
                z[j] += weights[f, j] * value
        q = squares[row] / penalty
        for j in turns:
            if targets[row, j] < 0:
                continue
            old, own = dual[row, j], q if alone else q * alike[j, j]
            new = _residual(float(targets[row, j]), z[j] - own * old, own, old)
            dual[row, j] = new
            if alone:
                change[j] = (new - old) / penalty
                continue
            for k in range(n_outputs):
                z[k] += q * alike[j, k] * (new - old)
                change[k] += alike[j, k] * (new - old) / penalty
        for j in range(n_outputs):
            bias[j] += change[j]
        for p in range(indptr[row], indptr[row + 1]):
            f, value = indices[p], data[p]
            for j in range(n_outputs):
                weights[f, j] += change[j] * value


def fit_logits(
    x: Any,
    targets: IntArray,
    *,
    penalty: float = 1.0,
    rng: np.random.Generator,
    alike: FloatArray | None = None,
    turns: IntArray | None = None,
    start: FloatArray | None = None,
    max_iter: int = 100,
    tol: float = 1e-3,
) -> Logits:
    """Fit L2-penalised binary logits, one an output.

    The intercept is the log odds of the output's base rate plus a penalised correction.

    Parameters
    ----------
    x : sparse or dense array of shape (n_texts, n_features)
    targets : int array of shape (n_texts, n_outputs)
        1, 0, or −1 where not known.
    penalty : float
        λ.
    rng : numpy.random.Generator
        Order of the texts in each sweep.
    alike : array of shape (n_outputs, n_outputs), optional
        Prior covariance of the weights of a feature, positive definite; by default outputs have nothing in common.
    turns : int array of shape (n_outputs,), optional
        The order in which outputs that are alike are taken within a text; by default as they come.
    start : array of shape (n_texts, n_outputs), optional
        Dual variables of a similar fit, to start from.
    max_iter : int
    tol : float
        A sweep that changes no probability residual by more than this ends the fit.

    Returns
    -------
    Logits
    """
    x = sp.csr_array(x, dtype=np.float64)
    targets = np.ascontiguousarray(targets, dtype=np.int8)
    known = targets >= 0
    offset = base_logits(targets)
    squares = np.asarray(x.multiply(x).sum(axis=1)).ravel() + 1.0  # the 1 is the intercept's
    dual: FloatArray = np.zeros(targets.shape) if start is None else np.where(known, start, 0.0)
    mixed = dual if alike is None else dual @ alike
    first: tuple[FloatArray, FloatArray, FloatArray] = (
        dual,
        np.ascontiguousarray(x.T @ mixed) / penalty,
        mixed.sum(axis=0) / penalty,
    )
    shares = np.zeros((0, 0)) if alike is None else np.ascontiguousarray(alike, dtype=np.float64)
    taken = np.arange(targets.shape[1]) if turns is None else turns
    told = (x.indptr, x.indices, x.data, squares, targets, offset, penalty, shares, taken)

    def sweep(state: tuple[FloatArray, FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray, FloatArray]:
        beta, weights, bias = (part.copy() for part in state)
        _sweep(*told, rng.permutation(len(beta)), beta, weights, bias)
        return beta, weights, bias

    (dual, weights, bias), convergence = iterate(
        sweep, first, max_iter=max_iter, tol=tol, change=lambda old, new: float(np.abs(new[0] - old[0]).max(initial=0))
    )
    return Logits(weights, bias + offset, dual, convergence)


def logit_scores(model: Logits, x: Any) -> FloatArray:
    """Log odds of texts under every output, shape (n_texts, n_outputs)."""
    return np.asarray(x @ model.weights) + model.bias


def fit_calibration(
    scores: FloatArray,
    targets: IntArray,
    *,
    penalty: float = 10.0,
    offset: FloatArray | None = None,
    max_iter: int = 50,
    tol: float = 1e-6,
) -> FloatArray:
    """Binary logits on a few dense scores by Newton's method; the intercept is free.

    Parameters
    ----------
    scores : array of shape (n_texts, n_scores)
    targets : int array of shape (n_texts, n_outputs)
        1, 0, or −1 where not known.
    penalty : float
        L2 strength. It also keeps an output whose targets are all alike finite, but for its intercept, which is then
        the log odds of half a text.
    offset : array of shape (n_texts, n_outputs), optional
        Logits that are there already; the weights are those of what is added to them.

    Returns
    -------
    weights : array of shape (n_scores + 1, n_outputs)
        The last row is the intercept.
    """
    inputs = np.column_stack([scores, np.ones(len(scores))])
    ridge = np.full(inputs.shape[1], penalty)
    ridge[-1] = 0.0
    weights = np.zeros((inputs.shape[1], targets.shape[1]))
    for j in range(targets.shape[1]):
        seen = targets[:, j] >= 0
        f = inputs[seen]
        # Half a text at the mean on either side: no base rate is 0 or 1, so no intercept is infinite.
        middle = f.mean(axis=0) if len(f) else np.eye(inputs.shape[1])[-1]
        f, d = np.vstack([f, middle, middle]), np.append(targets[seen, j], [0, 1])
        mass = np.append(np.ones(int(seen.sum())), [0.5, 0.5])
        known = np.zeros(int(seen.sum())) if offset is None else offset[seen, j]
        known = np.append(known, np.full(2, known.mean() if len(known) else 0.0))
        step = partial(_newton, f=f, d=d, mass=mass, ridge=ridge, offset=known)
        weights[:, j], _ = iterate(step, np.zeros(inputs.shape[1]), max_iter=max_iter, tol=tol)
    return weights


def _newton(
    w: FloatArray, *, f: FloatArray, d: FloatArray, mass: FloatArray, ridge: FloatArray, offset: FloatArray
) -> FloatArray:
    """A Newton step, halved until the penalised loss does not rise."""

    def loss(v: FloatArray) -> float:
        z = offset + f @ v
        return float(mass @ (np.logaddexp(0.0, z) - d * z) + 0.5 * ridge @ v**2)

    p = sigmoid(offset + f @ w)
    hessian = (f * (mass * p * (1.0 - p))[:, None]).T @ f + np.diag(ridge + 1e-9)
    step = np.linalg.solve(hessian, f.T @ (mass * (p - d)) + ridge * w)
    before, size = loss(w), 1.0
    while loss(w - size * step) > before + 1e-12 * abs(before) and size > 1e-6:
        size *= 0.5
    return w - size * step
