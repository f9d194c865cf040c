"""What every engine returns: one record, with the state of convergence of each graph."""

from dataclasses import dataclass

import numpy as np

from accord.engines.convergence import Convergence, warn_unconverged
from accord.engines.graphs import Graphs
from accord.typing import BoolArray, FloatArray, IntArray, ObjectArray

__all__ = ["Marginals", "assemble", "binary_marginals", "combine", "warn_graphs"]


@dataclass(frozen=True, eq=False)
class Marginals:
    """The posterior of a batch of graphs, by one engine.

    ``node_marginals`` and ``edge_marginals`` have the shapes of the scores they belong to: an edge with a gain has the
    probability that its two labels are equal, an edge with a table the table of joint probabilities. For ``exact``,
    ``counting``, ``chain`` and converged belief propagation they are the derivative of ``log_partition`` by the scores.

    Engines that look for the best labelling only (max-product, minimum cut, iterated) put the score of ``map_labels``
    into ``log_partition``: a lower bound of the log partition.
    """

    node_marginals: FloatArray  # (n_nodes, n_labels)
    edge_marginals: FloatArray  # (n_edges,) or (n_edges, n_labels, n_labels)
    log_partition: FloatArray  # (n_graphs,)
    map_labels: IntArray  # (n_nodes,)
    converged: BoolArray  # (n_graphs,)
    n_iter: IntArray  # (n_graphs,)
    residual: FloatArray  # (n_graphs,)
    method: ObjectArray  # (n_graphs,) name of the engine

    @property
    def convergence(self) -> Convergence:
        """The worst of all graphs."""
        return Convergence(
            bool(self.converged.all()), int(self.n_iter.max(initial=0)), float(self.residual.max(initial=0.0))
        )


def assemble(
    graphs: Graphs,
    method: str,
    *,
    node_marginals: FloatArray,
    edge_marginals: FloatArray,
    log_partition: FloatArray,
    map_labels: IntArray | None = None,
    n_iter: IntArray | None = None,
    residual: FloatArray | None = None,
    tol: float = 0.0,
) -> Marginals:
    """A record from its arrays. Without a ``residual`` the engine is direct and has converged."""
    residual = np.zeros(graphs.n_graphs) if residual is None else residual
    return Marginals(
        node_marginals=node_marginals,
        edge_marginals=edge_marginals,
        log_partition=log_partition,
        map_labels=node_marginals.argmax(axis=1) if map_labels is None else map_labels,
        converged=residual <= tol,
        n_iter=np.ones(graphs.n_graphs, dtype=np.int64) if n_iter is None else n_iter,
        residual=residual,
        method=np.full(graphs.n_graphs, method, dtype=object),
    )


def binary_marginals(graphs: Graphs, one: FloatArray, equal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Node and edge marginals in the shapes of the scores, from P(y_i = 1) and P(y_i = y_j)."""
    nodes = np.empty((len(one), 2))
    nodes[:, 1] = one
    nodes[:, 0] = 1.0 - one
    if not graphs.has_tables:
        return nodes, equal
    a, b = one[graphs.edges[:, 0]], one[graphs.edges[:, 1]]
    both = 0.5 * (equal + a + b - 1.0)
    tables = np.empty((len(equal), 2, 2))
    tables[:, 1, 1] = both
    tables[:, 0, 0] = equal - both
    tables[:, 1, 0] = a - both
    tables[:, 0, 1] = b - both
    # Rounding leaves entries of about −1e-17 where a label is certain.
    return nodes, np.clip(tables, 0.0, 1.0)


def combine(graphs: Graphs, parts: list[tuple[IntArray, Marginals]]) -> Marginals:
    """One record from the records of some of the graphs each; together the parts must cover all graphs."""
    nodes, edges = np.empty(graphs.node_scores.shape), np.empty(graphs.edge_scores.shape)
    labels, n_iter = np.zeros(graphs.n_nodes, dtype=np.int64), np.zeros(graphs.n_graphs, dtype=np.int64)
    log_z, residual = np.zeros(graphs.n_graphs), np.zeros(graphs.n_graphs)
    converged, method = np.zeros(graphs.n_graphs, dtype=bool), np.empty(graphs.n_graphs, dtype=object)
    for rows, part in parts:
        node_rows = graphs.node_rows(rows)
        nodes[node_rows], labels[node_rows] = part.node_marginals, part.map_labels
        edges[graphs.edge_rows(rows)] = part.edge_marginals
        log_z[rows], converged[rows], n_iter[rows] = part.log_partition, part.converged, part.n_iter
        residual[rows], method[rows] = part.residual, part.method
    return Marginals(nodes, edges, log_z, labels, converged, n_iter, residual, method)


def warn_graphs(what: str, marginals: Marginals, *, cure: str) -> None:
    """Warn, naming how many graphs, the worst residual and the cure, if some graphs did not converge."""
    n_open = int(np.sum(~marginals.converged))
    worst = int(np.argmax(marginals.residual)) if n_open else 0
    warn_unconverged(
        f"{what} on {n_open} of {len(marginals.converged)} graphs (the worst is graph {worst})",
        marginals.convergence,
        cure=cure,
        stacklevel=4,
    )
