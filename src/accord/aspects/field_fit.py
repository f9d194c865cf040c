"""How the field over the aspects of a text is learnt, and whether its own marginals are taken.

Nodes are linear in their inputs, with separate weights for every threshold. The inputs may be the texts themselves
(end-to-end training), or the out-of-fold logits of ordinal models of all aspects, whose log probabilities the nodes
start from (two-stage). Either way the node weights are learnt together with the edges. The edges of all pairs share
one table by distance of ranks, and each pair learns what it adds. A missing score is summed over, not filled in.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from accord.aspects.field import aspect_graph, aspect_pairs, clamped
from accord.aspects.ordinal import folds
from accord.aspects.prank import text_losses
from accord.engines.convergence import Convergence
from accord.fitting.blocked import summed_loss
from accord.fitting.optimise import l2_penalised, minimise_lbfgs
from accord.scale.partition import MOST_BLOCKS, cut
from accord.scale.workers import Workers
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "EDGES", "AspectCRF", "Coupling", "Edges", "Whitening", "aspect_crf_loss", "choose_marginals", "crf_scores",
    "edge_basis", "fit_aspect_crf", "shared_basis", "whitened", "whitening",
]  # fmt: skip

Edges = Literal["full", "near", "none"]
EDGES: tuple[Edges, ...] = ("full", "near", "none")
BLOCK_TEXTS = 1000
_FEWEST_FOR_FIELD = 200  # texts; with fewer, the nodes' marginals are taken
_MOST_CHOSEN_ON = 4000  # texts; with more, the choice between nodes and field rests on a third of them


@dataclass(frozen=True, eq=False)
class Coupling:
    """Ranking loss of texts that were held out: of the nodes alone, and of the field's own marginals."""

    nodes: float
    field: float
    taken: str  # "nodes": the field keeps the nodes' marginals; "field": it has its own


@dataclass(frozen=True, eq=False)
class AspectCRF:
    """A fitted field: node[i, r] = slope·offset[i, r] + Σ_{q<r} w[i, q]·x + preference[i, r], and the edges."""

    weights: FloatArray  # (n_inputs, n_aspects, n_ranks − 1): what each input says of passing each threshold
    preference: FloatArray  # (n_aspects, n_ranks)
    pair_scores: FloatArray  # (n_pairs, n_ranks, n_ranks)
    equal_weights: FloatArray  # (n_agreement_features,): text evidence that all aspects are equal
    slope: float  # of the log probabilities that the nodes start from, above 0
    convergence: Convergence


@dataclass(frozen=True, eq=False)
class Whitening:
    """An affine map after which inputs are uncorrelated and of variance one, so that fits on them are quick."""

    centre: FloatArray  # (n_inputs,)
    rotation: FloatArray  # (n_inputs, n_inputs)


def whitening(inputs: FloatArray, *, floor: float = 1e-3) -> Whitening:
    """Whitening of inputs (n_texts, n_inputs); directions of variance below ``floor`` are not blown up."""
    centre = inputs.mean(axis=0)
    variance, vectors = np.linalg.eigh((inputs - centre).T @ (inputs - centre) / len(inputs))
    return Whitening(centre, vectors / np.sqrt(np.maximum(variance, 0.0) + floor))


def whitened(by: Whitening, inputs: FloatArray) -> FloatArray:
    """Whitened inputs, shape (n_texts, n_inputs)."""
    return (inputs - by.centre) @ by.rotation


def edge_basis(edges: Edges, n_ranks: int) -> FloatArray:
    """Indicator columns of the entries of a pair's k × k table that share a weight, shape (k², n_weights)."""
    ranks = np.arange(n_ranks)
    apart = np.abs(ranks[:, None] - ranks).ravel()
    if edges == "full":
        return np.eye(n_ranks**2)
    if edges == "near":
        return np.stack([apart == 0, apart == 1, apart > 1], axis=1).astype(np.float64)
    return np.zeros((n_ranks**2, 0))


def shared_basis(edges: Edges, n_ranks: int) -> FloatArray:
    """The same for the table that all pairs share: ranks 0, 1 and 2 apart, shape (k², n_weights)."""
    ranks = np.arange(n_ranks)
    apart = np.abs(ranks[:, None] - ranks).ravel()
    nearest = range(min(3, n_ranks - 1) if edges != "none" else 0)
    return np.stack([apart == d for d in nearest], axis=1).astype(np.float64) if nearest else np.zeros((n_ranks**2, 0))


def _all_equal(ranks: IntArray) -> BoolArray:
    return np.asarray((ranks == ranks[:, :1]).all(axis=1))


