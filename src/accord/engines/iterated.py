"""Iterated labelling: every node takes the label it likes best given the others' labels, until none changes."""

from collections.abc import Callable

import numpy as np
from numba import njit

from accord.engines.conditioning import clamped
from accord.engines.convergence import Convergence, iterate
from accord.engines.graphs import Graphs
from accord.engines.kernels.adjacency import adjacency
from accord.engines.marginals import Marginals, assemble, warn_graphs
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["iterate_labels", "iterated"]


def iterate_labels(
    relabel: Callable[[IntArray, IntArray], IntArray],
    start: IntArray,
    *,
    max_iter: int = 30,
    rng: np.random.Generator | None = None,
    block_size: int = 1,
    free: BoolArray | None = None,
    order: IntArray | None = None,
) -> tuple[IntArray, Convergence]:
    """Iterative classification with any classifier ([BBB11] Algorithm 1).

    Parameters
    ----------
    relabel : callable
        ``(nodes, labels) -> new labels of those nodes``; it sees the current labels of all nodes.
    start : array of shape (n_nodes,)
        The first labels.
    max_iter : int
        Most rounds over all nodes.
    rng : numpy.random.Generator, optional
        Draws the order of the nodes anew for each round; without it they come in their own order.
    block_size : int
        Nodes re-labelled at a time. 1 lets each node see every earlier change.
    free : array of shape (n_nodes,), optional
        Nodes that may change; the others keep their label.
    order : array of shape (n_nodes,), optional
        All nodes, in the order that ``rng`` permutes; give one that does not depend on the order of rows.

    Returns
    -------
    labels : array of shape (n_nodes,)
    convergence : Convergence
        Converged when a whole round changed no label.
    """
    nodes = np.arange(len(start)) if order is None else order
    nodes = nodes if free is None else nodes[free[nodes]]

    def one_round(labels: IntArray) -> IntArray:
        labels = labels.copy()
        now = nodes if rng is None else rng.permutation(nodes)
        for first in range(0, len(now), block_size):
            block = now[first : first + block_size]
            labels[block] = relabel(block, labels)
        return labels

    return iterate(
        one_round,
        np.asarray(start),
        max_iter=max_iter,
        tol=0.0,
        change=lambda old, new: float(np.sum(old != new)),
    )


@clamped
def iterated(graphs: Graphs, *, max_iter: int = 1000, tol: float = 0.0, warn: bool = True) -> Marginals:
    """A locally best labelling: iterated conditional modes, from the best label of each node alone.

    In a round those nodes change that gain more by it than any neighbour would, so that every round raises the score
    and the order of the nodes does not matter (but for neighbours that gain exactly the same: the first of them goes).

    Parameters
    ----------
    graphs : Graphs
    max_iter : int
        Most rounds.
    tol : float
        Not used: a graph has converged when a round changes no label.
    warn : bool
        Warn about graphs that did not converge.

    Returns
    -------
    Marginals
        An approximation: no change of one label alone raises the score. ``node_marginals`` are conditional on the other
        nodes' labels, ``log_partition`` is the score of ``map_labels``, ``residual`` the number of changes in the last
        round.
    """
    nodes, labels = np.empty(graphs.node_scores.shape), graphs.node_scores.argmax(axis=1)
    n_iter, residual = np.zeros(graphs.n_graphs, dtype=np.int64), np.zeros(graphs.n_graphs)
    offsets, ends = adjacency(graphs.edges, graphs.n_nodes)
    _rounds(
        graphs.node_scores, graphs.edges, graphs.edge_columns, graphs.node_offsets, offsets, ends, max_iter,
        nodes, labels, n_iter, residual,
    )  # fmt: skip
    a, b = labels[graphs.edges[:, 0]], labels[graphs.edges[:, 1]]
    edges = np.zeros(graphs.edge_scores.shape)
    if graphs.has_tables:
        edges[np.arange(graphs.n_edges), a, b] = 1.0
    else:
        edges[:] = a == b
    found = assemble(
        graphs,
        "iterated",
        node_marginals=nodes,
        edge_marginals=edges,
        log_partition=graphs.score(labels),
        map_labels=labels,
        n_iter=n_iter,
        residual=residual,
    )
    if warn:
        warn_graphs("Iterated labelling", found, cure="Raise max_iter.")
    return found


# A gain below this is rounding.
_LEAST_GAIN = 1e-12


@njit(cache=True, error_model="numpy")
def _rounds(
    node_scores: FloatArray,
    edges: IntArray,
    edge_scores: FloatArray,
    node_offsets: IntArray,
    offsets: IntArray,
    ends: IntArray,
    max_iter: int,
    nodes: FloatArray,
    labels: IntArray,
    n_iter: IntArray,
    residual: FloatArray,
) -> None:
    n_labels = node_scores.shape[1]
    best, gain = labels.copy(), np.zeros(len(labels))
    stale = np.ones(len(labels), dtype=np.bool_)  # nodes some neighbour of which has changed
    for g in range(len(n_iter)):
        first, end = node_offsets[g], node_offsets[g + 1]
        while True:
            for i in range(first, end):
                if not stale[i]:
                    continue
                stale[i] = False
                for k in range(n_labels):
                    nodes[i, k] = node_scores[i, k]
                for place in range(offsets[i], offsets[i + 1]):
                    e, side = ends[place] // 2, ends[place] % 2
                    there = labels[edges[e, 1 - side]]
                    if edge_scores.shape[1] > 1:
                        for k in range(n_labels):
                            nodes[i, k] += edge_scores[e, there * n_labels + k if side else k * n_labels + there]
                    else:
                        nodes[i, there] += edge_scores[e, 0]
                best[i], gain[i] = labels[i], 0.0
                for k in range(n_labels):
                    if nodes[i, k] - nodes[i, labels[i]] > max(gain[i], _LEAST_GAIN):
                        best[i], gain[i] = k, nodes[i, k] - nodes[i, labels[i]]
            if n_iter[g] == max_iter:
                break
            n_iter[g] += 1
            changes = 0.0
            for i in range(first, end):
                goes = gain[i] > 0.0
                for place in range(offsets[i], offsets[i + 1]):
                    j = edges[ends[place] // 2, 1 - ends[place] % 2]
                    goes = goes and (gain[j] < gain[i] or (gain[j] == gain[i] and i < j))
                if goes:
                    changes += 1.0
                    stale[i] = True
            # Nodes that go are no neighbours of each other, so that each of them gains what it expects.
            for i in range(first, end):
                if stale[i]:
                    labels[i] = best[i]
                    for place in range(offsets[i], offsets[i + 1]):
                        gain[edges[ends[place] // 2, 1 - ends[place] % 2]] = np.nan
            for i in range(first, end):
                stale[i] = stale[i] or np.isnan(gain[i])
            residual[g] = changes
            if changes == 0.0:
                break
        for i in range(first, end):
            top, total = nodes[i].max(), 0.0
            for k in range(n_labels):
                nodes[i, k] = np.exp(nodes[i, k] - top)
                total += nodes[i, k]
            for k in range(n_labels):
                nodes[i, k] /= total
