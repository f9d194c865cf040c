"""The field over the aspects of a text: its exact joint distribution, and how it is learnt.

    p(r) ∝ exp( Σᵢ node[i, rᵢ] + Σᵢ<ⱼ pair[ij, rᵢ, rⱼ] + equal·[r₁ = … = rₘ] )

Node scores and the bonus of equal ranks differ from text to text; the pair scores do not. The m aspects are split into
two halves with all joint ranks of each written out: Z = AᵀTB, where T (kʰ × kᵐ⁻ʰ) holds every pair score once for all.
A few matrix products give the log partition and all marginals. Exact while kᵐ ≤ 2²⁰.

Nodes are linear in their inputs, with separate weights for every threshold. The inputs may be the texts themselves
(end-to-end training), or the out-of-fold logits of ordinal models of all aspects (two-stage). Either way the node
weights are learnt together with the edges. A missing score is summed over, not filled in.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import combinations
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from accord.engines.convergence import Convergence
from accord.engines.numerics import normalise_log
from accord.errors import InputError
from accord.fitting.blocked import summed_loss
from accord.fitting.optimise import l2_penalised, minimise_lbfgs
from accord.scale.partition import MOST_BLOCKS, cut
from accord.scale.workers import Workers
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "EDGES", "AspectCRF", "AspectMarginals", "Edges", "Whitening", "aspect_crf_loss", "aspect_graph", "aspect_pairs",
    "clamped", "crf_scores", "edge_basis", "fit_aspect_crf", "joint_log_likelihood", "joint_scores", "whitened",
    "whitening",
]  # fmt: skip

_LARGEST = 2**20
_BLOCK = 1024  # texts at a time: the halves of a block stay in cache
_TINY = 1e-250  # below this a partition is taken again in the log domain


@dataclass(frozen=True, eq=False)
class AspectMarginals:
    """What the joint distribution says; exact."""

    log_partition: FloatArray  # (n_texts,)
    nodes: FloatArray  # (n_texts, n_aspects, n_ranks)
    equal: FloatArray  # (n_texts,): probability that all aspects have the same rank
    pair_counts: FloatArray  # (n_pairs, n_ranks, n_ranks): expected counts, summed over texts


def aspect_pairs(n_aspects: int) -> list[tuple[int, int]]:
    """The pairs i < j, in the order in which pair scores come."""
    return list(combinations(range(n_aspects), 2))


@lru_cache(maxsize=16)
def _states(m: int, k: int) -> tuple[IntArray, IntArray]:
    """All joint ranks, shape (kᵐ, m) with the last aspect fastest, and where all ranks are equal, shape (k,)."""
    if k**m > _LARGEST:
        raise InputError(
            f"the joint distribution of aspects is exact while n_ranks ** n_aspects is at most {_LARGEST}; {m} aspects "
            f"with {k} ranks have {k**m}. Drop aspects or merge ranks, or use model='ordinal'."
        )
    states = np.stack(np.unravel_index(np.arange(k**m), (k,) * m), axis=1) if m else np.zeros((1, 0), dtype=np.int64)
    places = np.flatnonzero((states == states[:, :1]).all(axis=1))
    return states, places


def joint_scores(pair_scores: FloatArray, n_aspects: int, n_ranks: int) -> FloatArray:
    """Sum of pair scores of every joint rank, shape (n_ranks ** n_aspects,)."""
    states, _ = _states(n_aspects, n_ranks)
    total = np.zeros(len(states))
    for pair, (i, j) in enumerate(aspect_pairs(n_aspects)):
        total += pair_scores[pair][states[:, i], states[:, j]]
    return total


def _halves(u: FloatArray) -> FloatArray:
    """All products of one entry an aspect: (n, h, k) to (n, kʰ)."""
    out = np.ones((len(u), 1))
    for i in range(u.shape[1]):
        out = (out[:, :, None] * u[:, i, None, :]).reshape(len(u), -1)
    return out


def _one_at_a_time(joint: FloatArray, h: int, k: int) -> FloatArray:
    """Marginals (n, h, k) of joint weights (n, kʰ)."""
    cube = joint.reshape(len(joint), *(k,) * h)
    axes = range(1, h + 1)
    parts = [cube.sum(axis=tuple(a for a in axes if a != i)) for i in axes]
    return np.stack(parts, axis=1) if h else np.zeros((len(joint), 0, k))


def _in_logs(
    nodes: FloatArray, pairs: FloatArray, equal: FloatArray, states: IntArray, places: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """One text by enumeration: log partition, marginals, P(equal), joint probabilities."""
    m, k = nodes.shape
    scores = pairs + nodes[np.arange(m), states].sum(axis=1)
    scores[places] += equal
    joint = normalise_log(scores)
    peak = int(np.argmax(scores))
    log_z = scores[peak] - np.log(joint[peak])
    return log_z, _one_at_a_time(joint[None], m, k)[0], joint[places].sum(), joint


def aspect_graph(
    node_scores: FloatArray, pair_scores: FloatArray, equal_scores: FloatArray | None = None
) -> AspectMarginals:
    """Log partition and marginals of every text. Exact.

    Parameters
    ----------
    node_scores : array of shape (n_texts, n_aspects, n_ranks)
        Minus infinity rules a rank out: an aspect that is known has one finite entry.
    pair_scores : array of shape (n_pairs, n_ranks, n_ranks)
        In the order of :func:`aspect_pairs`.
    equal_scores : array of shape (n_texts,), optional
        Added to a joint rank in which all aspects are equal.

    Returns
    -------
    AspectMarginals
    """
    n, m, k = node_scores.shape
    states, places = _states(m, k)
    pairs = joint_scores(pair_scores, m, k)
    bonus = np.zeros(n) if equal_scores is None else np.asarray(equal_scores, dtype=np.float64)
    h = m // 2
    shift = pairs.max()
    table = np.exp(pairs - shift).reshape(k**h, -1)
    on_diagonal = table.ravel()[places]
    log_z, nodes, equal = np.empty(n), np.empty((n, m, k)), np.empty(n)
    expected = np.zeros(len(states))
    for first in range(0, n, _BLOCK):
        rows = slice(first, min(first + _BLOCK, n))
        peak = node_scores[rows].max(axis=2)
        u = np.exp(node_scores[rows] - peak[:, :, None])
        a, b = _halves(u[:, :h]), _halves(u[:, h:])
        at = a @ table
        same = u.prod(axis=1) * on_diagonal  # (rows, k): weight of each rank held by all aspects
        # The bonus only changes the k joint ranks on the diagonal: Z = AᵀTB + Σᵣ (e^g − 1)·sameᵣ.
        extra = np.expm1(bonus[rows])[:, None] * same
        z = np.einsum("ns,ns->n", at, b) + extra.sum(axis=1)
        small = ~(z > _TINY) | ~np.isfinite(z)
        inverse = 1.0 / np.where(small, 1.0, z)[:, None]
        left = _one_at_a_time(a * (b @ table.T) * inverse, h, k)
        right = _one_at_a_time(b * at * inverse, m - h, k)
        nodes[rows] = np.concatenate([left, right], axis=1) + (extra * inverse)[:, None, :]
        equal[rows] = ((same + extra) * inverse).sum(axis=1)
        log_z[rows] = np.log(np.where(small, 1.0, z)) + shift + peak.sum(axis=1)
        usable = np.where(small, 0.0, inverse[:, 0])
        expected += table.ravel() * ((a * usable[:, None]).T @ b).ravel()
        expected[places] += usable @ extra
        for row in first + np.flatnonzero(small):
            log_z[row], nodes[row], equal[row], joint = _in_logs(node_scores[row], pairs, bonus[row], states, places)
            expected += joint
    counts = np.zeros((len(aspect_pairs(m)), k, k))
    for pair, (i, j) in enumerate(aspect_pairs(m)):
        counts[pair] = np.bincount(states[:, i] * k + states[:, j], weights=expected, minlength=k * k).reshape(k, k)
    return AspectMarginals(log_z, nodes, equal, counts)


Edges = Literal["full", "near", "none"]
EDGES: tuple[Edges, ...] = ("full", "near", "none")
BLOCK_TEXTS = 1000


@dataclass(frozen=True, eq=False)
class AspectCRF:
    """A fitted field: node[i, r] = Σ_{q<r} w[i, q]·x + preference[i, r], and the edges."""

    weights: FloatArray  # (n_inputs, n_aspects, n_ranks − 1): what each input says of passing each threshold
    preference: FloatArray  # (n_aspects, n_ranks)
    pair_scores: FloatArray  # (n_pairs, n_ranks, n_ranks)
    equal_weights: FloatArray  # (n_agreement_features,): text evidence that all aspects are equal
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


def clamped(node_scores: FloatArray, ranks: IntArray) -> FloatArray:
    """Node scores in which every known aspect (rank > 0) has only its own rank left."""
    k = node_scores.shape[2]
    other = (ranks[:, :, None] > 0) & (ranks[:, :, None] != np.arange(1, k + 1))
    return np.where(other, -np.inf, node_scores)


def _all_equal(ranks: IntArray) -> BoolArray:
    return np.asarray((ranks == ranks[:, :1]).all(axis=1))


def joint_log_likelihood(
    node_scores: FloatArray, pair_scores: FloatArray, equal_scores: FloatArray, ranks: IntArray
) -> FloatArray:
    """log p of the known ranks of each text, shape (n_texts,); missing ranks (0) are summed over."""
    whole = aspect_graph(node_scores, pair_scores, equal_scores)
    held = aspect_graph(clamped(node_scores, ranks), pair_scores, equal_scores)
    return held.log_partition - whole.log_partition


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
    agreement: FloatArray | None = None,
    penalty: float = 10.0,
    edge_penalty: float = 1.0,
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
    agreement : array of shape (n_texts, n_agreement_features), optional
        Evidence in the text that its aspects agree.
    penalty, edge_penalty : float
        L2 strengths of the node weights; and of edges and agreement weights.
    max_iter : int
    tol : float
        Largest gradient entry, a text, at which the fit counts as done.
    workers : Workers, optional
        Sum the loss over blocks of texts; they do not change the result.
    """
    x = sp.csr_array(x, dtype=np.float64) if sp.issparse(x) else np.asarray(x, dtype=np.float64)
    n, k = x.shape[0], n_ranks
    evidence = np.zeros((n, 0)) if agreement is None else np.asarray(agreement, dtype=np.float64)
    layout = _Layout(x.shape[1], ranks.shape[1], k, evidence.shape[1], edge_basis(edges, k))
    sizes = layout.sizes
    counts = (ranks[:, :, None] == np.arange(1, k + 1)).sum(axis=0) + 0.5
    preference = np.log(counts / counts.sum(axis=1, keepdims=True))
    start = np.concatenate([np.zeros(sizes[0]), preference.ravel(), np.zeros(sizes[2] + sizes[3])])
    strength = np.repeat([penalty, 1e-3, edge_penalty, edge_penalty], sizes)
    blocks = [_Part(x[part], evidence[part], ranks[part]) for part in cut(np.ones(n), BLOCK_TEXTS, most=MOST_BLOCKS)]
    with (workers or Workers()).open(blocks) as opened:
        loss = summed_loss(partial(_part_loss, layout=layout), opened)
        best = minimise_lbfgs(l2_penalised(loss, strength), start, max_iter=max_iter, tol=tol * n)
    return AspectCRF(*layout.unpack(best.weights), best.convergence)


