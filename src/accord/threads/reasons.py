"""Why a comment is judged as it is: tables of node evidence, of pulls of other comments, and of what these leave."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from accord.engines.belief_propagation import belief_propagation
from accord.engines.graphs import Graphs
from accord.threads.pulls import pulls
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["beyond_pairs", "node_evidence", "pulls_of_others"]


def node_evidence(
    weights: FloatArray, x: FloatArray, k: int, groups: Sequence[str], names: AnyArray
) -> list[pd.DataFrame]:
    """Log-odds of label k of each comment, by the feature group of each column of ``x``."""
    if len(weights) == 1:
        weights = np.vstack([np.zeros_like(weights), weights])
    others = np.delete(weights, k, axis=0).mean(axis=0)
    parts = x * (weights[k] - others)
    columns = pd.Series(np.arange(len(groups))).groupby(list(groups), sort=False).indices
    return [_table(names, str(group), parts[:, places].sum(axis=1), "evidence") for group, places in columns.items()]


def pulls_of_others(graphs: Graphs, k: int, names: AnyArray) -> list[pd.DataFrame]:
    """The messages of belief propagation, as log-odds of label k."""
    graphs = graphs.with_tables()
    i, j = graphs.edges.T
    onto_i, onto_j = pulls(graphs, belief_propagation(graphs), k)
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
