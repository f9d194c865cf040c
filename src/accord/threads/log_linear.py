"""Log-linear (maximum-entropy) classifiers: loss, gradient and two ways to train.

ψ(y = k | x) = exp(v_k·x) / Σ_k' exp(v_k'·x)     [JMN16] eq. 1
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.special import logsumexp

from accord.engines.convergence import Convergence
from accord.engines.numerics import log_sigmoid, sigmoid
from accord.fitting.blocked import summed_loss
from accord.fitting.optimise import Optimum, l2_penalised, minimise_lbfgs, minimise_sgd
from accord.scale.partition import MOST_BLOCKS, cut
from accord.scale.workers import Workers
from accord.typing import FloatArray, IntArray

__all__ = ["fit_log_linear_lbfgs", "fit_log_linear_sgd", "log_linear_loss", "log_linear_scores", "n_vectors"]

# Entries of the features of a block of rows.
BLOCK_ENTRIES = 1_000_000


def log_linear_scores(weights: FloatArray, x: Any) -> FloatArray:
    """Log probabilities of each label, shape (n_rows, n_labels).

    ``weights`` has shape (n_labels, n_features), or (1, n_features) for two labels: the log odds of label 1.
    """
    scores = np.asarray(x @ weights.T)
    if scores.shape[1] == 1:
        return np.hstack([log_sigmoid(-scores), log_sigmoid(scores)])
    return np.asarray(scores - logsumexp(scores, axis=1, keepdims=True))


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
        return minimise_lbfgs(l2_penalised(loss, strength), np.zeros(len(strength)), max_iter=max_iter, tol=tol)


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
