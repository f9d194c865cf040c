"""Joint training: content and link weights together, through the inference that will use them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import scipy.linalg

from accord.engines.graphs import Graphs
from accord.engines.marginals import Marginals
from accord.engines.numerics import spread
from accord.fitting.blocked_crf import OBJECTIVES, blocked_crf_loss, crf_blocks
from accord.fitting.graph_crf import GraphCRF, bethe
from accord.fitting.optimise import minimise_lbfgs
from accord.links.content import Calibration, label_columns
from accord.links.dual import Agreement, Evidence
from accord.links.linked_graph import ENGINES
from accord.scale.workers import Workers
from accord.typing import FloatArray, IntArray

__all__ = ["OBJECTIVES", "train_jointly"]


def train_jointly(
    scores: FloatArray,
    codes: IntArray,
    evidence: Sequence[Evidence],
    calibration: Calibration,
    agreements: Sequence[Agreement],
    *,
    objective: str = "marginals",
    engine: str = "mean_field",
    strength: float = 0.01,
    max_iter: int = 40,
    workers: Workers | None = None,
) -> tuple[Calibration, tuple[Agreement, ...]]:
    """A pairwise CRF over left-out scores: slopes and offsets of the content, and all link weights, at once.

    It starts at what was fitted apart and is drawn back to it, so that with little data nothing changes.

    Parameters
    ----------
    scores : float array of shape (n_texts,) or (n_texts, n_labels)
        Content scores; of labelled texts left-out ones.
    codes : int array of shape (n_texts,)
        −1 for a text without a label.
    evidence : sequence of Evidence
    calibration, agreements
        Where it starts.
    objective : {"marginals", "likelihood"}
        Mean log loss of the beliefs that the engine gives, or the Bethe likelihood of all labels together.
    engine : {"mean_field", "lbp", "exact"}
    strength : float
        Penalty ½·strength·|weights − first weights|² on top of the mean loss.
    max_iter : int
    workers : Workers, optional
        Sum the loss over blocks of connected pieces; they do not change the result.
    """
    n_labels = len(calibration.slopes)
    columns = label_columns(scores)
    centre, size = columns.mean(axis=0), spread(columns)
    standard = np.column_stack([(columns - centre) / size, np.ones(len(columns))])
    # Two labels have one weight vector (of the second label); more have one a label, of which its own score is trained.
    if n_labels == 2:
        features, free = standard[:, 1:], np.arange(2)
        first = np.array(
            [calibration.slopes[1] * size[1], _offset(calibration, centre)[1] - _offset(calibration, centre)[0]]
        )
    else:
        places = np.arange(n_labels * (n_labels + 1)).reshape(n_labels, n_labels + 1)
        features, free = standard, np.concatenate([np.diagonal(places), places[:, n_labels]])
        first = np.concatenate([calibration.slopes * size, _offset(calibration, centre)])
    blocks = [_standardised(kind, agreement) for kind, agreement in zip(evidence, agreements, strict=True)]
    edges = scipy.linalg.block_diag(*blocks) if blocks else np.empty((0, 0))
    ends = np.concatenate([kind.ends for kind in evidence]) if evidence else np.empty((0, 2), dtype=np.int64)
    layout = Graphs.from_edges(np.zeros((len(codes), n_labels)), ends, np.zeros(len(ends)))
    graphs, node_order, edge_order = layout.components()
    crf = GraphCRF(graphs, features[node_order], edges[edge_order])
    # The gain of equal labels is the log odds of agreement plus this, see same_label_gains.
    offset = np.log(n_labels - 1.0)
    start = np.concatenate([first, *(np.append(a.weights, a.offset + offset) for a in agreements)])
    free = np.concatenate([free, np.arange(crf.n_node_weights, crf.n_weights)])
    infer: Callable[[Graphs], Marginals] = partial(ENGINES[engine], tol=1e-9, max_iter=1000, warn=False)

    def drawn_back(weights: FloatArray) -> tuple[float, FloatArray]:
        every = np.zeros(crf.n_weights)
        every[free] = weights
        value, gradient = loss(every)
        away = weights - start
        return value + 0.5 * strength * float(away @ away), gradient[free] + strength * away

    with (workers or Workers()).open(crf_blocks(crf, codes[node_order])) as opened:
        loss = blocked_crf_loss(
            opened, int((codes >= 0).sum()), objective=objective, infer=infer if objective == "marginals" else bethe
        )
        weights = minimise_lbfgs(drawn_back, start, max_iter=max_iter, tol=1e-5).weights
    trained, place = [], len(first)
    for agreement, block in zip(agreements, blocks, strict=True):
        *own, bias = weights[place : place + block.shape[1]]
        base = agreement.base + float(bias - offset) - agreement.offset
        trained.append(replace(agreement, weights=np.array(own), offset=float(bias - offset), base=base))
        place += block.shape[1]
    if n_labels == 2:
        slopes, offsets = np.array([0.0, weights[0] / size[1]]), np.array([0.0, weights[1]])
        return Calibration(slopes, offsets - np.array([0.0, slopes[1] * centre[1]])), tuple(trained)
    slopes = weights[:n_labels] / size
    return Calibration(slopes, weights[n_labels : 2 * n_labels] - slopes * centre), tuple(trained)


def _offset(calibration: Calibration, centre: FloatArray) -> FloatArray:
    return calibration.offsets + calibration.slopes * centre


def _standardised(kind: Evidence, agreement: Agreement) -> FloatArray:
    """Link features as the CRF sees them, a pair without any at the centre, and a bias; weighed."""
    features = np.where(np.isfinite(kind.features), kind.features, agreement.centre)
    whole = np.column_stack([(features - agreement.centre) / agreement.spread, np.ones(len(kind.ends))])
    return np.asarray(whole * kind.weights[:, None])
