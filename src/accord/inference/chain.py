"""Chains: exact marginals by scaled forward–backward, the best labels by Viterbi. Linear in the number of nodes."""

import numpy as np
from numba import njit

from accord.errors import InputError
from accord.inference.belief_propagation import belief_propagation
from accord.inference.graphs import Graphs, sum_by
from accord.inference.marginals import Marginals, assemble, binary_marginals
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
        Chains, as :meth:`Graphs.chain` builds them.
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
        graphs, "chain", node_marginals=nodes, edge_marginals=edges, log_partition=log_z, map_labels=viterbi(graphs)
    )


def viterbi(graphs: Graphs) -> IntArray:
    """The best labelling of chains, shape (n_nodes,). Exact; known labels are kept."""
    _check_chain(graphs)
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
    """Widest spread of the scores of a node, plus twice that of an edge."""
    if graphs.n_labels == 2 and graphs.known is None:
        h, gains, _ = graphs.ising()
        return float(np.abs(h).max(initial=0.0) + 2.0 * np.abs(gains).max(initial=0.0))
    nodes = np.ptp(graphs.node_scores, axis=1).max(initial=0.0)
    if graphs.has_tables:
        columns = graphs.edge_columns
        edges = (columns.max(axis=1) - columns.min(axis=1)).max(initial=0.0)
    else:
        edges = np.abs(graphs.edge_scores).max(initial=0.0)
    return float(nodes + 2.0 * edges)


def _two_labels(graphs: Graphs) -> tuple[FloatArray, FloatArray, FloatArray]:
    h, gains, constant = graphs.ising()
    one, equal, log_z = np.empty(graphs.n_nodes), np.empty(graphs.n_edges), np.zeros(graphs.n_graphs)
    _forward_backward_odds(np.exp(h), np.exp(gains), graphs.node_offsets, graphs.edge_offsets, one, equal, log_z)
    nodes, edges = binary_marginals(graphs, one, equal)
    return nodes, edges, log_z + constant


def _any_labels(graphs: Graphs) -> tuple[FloatArray, FloatArray, FloatArray]:
    scores, full = _masked_scores(graphs), graphs.with_tables()
    top_node = scores.max(axis=1, initial=-np.inf)
    top_edge = full.edge_scores.max(axis=(1, 2), initial=-np.inf)
    nodes, tables = np.empty_like(full.node_scores), np.empty_like(full.edge_scores)
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
    a: FloatArray,
    node_offsets: IntArray,
    edge_offsets: IntArray,
    one: FloatArray,
    equal: FloatArray,
    log_z: FloatArray,
) -> None:
    """Two labels: one odds a node and direction, one division each, from r = e^h and a = e^J."""
    longest = 0
    for g in range(len(log_z)):
        longest = max(longest, node_offsets[g + 1] - node_offsets[g])
    forward = np.empty(longest + 1)
    for g in range(len(log_z)):
        first, n, start = node_offsets[g], node_offsets[g + 1] - node_offsets[g], edge_offsets[g]
        if n == 0:
            continue
        scale, total = 1.0, 0.0
        forward[0] = r[first]  # odds of α at node t
        for t in range(n - 1):
            below = a[start + t] + forward[t]
            forward[t + 1] = r[first + t + 1] * (a[start + t] * forward[t] + 1.0) / below
            scale *= below
            if scale > 1e100 or scale < 1e-100:  # many factors share one logarithm
                total += np.log(scale)
                scale = 1.0
        log_z[g] = total + np.log(scale) + np.log1p(forward[n - 1])
        back = 1.0  # odds of β at node t
        for t in range(n - 1, -1, -1):
            belief = forward[t] * back
            one[first + t] = belief / (1.0 + belief)
            if t > 0:
                w, here, left = a[start + t - 1], r[first + t] * back, forward[t - 1]
                same, other = w * (1.0 + left * here), left + here
                equal[start + t - 1] = same / (same + other)
                back = (w * here + 1.0) / (here + w)


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
    """Any labels: α and β scaled to sum to 1 at every node, from factors φ and ψ."""
    k = phi.shape[1]
    alpha, beta, new = np.empty(k), np.empty(k), np.empty(k)
    for g in range(len(log_z)):
        first, n, start = node_offsets[g], node_offsets[g + 1] - node_offsets[g], edge_offsets[g]
        if n == 0:
            continue
        alpha[:] = phi[first]
        for t in range(n):
            if t > 0:
                for y in range(k):
                    total = 0.0
                    for x in range(k):
                        total += alpha[x] * psi[start + t - 1, x, y]
                    new[y] = total * phi[first + t, y]
                alpha[:] = new
            total = alpha.sum()
            alpha /= total
            log_z[g] += np.log(total)
            nodes[first + t] = alpha  # α for now
        beta[:] = 1.0
        for t in range(n - 1, 0, -1):
            total = 0.0
            for y in range(k):
                beta[y] *= phi[first + t, y]
            for x in range(k):
                new[x] = 0.0
                for y in range(k):
                    factor = psi[start + t - 1, x, y] * beta[y]
                    new[x] += factor
                    tables[start + t - 1, x, y] = nodes[first + t - 1, x] * factor
                    total += tables[start + t - 1, x, y]
            tables[start + t - 1] /= total
            for y in range(k):
                nodes[first + t, y] = tables[start + t - 1, :, y].sum()
            beta[:] = new / new.max()
        if n > 1:
            for x in range(k):
                nodes[first, x] = tables[start, x].sum()


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