def aspect_crf_loss(
    node_scores: FloatArray, pair_scores: FloatArray, equal_scores: FloatArray, ranks: IntArray
) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    """Negative log-likelihood of the known ranks, with its gradient by node, pair and equal scores.

    The gradient is what the field expects less what it sees; where scores are missing, less what it expects given the
    known ones.
    """
    m, k = node_scores.shape[1:]
    model = aspect_graph(node_scores, pair_scores, equal_scores)
    complete = (ranks > 0).all(axis=1)
    loss = float(model.log_partition.sum())
    by_node, by_pair, by_equal = model.nodes, model.pair_counts, model.equal
    full = ranks[complete].astype(np.int64) - 1
    rows = np.flatnonzero(complete)
    if len(rows):
        loss -= float(np.take_along_axis(node_scores[rows], full[:, :, None], axis=2).sum())
        by_node[rows[:, None], np.arange(m), full] -= 1.0
        for pair, (i, j) in enumerate(aspect_pairs(m)):
            seen = np.bincount(full[:, i] * k + full[:, j], minlength=k * k).reshape(k, k)
            loss -= float((seen * pair_scores[pair]).sum())
            by_pair[pair] -= seen
        equal = _all_equal(full)
        loss -= float(equal_scores[rows][equal].sum())
        by_equal[rows] -= equal
    some = np.flatnonzero(~complete)
    if len(some):
        held = aspect_graph(clamped(node_scores[some], ranks[some]), pair_scores, equal_scores[some])
        loss -= float(held.log_partition.sum())
        by_node[some] -= held.nodes
        by_pair -= held.pair_counts
        by_equal[some] -= held.equal
    return loss, by_node, by_pair, by_equal


def fit_aspect_crf(
    x: Any,
    ranks: IntArray,
    *,
    n_ranks: int,
    edges: Edges = "full",
    offset: FloatArray | None = None,
    agreement: FloatArray | None = None,
    penalty: float = 30.0,
    edge_penalty: float = 3.0,
    max_iter: int = 500,
    tol: float = 1e-4,
    workers: Workers | None = None,
) -> AspectCRF:
    """Fit node weights and edges together by maximum likelihood.

    Parameters
    ----------
    x : sparse or dense array of shape (n_texts, n_inputs)
        Texts (end-to-end), or a few scores of them (two-stage): out of fold, or the field trusts them too much, and
        whitened.
    ranks : int array of shape (n_texts, n_aspects)
        1..n_ranks; 0 is missing.
    n_ranks : int
    edges : {"full", "near", "none"}
        A weight for every two ranks of every two aspects; or for same, near (one apart) and apart; or none.
    offset : array of shape (n_texts, n_aspects, n_ranks), optional
        Log probabilities that the nodes start from.
    agreement : array of shape (n_texts, n_agreement_features), optional
        Evidence in the text that its aspects agree.
    penalty, edge_penalty : float
        L2 strengths of the node weights; and of what each pair adds to the shared edges, and of agreement weights.
    max_iter : int
    tol : float
        Largest gradient entry, a text, at which the fit counts as done.
    workers : Workers, optional
        Sum the loss over blocks of texts; they do not change the result.
    """
    x = sp.csr_array(x, dtype=np.float64) if sp.issparse(x) else np.asarray(x, dtype=np.float64)
    n, k = x.shape[0], n_ranks
    evidence = np.zeros((n, 0)) if agreement is None else np.asarray(agreement, dtype=np.float64)
    layout = _Layout(x.shape[1], ranks.shape[1], k, evidence.shape[1], edge_basis(edges, k), shared_basis(edges, k))
    counts = (ranks[:, :, None] == np.arange(1, k + 1)).sum(axis=0) + 0.5
    start = np.zeros(sum(layout.sizes))
    if offset is None:
        start[layout.places(1)] = np.log(counts / counts.sum(axis=1, keepdims=True)).ravel()
        offset = np.zeros((n, ranks.shape[1], k))
    # Shared weights and the logarithm of the slope are held lightly: many texts speak for each.
    strength = np.repeat(
        [penalty, 1e-3 if not offset.any() else 1.0, edge_penalty, edge_penalty, 0.1, 1.0], layout.sizes
    )
    parts = cut(np.ones(n), BLOCK_TEXTS, most=MOST_BLOCKS)
    blocks = [_Part(x[part], offset[part], evidence[part], ranks[part]) for part in parts]
    with (workers or Workers()).open(blocks) as opened:
        loss = summed_loss(partial(_part_loss, layout=layout), opened)
        best = minimise_lbfgs(l2_penalised(loss, strength), start, max_iter=max_iter, tol=tol * n)
    return AspectCRF(*layout.unpack(best.weights), best.convergence)


@dataclass(frozen=True, eq=False)
class _Part:
    """Some of the texts."""

    x: Any  # (n_texts, n_inputs)
    offset: FloatArray  # (n_texts, n_aspects, n_ranks)
    evidence: FloatArray  # (n_texts, n_agreement_features)
    ranks: IntArray  # (n_texts, n_aspects)

    @cached_property
    def x_transposed(self) -> Any:
        """Inputs as rows, in the layout in which its products are fast."""
        return self.x.T.tocsr() if sp.issparse(self.x) else self.x.T


