"""Mean field: the closest product of independent nodes. Never exact with edges; a lower bound that only rises.

All nodes move at once, half of the way to where their neighbours send them, so that the order of the nodes does not
matter. A step that would lower the bound is halved until it does not.
"""

import numpy as np
from numba import njit

from accord.engines.conditioning import clamped
from accord.engines.graphs import Graphs
from accord.engines.kernels.adjacency import adjacency
from accord.engines.marginals import Marginals, assemble, warn_graphs
from accord.typing import FloatArray, IntArray

__all__ = ["mean_field"]

# A fall of the bound by less than this share of it is rounding.
_SLACK = 1e-11


@clamped
def mean_field(graphs: Graphs, *, max_iter: int = 2000, tol: float = 1e-6, warn: bool = True) -> Marginals:
    """Mean-field marginals and bound by damped synchronous updates ([BBB11] section 3.3).

    With t_i the softmax of θ_i + Σ_j θ_ij b_j, the step b + η (t − b) points uphill: the slope of the bound along it is
    Σ_i KL(t_i, b_i) + KL(b_i, t_i) ≥ 0. η is ½, and smaller in a graph where ½ is too far.

    Parameters
    ----------
    graphs : Graphs
    max_iter : int
        Most steps, those that were too long included.
    tol : float
        A graph has converged when no b_i is further than this from its t_i.
    warn : bool
        Warn about graphs that did not converge.

    Returns
    -------
    Marginals
        An approximation; ``log_partition`` is a lower bound of the true one and no step lowers it. Edge marginals are
        products of node marginals.
    """
    nodes = np.empty_like(graphs.node_scores)
    edges = np.zeros_like(graphs.edge_scores)
    log_z, residual = np.zeros(graphs.n_graphs), np.zeros(graphs.n_graphs)
    n_iter = np.zeros(graphs.n_graphs, dtype=np.int64)
    offsets, ends = adjacency(graphs.edges, graphs.n_nodes)
    scores = graphs.edge_columns
    # What a sweep reads lies in the order in which it is read. An end is 2 e + side: the other one differs in one bit.
    neighbours = graphs.edges.ravel()[ends ^ 1]
    gains = scores[ends // 2, 0] if scores.shape[1] == 1 else np.empty(0)
    _ascend(
        graphs.node_scores, graphs.edges, scores, graphs.node_offsets, graphs.edge_offsets, offsets, ends, neighbours,
        gains, max_iter, tol, nodes, edges.reshape(scores.shape), log_z, n_iter, residual,
    )  # fmt: skip
    found = assemble(
        graphs,
        "mean_field",
        node_marginals=nodes,
        edge_marginals=edges,
        log_partition=log_z,
        n_iter=n_iter,
        residual=residual,
        tol=tol,
    )
    if warn:
        warn_graphs("Mean field", found, cure="Raise max_iter or tol.")
    return found


@njit(cache=True, error_model="numpy")
def _softmax(scores: FloatArray, out: FloatArray) -> None:
    top, total = scores.max(), 0.0
    for k in range(len(scores)):
        out[k] = np.exp(scores[k] - top)
        total += out[k]
    for k in range(len(scores)):
        out[k] /= total


@njit(cache=True, error_model="numpy")
def _ascend(
    node_scores: FloatArray,
    edges: IntArray,
    edge_scores: FloatArray,
    node_offsets: IntArray,
    edge_offsets: IntArray,
    offsets: IntArray,
    ends: IntArray,
    neighbours: IntArray,
    gains: FloatArray,
    max_iter: int,
    tol: float,
    b: FloatArray,
    edges_out: FloatArray,
    log_z: FloatArray,
    n_iter: IntArray,
    residual: FloatArray,
) -> None:
    n_labels = node_scores.shape[1]
    tables = edge_scores.shape[1] > 1
    field = np.empty(n_labels)
    last, aim = np.empty_like(b), np.empty_like(b)
    for g in range(len(log_z)):
        first, end = node_offsets[g], node_offsets[g + 1]
        for i in range(first, end):
            _softmax(node_scores[i], b[i])
        step, highest = 0.5, -np.inf
        while n_iter[g] < max_iter:
            n_iter[g] += 1
            change, bound = 0.0, 0.0
            for i in range(first, end):
                field[:] = node_scores[i]
                for place in range(offsets[i], offsets[i + 1]):
                    j = neighbours[place]
                    if tables:
                        e, side = ends[place] // 2, ends[place] % 2
                        for k in range(n_labels):
                            for m in range(n_labels):
                                at = m * n_labels + k if side else k * n_labels + m
                                field[k] += edge_scores[e, at] * b[j, m]
                    else:
                        for k in range(n_labels):
                            field[k] += gains[place] * b[j, k]
                _softmax(field, aim[i])  # t_i(k) ∝ exp(θ_i(k) + Σ_j Σ_m θ_ij(k, m) b_j(m))
                for k in range(n_labels):
                    change = max(change, abs(aim[i, k] - b[i, k]))
                    bound += 0.5 * b[i, k] * (node_scores[i, k] + field[k])
                    if b[i, k] > 0.0:
                        bound -= b[i, k] * np.log(b[i, k])
            if bound < highest - _SLACK * max(1.0, abs(highest)):  # the last step was too long
                step *= 0.5
                back = 1.0 if n_iter[g] == max_iter else 0.5
                for i in range(first, end):
                    for k in range(n_labels):
                        b[i, k] += back * (last[i, k] - b[i, k])
                continue
            highest, residual[g] = bound, change
            if change <= tol or n_iter[g] == max_iter:
                break
            for i in range(first, end):
                for k in range(n_labels):
                    last[i, k] = b[i, k]
                    b[i, k] += step * (aim[i, k] - b[i, k])
        # Σ_i E[θ_i] + H(b_i) + Σ_(i,j) E[θ_ij]
        for i in range(first, end):
            for k in range(n_labels):
                log_z[g] += b[i, k] * node_scores[i, k]
                if b[i, k] > 0.0:
                    log_z[g] -= b[i, k] * np.log(b[i, k])
        for e in range(edge_offsets[g], edge_offsets[g + 1]):
            i, j = edges[e, 0], edges[e, 1]
            for k in range(n_labels):
                if tables:
                    for m in range(n_labels):
                        at = k * n_labels + m
                        edges_out[e, at] = b[i, k] * b[j, m]
                        log_z[g] += edges_out[e, at] * edge_scores[e, at]
                else:
                    edges_out[e, 0] += b[i, k] * b[j, k]
            if not tables:
                log_z[g] += edges_out[e, 0] * edge_scores[e, 0]
