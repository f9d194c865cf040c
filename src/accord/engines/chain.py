"""Chains: exact marginals by scaled forward–backward, the best labels by Viterbi. Linear in the number of nodes."""

import numpy as np
from numba import njit

from accord.engines.belief_propagation import belief_propagation
from accord.engines.graphs import Graphs, sum_by
from accord.engines.marginals import Marginals, assemble
from accord.errors import InputError
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["chain", "is_chain", "viterbi"]

# Widest scores of one node and one edge together for which scaled probabilities cannot underflow.
_MAX_RANGE = 300.0


def is_chain(graphs: Graphs) -> BoolArray:
    """Which graphs are chains 0 – 1 – 2 – … with their edges in order, shape (n_graphs,)."""
    n, m = np.diff(graphs.node_offsets), np.diff(graphs.edge_offsets)
    start = np.repeat(graphs.node_offsets[:-1] - graphs.edge_offsets[:-1], m)
    first = np.arange(graphs.n_edges) + start
    wrong = (graphs.edges[:, 0] != first) | (graphs.edges[:, 1] != first + 1)
    return (m == np.maximum(n - 1, 0)) & (np.bincount(graphs.edge_graph[wrong], minlength=graphs.n_graphs) == 0)


def _check_chain(graphs: Graphs) -> None:
    ok = is_chain(graphs)
    if not ok.all():
        g = int(np.argmin(ok))
        raise InputError(
            f"chain needs graphs whose edge t joins their nodes t and t + 1; graph {g} is not one. "
            "Build them with Graphs.chain, or use engine='belief_propagation'."
        )


def chain(graphs: Graphs, *, max_iter: int = 1, tol: float = 0.0, warn: bool = True) -> Marginals:
    """Exact marginals, log partition and best labels of chains; every edge may have its own table.

    Parameters
    ----------
    graphs : Graphs
        Chains, as :meth:`~accord.engines.graphs.Graphs.chain` builds them.
    max_iter, tol, warn
        Not used; every engine takes them.

    Returns
    -------
    Marginals
        Exact.
    """
    _check_chain(graphs)
    if _range(graphs) > _MAX_RANGE:
        # Two sequential sweeps in the log domain are forward–backward; the third sees that nothing changes.
        found = belief_propagation(graphs, schedule="sequential", max_iter=10, tol=1e-9, warn=warn)
        nodes, edges, log_z = found.node_marginals, found.edge_marginals, found.log_partition
    elif graphs.n_labels == 2 and graphs.known is None:
        nodes, edges, log_z = _two_labels(graphs)
    else:
        nodes, edges, log_z = _any_labels(graphs)
    return assemble(
        graphs,
        "chain",
        node_marginals=nodes,
        edge_marginals=edges,
        log_partition=log_z,
        map_labels=_best_labels(graphs),
    )


def viterbi(graphs: Graphs) -> IntArray:
    """The best labelling of chains, shape (n_nodes,). Exact; known labels are kept."""
    _check_chain(graphs)
    return _best_labels(graphs)


def _best_labels(graphs: Graphs) -> IntArray:
    labels = np.zeros(graphs.n_nodes, dtype=np.int64)
    _viterbi(_masked_scores(graphs), graphs.edge_columns, graphs.node_offsets, graphs.edge_offsets, labels)
    return labels


def _masked_scores(graphs: Graphs) -> FloatArray:
    """Node scores with −∞ for every label that a known one rules out."""
    if graphs.known is None:
        return graphs.node_scores
    ruled_out = (graphs.known[:, None] >= 0) & (graphs.known[:, None] != np.arange(graphs.n_labels))
    return np.where(ruled_out, -np.inf, graphs.node_scores)


