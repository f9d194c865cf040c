"""Platt's sigmoid: probabilities from the scores of a classifier that has none.

Fit it on scores of texts that the classifier was not trained on (:mod:`accord.links.out_of_fold`); scores of its own
training texts are too far from zero.
"""

import numpy as np

from accord.engines.numerics import log_sigmoid, sigmoid, spread
from accord.fitting.optimise import minimise_lbfgs
from accord.typing import FloatArray, IntArray

__all__ = ["fit_platt", "log_probabilities"]


def fit_platt(scores: FloatArray, codes: IntArray, *, n_labels: int = 2) -> FloatArray:
    """Slope and offset of P(label | d) = 1 / (1 + exp(−(slope·d + offset))), by likelihood.

    Targets are Platt's (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2) rather than 1 and 0, so that no finite sample gives certainty.
    The slope is never negative: a useless score gets the share of the label.

    Parameters
    ----------
    scores : float array of shape (n,) for two labels (of the second label), else (n, n_labels)
    codes : int array of shape (n,)
        The true label, 0 … n_labels − 1.

    Returns
    -------
    float array of shape (2, n_sigmoids)
        Slopes and offsets: one sigmoid for two labels, else one a label against the rest.
    """
    columns = np.asarray(scores, dtype=np.float64).reshape(len(codes), -1)
    labels = [1] if n_labels == 2 else range(n_labels)
    return np.column_stack([_fit_one(d, codes == label) for d, label in zip(columns.T, labels, strict=True)])


def log_probabilities(scores: FloatArray, sigmoids: FloatArray) -> FloatArray:
    """Log probability of each label, shape (n, n_labels).

    With more than two labels the sigmoids of the labels against the rest are scaled to sum to one.
    """
    slope, offset = sigmoids
    log_odds = np.asarray(scores, dtype=np.float64).reshape(len(scores), -1) * slope + offset
    if log_odds.shape[1] == 1:
        return np.column_stack([log_sigmoid(-log_odds[:, 0]), log_sigmoid(log_odds[:, 0])])
    log_p = log_sigmoid(log_odds)
    return np.asarray(log_p - np.logaddexp.reduce(log_p, axis=1, keepdims=True))


def _fit_one(d: FloatArray, positive: FloatArray) -> FloatArray:
    n_positive = int(positive.sum())
    high, low = (n_positive + 1.0) / (n_positive + 2.0), 1.0 / (len(positive) - n_positive + 2.0)
    target = np.where(positive, high, low)
    scale = float(spread(d))
    x = d / scale

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        log_odds = weights[0] * x + weights[1]
        error = sigmoid(log_odds) - target
        value = float(np.sum(np.logaddexp(0.0, log_odds) - target * log_odds))
        return value, np.array([float(error @ x), float(error.sum())])

    share = float(target.mean())
    start = np.array([1.0, np.log(share / (1.0 - share))])
    slope, offset = minimise_lbfgs(loss, start, bounds=[(0.0, None), (None, None)]).weights
    return np.array([slope / scale, offset])
