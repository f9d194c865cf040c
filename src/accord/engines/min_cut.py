"""The best labelling of two labels by minimum cut, and QPBO where some edges prefer different labels."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from accord.engines.conditioning import free_part
from accord.engines.graphs import Graphs, sum_by
from accord.engines.kernels.adjacency import adjacency
from accord.engines.kernels.push_relabel import cut_dense, cut_sparse
from accord.engines.marginals import Marginals, assemble, binary_marginals
from accord.errors import InputError
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["Cuts", "min_cut", "minimum_cuts", "qpbo"]

# Above this size a complete graph is cut by adjacency.
_MAX_DENSE = 2000


@dataclass(frozen=True, eq=False)
class Cuts:
    """The two extreme minimum cuts. Where they differ, the best labelling is not unique."""

    fewest: IntArray  # (n_nodes,) the best labelling with the fewest ones
    most: IntArray  # (n_nodes,) the best labelling with the most ones
    score: FloatArray  # (n_graphs,) score of both

    @property
    def tied(self) -> BoolArray:
        """Nodes that have one label in some best labelling and the other in another, shape (n_nodes,)."""
        return self.fewest != self.most


def minimum_cuts(graphs: Graphs) -> Cuts:
    """Both extreme best labellings ([BBB11] section 3.1). Exact for real-valued scores.

    Known labels are kept. Every edge between free nodes must prefer equal labels.
    """
    free, _, free_nodes, free_edges = free_part(graphs)
    if graphs.n_labels != 2:
        raise InputError(
            f"min_cut needs two labels; these graphs have {graphs.n_labels}. Use engine='belief_propagation'."
        )
    h, gains, _ = free.ising()
    # Rounding of a table may leave a gain a hair below 0.
    wrong = gains < -1e-12 * (1.0 + np.abs(free.edge_columns).max(axis=1, initial=0.0))
    if wrong.any():
        e = int(np.argmax(wrong))
        raise InputError(
            f"min_cut needs every edge to prefer equal labels; edge {np.flatnonzero(free_edges)[e]} has gain "
            f"{gains[e]:.3g}. Use engine='qpbo', 'belief_propagation' or 'mean_field'."
        )
    low, high = _cut(free, h, np.maximum(gains, 0.0))
    known = np.full(graphs.n_nodes, -1) if graphs.known is None else graphs.known
    fewest, most = known.copy(), known.copy()
    fewest[free_nodes], most[free_nodes] = low, high
    return Cuts(fewest, most, graphs.score(fewest))


def min_cut(graphs: Graphs, *, max_iter: int = 1, tol: float = 0.0, warn: bool = True) -> Marginals:
    """The best labelling by minimum cut.

    Parameters
    ----------
    graphs : Graphs
        Two labels; every edge prefers equal labels.
    max_iter, tol, warn
        Not used; every engine takes them.

    Returns
    -------
    Marginals
        ``map_labels`` are exact. ``node_marginals`` are 0 or 1, and ½ for a node that is tied: see
        :func:`minimum_cuts`. ``log_partition`` is the score of the labelling.
    """
    cuts = minimum_cuts(graphs)
    one = 0.5 * (cuts.fewest + cuts.most)
    return _labelling(graphs, "min_cut", cuts.fewest, one, cuts.score)


def qpbo(graphs: Graphs, *, max_iter: int = 1, tol: float = 0.0, warn: bool = True) -> Marginals:
    """Which labels are provably best when some edges prefer different labels.

    Every node is doubled into itself and its opposite, so that an edge that prefers different labels becomes two that
    prefer equal ones; where the minimum cut of the doubled graph parts a node from its opposite, its label is that of
    every best labelling.

    Parameters
    ----------
    graphs : Graphs
        Two labels, any edges.
    max_iter, tol, warn
        Not used; every engine takes them.

    Returns
    -------
    Marginals
        ``map_labels`` is −1 where the cut does not decide, else the label in every best labelling; undecided nodes have
        ``node_marginals`` of ½. ``log_partition`` is an upper bound of the best score.
    """
    if graphs.n_labels != 2:
        raise InputError(
            f"qpbo needs two labels; these graphs have {graphs.n_labels}. Use engine='belief_propagation'."
        )
    free, constant, free_nodes, _ = free_part(graphs)
    h, gains, base = free.ising()
    doubled, spare = _doubled(free, h, gains)
    low, _ = _cut(doubled, *doubled.ising()[:2])
    itself = np.arange(free.n_nodes) + free.node_offsets[free.node_graph]
    opposite = itself + np.diff(free.node_offsets)[free.node_graph]
    labels = np.full(graphs.n_nodes, -1) if graphs.known is None else graphs.known.copy()
    labels[free_nodes] = np.where(low[itself], 1, np.where(low[opposite], 0, -1))
    bound = doubled.score(low.astype(np.int64)) + spare + base + constant
    return _labelling(graphs, "qpbo", labels, np.where(labels < 0, 0.5, labels), bound)


def _doubled(graphs: Graphs, h: FloatArray, gains: FloatArray) -> tuple[Graphs, FloatArray]:
    """Each graph beside its opposite, and the constant that the two scores differ by.

    ½h y goes to the node and ½h (1 − ȳ) to its opposite. J > 0 joins like to like with J/2 each; J < 0 joins each node
    to the other's opposite, because J [y_i = y_j] = J − J [y_i = 1 − y_j].
    """
    n, place = np.diff(graphs.node_offsets), graphs.node_offsets[graphs.node_graph]
    itself = np.arange(graphs.n_nodes) + place
    opposite = itself + n[graphs.node_graph]
    scores = np.zeros((2 * graphs.n_nodes, 2))
    scores[itself, 1], scores[opposite, 1] = 0.5 * h, -0.5 * h
    i, j = graphs.edges.T
    like = gains >= 0.0
    pairs = np.empty((graphs.n_edges, 2, 2), dtype=np.int64)
    pairs[:, 0, 0], pairs[:, 0, 1] = itself[i], np.where(like, itself[j], opposite[j])
    pairs[:, 1, 0], pairs[:, 1, 1] = opposite[i], np.where(like, opposite[j], itself[j])
    doubled = Graphs(
        scores,
        pairs.reshape(-1, 2),
        np.repeat(0.5 * np.abs(gains), 2),
        2 * graphs.node_offsets,
        2 * graphs.edge_offsets,
    )
    spare = sum_by(graphs.node_graph, 0.5 * h, graphs.n_graphs)
    return doubled, spare + sum_by(graphs.edge_graph, np.minimum(gains, 0.0), graphs.n_graphs)


def _labelling(graphs: Graphs, method: str, labels: IntArray, one: FloatArray, score: FloatArray) -> Marginals:
    a, b = one[graphs.edges[:, 0]], one[graphs.edges[:, 1]]
    nodes, edges = binary_marginals(graphs, one, 1.0 - a - b + 2.0 * a * b)
    return assemble(graphs, method, node_marginals=nodes, edge_marginals=edges, log_partition=score, map_labels=labels)


def _cut(graphs: Graphs, h: FloatArray, gains: FloatArray) -> tuple[BoolArray, BoolArray]:
    low, high = np.zeros(graphs.n_nodes, dtype=bool), np.zeros(graphs.n_nodes, dtype=bool)
    _cut_batch(h, graphs.edges, gains, graphs.node_offsets, graphs.edge_offsets, low, high)
    return low, high


@njit(cache=True, error_model="numpy")
def _cut_batch(
    h: FloatArray,
    edges: IntArray,
    gains: FloatArray,
    node_offsets: IntArray,
    edge_offsets: IntArray,
    low: BoolArray,
    high: BoolArray,
) -> None:
    most = 0
    sparse = False
    for g in range(len(node_offsets) - 1):
        n, m = node_offsets[g + 1] - node_offsets[g], edge_offsets[g + 1] - edge_offsets[g]
        if n <= _MAX_DENSE and 3 * m >= n * n:
            most = max(most, n)
        else:
            sparse = True
    square = np.empty(most * most)
    room = np.empty(0)
    offsets, ends = np.zeros(1, np.int64), np.zeros(1, np.int64)
    if sparse:
        offsets, ends = adjacency(edges, node_offsets[-1])
        room = np.repeat(gains, 2)
    for g in range(len(node_offsets) - 1):
        first, last, start, end = node_offsets[g], node_offsets[g + 1], edge_offsets[g], edge_offsets[g + 1]
        n, m = last - first, end - start
        if n == 0:
            continue
        if n <= _MAX_DENSE and 3 * m >= n * n:
            table = square[: n * n].reshape((n, n))
            table[:] = 0.0
            for e in range(start, end):
                i, j = edges[e, 0] - first, edges[e, 1] - first
                table[i, j] += gains[e]
                table[j, i] += gains[e]
            cut_dense(h[first:last], table, low[first:last], high[first:last])
        else:
            largest = 0.0
            for e in range(start, end):
                largest = max(largest, gains[e])
            cut_sparse(h[first:last], first, edges, offsets, ends, room, largest, low[first:last], high[first:last])
