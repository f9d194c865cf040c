"""Ordinal models of ranks 1..k: one question "is it above r?" for each threshold r and aspect.

- Cumulative logits: every threshold of every aspect has weights of its own.
- Stacked: the cumulative logits of *all* aspects, taken out of fold, are the inputs of a second, small logit for each
  threshold. It calibrates them, and lets each aspect learn from the others.
- All-threshold: one weight vector an aspect, shared by its thresholds [RS05].

Many binary logits over the same sparse texts are fitted together by dual coordinate ascent. For each output j the loss
is Σₙ log(1 + e^z) − D z + ½ λ‖w‖², z = w·x + o, D ∈ {0, 1}. At its minimum w = Σₙ βₙ xₙ / λ with βₙ = Dₙ − σ(zₙ): the
dual variable of a text is what is left of it to explain. A sweep solves that equation for one text after another, with
the rest held fixed. One pass over a row serves all outputs, so fifty logits cost little more than one.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from scipy.special import logit

from accord.engines.convergence import Convergence, iterate
from accord.engines.numerics import sigmoid
from accord.errors import InputError
from accord.fitting.optimise import minimise_lbfgs
from accord.scale.workers import Workers
from accord.typing import FloatArray, IntArray

__all__ = [
    "NODES", "Logits", "OrdinalLogits", "all_threshold_loss", "choose_penalty", "fit_all_threshold", "fit_calibration",
    "fit_cumulative", "fit_logits", "fit_nodes", "fit_stacked", "folds", "logit_scores", "median_ranks", "mode_ranks",
    "ordinal_logits", "ordinal_probabilities", "rank_probabilities", "threshold_targets",
]  # fmt: skip


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
    indptr: Any, indices: Any, data: Any, squares: Any, targets: Any, offset: Any, penalty: float, order: Any,
    dual: Any, weights: Any, bias: Any,
) -> None:  # fmt: skip
    n_outputs = weights.shape[1]
    z, change = np.empty(n_outputs), np.empty(n_outputs)
    for row in order:
        for j in range(n_outputs):
            z[j] = bias[j] + offset[j]
        for p in range(indptr[row], indptr[row + 1]):
            f, value = indices[p], data[p]
            for j in range(n_outputs):
                z[j] += weights[f, j] * value
        q = squares[row] / penalty
        for j in range(n_outputs):
            change[j] = 0.0
            if targets[row, j] >= 0:
                old = dual[row, j]
                new = _residual(float(targets[row, j]), z[j] - q * old, q, old)
                dual[row, j] = new
                change[j] = (new - old) / penalty
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
    # The base rate, held away from 0 and 1 by half a text on either side.
    offset = logit(((targets == 1).sum(axis=0) + 0.5) / (known.sum(axis=0) + 1.0))
    squares = np.asarray(x.multiply(x).sum(axis=1)).ravel() + 1.0  # the 1 is the intercept's
    dual: FloatArray = np.zeros(targets.shape) if start is None else np.where(known, start, 0.0)
    first: tuple[FloatArray, FloatArray, FloatArray] = (
        dual,
        np.ascontiguousarray(x.T @ dual) / penalty,
        dual.sum(axis=0) / penalty,
    )

    def sweep(state: tuple[FloatArray, FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray, FloatArray]:
        beta, weights, bias = (part.copy() for part in state)
        order = rng.permutation(len(beta))
        _sweep(x.indptr, x.indices, x.data, squares, targets, offset, penalty, order, beta, weights, bias)
        return beta, weights, bias

    (dual, weights, bias), convergence = iterate(
        sweep, first, max_iter=max_iter, tol=tol, change=lambda old, new: float(np.abs(new[0] - old[0]).max(initial=0))
    )
    return Logits(weights, bias + offset, dual, convergence)


def logit_scores(model: Logits, x: Any) -> FloatArray:
    """Log odds of texts under every output, shape (n_texts, n_outputs)."""
    return np.asarray(x @ model.weights) + model.bias


def fit_calibration(
    scores: FloatArray, targets: IntArray, *, penalty: float = 10.0, max_iter: int = 50, tol: float = 1e-6
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
        step = partial(_newton, f=f, d=d, mass=mass, ridge=ridge)
        weights[:, j], _ = iterate(step, np.zeros(inputs.shape[1]), max_iter=max_iter, tol=tol)
    return weights


def _newton(w: FloatArray, *, f: FloatArray, d: FloatArray, mass: FloatArray, ridge: FloatArray) -> FloatArray:
    """A Newton step, halved until the penalised loss does not rise."""

    def loss(v: FloatArray) -> float:
        z = f @ v
        return float(mass @ (np.logaddexp(0.0, z) - d * z) + 0.5 * ridge @ v**2)

    p = sigmoid(f @ w)
    hessian = (f * (mass * p * (1.0 - p))[:, None]).T @ f + np.diag(ridge + 1e-9)
    step = np.linalg.solve(hessian, f.T @ (mass * (p - d)) + ridge * w)
    before, size = loss(w), 1.0
    while loss(w - size * step) > before + 1e-12 * abs(before) and size > 1e-6:
        size *= 0.5
    return w - size * step


@dataclass(frozen=True, eq=False)
class OrdinalLogits:
    """Logits of "above r", linear in the text: z = (x·weights + bias)·mixing + mixed_bias."""

    weights: FloatArray  # (n_features, n_scores)
    bias: FloatArray  # (n_scores,)
    mixing: FloatArray  # (n_scores, n_aspects · (n_ranks − 1))
    mixed_bias: FloatArray  # (n_aspects · (n_ranks − 1),)
    n_aspects: int


def threshold_targets(ranks: IntArray, n_ranks: int) -> IntArray:
    """1 where a rank is above threshold r, 0 where it is not, −1 where it is missing; shape (n, m · (k − 1))."""
    above = (ranks[:, :, None] > np.arange(1, n_ranks)).astype(np.int8)
    return np.where(ranks[:, :, None] == 0, np.int8(-1), above).reshape(len(ranks), -1)


def rank_probabilities(logits: FloatArray, n_aspects: int, *, floor: float = 1e-6) -> FloatArray:
    """Probabilities of ranks from logits of "above r", shape (n, n_aspects, n_ranks).

    Logits fitted apart need not fall with r. They are put in order, which never takes them further from the truth
    [CFG10]. No rank has less than ``floor``, before the rows are normalised.
    """
    above = -np.sort(-sigmoid(logits.reshape(len(logits), n_aspects, logits.shape[1] // n_aspects)), axis=2)
    ends = np.ones((*above.shape[:2], 1))
    p = np.maximum(-np.diff(np.concatenate([ends, above, 0.0 * ends], axis=2), axis=2), floor)
    return p / p.sum(axis=2, keepdims=True)


def median_ranks(probabilities: FloatArray) -> IntArray:
    """The smallest rank with at least half of the probability at or below it: least expected distance."""
    below = np.cumsum(probabilities, axis=-1)[..., :-1]
    return 1 + (below < 0.5).sum(axis=-1)


def mode_ranks(probabilities: FloatArray) -> IntArray:
    """The most probable rank."""
    return 1 + np.asarray(probabilities.argmax(axis=-1))


def folds(n: int, n_folds: int, rng: np.random.Generator) -> Iterator[tuple[IntArray, IntArray]]:
    """Positions (training, held out) of a random partition into ``n_folds`` parts."""
    if not 2 <= n_folds <= n:
        raise InputError(f"cross-fitting needs at least 2 folds and a text for each; got {n_folds} folds of {n} texts.")
    order = rng.permutation(n)
    for part in np.array_split(order, n_folds):
        yield np.setdiff1d(order, part), np.sort(part)


def _plain(weights: FloatArray, bias: FloatArray, n_aspects: int) -> OrdinalLogits:
    return OrdinalLogits(weights, bias, np.eye(len(bias)), np.zeros(len(bias)), n_aspects)


def fit_cumulative(
    x: Any, ranks: IntArray, *, n_ranks: int, penalty: float = 0.1, rng: np.random.Generator
) -> OrdinalLogits:
    """Cumulative logits: separate weights for every threshold of every aspect."""
    fitted = fit_logits(x, threshold_targets(ranks, n_ranks), penalty=penalty, rng=rng)
    return _plain(fitted.weights, fitted.bias, ranks.shape[1])


def choose_penalty(
    x: Any, ranks: IntArray, penalties: tuple[float, ...], *, n_ranks: int, n_folds: int, rng: np.random.Generator
) -> float:
    """The penalty of cumulative logits with the least out-of-fold log loss."""
    targets = threshold_targets(ranks, n_ranks)
    x = sp.csr_array(x)
    parts = list(folds(len(ranks), n_folds, rng))

    def held_out_loss(penalty: float) -> float:
        total = 0.0
        for train, test in parts:
            z = logit_scores(fit_logits(x[train], targets[train], penalty=penalty, rng=rng), x[test])
            known = targets[test] >= 0
            total += float((np.logaddexp(0.0, z) - targets[test] * z)[known].sum())
        return total

    return min(penalties, key=held_out_loss)


def fit_stacked(
    x: Any,
    ranks: IntArray,
    *,
    n_ranks: int,
    penalty: float = 0.1,
    stack_penalty: float = 10.0,
    n_folds: int = 5,
    rng: np.random.Generator,
    workers: Workers | None = None,
) -> tuple[OrdinalLogits, FloatArray]:
    """Cumulative logits of all aspects, stacked and calibrated out of fold.

    The first stage of the model is the mean of the folds' weights, whose scores on new texts are spread like the
    out-of-fold scores that the second stage was fitted on.

    Parameters
    ----------
    x : sparse or dense array of shape (n_texts, n_features)
    ranks : int array of shape (n_texts, n_aspects)
        1..n_ranks; 0 is missing.
    n_ranks : int
    penalty, stack_penalty : float
        L2 strengths of the two stages.
    n_folds : int
    rng : numpy.random.Generator
    workers : Workers, optional
        Run the folds, one a worker; they do not change the result.

    Returns
    -------
    model : OrdinalLogits
    out_of_fold : array of shape (n_texts, n_aspects · (n_ranks − 1))
        Logits of the training texts, both stages fitted without the text's own fold.
    """
    x = sp.csr_array(x, dtype=np.float64)
    targets = threshold_targets(ranks, n_ranks)
    whole = fit_logits(x, targets, penalty=penalty, rng=rng, tol=1e-2)  # only a start for the folds
    parts = list(folds(len(ranks), n_folds, rng))
    first = np.empty(targets.shape)
    weights, bias = np.zeros_like(whole.weights), np.zeros_like(whole.bias)
    with (workers or Workers()).open(parts, common=(x, targets, whole.dual, penalty)) as opened:
        fits = opened.map(_fold_logits, seed=int(rng.integers(2**32)), what="folds")
    for (_, test), (fold_weights, fold_bias, scores) in zip(parts, fits, strict=True):
        first[test] = scores
        weights += fold_weights / n_folds
        bias += fold_bias / n_folds
    out_of_fold = np.empty_like(first)
    for train, test in parts:
        second = fit_calibration(first[train], targets[train], penalty=stack_penalty)
        out_of_fold[test] = first[test] @ second[:-1] + second[-1]
    second = fit_calibration(first, targets, penalty=stack_penalty)
    return OrdinalLogits(weights, bias, second[:-1], second[-1], ranks.shape[1]), out_of_fold


def _fold_logits(
    fold: tuple[IntArray, IntArray], shared: tuple[Any, None], rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights and biases of the logits of a fold's training texts, and their scores of the texts held out."""
    (train, test), (x, targets, dual, penalty) = fold, shared[0]
    fitted = fit_logits(x[train], targets[train], penalty=penalty, rng=rng, start=dual[train])
    return fitted.weights, fitted.bias, logit_scores(fitted, x[test])


