"""Stability: how settled a ranking is, and how many more votes would settle it; from joint draws of the scores."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from accord.data.pairs import Comparisons
from accord.errors import InputError
from accord.pairs.ranking import ranking_order, top_probability
from accord.typing import FloatArray

__all__ = ["GroupState", "Stability", "pieces", "stability"]

# A pair counts as settled when its order is this sure, and a ranking as stable when this share of its pairs is settled.
_SURE, _SHARE = 0.9, 0.8
_MOST_TEXTS = 400
# The forecast looks at so many possible truths and items, and up to so many times the votes that there are.
_TRUTHS, _ITEMS, _MOST_TIMES = 60, 40, 1000.0
_ENOUGH_DRAWS = 800


@dataclass(frozen=True, eq=False)
class GroupState:
    """Joint draws of the scores of one group, shape (n_draws, n_items)."""

    group: str | None
    draws: FloatArray


@dataclass(frozen=True)
class Stability:
    """How settled a ranking is.

    Attributes
    ----------
    settled : float
        Share of the pairs of a group whose order is right with probability 0.9 or more.
    is_stable : bool
        Whether that share is 0.8 or more.
    p_best : float
        Probability that the first item of every group is its best.
    top : int
    p_top : float
        Probability that the first ``top`` items of every group are its best, in whatever order.
    sure : float
        The probability that is wanted of it.
    reached : bool
        Whether it is reached, also if the error of the draws is taken off. A probability given all votes holds
        whenever one looks, so that looking after every vote and stopping then does no harm.
    votes_left, votes_low, votes_high : float or None
        Forecast of the votes still needed until then, if votes go on as they came, and the interval that holds their
        number with a probability of 0.8; infinite where a thousand times the votes would not do.
    """

    settled: float
    is_stable: bool
    p_best: float
    top: int
    p_top: float
    sure: float
    reached: bool
    votes_left: float | None
    votes_low: float | None
    votes_high: float | None


def stability(
    states: Sequence[GroupState], *, top: int, sure: float, n_votes: int, rng: np.random.Generator
) -> Stability:
    """Judge the rankings of all groups together; only items of one group are compared."""
    if top < 1 or not 0.0 < sure < 1.0:
        raise InputError(
            f"a top has at least 1 item and is sure with a probability between 0 and 1; got {top}, {sure}."
        )
    settled, n_pairs, p_best, p_top, lower = 0.0, 0, 1.0, 1.0, 1.0
    times: list[FloatArray] = []
    for state in states:
        draws, order = state.draws, ranking_order(state.draws)
        share, n = _settled(draws)
        settled, n_pairs = settled + share * n, n_pairs + n
        p_best *= top_probability(draws, order, 1)
        p = top_probability(draws, order, top)
        p_top *= p
        # Draws of a chain are worth about half as many independent ones.
        lower *= max(p - 1.645 * np.sqrt(2.0 * p * (1.0 - p) / len(draws)), 0.0)
        times.append(_times_needed(draws, top, 1.0 - (1.0 - sure) / len(states), rng))
    share = settled / n_pairs if n_pairs else 1.0
    reached = bool(lower >= sure)
    left: list[float | None] = [None, None, None]
    if not reached and times:
        needed = np.max(times, axis=0)  # the last group to get there
        more = (np.quantile(needed, (0.5, 0.1, 0.9), method="nearest") - 1.0) * n_votes
        left = [float(max(value, 1.0)) if value < (_MOST_TIMES - 1.0) * n_votes else np.inf for value in more]
    return Stability(share, share >= _SHARE, p_best, top, p_top, sure, reached, *left)


def _settled(draws: FloatArray) -> tuple[float, int]:
    """Share of the pairs whose order is sure, and the number of pairs; of many items a regular sample is taken."""
    if draws.shape[1] > _MOST_TEXTS:
        draws = draws[:, np.linspace(0, draws.shape[1] - 1, _MOST_TEXTS).astype(int)]
    i, j = np.triu_indices(draws.shape[1], 1)
    if not i.size:
        return 1.0, 0
    columns, wins = np.ascontiguousarray(draws[:_ENOUGH_DRAWS].T), np.empty(i.size)
    for first in range(0, i.size, 4096):
        part = slice(first, first + 4096)
        wins[part] = (columns[i[part]] > columns[j[part]]).mean(axis=1)
    return float(np.mean(np.maximum(wins, 1.0 - wins) >= _SURE)), i.size


def _times_needed(draws: FloatArray, top: int, sure: float, rng: np.random.Generator) -> FloatArray:
    """How many times the votes it would take until the top is sure, for some possible truths, shape (n_truths,).

    Each truth is a draw. After c times the votes the posterior is as wide as now divided by √c, and its mean has moved
    from where it is towards the truth; the least c is looked for at which the mean's top has the wanted probability.
    """
    order = ranking_order(draws)[: max(_ITEMS, 2 * top)]
    part = draws[:, order]
    if top >= part.shape[1]:
        return np.ones(_TRUTHS)
    errors = (part - part.mean(axis=0))[:300]
    grid = np.geomspace(1.0, _MOST_TIMES, 40)
    found = np.full(_TRUTHS, _MOST_TIMES)
    truths, noises = rng.integers(0, len(part), (2, _TRUTHS))
    mean = part.mean(axis=0)
    noise = part - mean
    for k in range(_TRUTHS):
        low, high = 0, grid.size - 1
        while low <= high:  # the probability grows with c, up to the noise of few draws
            middle = (low + high) // 2
            c = grid[middle]
            # N(mean, Σ) and c − 1 times the votes about the truth: N(seen, Σ/c)
            seen = mean + (1.0 - 1.0 / c) * (part[truths[k]] - mean) + np.sqrt(c - 1.0) / c * noise[noises[k]]
            if top_probability(seen + errors / np.sqrt(c), np.argsort(-seen), top) >= sure:
                found[k], high = c, middle - 1
            else:
                low = middle + 1
    return found


def pieces(votes: Comparisons) -> int:
    """How many texts or sets of texts would have to be joined by a vote before all of a group can be compared.

    0 means that inside every group the votes join all texts.
    """
    items = votes.items
    n = items.n_items
    graph = coo_matrix((np.ones(votes.n_votes), (votes.left, votes.right)), shape=(n, n))
    _, component = connected_components(graph, directed=False)
    group = np.zeros(n, dtype=np.int64)
    if items.groups is not None:
        group = np.unique(np.array([str(name) for name in items.groups]), return_inverse=True)[1]
    return int(np.unique(group * max(n, 1) + component).size - np.unique(group).size)
