"""Classifiers of single comments: log-linear (maximum entropy), trained in two ways, and the perceptron.

ψ(y = k | x) = exp(v_k·x) / Σ_k' exp(v_k'·x)     [JMN16] eq. 1

The perceptron is voted or averaged (Freund and Schapire 1999; Collins 2002).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numba import njit

from accord.engines.convergence import Convergence
from accord.engines.numerics import log_normalise, log_sigmoid, sigmoid
from accord.fitting.blocked import summed_loss
from accord.fitting.optimise import Optimum, l2_penalised, minimise_lbfgs, minimise_sgd
from accord.scale.partition import MOST_BLOCKS, cut
from accord.scale.workers import Workers
from accord.typing import FloatArray, IntArray

__all__ = [
    "PerceptronPath",
    "fit_log_linear_lbfgs",
    "fit_log_linear_sgd",
    "fit_perceptron",
    "log_linear_loss",
    "log_linear_scores",
    "n_vectors",
]

# Entries of the features of a block of rows.
BLOCK_ENTRIES = 1_000_000
_VERSIONS_AT_ONCE = 4096


def log_linear_scores(weights: FloatArray, x: Any) -> FloatArray:
    """Log probabilities of each label, shape (n_rows, n_labels).

    ``weights`` has shape (n_labels, n_features), or (1, n_features) for two labels: the log odds of label 1.
    """
    scores = np.asarray(x @ weights.T)
    if scores.shape[1] == 1:
        return np.hstack([log_sigmoid(-scores), log_sigmoid(scores)])
    return log_normalise(scores, axis=1)


def n_vectors(n_labels: int) -> int:
    """Number of weight vectors: one for two labels, else one a label."""
    return 1 if n_labels == 2 else n_labels


def log_linear_loss(
    flat: FloatArray, x: Any, labels: IntArray, n_labels: int, *, row_weights: FloatArray | None = None
) -> tuple[float, FloatArray]:
    """Mean negative log-likelihood and its gradient.

    Parameters
    ----------
    flat : array of shape (n_vectors · n_features,)
    x : array or sparse matrix of shape (n_rows, n_features)
    labels : int array of shape (n_rows,)
    n_labels : int
    row_weights : array of shape (n_rows,), optional
        Weights that sum to one; equal ones by default.
    """
    n = len(labels)
    share = np.full(n, 1.0 / max(n, 1)) if row_weights is None else row_weights
    if n_labels == 2:
        margin = np.asarray(x @ flat)
        p = sigmoid(margin)
        value = -float(share @ log_sigmoid(np.where(labels == 1, margin, -margin)))
        return value, np.asarray(x.T @ (share * (p - labels)))
    log_p = log_linear_scores(flat.reshape(n_labels, -1), x)
    rows = np.arange(n)
    residual = np.exp(log_p)
    residual[rows, labels] -= 1.0
    gradient = np.asarray(x.T @ (residual * share[:, None])).T  # Σ_i (p_i − y_i) x_i, [JMN16] eq. 5
    return float(-(share * log_p[rows, labels]).sum()), gradient.ravel()


def fit_log_linear_lbfgs(
    x: Any,
    labels: IntArray,
    n_labels: int,
    *,
    penalty: float | FloatArray,
    row_weights: FloatArray | None = None,
    start: FloatArray | None = None,
    max_iter: int = 500,
    tol: float = 1e-4,
    workers: Workers | None = None,
) -> Optimum:
    """The minimum of the penalised mean loss; ``penalty`` is one number or one a feature (0 for a bias).

    The loss is summed over blocks of rows, by ``workers`` if there are any; they do not change the result.
    """
    n, strength = len(labels), np.tile(np.broadcast_to(penalty, (x.shape[1],)), n_vectors(n_labels))
    share = np.full(n, 1.0 / max(n, 1)) if row_weights is None else row_weights
    parts = cut(np.full(n, x.shape[1]), BLOCK_ENTRIES, most=MOST_BLOCKS) or [slice(0, 0)]
    blocks = [(x, labels, share)] if len(parts) == 1 else [(x[part], labels[part], share[part]) for part in parts]
    with (workers or Workers()).open(blocks) as opened:
        loss = summed_loss(partial(_block_loss, n_labels=n_labels), opened)
        first = np.zeros(len(strength)) if start is None else start
        return minimise_lbfgs(l2_penalised(loss, strength), first, max_iter=max_iter, tol=tol)


def _block_loss(
    flat: FloatArray, block: tuple[Any, IntArray, FloatArray], *, n_labels: int
) -> tuple[float, FloatArray]:
    x, labels, share = block
    return log_linear_loss(flat, x, labels, n_labels, row_weights=share)


def fit_log_linear_sgd(
    x: Any,
    labels: IntArray,
    n_labels: int,
    *,
    penalty: float | FloatArray,
    batches: Sequence[IntArray],
    n_epochs: int,
    step_size: float,
    rng: np.random.Generator,
) -> Optimum:
    """The same model by stochastic gradient steps, one batch of rows (a thread) a step, in a new order each epoch.

    The steps shrink as η / (1 + t / T), T the steps of one epoch ([JMN16] eq. 4 with a decreasing rate).
    """
    strength = np.tile(np.broadcast_to(penalty, (x.shape[1],)), n_vectors(n_labels))

    def gradient(flat: FloatArray, rows: IntArray) -> FloatArray:
        return log_linear_loss(flat, x[rows], labels[rows], n_labels)[1] + strength * flat

    def shuffled(epoch: int, generator: np.random.Generator) -> Iterable[IntArray]:
        return (batches[k] for k in generator.permutation(len(batches)))

    weights = minimise_sgd(
        gradient,
        np.zeros(len(strength)),
        shuffled,
        n_epochs=n_epochs,
        step_size=lambda t: step_size / (1.0 + t / max(len(batches), 1)),
        rng=rng,
    )
    value, slope = l2_penalised(partial(log_linear_loss, x=x, labels=labels, n_labels=n_labels), strength)(weights)
    return Optimum(weights, value, Convergence(True, n_epochs, float(np.abs(slope).max(initial=0.0))))


@dataclass(frozen=True, eq=False)
class PerceptronPath:
    """All weight versions of a perceptron run, and how many examples each one survived."""

    versions: FloatArray  # (n_versions, n_labels, n_features)
    survivals: FloatArray  # (n_versions,)

    def averaged(self) -> FloatArray:
        """Mean weights over all examples seen, shape (n_labels, n_features)."""
        return np.tensordot(self.survivals / self.survivals.sum(), self.versions, axes=1)

    def votes(self, x: FloatArray) -> FloatArray:
        """Share of the votes for each label, shape (n_rows, n_labels): every version votes with its survival."""
        n_labels = self.versions.shape[1]
        votes = np.zeros((len(x), n_labels))
        # So many versions at once that their scores stay small.
        at_once = max(1, _VERSIONS_AT_ONCE * 256 // max(len(x), 1))
        for start in range(0, len(self.versions), at_once):
            some = slice(start, start + at_once)
            winners = np.einsum("vkd,nd->nvk", self.versions[some], x, optimize=True).argmax(axis=2)
            for label in range(n_labels):
                votes[:, label] += (winners == label) @ self.survivals[some]
        return np.asarray(votes / self.survivals.sum())


@njit(cache=True, error_model="numpy")
def perceptron_updates(
    x: FloatArray, labels: IntArray, n_labels: int, order: IntArray
) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
    """Run over the rows in ``order``; the mistaken rows, the labels wrongly given, and how long versions survived."""
    weights = np.zeros((n_labels, x.shape[1]))
    rows = np.empty(len(order), dtype=np.int64)
    wrong = np.empty(len(order), dtype=np.int64)
    survivals = np.zeros(len(order) + 1)
    n_mistakes = 0
    for step in range(len(order)):
        i = order[step]
        best, best_score = 0, -np.inf
        for k in range(n_labels):
            score = 0.0
            for d in range(x.shape[1]):
                score += weights[k, d] * x[i, d]
            if score > best_score:
                best, best_score = k, score
        if best != labels[i]:
            rows[n_mistakes], wrong[n_mistakes] = i, best
            n_mistakes += 1
            for d in range(x.shape[1]):
                weights[labels[i], d] += x[i, d]
                weights[best, d] -= x[i, d]
        survivals[n_mistakes] += 1.0
    return rows[:n_mistakes], wrong[:n_mistakes], survivals[: n_mistakes + 1], order


def fit_perceptron(
    x: FloatArray, labels: IntArray, n_labels: int, *, n_epochs: int, rng: np.random.Generator
) -> PerceptronPath:
    """Train on rows in a new random order each epoch.

    Parameters
    ----------
    x : array of shape (n_rows, n_features)
    labels : int array of shape (n_rows,)
    n_labels, n_epochs : int
    rng : numpy.random.Generator

    Returns
    -------
    PerceptronPath
    """
    order = np.concatenate([rng.permutation(len(labels)) for _ in range(n_epochs)])
    x = np.ascontiguousarray(x, dtype=np.float64)
    rows, wrong, survivals, _ = perceptron_updates(x, np.asarray(labels, dtype=np.int64), n_labels, order)
    steps = np.zeros((len(rows) + 1, n_labels, x.shape[1]))
    number = np.arange(1, len(rows) + 1)
    steps[number, labels[rows]] += x[rows]
    steps[number, wrong] -= x[rows]
    return PerceptronPath(np.cumsum(steps, axis=0), survivals)
