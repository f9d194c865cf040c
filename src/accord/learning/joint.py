"""Joint training: content and link weights together, through the inference that will use them."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from accord.errors import InputError
from accord.inference.graphs import Graphs
from accord.inference.linked import ENGINES
from accord.inference.marginals import Marginals
from accord.learning.blocked_crf import OBJECTIVES, blocked_crf_loss, crf_blocks
from accord.learning.dual import Agreement, DualModel, Evidence, fit_dual
from accord.learning.graph_crf import GraphCRF, bethe
from accord.learning.optimise import minimise_lbfgs
from accord.scale.workers import Workers
from accord.typing import FloatArray, IntArray

__all__ = ["OBJECTIVES", "fit_joint"]


def fit_joint(
    scores: FloatArray,
    codes: IntArray,
    evidence: Sequence[Evidence],
    *,
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
    scores : float array of shape (n_texts,)
        Left-out content scores of the second label.
    codes : int array of shape (n_texts,)
        0 or 1.
    evidence : sequence of Evidence
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
    if np.asarray(scores).ndim != 1:
        raise InputError("joint training needs two labels; there are more. Use training='dual'.")
    dual = fit_dual(scores, codes, evidence, n_labels=2, engine=engine, recalibrate=False)
    centre, spread = float(np.mean(scores)), float(np.std(scores)) or 1.0
    nodes = np.column_stack([(scores - centre) / spread, np.ones(len(scores))])
    blocks = [_standardised(kind, agreement) for kind, agreement in zip(evidence, dual.agreements, strict=True)]
    widths = [block.shape[1] for block in blocks]
    n_pairs = sum(len(block) for block in blocks)
    edges = np.zeros((n_pairs, sum(widths)))
    row = column = 0
    for block in blocks:
        edges[row : row + len(block), column : column + block.shape[1]] = block
        row, column = row + len(block), column + block.shape[1]
    ends = np.concatenate([kind.ends for kind in evidence]) if evidence else np.empty((0, 2), dtype=np.int64)
    graphs, node_order, edge_order = Graphs.from_edges(np.zeros((len(codes), 2)), ends, np.zeros(n_pairs)).components()
    crf = GraphCRF(graphs, nodes[node_order], edges[edge_order])
    slope, offset = dual.sigmoids[:, 0]
    start = np.concatenate(
        [[slope * spread, offset + slope * centre], *(np.append(a.weights, a.offset) for a in dual.agreements)]
    )
    infer: Callable[[Graphs], Marginals] = partial(ENGINES[engine], tol=1e-9, max_iter=1000, warn=False)
    chosen = infer if objective == "marginals" else bethe

    def drawn_back(weights: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = loss(weights)
        away = weights - start
        return value + 0.5 * strength * float(away @ away), gradient + strength * away

    with (workers or Workers()).open(crf_blocks(crf, codes[node_order])) as opened:
        loss = blocked_crf_loss(opened, len(codes), objective=objective, infer=chosen)
        weights = minimise_lbfgs(drawn_back, start, max_iter=max_iter, tol=1e-5).weights
    agreements, place = [], 2
    for agreement, width in zip(dual.agreements, widths, strict=True):
        own_weights = weights[place : place + width]
        agreements.append(Agreement(agreement.centre, agreement.spread, own_weights[:-1], float(own_weights[-1])))
        place += width
    sigmoids = np.array([[weights[0] / spread], [weights[1] - weights[0] * centre / spread]])
    return DualModel(sigmoids, tuple(agreements), (1.0,) * len(agreements), 1.0, engine, 2)


def _standardised(kind: Evidence, agreement: Agreement) -> FloatArray:
    return np.column_stack([(kind.features - agreement.centre) / agreement.spread, np.ones(len(kind.ends))])