@dataclass(frozen=True, eq=False)
class _Part:
    """Some of the texts."""

    x: Any  # (n_texts, n_inputs)
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

    @property
    def n_pairs(self) -> int:
        return len(aspect_pairs(self.n_aspects))

    @property
    def sizes(self) -> list[int]:
        d, m, k = self.n_inputs, self.n_aspects, self.n_ranks
        return [d * m * (k - 1), m * k, self.n_pairs * self.basis.shape[1], self.n_evidence]

    def unpack(self, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        text, preference, pair, equal = np.split(weights, np.cumsum(self.sizes)[:-1])
        m, k = self.n_aspects, self.n_ranks
        table = (pair.reshape(self.n_pairs, self.basis.shape[1]) @ self.basis.T).reshape(self.n_pairs, k, k)
        return text.reshape(self.n_inputs, m, k - 1), preference.reshape(m, k), table, equal


def _part_loss(weights: FloatArray, part: _Part, *, layout: _Layout) -> tuple[float, FloatArray]:
    """What some of the texts add to the loss, and its gradient by the flat weights."""
    text, preference, table, equal = layout.unpack(weights)
    nodes = _nodes(part.x, text, preference)
    value, by_node, by_pair, by_equal = aspect_crf_loss(nodes, table, part.evidence @ equal, part.ranks)
    by_text = np.asarray(part.x_transposed @ (by_node @ _above(layout.n_ranks).T).reshape(len(part.ranks), -1))
    by_edge = by_pair.reshape(layout.n_pairs, layout.n_ranks**2) @ layout.basis
    parts = [by_text.ravel(), by_node.sum(axis=0).ravel(), by_edge.ravel(), part.evidence.T @ by_equal]
    return value, np.concatenate(parts)


def _above(k: int) -> FloatArray:
    """[r > q], shape (k − 1, k)."""
    return (np.arange(k) > np.arange(k - 1)[:, None]).astype(np.float64)


def _nodes(x: Any, weights: FloatArray, preference: FloatArray) -> FloatArray:
    d, m, thresholds = weights.shape
    passed = np.asarray(x @ weights.reshape(d, -1)).reshape(-1, m, thresholds)
    return np.asarray(passed @ _above(thresholds + 1) + preference)


def crf_scores(crf: AspectCRF, x: Any, agreement: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Node scores (n_texts, n_aspects, n_ranks) and scores of equal ranks (n_texts,) of new texts."""
    equal = np.zeros(x.shape[0]) if agreement is None else agreement @ crf.equal_weights
    return _nodes(x, crf.weights, crf.preference), equal
