"""Do probabilities mean what they say? Reliability tables, and ways to make them true."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from accord.errors import InputError
from accord.typing import AnyArray, FloatArray

__all__ = ["Platt", "binary_log_scores", "fit_isotonic", "fit_platt", "fit_temperature", "reliability_table"]


def reliability_table(truth: AnyArray, probability: AnyArray, *, n_bins: int = 10) -> pd.DataFrame:
    """How often the truth was 1 where the probability of 1 was so and so.

    Returns
    -------
    DataFrame
        One row a bin of equal width that holds a prediction: ``low``, ``high``, ``n``, ``predicted`` (mean
        probability), ``observed`` (mean truth).
    """
    p, y = _checked(truth, probability)
    bins = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
    n = np.bincount(bins, minlength=n_bins)
    filled = np.flatnonzero(n)
    return pd.DataFrame(
        {
            "low": filled / n_bins,
            "high": (filled + 1) / n_bins,
            "n": n[filled],
            "predicted": np.bincount(bins, weights=p, minlength=n_bins)[filled] / n[filled],
            "observed": np.bincount(bins, weights=y, minlength=n_bins)[filled] / n[filled],
        }
    )


@dataclass(frozen=True)
class Platt:
    """P(1) = 1 / (1 + exp(−(slope · score + intercept)))."""

    slope: float
    intercept: float

    def __call__(self, scores: AnyArray) -> FloatArray:
        """Probabilities of scores, same shape."""
        return np.asarray(expit(self.slope * np.asarray(scores, dtype=np.float64) + self.intercept))


def fit_platt(truth: AnyArray, scores: AnyArray) -> Platt:
    """Platt's sigmoid, fitted by maximum likelihood to targets moved off 0 and 1 [P99].

    The targets are (n₊ + 1) / (n₊ + 2) and 1 / (n₋ + 2). Fit it on scores of texts that the scorer was not trained on.
    """
    y, s = np.asarray(truth), np.asarray(scores, dtype=np.float64)
    positive = y == 1
    n_pos, n_neg = int(positive.sum()), int((~positive).sum())
    if len(y) != len(s) or not n_pos or not n_neg:
        raise InputError(f"Platt's sigmoid needs both classes; there are {n_pos} and {n_neg} of {len(s)} scores.")
    target = np.where(positive, (n_pos + 1.0) / (n_pos + 2.0), 1.0 / (n_neg + 2.0))
    # A soft target t is the label 1 with weight t and the label 0 with weight 1 − t.
    column = np.concatenate([s, s])[:, None]
    model = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000)
    model.fit(column, np.repeat([1, 0], len(s)), sample_weight=np.concatenate([target, 1.0 - target]))
    return Platt(float(model.coef_[0, 0]), float(model.intercept_[0]))


def fit_temperature(truth: AnyArray, log_scores: AnyArray) -> float:
    """The temperature T > 0 for which softmax(log_scores / T) fits the truth best, by maximum likelihood.

    Parameters
    ----------
    truth : int array of shape (n,)
        Class positions.
    log_scores : array of shape (n, k)
        Log probabilities or logits. For two classes of P(1): ``np.stack([np.zeros(n), logit], axis=1)``.
    """
    scores, y = np.asarray(log_scores, dtype=np.float64), np.asarray(truth, dtype=np.int64)
    if scores.ndim != 2 or len(scores) != len(y) or not len(y):
        raise InputError(f"log_scores must have a row an example and a column a class; the shape is {scores.shape}.")

    def loss(log_t: float) -> float:
        return float(-log_softmax(scores / np.exp(log_t), axis=1)[np.arange(len(y)), y].mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-5.0, 5.0), method="bounded", options={"xatol": 1e-6}).x))


def fit_isotonic(truth: AnyArray, probability: AnyArray) -> IsotonicRegression:
    """The rising step function of the probability that is closest to the truth; ``.predict`` applies it."""
    p, y = _checked(truth, probability)
    return IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(p, y)


def binary_log_scores(probability: AnyArray) -> FloatArray:
    """P(1) as two columns of log scores for :func:`fit_temperature`, shape (n, 2)."""
    p = np.asarray(probability, dtype=np.float64)
    tiny = float(np.finfo(np.float64).eps)
    return np.stack([np.zeros_like(p), logit(np.clip(p, tiny, 1.0 - tiny))], axis=1)


def _checked(truth: AnyArray, probability: AnyArray) -> tuple[FloatArray, FloatArray]:
    p, y = np.asarray(probability, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    if p.shape != y.shape or p.ndim != 1 or not len(p):
        raise InputError(f"truth and probability need one entry a row; the shapes are {y.shape} and {p.shape}.")
    if not ((p >= 0.0) & (p <= 1.0)).all():
        raise InputError(f"probabilities lie in [0, 1]; these run from {p.min():g} to {p.max():g}.")
    return p, y