def _range(graphs: Graphs) -> float:
    """Widest spread of the scores of a node, plus twice that of an edge; or a bound of it that is cheap to find."""

    def largest(scores: FloatArray) -> float:
        return max(float(scores.max(initial=0.0)), -float(scores.min(initial=0.0)))

    bound = 2.0 * largest(graphs.node_scores) + 4.0 * largest(graphs.edge_scores)
    if bound <= _MAX_RANGE:
        return bound
    nodes, columns = np.ptp(graphs.node_scores, axis=1), graphs.edge_columns
    low, high = columns.min(axis=1, initial=0.0), columns.max(axis=1, initial=0.0)
    return float(nodes.max(initial=0.0) + 2.0 * (high - low).max(initial=0.0))


def _two_labels(graphs: Graphs) -> tuple[FloatArray, FloatArray, FloatArray]:
    h = graphs.node_scores[:, 1] - graphs.node_scores[:, 0]
    log_z = sum_by(graphs.node_graph, graphs.node_scores[:, 0], graphs.n_graphs)
    nodes, edges = np.empty(graphs.node_scores.shape), np.empty(graphs.edge_scores.shape)
    _forward_backward_odds(
        np.exp(h), np.exp(graphs.edge_columns), graphs.node_offsets, graphs.edge_offsets,
        nodes, edges.reshape(graphs.edge_columns.shape), log_z,
    )  # fmt: skip
    return nodes, edges, log_z


def _any_labels(graphs: Graphs) -> tuple[FloatArray, FloatArray, FloatArray]:
    scores, full = _masked_scores(graphs), graphs.with_tables()
    top_node = scores.max(axis=1, initial=-np.inf)
    top_edge = full.edge_scores.max(axis=(1, 2), initial=-np.inf)
    nodes, tables = np.empty(full.node_scores.shape), np.empty(full.edge_scores.shape)
    log_z = sum_by(graphs.node_graph, top_node, graphs.n_graphs)
    log_z += sum_by(graphs.edge_graph, top_edge, graphs.n_graphs)
    _forward_backward(
        np.exp(scores - top_node[:, None]), np.exp(full.edge_scores - top_edge[:, None, None]),
        graphs.node_offsets, graphs.edge_offsets, nodes, tables, log_z,
    )  # fmt: skip
    return nodes, tables if graphs.has_tables else np.trace(tables, axis1=1, axis2=2), log_z


@njit(cache=True, error_model="numpy")
def _forward_backward_odds(
    r: FloatArray,
    psi: FloatArray,
    node_offsets: IntArray,
    edge_offsets: IntArray,
    nodes: FloatArray,
    edges: FloatArray,
    log_z: FloatArray,
) -> None:
    """Two labels: one odds a node and direction, from r = e^h and the factors ψ of gains or tables."""
    tables = psi.shape[1] > 1
    longest = 0
    for g in range(len(log_z)):
        longest = max(longest, node_offsets[g + 1] - node_offsets[g])
    forward = np.empty(longest + 1)
    for g in range(len(log_z)):
        first, n, start = node_offsets[g], node_offsets[g + 1] - node_offsets[g], edge_offsets[g]
        if n == 0:
            continue
        scale, total = 1.0, 0.0
        p00, p01, p10, p11 = 1.0, 1.0, 1.0, 1.0
        forward[0] = r[first]  # odds of α at node t
        for t in range(n - 1):
            e = start + t
            if tables:
                p00, p01, p10, p11 = psi[e, 0], psi[e, 1], psi[e, 2], psi[e, 3]
            else:
                p00 = p11 = psi[e, 0]
            below = p00 + forward[t] * p10
            forward[t + 1] = r[first + t + 1] * (p01 + forward[t] * p11) / below
            scale *= below
            if scale > 1e100 or scale < 1e-100:  # many factors share one logarithm
                total += np.log(scale)
                scale = 1.0
        log_z[g] += total + np.log(scale) + np.log1p(forward[n - 1])
        nodes[first + n - 1, 1] = forward[n - 1] / (1.0 + forward[n - 1])
        nodes[first + n - 1, 0] = 1.0 / (1.0 + forward[n - 1])
        back = 1.0  # odds of β at node t
        for t in range(n - 1, 0, -1):
            e, left, here = start + t - 1, forward[t - 1], r[first + t] * back
            if tables:
                p00, p01, p10, p11 = psi[e, 0], psi[e, 1], psi[e, 2], psi[e, 3]
            else:
                p00 = p11 = psi[e, 0]
            zero, one = p00 + p01 * here, p10 + p11 * here
            z = 1.0 / (zero + left * one)
            if tables:
                edges[e, 0], edges[e, 1] = p00 * z, p01 * here * z
                edges[e, 2], edges[e, 3] = left * p10 * z, left * p11 * here * z
            else:
                edges[e, 0] = p00 * (1.0 + left * here) * z
            nodes[first + t - 1, 0], nodes[first + t - 1, 1] = zero * z, left * one * z
            back = one / zero


