"""Stability: how settled a ranking is, and how many more votes would settle it; from joint draws of the scores."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtri

from accord.data.pairs import Comparisons
from accord.errors import InputError
from accord.pairs.ranking import ranking_order, top_probability
from accord.typing import FloatArray

__all__ = ["GroupState", "Stability", "pieces", "stability"]

# A pair counts as settled when its order is this sure, and a ranking as stable when this share of its pairs is settled.
_SURE, _SHARE = 0.9, 0.8
_MOST_TEXTS = 400
# The forecast takes so many possible truths, items around the end of the top, and looks up to so many times the votes.
_TRUTHS, _ITEMS, _LOOKS, _MOST_TIMES = 200, 40, 142, 1000.0
_ENOUGH_DRAWS, _ENOUGH_ERRORS = 800, 300
# Orders of pairs are counted in all draws up to so many comparisons.
_COMPARED = 20_000_000


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
        Forecast of the votes still needed until then, if votes go on as they came: the number that is likeliest to be
        right within a factor of two, and the interval that holds it with a probability of 0.8; infinite where a
        thousand times the votes would not do.
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
    states: Sequence[GroupState],
    *,
    top: int,
    sure: float,
    n_votes: int,
    rng: np.random.Generator,
    forecast: bool = True,
) -> Stability:
    """Judge the rankings of all groups together; only items of one group are compared.

    Without ``forecast`` the votes still needed are left open, which is quicker.
    """
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
        lower *= float(_below(np.array(p), len(draws)))
        if forecast:
            times.append(_times_needed(draws, top, 1.0 - (1.0 - sure) / len(states), rng))
    share = settled / n_pairs if n_pairs else 1.0
    reached = bool(lower >= sure)
    left: list[float | None] = [None, None, None]
    if not reached and times:
        more = np.maximum((np.max(times, axis=0) - 1.0) * n_votes, 1.0)  # until the last group gets there
        more[more >= (_MOST_TIMES - 1.0) * n_votes] = np.inf
        # How many are needed spreads over orders of magnitude: the number that is likeliest right within a factor of 2.
        near = [np.mean((more >= 0.5 * value) & (more <= 2.0 * value)) for value in more]
        left = [float(value) for value in (more[np.argmax(near)], *np.quantile(more, (0.1, 0.9), method="nearest"))]
    return Stability(share, share >= _SHARE, p_best, top, p_top, sure, reached, *left)


def _below(p: FloatArray, n_draws: int) -> FloatArray:
    """A probability less the error of the draws it was counted in; those of a chain are worth half as many."""
    return np.maximum(p - 1.645 * np.sqrt(2.0 * p * (1.0 - p) / n_draws), 0.0)


def _settled(draws: FloatArray) -> tuple[float, int]:
    """Share of the pairs whose order is sure, and the number of pairs; of many items a regular sample is taken."""
    if draws.shape[1] > _MOST_TEXTS:
        draws = draws[:, np.linspace(0, draws.shape[1] - 1, _MOST_TEXTS).astype(int)]
    i, j = np.triu_indices(draws.shape[1], 1)
    if not i.size:
        return 1.0, 0
    enough = max(_ENOUGH_DRAWS, _COMPARED // i.size)
    columns, wins = np.ascontiguousarray(draws[:: max(1, len(draws) // enough)].T), np.empty(i.size)
    for first in range(0, i.size, 4096):
        part = slice(first, first + 4096)
        wins[part] = (columns[i[part]] > columns[j[part]]).mean(axis=1)
    return float(np.mean(np.maximum(wins, 1.0 - wins) >= _SURE)), i.size


def _enough(sure: float, n_draws: int) -> float:
    """The share of draws at which a probability counts as reached, the error of the draws taken off."""
    p = np.linspace(sure, 1.0, 2001)
    return float(p[np.argmax(_below(p, n_draws) >= sure)])


def _times_needed(draws: FloatArray, top: int, sure: float, rng: np.random.Generator) -> FloatArray:
    """How many times the votes it would take until the top is sure, for some possible truths, shape (n_truths,).

    Each truth is a draw. With c times the votes the posterior is N(seen, Σ/c), and what is seen wanders towards the
    truth: seen = (mean + (c − 1) truth + Σ^½ B(c − 1)) / c with a Brownian motion B. The first c is looked for at which
    the top has the wanted probability, because that is when somebody who looks often stops.
    """
    ranked = ranking_order(draws)
    if top >= ranked.size:
        return np.ones(_TRUTHS)
    first = max(0, top - _ITEMS // 2)
    part, top = draws[:, ranked[first : top + _ITEMS // 2]], top - first
    mean, wanted = part.mean(axis=0), _enough(sure, len(draws))
    noise = part - mean
    grid = np.geomspace(1.0, _MOST_TIMES, _LOOKS)
    steps = np.sqrt(np.diff(grid))[:, None] * noise[rng.integers(0, len(part), (_TRUTHS, _LOOKS - 1))]
    wander = np.concatenate([np.zeros((_TRUTHS, 1, mean.size)), np.cumsum(steps, axis=1)], axis=1)
    truth = part[rng.integers(0, len(part), _TRUTHS)][:, None, :]
    seen = (mean + (grid - 1.0)[:, None] * truth + wander) / grid[:, None]  # (n_truths, n_looks, n_items)
    # No top is surer than the order of its last item and the next one.
    order = np.argsort(-seen, axis=2)
    last, following = order[:, :, top - 1], order[:, :, top]
    covariance = np.cov(noise.T)
    spread = np.sqrt(covariance[last, last] + covariance[following, following] - 2.0 * covariance[last, following])
    gap = np.take_along_axis(seen, last[:, :, None], 2) - np.take_along_axis(seen, following[:, :, None], 2)
    possible = gap[:, :, 0] * np.sqrt(grid) >= ndtri(wanted) * spread
    found, errors = np.full(_TRUTHS, _MOST_TIMES), noise[:: max(1, len(noise) // _ENOUGH_ERRORS)]
    for k in range(_TRUTHS):
        for look in np.flatnonzero(possible[k]):
            if top_probability(seen[k, look] + errors / np.sqrt(grid[look]), order[k, look], top) >= wanted:
                found[k] = grid[look]
                break
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
