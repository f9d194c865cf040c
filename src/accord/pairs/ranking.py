"""From scores with a covariance to a ranking: intervals, tiers and the probability of being best."""

import numpy as np
from scipy.special import ndtr, ndtri

from accord.engines.numerics import cholesky
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["rank_columns", "tiers"]


def tiers(mean: FloatArray, covariance: FloatArray, order: IntArray, *, settled: float) -> IntArray:
    """Tier of each item in ``order``, from 1: a tier ends where an item is surely worse than the tier's first."""
    found, first, tier = np.empty(order.size, dtype=np.int64), 0, 1
    while first < order.size:
        lead, rest = order[first], order[first:]
        variance = covariance[lead, lead] + covariance[rest, rest] - 2.0 * covariance[lead, rest]
        std = np.sqrt(np.maximum(variance, 1e-12))
        worse = np.flatnonzero(ndtr((mean[lead] - mean[rest]) / std) >= settled)
        last = first + int(worse[0]) if worse.size else order.size
        found[first:last] = tier
        first, tier = last, tier + 1
    return found


def rank_columns(
    mean: FloatArray, covariance: FloatArray, *, level: float, settled: float, n_draws: int, rng: np.random.Generator
) -> tuple[IntArray, dict[str, AnyArray]]:
    """The order of the items, best first, and the columns of the ranking in that order.

    ``low`` and ``high`` hold the score, ``rank_low`` and ``rank_high`` the rank, each with probability ``level``;
    ``p_best`` is the share of ``n_draws`` draws from the posterior in which the item is best.
    """
    order = np.argsort(-mean, kind="stable")
    std = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    root = cholesky(covariance + 1e-10 * np.eye(mean.size))
    draws = mean + rng.standard_normal((n_draws, mean.size)) @ root.T
    best = np.bincount(np.argmax(draws, axis=1), minlength=mean.size) / n_draws
    places = np.argsort(np.argsort(-draws, axis=1), axis=1) + 1
    tail = 0.5 * (1.0 - level)
    low, high = np.quantile(places, [tail, 1.0 - tail], axis=0, method="nearest")
    half = ndtri(1.0 - tail) * std
    columns = {
        "rank": np.arange(1, mean.size + 1),
        "tier": tiers(mean, covariance, order, settled=settled),
        "score": mean[order],
        "std": std[order],
        "low": (mean - half)[order],
        "high": (mean + half)[order],
        "rank_low": low[order],
        "rank_high": high[order],
        "p_best": best[order],
    }
    return order, columns
