"""Cutting data into blocks. The cuts depend on the data alone, never on how many workers there are."""

from itertools import pairwise

import numpy as np

from accord.typing import AnyArray

__all__ = ["MOST_BLOCKS", "cut"]

# Of a loss that is summed again and again: a scheduler hands out about a thousand blocks a second.
MOST_BLOCKS = 1024


def cut(costs: AnyArray, limit: float, *, most: int | None = None) -> list[slice]:
    """Consecutive units in even blocks that cost about ``limit`` each or less.

    Parameters
    ----------
    costs : array of shape (n_units,)
        What each thread, text or component costs: rows, edges, tokens.
    limit : float
    most : int, optional
        Most blocks; where ``limit`` asks for more, they are larger.

    Returns
    -------
    list of slice
        At least one block where there is a unit; units are never split.
    """
    costs = np.asarray(costs, dtype=np.float64)
    if not costs.size:
        return []
    n_blocks = max(1, int(np.ceil(costs.sum() / limit)))
    n_blocks = n_blocks if most is None else min(n_blocks, most)
    # Even blocks: unit u goes where the middle of its share of the total falls.
    middle = np.cumsum(costs) - 0.5 * costs
    total = float(costs.sum())
    place = np.minimum((middle * (n_blocks / total)).astype(np.int64), n_blocks - 1) if total > 0 else middle * 0
    starts = np.concatenate([[0], np.flatnonzero(np.diff(place)) + 1, [costs.size]])
    return [slice(int(a), int(b)) for a, b in pairwise(starts)]
