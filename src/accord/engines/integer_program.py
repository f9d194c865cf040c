"""The best labelling of two labels by integer programming, whatever the edges prefer."""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from accord.engines.conditioning import free_part
from accord.engines.graphs import Graphs
from accord.engines.min_cut import qpbo
from accord.typing import FloatArray, IntArray

__all__ = ["integer_program"]

# Seconds for the nodes of one graph that a cut leaves open; then the best labelling found so far is taken.
_SECONDS = 10.0


def integer_program(graphs: Graphs) -> IntArray:
    """The labels with the largest score, shape (n_nodes,); exact unless a graph takes too long.

    A cut first finds the labels that every best labelling has (:func:`~accord.engines.min_cut.qpbo`); what it leaves
    open is a linear program over labels y and products z_ij = y_i y_j, with y whole.

    Parameters
    ----------
    graphs : Graphs
        Two labels, any edges; known labels are kept.
    """
    labels = qpbo(graphs).map_labels.copy()
    free, _, open_nodes, _ = free_part(graphs.with_known(labels))
    h, gains, _ = free.ising()
    found = np.zeros(free.n_nodes, dtype=np.int64)
    for start, end, first, last in zip(
        free.node_offsets[:-1], free.node_offsets[1:], free.edge_offsets[:-1], free.edge_offsets[1:], strict=True
    ):
        if end > start:
            found[start:end] = _solve(h[start:end], free.edges[first:last] - start, gains[first:last])
    labels[open_nodes] = found
    return labels


def _solve(h: FloatArray, edges: IntArray, gains: FloatArray) -> IntArray:
    """Σ h_i y_i + Σ J_ij (1 − y_i − y_j + 2 z_ij) at its largest."""
    n, m = len(h), len(edges)
    i, j = edges.T.astype(np.int64)
    own = h - np.bincount(i, gains, n) - np.bincount(j, gains, n)
    rows, one = np.arange(m), np.ones(m)
    z, empty = sp.identity(m, format="csr"), np.full(m, -np.inf)

    def ends(columns: IntArray) -> sp.csr_matrix:
        return sp.csr_matrix((one, (rows, columns)), shape=(m, n))

    # z ≤ y_i, z ≤ y_j and z ≥ y_i + y_j − 1.
    limits = sp.vstack([sp.hstack([-ends(i), z]), sp.hstack([-ends(j), z]), sp.hstack([ends(i) + ends(j), -z])])
    best = milp(
        -np.concatenate([own, 2.0 * gains]),
        integrality=np.concatenate([np.ones(n), np.zeros(m)]),
        bounds=Bounds(0.0, 1.0),
        constraints=LinearConstraint(limits.tocsr(), np.tile(empty, 3), np.concatenate([0.0 * one, 0.0 * one, one])),
        options={"time_limit": _SECONDS},
    )
    return (h > 0).astype(np.int64) if best.x is None else np.round(best.x[:n]).astype(np.int64)
