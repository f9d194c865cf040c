"""Complete graphs of two labels whose edges share one gain: exact, because only the count of each label matters.

With c ones among n nodes, J c(c−1)/2 + J (n−c)(n−c−1)/2 is the score of all edges, so the log partition is a sum over c
of elementary symmetric polynomials of the node odds: O(n²).
"""

import numpy as np
from numba import njit

from accord.engines.conditioning import clamped
from accord.engines.graphs import Graphs
from accord.engines.kernels.adjacency import complete
from accord.engines.marginals import Marginals, assemble, binary_marginals
from accord.errors import InputError
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["counting", "is_countable"]

# Log odds closer than this are too close for the ratio rule of edge marginals.
_CLOSE = 0.02


def is_countable(graphs: Graphs) -> BoolArray:
    """Which graphs are complete with one gain for all their edges, shape (n_graphs,)."""
    if graphs.n_labels != 2:
        return np.zeros(graphs.n_graphs, dtype=bool)
    _, gains, _ = graphs.ising()
    first = np.append(gains, 0.0)[np.minimum(graphs.edge_offsets[:-1], graphs.n_edges)]
    uneven = np.abs(gains - first[graphs.edge_graph]) > 1e-12 * np.abs(gains)
    even = np.bincount(graphs.edge_graph[uneven], minlength=graphs.n_graphs) == 0
    return even & complete(graphs.edges, graphs.node_offsets, graphs.edge_offsets)


@clamped
def counting(
    graphs: Graphs, *, max_iter: int = 1, tol: float = 0.0, warn: bool = True, each_edge: bool = True
) -> Marginals:
    """Exact marginals, log partition and best labelling by counting labels.

    O(n²) for a graph of n nodes whose log odds differ; where many are nearly but not exactly equal, up to O(n³) for the
    edge marginals.

    Parameters
    ----------
    graphs : Graphs
        Two labels, complete, one gain for all edges of a graph.
    max_iter, tol, warn
        Not used; every engine takes them.
    each_edge : bool
        ``False`` gives every edge with a gain the mean marginal over the edges of its graph: all that the slope of one
        shared gain needs, in O(n²) whatever the log odds are.

    Returns
    -------
    Marginals
        Exact.
    """
    ok = is_countable(graphs)
    if not ok.all():
        raise InputError(
            "counting needs complete graphs of two labels with one gain for all edges of a graph; graph "
            f"{int(np.argmin(ok))} is not one. Use engine='auto' or 'belief_propagation'."
        )
    h, gains, constant = graphs.ising()
    one, equal, log_z = np.empty(graphs.n_nodes), np.empty(graphs.n_edges), np.zeros(graphs.n_graphs)
    labels = np.zeros(graphs.n_nodes, dtype=np.int64)
    each_edge = each_edge or graphs.has_tables
    _count(h, graphs.edges, gains, graphs.node_offsets, graphs.edge_offsets, one, equal, log_z, labels, each_edge)
    nodes, edges = binary_marginals(graphs, one, equal)
    return assemble(
        graphs,
        "counting",
        node_marginals=nodes,
        edge_marginals=edges,
        log_partition=log_z + constant,
        map_labels=labels,
    )


@njit(cache=True, error_model="numpy")
def _log_add(a: float, b: float) -> float:
    if a < b:
        a, b = b, a
    return a + np.log1p(np.exp(b - a)) if b > -np.inf else a


@njit(cache=True, error_model="numpy")
def _node_marginals(h: FloatArray, tail: FloatArray, before: FloatArray, after: FloatArray, one: FloatArray) -> float:
    """P(y_i = 1) and the log partition of independent nodes h with the score tail[c] for c ones.

    before[c] = log weight of c ones among the nodes before i; after[i, c] = log weight of all that follows.
    """
    n = len(h)
    for c in range(n + 1):
        after[n, c] = tail[c]
    for i in range(n - 1, -1, -1):
        for c in range(i + 1):
            after[i, c] = _log_add(after[i + 1, c], h[i] + after[i + 1, c + 1])
    log_z = after[0, 0]
    before[0] = 0.0
    for i in range(n):
        total = 0.0
        for c in range(i + 1):
            total += np.exp(before[c] + h[i] + after[i + 1, c + 1] - log_z)
        one[i] = min(total, 1.0)
        before[i + 1] = -np.inf
        for c in range(i + 1, 0, -1):
            before[c] = _log_add(before[c], h[i] + before[c - 1])
    return log_z


@njit(cache=True, error_model="numpy")
def _count(
    h: FloatArray,
    edges: IntArray,
    gains: FloatArray,
    node_offsets: IntArray,
    edge_offsets: IntArray,
    one_out: FloatArray,
    equal: FloatArray,
    log_z: FloatArray,
    labels: IntArray,
    each_edge: bool,
) -> None:
    for g in range(len(log_z)):
        first, last, start, end = node_offsets[g], node_offsets[g + 1], edge_offsets[g], edge_offsets[g + 1]
        n = last - first
        if n == 0:
            continue
        field, one = h[first:last], one_out[first:last]
        gain = gains[start] if end > start else 0.0
        tail = np.empty(n + 1)
        for c in range(n + 1):
            tail[c] = 0.5 * gain * (c * (c - 1.0) + (n - c) * (n - c - 1.0))
        before, after, rest = np.empty(n + 1), np.empty((n + 1, n + 1)), np.empty(n)
        log_z[g] = _node_marginals(field, tail, before, after, one)
        # The best labelling with c ones has them where the log odds are largest.
        order = np.argsort(-field)
        best, at, total = tail[0], 0, 0.0
        for c in range(1, n + 1):
            total += field[order[c - 1]]
            if total + tail[c] > best:
                best, at = total + tail[c], c
        for c in range(n):
            labels[first + order[c]] = 1 if c < at else 0
        if not each_edge:
            if end > start:
                # All nodes are before the last step of the count: before[c] is the log weight of c ones among all.
                total = 0.0
                for c in range(n + 1):
                    total += np.exp(before[c] + tail[c] - log_z[g]) * (c * (c - 1.0) + (n - c) * (n - c - 1.0))
                equal[start:end] = min(max(total / (n * (n - 1.0)), 0.0), 1.0)
            continue
        # given[i, j] = P(y_j = 1 | y_i = 1), for one node i of each set of equal log odds, when it is needed
        given, twin = np.empty((0, 0)), np.full(n, -1)
        others = np.empty(n - 1)
        for e in range(start, end):
            i, j = edges[e, 0] - first, edges[e, 1] - first
            gap = field[i] - field[j]
            if abs(gap) > _CLOSE:
                # P(1, 0) : P(0, 1) = e^h_i : e^h_j, and their difference is P(y_i = 1) − P(y_j = 1).
                equal[e] = 1.0 - (one[i] - one[j]) / np.tanh(0.5 * gap)
                continue
            if given.size == 0:
                given = np.empty((n, n))
            if twin[i] < 0:
                m = 0
                for k in range(n):
                    if k != i:
                        others[m] = field[k]
                        m += 1
                _node_marginals(others, tail[1:], before, after, rest)
                m = 0
                for k in range(n):
                    if k != i:
                        given[i, k] = rest[m]
                        m += 1
                for k in range(n):
                    if field[k] == field[i]:
                        twin[k] = i
            # A node that stands for j's own set has the same conditional as any other of that set.
            there = given[twin[i], i] if twin[i] == j else given[twin[i], j]
            equal[e] = 1.0 - one[i] - one[j] + 2.0 * one[i] * there
        for e in range(start, end):
            equal[e] = min(max(equal[e], 0.0), 1.0)
