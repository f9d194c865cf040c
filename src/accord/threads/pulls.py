"""Why a comment is judged as it is: its own evidence, and the pulls of the other comments.

A pull is a message of belief propagation, read off its beliefs.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from accord.engines.belief_propagation import belief_propagation
from accord.engines.graphs import Graphs
from accord.engines.marginals import Marginals
from accord.errors import InputError
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["beyond_pairs", "contrast", "node_evidence", "pulls", "pulls_of_others"]

_TINY = 1e-300
N_WORDS = 10  # words that an explanation names


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


def contrast(weights: FloatArray, k: int) -> FloatArray:
    """The weights of the log-odds of label k against the mean of the other labels."""
    if len(weights) == 1:
        weights = np.vstack([np.zeros_like(weights), weights])
    return np.asarray(weights[k] - np.delete(weights, k, axis=0).mean(axis=0))


def node_evidence(
    weights: FloatArray,
    x: FloatArray,
    k: int,
    groups: Sequence[str],
    names: AnyArray,
    words: Sequence[Mapping[str, float]] | None = None,
) -> list[pd.DataFrame]:
    """Log-odds of label k of each comment, by the feature group of each column of ``x``.

    With ``words``, what each word of each comment adds, the strongest words have rows of their own, and the group
    ``words`` keeps the rest.
    """
    parts = x * contrast(weights, k)
    columns = pd.Series(np.arange(len(groups))).groupby(list(groups), sort=False).indices
    sums = {str(group): parts[:, places].sum(axis=1) for group, places in columns.items()}
    told = []
    for row, effects in enumerate(words or []):
        strongest = sorted(effects, key=lambda word: (-abs(effects[word]), word))[:N_WORDS]
        own = np.array([effects[word] for word in strongest])
        sums["words"][row] -= own.sum()
        told.append(_table(np.full(len(own), names[row]), np.array(strongest, dtype=object), own, "word"))
    return [*(_table(names, group, effect, "evidence") for group, effect in sums.items()), *told]


def pulls_of_others(graphs: Graphs, k: int, names: AnyArray) -> list[pd.DataFrame]:
    """The messages of belief propagation, as log-odds of label k."""
    graphs = graphs.with_tables()
    i, j = graphs.edges.T
    # Messages that have not settled are no cause for a warning: what they leave stands in the row of kind "rest".
    onto_i, onto_j = pulls(graphs, belief_propagation(graphs, warn=False), k)
    return [_table(names[i], names[j], onto_i, "pull"), _table(names[j], names[i], onto_j, "pull")]


def beyond_pairs(
    marginals: FloatArray, known: IntArray | None, reasons: pd.DataFrame, k: int, names: AnyArray
) -> pd.DataFrame:
    """What evidence and pulls leave of the log-odds of comments whose label is not given."""
    log_p = np.log(np.maximum(marginals, 1e-300))
    log_odds = log_p[:, k] - np.delete(log_p, k, axis=1).mean(axis=1)
    told = reasons.groupby("item_id")["effect"].sum().reindex(names).to_numpy()
    free = np.ones(len(names), dtype=bool) if known is None else known < 0
    rest = np.where(free, log_odds - told, 0.0)
    some = np.abs(rest) > 1e-4
    return _table(names[some], "loops", rest[some], "rest")


def _table(names: AnyArray, reason: str | AnyArray, effect: FloatArray, kind: str) -> pd.DataFrame:
    return pd.DataFrame({"item_id": names, "reason": reason, "effect": effect, "kind": kind})
