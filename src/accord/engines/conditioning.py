"""Known labels: condition a batch on them exactly, by leaving the clamped nodes out.

A clamped node passes its edges on to its free neighbours as node scores; an engine then sees free nodes only. So known
labels mean the same in every engine, and an engine that is exact stays exact.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from accord.engines.graphs import Graphs, sum_by
from accord.engines.marginals import Marginals
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["clamped", "free_part"]

Engine = Callable[..., Marginals]


def free_part(graphs: Graphs) -> tuple[Graphs, FloatArray, BoolArray, BoolArray]:
    """The batch over the free nodes alone, conditioned on the known labels.

    Returns
    -------
    free : Graphs
        As many graphs as before; some may be empty.
    constant : array of shape (n_graphs,)
        Score of the clamped nodes and of the edges between them.
    free_nodes : array of shape (n_nodes,)
    free_edges : array of shape (n_edges,)
        Which nodes and edges (with two free ends) remain.
    """
    known = np.full(graphs.n_nodes, -1) if graphs.known is None else graphs.known
    free = known < 0
    if free.all():
        return graphs, np.zeros(graphs.n_graphs), free, np.ones(graphs.n_edges, dtype=bool)
    i, j = graphs.edges.T
    inner, outer = free[i] & free[j], ~free[i] & ~free[j]
    scores = graphs.node_scores.copy()
    for here, there, swap in ((i, j, False), (j, i, True)):
        rows = np.flatnonzero(free[here] & ~free[there])
        label = known[there[rows]]
        if graphs.has_tables:
            gain = graphs.edge_scores[rows, label] if swap else graphs.edge_scores[rows, :, label]
            for k in range(graphs.n_labels):
                scores[:, k] += sum_by(here[rows], gain[:, k], graphs.n_nodes)
        else:
            cell = here[rows].astype(np.int64) * graphs.n_labels + label
            gain = sum_by(cell, graphs.edge_scores[rows], scores.size)
            scores += gain.reshape(scores.shape)
    rows = np.flatnonzero(outer)
    a, b = known[i[rows]], known[j[rows]]
    fixed = graphs.edge_scores[rows, a, b] if graphs.has_tables else graphs.edge_scores[rows] * (a == b)
    constant = sum_by(graphs.edge_graph[rows], fixed, graphs.n_graphs)
    clamped_nodes = np.flatnonzero(~free)
    constant += sum_by(
        graphs.node_graph[clamped_nodes], graphs.node_scores[clamped_nodes, known[clamped_nodes]], graphs.n_graphs
    )
    place = np.cumsum(free) - 1
    smaller = Graphs(
        scores[free],
        place[graphs.edges[inner]],
        graphs.edge_scores[inner],
        _offsets(graphs.node_graph[free], graphs.n_graphs),
        _offsets(graphs.edge_graph[inner], graphs.n_graphs),
    )
    return smaller, constant, free, inner


def _offsets(group: IntArray, n_groups: int) -> IntArray:
    return np.concatenate([[0], np.cumsum(np.bincount(group, minlength=n_groups))])


def _widen(graphs: Graphs, found: Marginals, constant: FloatArray, free: BoolArray, inner: BoolArray) -> Marginals:
    known = graphs.known
    assert known is not None  # only called for batches with known labels
    i, j = graphs.edges.T
    nodes = np.zeros((graphs.n_nodes, graphs.n_labels))
    nodes[free] = found.node_marginals
    clamped_nodes = np.flatnonzero(~free)
    nodes[clamped_nodes, known[clamped_nodes]] = 1.0
    # An edge with a clamped end is independent given the known label: P(a, b) = P(a) P(b).
    edges = np.empty_like(graphs.edge_scores)
    rest = ~inner
    edges[inner] = found.edge_marginals
    product = nodes[i[rest]][:, :, None] * nodes[j[rest]][:, None, :]
    edges[rest] = product if graphs.has_tables else np.trace(product, axis1=1, axis2=2)
    labels = known.copy()
    labels[free] = found.map_labels
    return Marginals(
        nodes,
        edges,
        found.log_partition + constant,
        labels,
        found.converged,
        found.n_iter,
        found.residual,
        found.method,
    )


def clamped(engine: Engine) -> Engine:
    """The engine, with known labels conditioned on."""

    @wraps(engine)
    def run(graphs: Graphs, **settings: Any) -> Marginals:
        if graphs.known is None or (graphs.known < 0).all():
            return engine(graphs, **settings)
        smaller, constant, free, inner = free_part(graphs)
        return _widen(graphs, engine(smaller, **settings), constant, free, inner)

    return run
