"""Enumeration: every labelling of every graph. Exact, for small graphs; the oracle of all other engines.

The scores of all Kⁿ labellings are built by doubling (each node appends K shifted copies of the table so far) and the
marginals by folding the table back, so that a labelling costs a few additions and one exponential, whatever the number
of edges.
"""

import numpy as np
from numba import njit

from accord.engines.conditioning import clamped
from accord.engines.graphs import Graphs
from accord.engines.marginals import Marginals, assemble
from accord.errors import InputError
from accord.typing import FloatArray, IntArray

__all__ = ["MAX_STATES", "exact", "n_states"]

MAX_STATES = 2**20


def n_states(graphs: Graphs) -> FloatArray:
    """Number of labellings of each graph, shape (n_graphs,), as floats because it overflows integers."""
    return np.minimum(float(graphs.n_labels) ** np.minimum(np.diff(graphs.node_offsets), 1000), 1e300)


@clamped
def exact(graphs: Graphs, *, max_iter: int = 1, tol: float = 0.0, warn: bool = True) -> Marginals:
    """Exact marginals, log partition and best labelling by enumeration.

    Parameters
    ----------
    graphs : Graphs
        At most 2²⁰ labellings a graph: 20 nodes of two labels, 8 of five.
    max_iter, tol, warn
        Not used; every engine takes them.

    Returns
    -------
    Marginals
        Exact.
    """
    states = n_states(graphs)
    if states.size and states.max() > MAX_STATES:
        g = int(np.argmax(states))
        raise InputError(
            f"exact enumerates at most 2^20 labellings a graph; graph {g} has {np.diff(graphs.node_offsets)[g]} free "
            f"nodes of {graphs.n_labels} labels. Use engine='auto' or 'belief_propagation'."
        )
    nodes = np.zeros_like(graphs.node_scores)
    edges = np.zeros_like(graphs.edge_scores)
    log_z = np.zeros(graphs.n_graphs)
    labels = np.zeros(graphs.n_nodes, dtype=np.int64)
    _enumerate_batch(
        graphs.node_scores, graphs.edges, graphs.edge_columns, graphs.node_offsets, graphs.edge_offsets,
        int(states.max(initial=1)), nodes, edges.reshape(graphs.edge_columns.shape), log_z, labels,
    )  # fmt: skip
    return assemble(graphs, "exact", node_marginals=nodes, edge_marginals=edges, log_partition=log_z, map_labels=labels)


# Sums may be taken in any order, so that they run in parallel lanes; NaN and ∞ keep their meaning.
@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _append(scores: FloatArray, size: int, shifts: FloatArray) -> None:
    """Append to scores[:size] copies of itself shifted by shifts[1:], then shift the first by shifts[0]."""
    for x in range(1, len(shifts)):
        for s in range(size):
            scores[x * size + s] = scores[s] + shifts[x]
    for s in range(size):
        scores[s] += shifts[0]


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _enumerate_batch(
    node_scores: FloatArray,
    edges: IntArray,
    tables: FloatArray,
    node_offsets: IntArray,
    edge_offsets: IntArray,
    room: int,
    nodes_out: FloatArray,
    edges_out: FloatArray,
    log_z: FloatArray,
    labels_out: IntArray,
) -> None:
    n_labels = node_scores.shape[1]
    score, field = np.empty(room), np.empty(room)
    for g in range(len(node_offsets) - 1):
        a = node_offsets[g]
        n = node_offsets[g + 1] - a
        pair = np.zeros((n, n, n_labels, n_labels))
        for e in range(edge_offsets[g], edge_offsets[g + 1]):
            i, j = edges[e, 0] - a, edges[e, 1] - a
            for k in range(n_labels):
                for m in range(n_labels):
                    value = tables[e, k * n_labels + m] if tables.shape[1] > 1 else (tables[e, 0] if k == m else 0.0)
                    pair[i, j, k, m] += value
                    pair[j, i, m, k] += value
        # score[x_0 + x_1 K + …] of all labellings of the first `node` nodes, node after node
        score[0] = 0.0
        size = 1
        for node in range(n):
            for x in range(n_labels - 1, -1, -1):
                field[0] = node_scores[a + node, x]
                width = 1
                for j in range(node):
                    _append(field, width, pair[j, node, :, x])
                    width *= n_labels
                for s in range(size):
                    score[x * size + s] = score[s] + field[s]
            size *= n_labels
        best = 0
        for s in range(size):
            if score[s] > score[best]:
                best = s
        top = score[best]
        for node in range(n):
            labels_out[a + node] = best % n_labels
            best //= n_labels
        total = 0.0
        for s in range(size):
            score[s] = np.exp(score[s] - top)
            total += score[s]
        log_z[g] = top + np.log(total)
        # Fold from the last node: its slices give its own marginal and, folded once more, its pairs.
        for node in range(n - 1, -1, -1):
            size //= n_labels
            for x in range(n_labels):
                part = 0.0
                for s in range(size):
                    field[s] = score[x * size + s]
                    part += field[s]
                nodes_out[a + node, x] = part / total
                width = size
                for j in range(node - 1, -1, -1):
                    width //= n_labels
                    for y in range(n_labels):
                        part = 0.0
                        for s in range(width):
                            part += field[y * width + s]
                        pair[j, node, y, x] = part / total
                        pair[node, j, x, y] = part / total
                    for y in range(1, n_labels):
                        for s in range(width):
                            field[s] += field[y * width + s]
            for x in range(1, n_labels):
                for s in range(size):
                    score[s] += score[x * size + s]
        for e in range(edge_offsets[g], edge_offsets[g + 1]):
            i, j = edges[e, 0] - a, edges[e, 1] - a
            for k in range(n_labels):
                if tables.shape[1] > 1:
                    for m in range(n_labels):
                        edges_out[e, k * n_labels + m] = pair[i, j, k, m]
                else:
                    edges_out[e, 0] += pair[i, j, k, k]
