"""The noisy crowd: every worker's vote, with and without learning who can be relied on."""

import numpy as np

from accord.data.pairs import Comparisons
from accord.typing import FloatArray

__all__ = ["majority"]


def majority(votes: Comparisons) -> Comparisons:
    """One vote a pair, the answer most workers gave; of equally many, undecided."""
    n = votes.items.n_items
    key = votes.left.astype(np.int64) * n + votes.right
    pairs, place = np.unique(key, return_inverse=True)
    mean: FloatArray = np.bincount(place, 2.0 * votes.value - 1.0) / np.bincount(place)
    value = np.where(mean > 0, 1.0, np.where(mean < 0, 0.0, 0.5))
    return Comparisons(votes.items, (pairs // n).astype(np.int32), (pairs % n).astype(np.int32), value)