def ordinal_logits(model: OrdinalLogits, x: Any) -> FloatArray:
    """Logits of "above r" of every aspect, shape (n_texts, n_aspects · (n_ranks − 1))."""
    return (np.asarray(x @ model.weights) + model.bias) @ model.mixing + model.mixed_bias


def ordinal_probabilities(model: OrdinalLogits, x: Any) -> FloatArray:
    """Probabilities of every rank, shape (n_texts, n_aspects, n_ranks)."""
    return rank_probabilities(ordinal_logits(model, x), model.n_aspects)


def all_threshold_loss(
    weights: FloatArray, thresholds: FloatArray, x: Any, x_t: Any, targets: IntArray
) -> tuple[float, FloatArray, FloatArray]:
    """Σ of logistic losses over texts, aspects and thresholds, z = w·x − b, with its gradients by w and b.

    ``weights`` (n_features, n_aspects), ``thresholds`` (n_aspects, n_ranks − 1), ``targets`` (n_texts, n_aspects,
    n_ranks − 1) with −1 where missing.
    """
    known = targets >= 0
    z = np.asarray(x @ weights)[:, :, None] - thresholds
    loss = float((np.logaddexp(0.0, z) - targets * z)[known].sum())
    by_z = np.where(known, sigmoid(z) - targets, 0.0)
    return loss, np.asarray(x_t @ by_z.sum(axis=2)), -by_z.sum(axis=0)


