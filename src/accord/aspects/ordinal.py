"""Ordinal models of ranks 1..k: one question "is it above r?" for each threshold r and aspect.

- Cumulative logits: every threshold of every aspect has weights of its own.
- Stacked: the cumulative logits of *all* aspects, taken out of fold, are the inputs of a second stage, which calibrates
  them and lets each aspect learn from the others. Its start are four slopes, none below 0, that all aspects and
  thresholds share: of a threshold's own logit, and of the means over thresholds, over aspects and over both. With few
  texts that is all; with more, each threshold learns weights of its own around them, if that is better out of fold.
- All-threshold: one weight vector an aspect, shared by its thresholds [RS05].
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from accord.aspects.logits import base_logits, fit_calibration, fit_logits, logit_scores
from accord.engines.convergence import Convergence
from accord.engines.numerics import sigmoid
from accord.errors import InputError
from accord.fitting.optimise import minimise_lbfgs
from accord.scale.workers import Workers
from accord.typing import FloatArray, IntArray

__all__ = [
    "MOST_STACKED", "NODES", "OrdinalLogits", "StackChoice", "all_threshold_loss", "as_new", "choose_penalty",
    "choose_prior", "fit_all_threshold", "fit_cumulative", "fit_nodes", "fit_stacked", "folds", "median_ranks",
    "mode_ranks", "ordinal_logits", "ordinal_probabilities", "rank_probabilities", "threshold_targets",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class OrdinalLogits:
    """Logits of "above r", linear in the text: z = (x·weights + bias)·mixing + mixed_bias."""

    weights: FloatArray  # (n_features, n_scores)
    bias: FloatArray  # (n_scores,)
    mixing: FloatArray  # (n_scores, n_aspects · (n_ranks − 1))
    mixed_bias: FloatArray  # (n_aspects · (n_ranks − 1),)
    n_aspects: int
    choice: "StackChoice | None" = None  # of stacked logits


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


def folds(
    ranks: IntArray, n_folds: int, rng: np.random.Generator, texts: IntArray | None = None
) -> Iterator[tuple[IntArray, IntArray]]:
    """Positions (training, held out) of a random partition into ``n_folds`` parts that are alike in their mean ranks.

    A part with high ranks leaves low ones to train on, so that in random parts of few texts the base rates of training
    and held-out texts run against each other. Rows with the same code in ``texts`` (n,) stay together.
    """
    texts = np.arange(len(ranks)) if texts is None else texts
    n = int(texts.max(initial=-1)) + 1
    if not 2 <= n_folds <= n:
        raise InputError(f"cross-fitting needs at least 2 folds and a text for each; got {n_folds} folds of {n} texts.")
    known = ranks > 0
    mean = ranks.sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    level = np.bincount(texts, weights=mean, minlength=n) / np.maximum(np.bincount(texts, minlength=n), 1)
    order = rng.permutation(n)
    order = order[np.argsort(level[order], kind="stable")]
    part = np.empty(n, dtype=np.int64)
    for first in range(0, n, n_folds):
        block = order[first : first + n_folds]
        part[block] = rng.permutation(n_folds)[: len(block)]
    of_row = part[texts]
    for place in range(n_folds):
        yield np.flatnonzero(of_row != place), np.flatnonzero(of_row == place)


def as_new(x: Any, train: IntArray, test: IntArray, n_unit: int) -> Any:
    """Rows that are held out as they would come if they were new, shape (n_held_out, n_features).

    New texts have only phrases that training texts hold, and are scaled to length one without the others. A row that is
    held out was scaled with phrases of its own, so that what is left of it is shorter: scores of new texts would be
    larger than those that a second stage was fitted on. So in the first ``n_unit`` columns, phrases that no row of
    ``train`` holds are left out, and the rows get back their length.
    """
    rows = sp.csr_array(x[test])
    if not n_unit:
        return rows
    known = np.bincount(x[train].indices, minlength=x.shape[1]) > 0
    known[n_unit:] = True
    of_row = np.repeat(np.arange(len(test)), np.diff(rows.indptr))
    unit, kept = rows.indices < n_unit, known[rows.indices]
    squares = [np.bincount(of_row[part], rows.data[part] ** 2, len(test)) for part in (unit, unit & kept)]
    factor = np.sqrt(squares[0] / np.where(squares[1] > 0, squares[1], 1.0))
    data = np.where(kept, rows.data, 0.0) * np.where(unit, factor[of_row], 1.0)
    return sp.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


def _plain(weights: FloatArray, bias: FloatArray, n_aspects: int) -> OrdinalLogits:
    return OrdinalLogits(weights, bias, np.eye(len(bias)), np.zeros(len(bias)), n_aspects)


def fit_cumulative(
    x: Any, ranks: IntArray, *, n_ranks: int, penalty: float = 0.1, rng: np.random.Generator
) -> OrdinalLogits:
    """Cumulative logits: separate weights for every threshold of every aspect."""
    fitted = fit_logits(x, threshold_targets(ranks, n_ranks), penalty=penalty, rng=rng)
    return _plain(fitted.weights, fitted.bias, ranks.shape[1])


def choose_penalty(
    x: Any,
    ranks: IntArray,
    penalties: tuple[float, ...],
    *,
    n_ranks: int,
    n_folds: int,
    rng: np.random.Generator,
    texts: IntArray | None = None,
) -> float:
    """The penalty of cumulative logits with the least out-of-fold log loss."""
    targets = threshold_targets(ranks, n_ranks)
    x = sp.csr_array(x)
    parts = list(folds(ranks, n_folds, rng, texts))

    def held_out_loss(penalty: float) -> float:
        total = 0.0
        for train, test in parts:
            z = logit_scores(fit_logits(x[train], targets[train], penalty=penalty, rng=rng), x[test])
            total += _log_loss(z, targets[test])
        return total

    return min(penalties, key=held_out_loss)


def choose_prior(
    x: Any, ranks: IntArray, priors: tuple[tuple[float, float], ...], *, seed: int, **settings: Any
) -> tuple[float, float]:
    """The penalty and correlation of stacked logits with the least out-of-fold log loss, all on the same folds.

    ``settings`` are those of :func:`fit_stacked`.
    """

    def held_out_loss(prior: tuple[float, float]) -> float:
        rng = np.random.default_rng(seed)
        model, _ = fit_stacked(x, ranks, penalty=prior[0], correlation=prior[1], rng=rng, **settings)
        assert model.choice is not None  # stacked logits have one
        return min(model.choice.pooled, model.choice.free)

    return min(priors, key=held_out_loss)


def _log_loss(logits: FloatArray, targets: IntArray) -> float:
    """Sum of logistic losses over what is known."""
    return float((np.logaddexp(0.0, logits) - targets * logits)[targets >= 0].sum())


@dataclass(frozen=True, eq=False)
class StackChoice:
    """Log loss of one threshold, out of fold, of the ways in which logits may be stacked."""

    constant: float  # the base rates alone
    pooled: float  # four slopes for all thresholds
    free: float  # weights of each threshold around them
    taken: str  # "pooled" or "free"


def fit_stacked(
    x: Any,
    ranks: IntArray,
    *,
    n_ranks: int,
    penalty: float = 0.1,
    correlation: float = 0.0,
    stack_penalty: float = 30.0,
    n_folds: int = 5,
    rng: np.random.Generator,
    texts: IntArray | None = None,
    n_unit: int = 0,
    workers: Workers | None = None,
) -> tuple[OrdinalLogits, FloatArray]:
    """Cumulative logits of all aspects, stacked and calibrated out of fold.

    The first stage of the model is the mean of the folds' weights, whose scores on new texts are spread like the
    out-of-fold scores that the second stage was fitted on. Its intercepts are left to the second stage: those of a fold
    run against the ranks that it holds out.

    Parameters
    ----------
    x : sparse or dense array of shape (n_texts, n_features)
    ranks : int array of shape (n_texts, n_aspects)
        1..n_ranks; 0 is missing.
    n_ranks : int
    penalty, stack_penalty : float
        L2 strengths of the first stage, and of what the thresholds add to the shared slopes of the second.
    correlation : float
        How alike the weights of a phrase are expected to be under two aspects, and under two thresholds, from 0 to 1.
    n_folds : int
    rng : numpy.random.Generator
    texts : int array of shape (n_texts,), optional
        Rows with the same code are held out together.
    n_unit : int
        How many columns, from the first, are phrases of rows scaled to length one; see :func:`as_new`.
    workers : Workers, optional
        Run the folds, one a worker; they do not change the result.

    Returns
    -------
    model : OrdinalLogits
    out_of_fold : array of shape (n_texts, n_aspects · (n_ranks − 1))
        Logits of the training texts, both stages fitted without the text's own fold.
    """
    x, m = sp.csr_array(x, dtype=np.float64), ranks.shape[1]
    targets = threshold_targets(ranks, n_ranks)
    alike, turns = _alike(m, n_ranks - 1, correlation), _turns(ranks, n_ranks - 1)
    # Only a start for the folds.
    whole = fit_logits(x, targets, penalty=penalty, rng=rng, alike=alike, turns=turns, tol=1e-2)
    parts = list(folds(ranks, n_folds, rng, texts))
    first = np.empty(targets.shape)
    weights = np.zeros_like(whole.weights)
    with (workers or Workers()).open(parts, common=(x, targets, whole.dual, penalty, alike, turns, n_unit)) as opened:
        fits = opened.map(_fold_logits, seed=int(rng.integers(2**32)), what="folds")
    for (_, test), (fold_weights, scores) in zip(parts, fits, strict=True):
        first[test] = scores
        weights += fold_weights / n_folds
    pooled, free, constant = (np.empty_like(first) for _ in range(3))
    for train, test in parts:
        rates = base_logits(targets[train])
        mixing, bias = _pooled_stage(first[train], targets[train], m)
        constant[test], pooled[test] = rates, first[test] @ mixing + bias
        mixing, bias = _free_stage(first[train], targets[train], m, mixing, bias, stack_penalty)
        free[test] = first[test] @ mixing + bias
    n_known = max(1, int((targets >= 0).sum()))
    losses = [_log_loss(logits, targets) / n_known for logits in (constant, pooled, free)]
    choice = StackChoice(losses[0], losses[1], losses[2], "free" if losses[2] < losses[1] else "pooled")
    mixing, bias = _pooled_stage(first, targets, m)
    if choice.taken == "free":
        mixing, bias = _free_stage(first, targets, m, mixing, bias, stack_penalty)
    model = OrdinalLogits(weights, np.zeros(weights.shape[1]), mixing, bias, m, choice)
    return model, free if choice.taken == "free" else pooled


# What the shared slopes are drawn to, and how strongly: a few dozen texts cannot tell them from 0.
_SLOPE, _SLOPE_STRENGTH = 0.25, 10.0
MOST_STACKED = 64  # with more thresholds than this in all, each keeps to the shared slopes


def _alike(n_aspects: int, n_thresholds: int, correlation: float) -> FloatArray | None:
    """Prior covariance of the weights of a phrase: any two aspects, and any two thresholds, are equally alike."""
    if correlation == 0.0:
        return None
    aspects, thresholds = (np.where(np.eye(n, dtype=bool), 1.0, correlation) for n in (n_aspects, n_thresholds))
    return np.ascontiguousarray(np.kron(aspects, thresholds))


def _turns(ranks: IntArray, n_thresholds: int) -> IntArray:
    """Outputs in an order of their aspects that depends on what these hold, and not on how they come."""
    return np.asarray((np.lexsort(ranks)[:, None] * n_thresholds + np.arange(n_thresholds)).ravel())


def _shares(n_aspects: int, n_thresholds: int) -> FloatArray:
    """Own logit, and means over thresholds, aspects and both, as four mixing matrices of logits."""
    own = np.eye(n_aspects), np.eye(n_thresholds)
    mean = tuple(np.full((n, n), 1.0 / n) for n in (n_aspects, n_thresholds))
    return np.stack([np.kron(a, r) for a, r in ((own[0], own[1]), (own[0], mean[1]), (mean[0], own[1]), mean)])


def _pooled_stage(first: FloatArray, targets: IntArray, m: int) -> tuple[FloatArray, FloatArray]:
    """Mixing matrix and intercepts of logits with four slopes of at least 0 that all thresholds share."""
    z = first.reshape(len(first), m, -1)
    by_aspect, by_threshold = z.mean(axis=2, keepdims=True), z.mean(axis=1, keepdims=True)
    both = by_threshold.mean(axis=2, keepdims=True)
    inputs = np.stack([np.broadcast_to(part, z.shape) for part in (z, by_aspect, by_threshold, both)])
    inputs = inputs.reshape(4, *first.shape)
    rates, known = base_logits(targets), targets >= 0

    def loss(packed: FloatArray) -> tuple[float, FloatArray]:
        slopes, bias = packed[:4], packed[4:]
        logits = np.tensordot(slopes, inputs, axes=1) + bias
        error = np.where(known, sigmoid(logits) - targets, 0.0)
        drawn = np.concatenate([_SLOPE_STRENGTH * (slopes - _SLOPE), bias - rates])
        value = _log_loss(logits, targets) + 0.5 * float(drawn @ np.concatenate([slopes - _SLOPE, bias - rates]))
        return value, np.concatenate([np.tensordot(inputs, error, axes=2), error.sum(axis=0)]) + drawn

    start = np.concatenate([np.full(4, _SLOPE), rates])
    bounds = [(0.0, None)] * 4 + [(None, None)] * len(rates)
    best = minimise_lbfgs(loss, start, bounds=bounds, tol=1e-6 * max(1, len(first)), max_iter=200).weights
    return np.tensordot(best[:4], _shares(m, z.shape[2]), axes=1), best[4:]


def _free_stage(
    first: FloatArray, targets: IntArray, m: int, mixing: FloatArray, bias: FloatArray, penalty: float
) -> tuple[FloatArray, FloatArray]:
    """The pooled stage with weights of each threshold around it."""
    if first.shape[1] > MOST_STACKED:
        return mixing, bias
    added = fit_calibration(first, targets, penalty=penalty, offset=first @ mixing + bias)
    # An aspect whose own words would speak against its rank keeps to the shared slopes, which cannot.
    n_thresholds = first.shape[1] // m
    whole = (mixing + added[:-1]).reshape(m, n_thresholds, m, n_thresholds).sum(axis=1)
    against = whole[np.arange(m), np.arange(m)].ravel() < 0
    added[:, against] = 0.0
    return mixing + added[:-1], bias + added[-1]


def _fold_logits(
    fold: tuple[IntArray, IntArray], shared: tuple[Any, None], rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Weights of the logits of a fold's training texts, and their scores of the texts held out, without intercepts."""
    (train, test), (x, targets, dual, penalty, alike, turns, n_unit) = fold, shared[0]
    fitted = fit_logits(x[train], targets[train], penalty=penalty, rng=rng, alike=alike, turns=turns, start=dual[train])
    return fitted.weights, np.asarray(as_new(x, train, test, n_unit) @ fitted.weights)


