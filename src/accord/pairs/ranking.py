"""From joint draws of scores to a ranking: contrasts, intervals of scores and ranks, tiers, and who is best.

Votes say how far apart items are, never where all of them stand together. So a score is a contrast: how far an item is
from the mean of its group, or from an anchor. Every figure comes from joint draws of the scores of the group's items.
"""

import numpy as np
from scipy.special import ndtr, ndtri

from accord.errors import InputError
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["SCALES", "rank_columns", "ranking_order", "tiers", "top_probability"]

_FEW_DRAWS = 500
# What a score is multiplied by. Elo points are log odds, 400 for odds of ten to one; Φ(z/√2) ≈ σ(1.702 z/√2).
SCALES = {"score": 1.0, "elo": 400.0 / float(np.log(10.0)) * 1.702 / float(np.sqrt(2.0))}


def tiers(draws: FloatArray, order: IntArray, *, sure: float) -> IntArray:
    """Tier of each item in ``order``, from 1, such that all orders across tiers hold together.

    Everything in a tier is better than everything in the tiers below, and all of these statements together are right
    with a probability of at least ``sure``. Cuts are taken in the order of their own probabilities as long as they
    hold together.

    Parameters
    ----------
    draws : array of shape (n_draws, n_items)
    order : int array of shape (n_items,)
        The items, best first.
    sure : float
    """
    sorted_ = draws[:, order]
    lowest = np.minimum.accumulate(sorted_, axis=1)[:, :-1]
    highest = np.maximum.accumulate(sorted_[:, ::-1], axis=1)[:, ::-1][:, 1:]
    holds = lowest > highest  # (n_draws, n_items − 1): all above the cut are better than all below
    share = holds.mean(axis=0)
    together, cuts = np.ones(len(draws), dtype=bool), np.zeros(order.size, dtype=np.int64)
    for cut in np.argsort(-share, kind="stable"):
        if share[cut] < sure:
            break
        kept = together & holds[:, cut]
        if kept.mean() >= sure:
            together, cuts[cut + 1] = kept, 1
    return 1 + np.cumsum(cuts)


def top_probability(draws: FloatArray, order: IntArray, k: int) -> float:
    """Probability that the first ``k`` items of ``order`` are the best ``k``, in whatever order."""
    if k >= order.size:
        return 1.0
    return float(np.mean(draws[:, order[:k]].min(axis=1) > draws[:, order[k:]].max(axis=1)))


def ranking_order(draws: FloatArray) -> IntArray:
    """The items by their mean score, best first."""
    return np.argsort(-draws.mean(axis=0), kind="stable")


def contrasts(draws: FloatArray, anchor: int | None) -> FloatArray:
    """Draws of each item's distance from the mean of all, or from the anchor."""
    return draws - (draws.mean(axis=1) if anchor is None else draws[:, anchor])[:, None]


def rank_columns(
    draws: FloatArray,
    *,
    level: float,
    sure: float,
    anchor: int | None = None,
    scale: str = "score",
    mean: FloatArray | None = None,
) -> tuple[IntArray, dict[str, AnyArray]]:
    """The order of a group's items, best first, and the columns of the ranking in that order.

    Parameters
    ----------
    draws : array of shape (n_draws, n_items)
        From the joint posterior of the scores.
    level : float
        ``low`` and ``high`` hold the score, ``rank_low`` and ``rank_high`` the rank, each with this probability.
    sure : float
        Probability with which everything that the tiers say is right.
    anchor : int, optional
        The item whose score is zero; otherwise zero is the mean of the group.
    scale : {"score", "elo"}
    mean : array of shape (n_items,), optional
        The mean of the scores where it is known better than from the draws.
    """
    if scale not in SCALES:
        raise InputError(f"the scale of a ranking must be one of {', '.join(SCALES)}; got {scale!r}.")
    if not (0.0 < level < 1.0 and 0.0 <= sure <= 1.0):
        raise InputError(
            f"level and sure are probabilities, level above 0 and below 1; got {level} and {sure}. Write 0.9 for 90 %."
        )
    mean = draws.mean(axis=0) if mean is None else mean
    order = np.argsort(-mean, kind="stable")
    zero = mean.mean() if anchor is None else mean[anchor]
    apart = contrasts(draws, anchor)[:, order]
    tail = 0.5 * (1.0 - level)
    if len(draws) < _FEW_DRAWS:  # too few for quantiles; their spread is known better
        half = ndtri(1.0 - tail) * apart.std(axis=0)
        low, high = mean[order] - zero - half, mean[order] - zero + half
    else:
        low, high = np.quantile(apart, (tail, 1.0 - tail), axis=0)
    places = np.empty(apart.shape, dtype=np.int32)
    np.put_along_axis(places, np.argsort(-apart, axis=1), np.arange(1, order.size + 1, dtype=np.int32)[None, :], axis=1)
    rank_low, rank_high = (
        np.quantile(places, tail, axis=0, method="lower"),
        np.quantile(places, 1.0 - tail, axis=0, method="higher"),
    )
    unit = SCALES[scale]
    return order, {
        "rank": np.arange(1, order.size + 1),
        "tier": tiers(draws, order, sure=sure),
        "score": unit * (mean[order] - zero),
        "std": unit * apart.std(axis=0),
        "low": unit * low,
        "high": unit * high,
        "rank_low": rank_low.astype(np.int64),
        "rank_high": rank_high.astype(np.int64),
        "p_best": (places == 1).mean(axis=0),
        "wins": 100.0 * ndtr(apart / np.sqrt(2.0)).mean(axis=0),
    }