def fit_all_threshold(
    x: Any, ranks: IntArray, *, n_ranks: int, penalty: float = 0.1, max_iter: int = 200, tol: float = 1e-2
) -> tuple[OrdinalLogits, Convergence]:
    """All-threshold ordinal logistic regression: one weight vector an aspect, ordered thresholds."""
    x = sp.csr_array(x, dtype=np.float64)
    x_t = x.T.tocsr()
    (n, d), m = x.shape, ranks.shape[1]
    targets = threshold_targets(ranks, n_ranks).reshape(n, m, n_ranks - 1)
    rate = ((targets == 1).sum(axis=0) + 0.5) / ((targets >= 0).sum(axis=0) + 1.0)

    def loss(packed: FloatArray) -> tuple[float, FloatArray]:
        w, b = packed[: d * m].reshape(d, m), packed[d * m :].reshape(m, -1)
        value, by_w, by_b = all_threshold_loss(w, b, x, x_t, targets)
        value += 0.5 * penalty * float((w * w).sum())
        return value, np.concatenate([(by_w + penalty * w).ravel(), by_b.ravel()])

    start = np.concatenate([np.zeros(d * m), -np.log(rate / (1.0 - rate)).ravel()])
    best = minimise_lbfgs(loss, start, max_iter=max_iter, tol=tol)
    w, b = best.weights[: d * m].reshape(d, m), best.weights[d * m :].reshape(m, -1)
    spread = np.repeat(np.eye(m), n_ranks - 1, axis=1)  # one score an aspect, read at each of its thresholds
    return OrdinalLogits(w, np.zeros(m), spread, -b.ravel(), m), best.convergence


