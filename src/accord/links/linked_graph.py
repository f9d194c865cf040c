"""Beliefs of linked texts: one pairwise model of content probabilities and of links for equal or different labels."""

from collections.abc import Callable
from typing import Any

import numpy as np

from accord.engines.auto import is_forest
from accord.engines.belief_propagation import belief_propagation
from accord.engines.conditioning import clamped
from accord.engines.exact import exact
from accord.engines.graphs import Graphs
from accord.engines.marginals import Marginals, combine
from accord.engines.mean_field import mean_field
from accord.errors import InputError
from accord.typing import FloatArray, IntArray

__all__ = ["ENGINES", "linked_beliefs", "same_label_gains"]

Engine = Callable[..., Marginals]


@clamped
def settled(graphs: Graphs, **options: Any) -> Marginals:
    """Marginals that are exact in pieces without a loop, such as chains, and mean field in the others."""
    trees = is_forest(graphs)
    if not trees.any():
        return mean_field(graphs, **options)
    settings = {"max_iter": graphs.n_nodes + 2, "tol": 1e-10, "schedule": "sequential", "warn": False}
    parts: list[tuple[IntArray, Marginals]] = [
        (np.flatnonzero(trees), belief_propagation(graphs.subset(trees), **settings))
    ]
    if not trees.all():
        parts.append((np.flatnonzero(~trees), mean_field(graphs.subset(~trees), **options)))
    return combine(graphs, parts)


ENGINES: dict[str, Engine] = {
    "auto": settled, "mean_field": mean_field, "lbp": belief_propagation, "exact": exact
}  # fmt: skip


def same_label_gains(log_odds: FloatArray, n_labels: int) -> FloatArray:
    """Gain of equal labels over each pair of different ones, where P is the probability that two texts agree.

    ψ(u, u) = P and ψ(u, v) = (1 − P)/(K − 1), so the gain is log P/(1 − P) + log(K − 1); [BBB11] section 3.3 for K = 2.
    """
    return np.asarray(log_odds + np.log(n_labels - 1.0))


def linked_beliefs(
    node_scores: FloatArray,
    ends: IntArray,
    gains: FloatArray,
    *,
    engine: str = "mean_field",
    known: IntArray | None = None,
    **options: Any,
) -> tuple[FloatArray, IntArray]:
    """Beliefs and labels of all texts by one engine, each connected piece of the graph on its own.

    Parameters
    ----------
    node_scores : float array of shape (n_texts, n_labels)
        Log probabilities by content, or preferences.
    ends : int array of shape (n_pairs, 2)
        A pair may stand there several times: its gains add up.
    gains : float array of shape (n_pairs,)
    engine : {"auto", "mean_field", "lbp", "exact"}
        "auto" is exact in pieces without a loop and mean field in the others.
    known : int array of shape (n_texts,), optional
        Labels that are known for certain; −1 where they are not.
    **options
        Passed on to the engine.

    Returns
    -------
    beliefs : float array of shape (n_texts, n_labels)
    labels : int array of shape (n_texts,)
    """
    if engine not in ENGINES:
        raise InputError(f"the engine must be one of {', '.join(ENGINES)}; got {engine!r}.")
    return in_pieces(ENGINES[engine], node_scores, ends, gains, known=known, **options)


def in_pieces(
    infer: Engine,
    node_scores: FloatArray,
    ends: IntArray,
    gains: FloatArray,
    *,
    known: IntArray | None = None,
    **options: Any,
) -> tuple[FloatArray, IntArray]:
    """Node marginals and labels by an engine, in the order of the texts."""
    graphs, nodes, _ = Graphs.from_edges(node_scores, ends, gains, known=known).components()
    found = infer(graphs, **options)
    beliefs, labels = np.empty_like(found.node_marginals), np.empty_like(found.map_labels)
    beliefs[nodes], labels[nodes] = found.node_marginals, found.map_labels
    return beliefs, labels
