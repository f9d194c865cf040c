"""Ordinal models of ranks 1..k: one question "is it above r?" for each threshold r and aspect.

- Cumulative logits: every threshold of every aspect has weights of its own.
- Stacked: the cumulative logits of *all* aspects, taken out of fold, are the inputs of a second, small logit for each
  threshold. It calibrates them, and lets each aspect learn from the others.
- All-threshold: one weight vector an aspect, shared by its thresholds [RS05].
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from accord.aspects.logits import fit_calibration, fit_logits, logit_scores
from accord.engines.convergence import Convergence
from accord.engines.numerics import sigmoid
from accord.errors import InputError
from accord.fitting.optimise import minimise_lbfgs
from accord.scale.workers import Workers
from accord.typing import FloatArray, IntArray

__all__ = [
    "NODES", "OrdinalLogits", "all_threshold_loss", "choose_penalty", "fit_all_threshold", "fit_cumulative",
    "fit_nodes", "fit_stacked", "folds", "median_ranks", "mode_ranks", "ordinal_logits", "ordinal_probabilities",
    "rank_probabilities", "threshold_targets",
]  # fmt: skip


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
