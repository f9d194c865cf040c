"""Loopy belief propagation: sum-product and max-product on any graph. Exact on trees."""

import numpy as np

from accord.engines.conditioning import clamped
from accord.engines.graphs import Graphs
from accord.engines.kernels.binary_messages import log_range, logs, odds
from accord.engines.kernels.label_messages import label_messages
from accord.engines.marginals import Marginals, assemble, binary_marginals, warn_graphs
from accord.errors import InputError
from accord.typing import FloatArray, IntArray

__all__ = ["belief_propagation"]

# The kernels multiply up to three odds and share logarithms at 1e±100: e^450 · 1e100 is still finite.
_MAX_LOG_ODDS = 150.0
_SCHEDULES = {"flooding": False, "sequential": True}
_MODES = {"sum": False, "max": True}


@clamped
def belief_propagation(
    graphs: Graphs,
    *,
    max_iter: int = 200,
    tol: float = 1e-6,
    mode: str = "sum",
    schedule: str = "flooding",
    damping: float = 0.0,
    retries: int = 2,
    warn: bool = True,
) -> Marginals:
    """Marginals and the Bethe log partition by message passing ([JMN16] eq. 7–9).

    Parameters
    ----------
    graphs : Graphs
    max_iter : int
        Most sweeps in one try.
    tol : float
        A graph has converged when no message changes its log odds by more than this in one sweep.
    mode : {"sum", "max"}
        "max" is max-product: ``map_labels`` are the best labels, ``node_marginals`` the normalised max-marginals and
        ``log_partition`` the score of ``map_labels``.
    schedule : {"flooding", "sequential"}
        Flooding computes all messages from those of the last sweep; sequential uses each new message at once, and every
        second sweep runs backwards (two sweeps are enough on a chain).
    damping : float
        Share of the old message kept, in [0, 1).
    retries : int
        A graph that has not converged is tried again this often, each time halving what damping lets through.
    warn : bool
        Warn about graphs that did not converge.

    Returns
    -------
    Marginals
        Exact on trees, an approximation elsewhere; ``n_iter`` counts the sweeps of all tries.
    """
    for name, value, choices in (("mode", mode, _MODES), ("schedule", schedule, _SCHEDULES)):
        if value not in choices:
            raise InputError(f"{name} must be one of {', '.join(choices)}; got {value!r}.")
    if not 0.0 <= damping < 1.0:
        raise InputError(f"damping must be at least 0 and less than 1; got {damping}.")
    run = _two_labels if graphs.n_labels == 2 else _any_labels
    found = run(graphs, max_iter, tol, _MODES[mode], _SCHEDULES[schedule], damping, retries)
    if warn:
        warn_graphs(
            "Belief propagation",
            found,
            cure="Raise max_iter, damping or retries, or use engine='mean_field', which always converges.",
        )
    return found


def _tries(damping: float, retries: int) -> list[float]:
    return [1.0 - (1.0 - damping) / 2.0**k for k in range(retries + 1)]


def _two_labels(
    graphs: Graphs, max_iter: int, tol: float, best: bool, sequential: bool, damping: float, retries: int
) -> Marginals:
    h, gains, constant = graphs.ising()
    layout = (graphs.node_offsets, graphs.edge_offsets)
    wide = log_range(h, gains, graphs.edges, *layout) > _MAX_LOG_ODDS
    one, equal = np.empty(graphs.n_nodes), np.empty(graphs.n_edges)
    log_z, residual = np.zeros(graphs.n_graphs), np.zeros(graphs.n_graphs)
    n_iter = np.zeros(graphs.n_graphs, dtype=np.int64)
    labels = np.zeros(graphs.n_nodes, dtype=np.int64)
    small: IntArray = np.flatnonzero(~wide) if not best else np.zeros(0, dtype=np.int64)
    large: IntArray = np.flatnonzero(wide) if not best else np.arange(graphs.n_graphs)
    if len(small):
        r, a = np.exp(np.clip(h, -_MAX_LOG_ODDS, _MAX_LOG_ODDS)), np.exp(np.clip(gains, -_MAX_LOG_ODDS, _MAX_LOG_ODDS))
    for share in _tries(damping, retries):
        if len(small):
            odds(
                small, r, graphs.edges, a, *layout, max_iter, tol, share, sequential,
                one, equal, log_z, n_iter, residual,
            )  # fmt: skip
        if len(large):
            logs(
                large, h, graphs.edges, gains, *layout, max_iter, tol, share, sequential, best,
                one, equal, log_z, n_iter, residual, labels,
            )  # fmt: skip
        small, large = _unsettled(small, residual, tol), _unsettled(large, residual, tol)
        if not len(small) and not len(large):
            break
    if not best:
        labels = (one > 0.5).astype(np.int64)
    nodes, edges = binary_marginals(graphs, one, equal)
    return assemble(
        graphs,
        "max_product" if best else "belief_propagation",
        node_marginals=nodes,
        edge_marginals=edges,
        log_partition=graphs.score(labels) if best else log_z + constant,
        map_labels=labels,
        n_iter=n_iter,
        residual=residual,
        tol=tol,
    )


def _any_labels(
    graphs: Graphs, max_iter: int, tol: float, best: bool, sequential: bool, damping: float, retries: int
) -> Marginals:
    nodes, edges = np.empty_like(graphs.node_scores), np.empty_like(graphs.edge_scores)
    log_z, residual = np.zeros(graphs.n_graphs), np.zeros(graphs.n_graphs)
    n_iter = np.zeros(graphs.n_graphs, dtype=np.int64)
    labels = np.zeros(graphs.n_nodes, dtype=np.int64)
    rows: IntArray = np.arange(graphs.n_graphs)
    for share in _tries(damping, retries):
        label_messages(
            rows, graphs.node_scores, graphs.edges, graphs.edge_columns,
            graphs.node_offsets, graphs.edge_offsets, max_iter, tol, share, sequential, best,
            nodes, edges.reshape(graphs.edge_columns.shape), log_z, n_iter, residual, labels,
        )  # fmt: skip
        rows = _unsettled(rows, residual, tol)
        if not len(rows):
            break
    return assemble(
        graphs,
        "max_product" if best else "belief_propagation",
        node_marginals=nodes,
        edge_marginals=edges,
        log_partition=graphs.score(labels) if best else log_z,
        map_labels=labels,
        n_iter=n_iter,
        residual=residual,
        tol=tol,
    )


def _unsettled(rows: IntArray, residual: FloatArray, tol: float) -> IntArray:
    return rows[~(residual[rows] <= tol)]