@dataclass(frozen=True, eq=False)
class _Layout:
    """How the flat weights stand for those of inputs, ranks, pairs and agreement."""

    n_inputs: int
    n_aspects: int
    n_ranks: int
    n_evidence: int
    basis: FloatArray  # (n_ranks², n_edge_weights)
    shared: FloatArray  # (n_ranks², n_shared_weights)

    @property
    def n_pairs(self) -> int:
        return len(aspect_pairs(self.n_aspects))

    @property
    def sizes(self) -> list[int]:
        d, m, k = self.n_inputs, self.n_aspects, self.n_ranks
        edges = self.n_pairs * self.basis.shape[1]
        return [d * m * (k - 1), m * k, edges, self.n_evidence, self.shared.shape[1], 1]

    def places(self, part: int) -> slice:
        """Where one of the parts stands among the flat weights."""
        ends = np.cumsum([0, *self.sizes])
        return slice(int(ends[part]), int(ends[part + 1]))

    def unpack(self, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, float]:
        text, preference, pair, equal, shared, log_slope = (weights[self.places(part)] for part in range(6))
        m, k = self.n_aspects, self.n_ranks
        table = pair.reshape(self.n_pairs, self.basis.shape[1]) @ self.basis.T + self.shared @ shared
        table = table.reshape(self.n_pairs, k, k)
        return (
            text.reshape(self.n_inputs, m, k - 1), preference.reshape(m, k), table, equal, float(np.exp(log_slope[0]))
        )  # fmt: skip


def _part_loss(weights: FloatArray, part: _Part, *, layout: _Layout) -> tuple[float, FloatArray]:
    """What some of the texts add to the loss, and its gradient by the flat weights."""
    text, preference, table, equal, slope = layout.unpack(weights)
    nodes = _nodes(part.x, text, preference) + slope * part.offset
    value, by_node, by_pair, by_equal = aspect_crf_loss(nodes, table, part.evidence @ equal, part.ranks)
    by_text = np.asarray(part.x_transposed @ (by_node @ _above(layout.n_ranks).T).reshape(len(part.ranks), -1))
    by_edge = by_pair.reshape(layout.n_pairs, layout.n_ranks**2)
    by_slope = slope * (by_node * part.offset).sum()
    parts = [
        by_text.ravel(), by_node.sum(axis=0).ravel(), (by_edge @ layout.basis).ravel(), part.evidence.T @ by_equal,
        by_edge.sum(axis=0) @ layout.shared, [by_slope],
    ]  # fmt: skip
    return value, np.concatenate(parts)


def _above(k: int) -> FloatArray:
    """[r > q], shape (k − 1, k)."""
    return (np.arange(k) > np.arange(k - 1)[:, None]).astype(np.float64)


def _nodes(x: Any, weights: FloatArray, preference: FloatArray) -> FloatArray:
    d, m, thresholds = weights.shape
    passed = np.asarray(x @ weights.reshape(d, -1)).reshape(-1, m, thresholds)
    return np.asarray(passed @ _above(thresholds + 1) + preference)


def crf_scores(
    crf: AspectCRF, x: Any, offset: FloatArray | None = None, agreement: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Node scores (n_texts, n_aspects, n_ranks) and scores of equal ranks (n_texts,) of new texts."""
    equal = np.zeros(x.shape[0]) if agreement is None else agreement @ crf.equal_weights
    nodes = _nodes(x, crf.weights, crf.preference)
    return nodes if offset is None else nodes + crf.slope * offset, equal


def choose_marginals(
    fit: Callable[..., AspectCRF],
    inputs: FloatArray,
    log_p: FloatArray,
    evidence: FloatArray | None,
    ranks: IntArray,
    *,
    texts: IntArray,
    decode: Callable[[FloatArray], IntArray],
    rng: np.random.Generator,
) -> Coupling:
    """Whether the field's own marginals are better than those of its nodes, on texts that were held out.

    ``fit`` is :func:`fit_aspect_crf` with its settings; the other arguments are those of the whole fit.
    """
    if int(texts.max()) < 2:
        return Coupling(np.nan, np.nan, "nodes")
    parts = list(folds(ranks, 3, rng, texts))
    nodes: list[FloatArray] = []
    field: list[FloatArray] = []
    for train, test in parts if len(ranks) <= _MOST_CHOSEN_ON else parts[:1]:
        told = [None if evidence is None else evidence[part] for part in (train, test)]
        crf = fit(inputs[train], ranks[train], offset=log_p[train], agreement=told[0], max_iter=150, tol=3e-4)
        scores, equal = crf_scores(crf, inputs[test], log_p[test], told[1])
        for kept, p in ((nodes, np.exp(log_p[test])), (field, aspect_graph(scores, crf.pair_scores, equal).nodes)):
            kept.append(text_losses(ranks[test], decode(p)))
    alone, joint = np.concatenate(nodes), np.concatenate(field)
    gain = alone - joint
    # A few dozen texts cannot tell; below a thousand the gain must be beyond doubt, and with more it must be there.
    errors = 2.0 if len(gain) < 1000 else 0.0
    clear = len(gain) >= _FEWEST_FOR_FIELD and gain.mean() > errors * gain.std() / np.sqrt(len(gain))
    return Coupling(float(alone.mean()), float(joint.mean()), "field" if clear else "nodes")
