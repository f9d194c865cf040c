"""Good Grief: the ranks of several aspects of one text, decided together ([SB07] section 3).

Aspect i cuts the line of its scores at the thresholds b[i]₁ … b[i]ₖ₋₁; rank r is the segment from b[i]ᵣ₋₁ to b[i]ᵣ.
One more score says whether all aspects have the same rank (> 0) or not. Each of these m + 1 models has a grief with a
joint choice of ranks: the least amount its score would have to move to approve of it. Decoding picks the ranks of least
total grief. It is exact in O(mk): only three kinds of candidates can be best.
"""

from typing import Any

import numpy as np
from numba import njit

from accord.errors import InputError
from accord.typing import FloatArray, IntArray

__all__ = ["decode_row", "good_grief_decode", "prank_ranks", "rank_row"]


@njit(cache=True, error_model="numpy")
def rank_row(scores: Any, thresholds: Any, out: Any) -> bool:
    """Ranks 1..k of one text into ``out`` (m,); true if all are equal."""
    m, n_thresholds = thresholds.shape
    equal = True
    for i in range(m):
        rank = n_thresholds + 1
        for r in range(n_thresholds):
            if scores[i] < thresholds[i, r]:  # ŷ[i] = min{r : score − b[i]ᵣ < 0}, [SB07] note 3
                rank = r + 1
                break
        out[i] = rank
        if rank != out[0]:
            equal = False
    return equal


@njit(cache=True, error_model="numpy")
def grief_row(score: float, thresholds: Any, out: Any) -> None:
    """Griefs of one aspect with each rank into ``out`` (k,); infinite for a rank whose segment is empty."""
    n_thresholds = thresholds.shape[0]
    low = -np.inf
    for r in range(n_thresholds + 1):
        high = thresholds[r] if r < n_thresholds else np.inf
        if high <= low:  # no score at all has this rank
            out[r] = np.inf
        elif score < low:
            out[r] = low - score
        elif score >= high:
            out[r] = score - high
        else:
            out[r] = 0.0
        low = max(low, high)


@njit(cache=True, error_model="numpy")
def decode_row(scores: Any, thresholds: Any, agreement: float, griefs: Any, out: Any) -> None:
    """Ranks of least total grief of one text into ``out`` (m,); ``griefs`` (m, k) is working space."""
    m, n_thresholds = thresholds.shape
    k = n_thresholds + 1
    equal = rank_row(scores, thresholds, out)
    if agreement == 0.0 or (agreement > 0.0) == equal or m == 1:
        return  # the default ranks cause no grief that any other ranks would not
    for i in range(m):
        grief_row(scores[i], thresholds[i], griefs[i])
    best = abs(agreement)  # grief of the default ranks: all of it is the agreement model's
    if agreement > 0.0:
        choice = -1
        for r in range(k):
            total = 0.0
            for i in range(m):
                total += griefs[i, r]
            if total < best:
                best, choice = total, r
        if choice >= 0:
            for i in range(m):
                out[i] = choice + 1
    else:
        aspect, choice = -1, -1
        for i in range(m):
            for r in range(k):
                if r + 1 != out[i] and griefs[i, r] < best:
                    best, aspect, choice = griefs[i, r], i, r
        if aspect >= 0:
            out[aspect] = choice + 1


@njit(cache=True, error_model="numpy")
def _decode(scores: Any, thresholds: Any, agreement: Any, out: Any) -> None:
    griefs = np.empty((thresholds.shape[0], thresholds.shape[1] + 1))
    for row in range(scores.shape[0]):
        decode_row(scores[row], thresholds, agreement[row], griefs, out[row])


def _checked(scores: FloatArray, thresholds: FloatArray) -> tuple[FloatArray, FloatArray]:
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    thresholds = np.ascontiguousarray(thresholds, dtype=np.float64)
    if scores.ndim != 2 or thresholds.ndim != 2 or scores.shape[1] != thresholds.shape[0]:
        raise InputError(
            "scores (n_texts, n_aspects) and thresholds (n_aspects, n_ranks − 1) must name the same aspects; "
            f"their shapes are {scores.shape} and {thresholds.shape}."
        )
    return scores, thresholds


def prank_ranks(scores: FloatArray, thresholds: FloatArray) -> IntArray:
    """The rank of each aspect on its own: the segment that its score lies in.

    Parameters
    ----------
    scores : array of shape (n_texts, n_aspects)
    thresholds : array of shape (n_aspects, n_ranks − 1)

    Returns
    -------
    ranks : int array of shape (n_texts, n_aspects), from 1 to n_ranks
    """
    return good_grief_decode(scores, thresholds, np.zeros(len(scores)))


def good_grief_decode(scores: FloatArray, thresholds: FloatArray, agreement: FloatArray) -> IntArray:
    """The ranks of least total grief, [SB07] eq. 2. Exact; on a tie the default ranks stay.

    Parameters
    ----------
    scores : array of shape (n_texts, n_aspects)
    thresholds : array of shape (n_aspects, n_ranks − 1)
    agreement : array of shape (n_texts,)
        Above 0: all ranks are equal; 0 or below: they are not. The size says how sure.

    Returns
    -------
    ranks : int array of shape (n_texts, n_aspects), from 1 to n_ranks
    """
    scores, thresholds = _checked(scores, thresholds)
    out = np.empty(scores.shape, dtype=np.int64)
    _decode(scores, thresholds, np.ascontiguousarray(agreement, dtype=np.float64), out)
    return out
