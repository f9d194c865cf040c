"""Joint training: content and link weights together, through the inference that will use them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.linalg

from accord.engines.graphs import Graphs
from accord.engines.marginals import Marginals
from accord.engines.numerics import spread
from accord.errors import InputError
from accord.fitting.blocked_crf import OBJECTIVES, blocked_crf_loss, crf_blocks
from accord.fitting.graph_crf import GraphCRF, bethe
from accord.fitting.optimise import minimise_lbfgs
from accord.links.dual import Agreement, DualModel, Evidence, fit_dual
from accord.links.linked_graph import ENGINES
from accord.scale.workers import Workers
from accord.typing import FloatArray, IntArray

__all__ = ["OBJECTIVES", "fit_joint"]


def fit_joint(
    scores: FloatArray,
    codes: IntArray,
    evidence: Sequence[Evidence],
    *,
    n_labels: int = 2,
    objective: str = "marginals",
    engine: str = "mean_field",
    strength: float = 0.01,
    max_iter: int = 100,
    workers: Workers | None = None,
) -> DualModel:
    """A pairwise CRF over the left-out scores: slope and offset of the content, and all link weights, at once.

    It starts at the dual classifier and is drawn back to it, so that with little data it is the dual classifier.

    Parameters
    ----------
    scores : float array of shape (n_texts,) or (n_texts, n_labels)
        Left-out content scores, of the second label for two labels.
    codes : int array of shape (n_texts,)
    evidence : sequence of Evidence
    n_labels : int
    objective : {"marginals", "likelihood"}
        Mean log loss of the beliefs that the engine gives, or the Bethe likelihood of all labels together.
    engine : {"mean_field", "lbp", "exact"}
    strength : float
        Penalty ½·strength·|weights − dual weights|² on top of the mean loss.
    max_iter : int
    workers : Workers, optional
        Sum the loss over blocks of connected pieces; they do not change the result.
    """
    if objective not in OBJECTIVES:
        raise InputError(f"the objective must be one of {', '.join(OBJECTIVES)}; got {objective!r}.")
    dual = fit_dual(scores, codes, evidence, n_labels=n_labels, engine=engine, recalibrate=False)
    content = _log_odds(scores, dual) if n_labels == 2 else _log_probabilities(scores, dual)
    blocks = [_standardised(kind, agreement) for kind, agreement in zip(evidence, dual.agreements, strict=True)]
    edges = scipy.linalg.block_diag(*blocks) if blocks else np.empty((0, 0))
    ends = np.concatenate([kind.ends for kind in evidence]) if evidence else np.empty((0, 2), dtype=np.int64)
    layout = Graphs.from_edges(np.zeros((len(codes), n_labels)), ends, np.zeros(len(ends)))
    graphs, node_order, edge_order = layout.components()
    crf = GraphCRF(graphs, content.features[node_order], edges[edge_order])
    # The gain of equal labels is the log odds of agreement plus this, see same_label_gains.
    offset = np.log(n_labels - 1.0)
    start = np.concatenate([content.start, *(np.append(a.weights, a.offset + offset) for a in dual.agreements)])
    free = np.concatenate([content.free, np.arange(crf.n_node_weights, crf.n_weights)])
    infer: Callable[[Graphs], Marginals] = partial(ENGINES[engine], tol=1e-9, max_iter=1000, warn=False)
    chosen = infer if objective == "marginals" else bethe

    def drawn_back(weights: FloatArray) -> tuple[float, FloatArray]:
        every = np.zeros(crf.n_weights)
        every[free] = weights
        value, gradient = loss(every)
        away = weights - start
        return value + 0.5 * strength * float(away @ away), gradient[free] + strength * away

    with (workers or Workers()).open(crf_blocks(crf, codes[node_order])) as opened:
        loss = blocked_crf_loss(opened, len(codes), objective=objective, infer=chosen)
        weights = minimise_lbfgs(drawn_back, start, max_iter=max_iter, tol=1e-5).weights
    agreements, place = [], len(content.start)
    for agreement, block in zip(dual.agreements, blocks, strict=True):
        *own_weights, bias = weights[place : place + block.shape[1]]
        agreements.append(Agreement(agreement.centre, agreement.spread, np.array(own_weights), float(bias - offset)))
        place += block.shape[1]
    trained = replace(dual, agreements=tuple(agreements))
    return content.put(trained, weights[: len(content.start)])


@dataclass(frozen=True, eq=False)
class _Content:
    """How the content enters the CRF: node features, the node weights that are trained, their start and their place."""

    features: FloatArray  # (n_texts, n_features)
    free: IntArray  # (n_trained,) positions among the node weights
    start: FloatArray  # (n_trained,) the dual classifier
    put: Callable[[DualModel, FloatArray], DualModel]


def _log_odds(scores: FloatArray, dual: DualModel) -> _Content:
    """Two labels: one slope and one offset of the standardised score."""
    centre, scale = float(np.mean(scores)), float(spread(scores))
    slope, offset = dual.sigmoids[:, 0]

    def put(model: DualModel, weights: FloatArray) -> DualModel:
        sigmoids = np.array([[weights[0] / scale], [weights[1] - weights[0] * centre / scale]])
        return replace(model, sigmoids=sigmoids)

    features = np.column_stack([(scores - centre) / scale, np.ones(len(scores))])
    return _Content(features, np.arange(2), np.array([slope * scale, offset + slope * centre]), put)


def _log_probabilities(scores: FloatArray, dual: DualModel) -> _Content:
    """More labels: a slope and an offset of each label's own log probability."""
    k = dual.n_labels
    features = np.column_stack([dual.content(scores), np.ones(len(scores))])
    places = np.arange(k * (k + 1)).reshape(k, k + 1)  # node weights, one row a label
    free = np.concatenate([np.diagonal(places), places[:, k]])
    return _Content(
        features,
        free,
        np.concatenate([np.ones(k), np.zeros(k)]),
        lambda model, weights: replace(model, tilt=weights.reshape(2, k)),
    )


def _standardised(kind: Evidence, agreement: Agreement) -> FloatArray:
    return np.column_stack([(kind.features - agreement.centre) / agreement.spread, np.ones(len(kind.ends))])
