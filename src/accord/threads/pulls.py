"""What neighbours do to each other: the messages of belief propagation, read off its beliefs."""

import numpy as np

from accord.engines.graphs import Graphs
from accord.engines.marginals import Marginals
from accord.errors import InputError
from accord.typing import FloatArray, IntArray

__all__ = ["pulls"]

_TINY = 1e-300


def pulls(graphs: Graphs, found: Marginals, label: int) -> tuple[FloatArray, FloatArray]:
    """How far the two ends of each edge move each other's log-odds of ``label``.

    A message is the belief of a node over its cavity, and the cavity stands in the belief of the edge:
    log μ_j→i(y) = log b_i(y) − log b_ij(y, z) + log ψ_ij(y, z) for any z, up to a constant ([JMN16] eq. 7–9). The
    log-odds of a node, against the mean of the other labels, are those of its own scores plus all its pulls: exactly
    at a fixed point of belief propagation, and on trees under any exact engine.

    Parameters
    ----------
    graphs : Graphs
        With tables as edges.
    found : Marginals
        What belief propagation or an exact engine found for them.
    label : int

    Returns
    -------
    onto_first, onto_second : array of shape (n_edges,)
        The pull of the second end on the first, and of the first on the second. A known label is pulled by nothing.
    """
    if not graphs.has_tables:
        raise InputError("pulls needs edges as tables; use graphs.with_tables() for inference and here.")
    i, j = graphs.edges.T
    known = np.full(graphs.n_nodes, -1) if graphs.known is None else graphs.known
    log_nodes = np.log(np.maximum(found.node_marginals, _TINY))
    log_pairs = np.log(np.maximum(found.edge_marginals, _TINY))
    rows = np.arange(graphs.n_edges)

    def onto(own: IntArray, other: IntArray, log_b: FloatArray, psi: FloatArray) -> FloatArray:
        # The most probable z keeps the logarithms away from 0.
        z = found.node_marginals[other].argmax(axis=1)
        message = log_nodes[own] - log_b[rows, :, z] + psi[rows, :, z]
        certain = known[other] >= 0
        message[certain] = psi[rows[certain], :, known[other[certain]]]
        message[known[own] >= 0] = 0.0
        return np.asarray(message[:, label] - np.delete(message, label, axis=1).mean(axis=1))

    return (
        onto(i, j, log_pairs, graphs.edge_scores),
        onto(j, i, log_pairs.transpose(0, 2, 1), graphs.edge_scores.transpose(0, 2, 1)),
    )