@njit(cache=True, error_model="numpy")
def _forward_backward(
    phi: FloatArray,
    psi: FloatArray,
    node_offsets: IntArray,
    edge_offsets: IntArray,
    nodes: FloatArray,
    tables: FloatArray,
    log_z: FloatArray,
) -> None:
    """Any labels: α and β scaled at every node, from factors φ and ψ."""
    k = phi.shape[1]
    beta, new = np.empty(k), np.empty(k)
    for g in range(len(log_z)):
        first, n, start = node_offsets[g], node_offsets[g + 1] - node_offsets[g], edge_offsets[g]
        for t in range(n):
            i, e, total = first + t, start + t - 1, 0.0
            for y in range(k):
                nodes[i, y] = phi[i, y]  # nodes holds α for now
                if t > 0:
                    sent = 0.0
                    for x in range(k):
                        sent += nodes[i - 1, x] * psi[e, x, y]
                    nodes[i, y] *= sent
                total += nodes[i, y]
            for y in range(k):
                nodes[i, y] /= total
            log_z[g] += np.log(total)
        beta[:] = 1.0
        for t in range(n - 1, 0, -1):
            i, e, total, top = first + t, start + t - 1, 0.0, 0.0
            for x in range(k):
                new[x] = 0.0
                for y in range(k):
                    factor = psi[e, x, y] * phi[i, y] * beta[y]
                    new[x] += factor
                    tables[e, x, y] = nodes[i - 1, x] * factor
                    total += tables[e, x, y]
                top = max(top, new[x])
            for y in range(k):
                nodes[i, y] = 0.0
            for x in range(k):
                beta[x] = new[x] / top
                for y in range(k):
                    tables[e, x, y] /= total
                    nodes[i, y] += tables[e, x, y]
        if n > 1:
            for x in range(k):
                nodes[first, x] = 0.0
                for y in range(k):
                    nodes[first, x] += tables[start, x, y]


@njit(cache=True, error_model="numpy")
def _viterbi(
    node_scores: FloatArray, edge_scores: FloatArray, node_offsets: IntArray, edge_offsets: IntArray, labels: IntArray
) -> None:
    k = node_scores.shape[1]
    best, new = np.empty(k), np.empty(k)
    longest = 0
    for g in range(len(node_offsets) - 1):
        longest = max(longest, node_offsets[g + 1] - node_offsets[g])
    origin = np.empty((longest, k), np.int16)
    for g in range(len(node_offsets) - 1):
        first, n, start = node_offsets[g], node_offsets[g + 1] - node_offsets[g], edge_offsets[g]
        if n == 0:
            continue
        best[:] = node_scores[first]
        for t in range(1, n):
            e = start + t - 1
            for y in range(k):
                top, at = -np.inf, 0
                for x in range(k):
                    if edge_scores.shape[1] > 1:
                        value = best[x] + edge_scores[e, x * k + y]
                    else:
                        value = best[x] + (edge_scores[e, 0] if x == y else 0.0)
                    if value > top:
                        top, at = value, x
                new[y] = top + node_scores[first + t, y]
                origin[t, y] = at
            best[:] = new
        y = int(np.argmax(best))
        for t in range(n - 1, -1, -1):
            labels[first + t] = y
            y = origin[t, y]