def ordinal_logits(model: OrdinalLogits, x: Any, shift: FloatArray | None = None) -> FloatArray:
    """Logits of "above r" of every aspect, shape (n_texts, n_aspects · (n_ranks − 1)).

    ``shift`` (n_texts, n_scores) is what scorers add to the scores of the first stage.
    """
    scores = np.asarray(x @ model.weights) + model.bias
    return (scores if shift is None else scores + shift) @ model.mixing + model.mixed_bias


def ordinal_probabilities(model: OrdinalLogits, x: Any, shift: FloatArray | None = None) -> FloatArray:
    """Probabilities of every rank, shape (n_texts, n_aspects, n_ranks)."""
    return rank_probabilities(ordinal_logits(model, x, shift), model.n_aspects)


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
    correlation: float = 0.0,
    stack_penalty: float = 30.0,
    n_folds: int = 5,
    rng: np.random.Generator,
    texts: IntArray | None = None,
    n_unit: int = 0,
    workers: Workers | None = None,
) -> tuple[OrdinalLogits, FloatArray]:
    """An ordinal model of one of the :data:`NODES`, and logits of the training texts out of fold."""
    if kind == "stacked":
        return fit_stacked(
            x, ranks, n_ranks=n_ranks, penalty=penalty, correlation=correlation, stack_penalty=stack_penalty,
            n_folds=n_folds, rng=rng, texts=texts, n_unit=n_unit, workers=workers,
        )  # fmt: skip
    x, fit = sp.csr_array(x, dtype=np.float64), _PLAIN[kind]
    held_out = np.empty((len(ranks), ranks.shape[1] * (n_ranks - 1)))
    for train, test in folds(ranks, n_folds, rng, texts):
        fitted = fit(x[train], ranks[train], n_ranks=n_ranks, penalty=penalty, rng=rng)
        held_out[test] = ordinal_logits(fitted, as_new(x, train, test, n_unit))
    return fit(x, ranks, n_ranks=n_ranks, penalty=penalty, rng=rng), held_out