_PLAIN: dict[str, Callable[..., OrdinalLogits]] = {
    "cumulative": fit_cumulative,
    "all_threshold": lambda *data, rng, **settings: fit_all_threshold(*data, **settings)[0],
}
NODES = ("stacked", *_PLAIN)


def fit_nodes(
    kind: str,
    x: Any,
    ranks: IntArray,
    *,
    n_ranks: int,
    penalty: float,
    stack_penalty: float = 10.0,
    n_folds: int = 5,
    rng: np.random.Generator,
    workers: Workers | None = None,
) -> tuple[OrdinalLogits, FloatArray]:
    """An ordinal model of one of the :data:`NODES`, and logits of the training texts out of fold."""
    if kind == "stacked":
        return fit_stacked(
            x, ranks, n_ranks=n_ranks, penalty=penalty, stack_penalty=stack_penalty, n_folds=n_folds, rng=rng,
            workers=workers,
        )  # fmt: skip
    x, fit = sp.csr_array(x, dtype=np.float64), _PLAIN[kind]
    held_out = np.empty((len(ranks), ranks.shape[1] * (n_ranks - 1)))
    for train, test in folds(len(ranks), n_folds, rng):
        held_out[test] = ordinal_logits(fit(x[train], ranks[train], n_ranks=n_ranks, penalty=penalty, rng=rng), x[test])
    return fit(x, ranks, n_ranks=n_ranks, penalty=penalty, rng=rng), held_out
