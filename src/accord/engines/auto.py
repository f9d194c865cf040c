"""The cheapest exact engine that applies to each graph, else belief propagation; and how far off an engine is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from accord.engines.belief_propagation import belief_propagation
from accord.engines.chain import chain, is_chain
from accord.engines.conditioning import clamped, free_part
from accord.engines.counting import counting, is_countable
from accord.engines.exact import MAX_STATES, exact, n_states
from accord.engines.graphs import Graphs
from accord.engines.marginals import Marginals, combine, warn_graphs
from accord.engines.mean_field import mean_field
from accord.errors import InputError
from accord.typing import BoolArray, IntArray

__all__ = ["InferenceCheck", "auto", "check_inference", "is_forest"]

# Counting labels is exact and fast, but its time grows with the square of a graph's size, and can grow with its cube
# where the marginal of each edge is asked for: the largest graphs without and with that.
MAX_COUNTED = (2000, 200)
_CHECKED = {"belief_propagation": belief_propagation, "mean_field": mean_field}


def is_forest(graphs: Graphs) -> BoolArray:
    """Which graphs have no loop, shape (n_graphs,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, m = np.diff(graphs.node_offsets), np.diff(graphs.edge_offsets)
    found = m <= 1  # no edge joins a node to itself
    rows = np.flatnonzero((m > 1) & (m < n))
    if len(rows):
        part = graphs.subset(rows)
        links = coo_array((np.ones(part.n_edges, dtype=np.int8), tuple(part.edges.T)), shape=(part.n_nodes,) * 2)
        _, component = connected_components(links, directed=False)
        # Components never reach over two graphs: a graph has as many as its nodes have different ones.
        owner = np.zeros(component.max() + 1, dtype=np.int64)
        owner[component] = part.node_graph
        n_components = np.bincount(owner, minlength=part.n_graphs)
        found[rows] = m[rows] == n[rows] - n_components
    return found


@clamped
def auto(
    graphs: Graphs,
    *,
    max_iter: int = 200,
    tol: float = 1e-6,
    warn: bool = True,
    max_states: int = 2**14,
    each_edge: bool = True,
) -> Marginals:
    """Marginals by the cheapest exact engine that applies to each graph, else by belief propagation.

    Parameters
    ----------
    graphs : Graphs
    max_iter, tol, warn
        For the graphs that need belief propagation.
    max_states : int
        Graphs with at most this many labellings are enumerated where nothing cheaper is exact.
    each_edge : bool
        ``False`` allows the mean over a graph in place of the marginal of each edge, see
        :func:`~accord.engines.counting.counting`; long threads are much faster then.

    Returns
    -------
    Marginals
        ``method`` says which engine each graph had. All but ``belief_propagation`` on a graph with loops are exact.
    """
    chains, forests, states = is_chain(graphs), is_forest(graphs), n_states(graphs)
    countable = is_countable(graphs) & (np.diff(graphs.node_offsets) <= MAX_COUNTED[each_edge])
    few = states <= min(max_states, MAX_STATES)
    choice = np.select([chains, forests, states <= 256, countable, few], [0, 1, 2, 3, 2], default=4)
    loopy = {"max_iter": max_iter, "tol": tol, "warn": False}
    runs: tuple[tuple[Callable[..., Marginals], dict[str, Any]], ...] = (
        (chain, {}),
        # Forests are exact once messages have crossed them; sequential sweeps need fewer.
        (belief_propagation, {"max_iter": graphs.n_nodes + 2, "tol": 1e-10, "schedule": "sequential", "warn": False}),
        (exact, {}),
        (counting, {"each_edge": each_edge}),
        (belief_propagation, loopy),
    )
    parts: list[tuple[IntArray, Marginals]] = []
    for number, (engine, settings) in enumerate(runs):
        rows = np.flatnonzero(choice == number)
        if len(rows) or not graphs.n_graphs:
            part = graphs if len(rows) == graphs.n_graphs else graphs.subset(rows)
            parts.append((rows, engine(part, **settings)))
    found = combine(graphs, parts)
    if warn:
        warn_graphs("Belief propagation", found, cure="Raise max_iter, or use engine='mean_field'.")
    return found


@dataclass(frozen=True)
class InferenceCheck:
    """How far an approximate engine is from the truth on the graphs small enough to enumerate."""

    engine: str
    n_graphs: int
    n_nodes: int
    n_unconverged: int
    worst_error: float  # largest absolute error of a node marginal
    mean_error: float
    worst_log_partition_error: float
    n_changed_labels: int  # nodes whose most probable label differs


def check_inference(graphs: Graphs, *, max_states: int = 2**16) -> list[InferenceCheck]:
    """Belief propagation and mean field against enumeration, on those of the graphs that can be enumerated.

    Parameters
    ----------
    graphs : Graphs
        Known labels are kept.
    max_states : int
        Graphs with more labellings of their free nodes are left out.
    """
    small = n_states(free_part(graphs)[0]) <= min(max_states, MAX_STATES)
    if not small.any():
        raise InputError(
            f"check_inference needs a graph with at most {max_states} labellings; the smallest has "
            f"{n_states(graphs).min(initial=np.inf):.3g}. Raise max_states or give smaller graphs."
        )
    part = graphs.subset(small)
    truth = exact(part)
    labels = truth.node_marginals.argmax(axis=1)
    checks = []
    for name, engine in _CHECKED.items():
        found = engine(part, warn=False)
        error = np.abs(found.node_marginals - truth.node_marginals).max(axis=1)
        checks.append(
            InferenceCheck(
                engine=name,
                n_graphs=part.n_graphs,
                n_nodes=part.n_nodes,
                n_unconverged=int(np.sum(~found.converged)),
                worst_error=float(error.max(initial=0.0)),
                mean_error=float(error.mean()) if error.size else 0.0,
                worst_log_partition_error=float(np.abs(found.log_partition - truth.log_partition).max()),
                n_changed_labels=int(np.sum(found.node_marginals.argmax(axis=1) != labels)),
            )
        )
    return checks
