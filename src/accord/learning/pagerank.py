"""PageRank of items on the graph of votes: a loser hands its rank to those who beat it."""

import numpy as np
import scipy.sparse as sp

from accord.inference.fixed_point import iterate
from accord.typing import FloatArray, IntArray

__all__ = ["pagerank"]


def pagerank(
    left: IntArray,
    right: IntArray,
    value: FloatArray,
    *,
    n_items: int,
    damping: float = 0.85,
    max_iter: int = 200,
    tol: float = 1e-10,
) -> FloatArray:
    """Stationary probabilities, shape (n_items,); an undecided vote is half an edge each way.

    Items that never lost hand their rank to all items alike.
    """
    edges = sp.csr_array(
        (np.concatenate([value, 1.0 - value]), (np.concatenate([left, right]), np.concatenate([right, left]))),
        shape=(n_items, n_items),
    )  # winner × loser
    lost = np.asarray(edges.sum(axis=0)).ravel()
    share = np.divide(1.0, lost, out=np.zeros(n_items), where=lost > 0)
    never = lost == 0

    def step(rank: FloatArray) -> FloatArray:
        flow = edges @ (rank * share) + rank[never].sum() / n_items
        return np.asarray(damping * flow + (1.0 - damping) / n_items)

    rank, _ = iterate(step, np.full(n_items, 1.0 / n_items), max_iter=max_iter, tol=tol)
    return rank
