"""Stability: how settled a ranking is, and how many more votes would settle it."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtr

from accord.data.pairs import Comparisons
from accord.typing import AnyArray, FloatArray

__all__ = ["Stability", "pieces", "stability", "win_probability"]

# A 90 % interval reaches this many standard deviations to each side.
_Z90 = 1.6448536
_SURE, _SHARE = 0.9, 0.8
_MOST_TEXTS = 400


@dataclass(frozen=True)
class Stability:
    """How settled a ranking is.

    ``settled`` is the share of pairs of texts whose order is right with probability 0.9 or more; the ranking counts as
    stable at 0.8. ``votes_left`` is a rough forecast from intervals that shrink with the square root of the votes;
    ``None`` where the ranking is stable, and infinite where no number of votes would do.
    """

    settled: float
    is_stable: bool
    votes_left: float | None


def win_probability(score: FloatArray, other: FloatArray, variance: FloatArray) -> FloatArray:
    """How often a voter would prefer the first: Φ(Δ / √(2 + variance of Δ)), [SG18] eq. 3 with its uncertainty."""
    return np.asarray(ndtr((np.asarray(score) - other) / np.sqrt(2.0 + np.asarray(variance))))


def stability(
    score: FloatArray, low: FloatArray, high: FloatArray, *, n_votes: int, groups: AnyArray | None = None
) -> Stability:
    """Judge a ranking by its scores and 90 % intervals, taken as independent (a cautious reading).

    Only texts of one group are compared, as only they are asked about.
    """
    score, deviation = np.asarray(score), (np.asarray(high) - np.asarray(low)) / (2.0 * _Z90)
    groups = np.zeros(len(score)) if groups is None else np.asarray(groups)
    if len(score) > _MOST_TEXTS:  # every pair of a regular sample is enough for a share
        keep = np.linspace(0, len(score) - 1, _MOST_TEXTS).astype(int)
        score, deviation, groups = score[keep], deviation[keep], groups[keep]
    i, j = np.triu_indices(len(score), 1)
    together = groups[i] == groups[j]
    i, j = i[together], j[together]
    if not len(i):
        return Stability(1.0, True, None)
    gap, spread = np.abs(score[i] - score[j]), np.sqrt(deviation[i] ** 2 + deviation[j] ** 2)

    def settled(factor: float) -> float:
        """The share of settled pairs if there were ``factor`` times as many votes."""
        return float(np.mean(gap * np.sqrt(factor) >= 1.2815516 * spread))

    now = settled(1.0)
    if now >= _SHARE:
        return Stability(now, True, None)
    low_factor, high_factor = 1.0, 1e6
    if settled(high_factor) < _SHARE:
        return Stability(now, False, np.inf)
    for _ in range(60):
        middle = float(np.sqrt(low_factor * high_factor))
        low_factor, high_factor = (low_factor, middle) if settled(middle) >= _SHARE else (middle, high_factor)
    return Stability(now, False, (high_factor - 1.0) * n_votes)


def pieces(votes: Comparisons) -> int:
    """How many texts or sets of texts would have to be joined by a vote before all of a group can be compared.

    0 means that inside every group the votes join all texts.
    """
    items = votes.items
    n = items.n_items
    graph = coo_matrix((np.ones(votes.n_votes), (votes.left, votes.right)), shape=(n, n))
    _, component = connected_components(graph, directed=False)
    if items.groups is None:
        return int(len(np.unique(component)) - 1) if n else 0
    missing = 0
    for group in {str(name) for name in items.groups}:
        inside = np.array([str(name) == group for name in items.groups])
        missing += len(np.unique(component[inside])) - 1
    return missing
