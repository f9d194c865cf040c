"""A conditional random field over the aspects of a text: nodes from ordinal models, edges between every two aspects.

Two ways to fit it. Two-stage: log probabilities of the ranks come from elsewhere (out of fold) and the field learns how
far to trust them, what else each aspect prefers, and how aspects go together. Joint: the text weights are learnt with
the edges, end to end. A missing score is summed over, not filled in.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from accord.errors import InputError
from accord.inference.aspect_graph import AspectMarginals, aspect_graph, aspect_pairs
from accord.inference.fixed_point import Convergence
from accord.learning.optimise import l2_penalised, minimise_lbfgs
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "EDGES", "AspectCRF", "Edges", "JointNodes", "aspect_crf_loss", "clamped", "edge_basis", "fit_aspect_crf",
    "fit_joint_crf", "infer_aspects", "joint_log_likelihood",
]  # fmt: skip

Edges = Literal["full", "near", "none"]
EDGES: tuple[Edges, ...] = ("full", "near", "none")


@dataclass(frozen=True, eq=False)
class AspectCRF:
    """Weights of a two-stage field: node = trust·log p + preference, and the edges."""

    trust: FloatArray  # (n_aspects,)
    preference: FloatArray  # (n_aspects, n_ranks)
    pair_scores: FloatArray  # (n_pairs, n_ranks, n_ranks)
    equal_weights: FloatArray  # (n_agreement_features,): text evidence that all aspects are equal
    convergence: Convergence


@dataclass(frozen=True, eq=False)
class JointNodes:
    """Text weights of an end-to-end field: node[r] = Σ_{q<r} (w[q]·x) + preference[r]."""

    weights: FloatArray  # (n_features, n_aspects, n_ranks − 1)
    crf: AspectCRF


def edge_basis(edges: Edges, n_ranks: int) -> FloatArray:
    """Indicator columns of the entries of a pair's k × k table that share a weight, shape (k², n_weights)."""
    ranks = np.arange(n_ranks)
    apart = np.abs(ranks[:, None] - ranks).ravel()
    if edges == "full":
        return np.eye(n_ranks**2)
    if edges == "near":
        return np.stack([apart == 0, apart == 1, apart > 1], axis=1).astype(np.float64)
    if edges == "none":
        return np.zeros((n_ranks**2, 0))
    raise InputError(f"edges are one of {', '.join(EDGES)}; got {edges!r}.")


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
    partial = np.flatnonzero(~complete)
    if len(partial):
        held = aspect_graph(clamped(node_scores[partial], ranks[partial]), pair_scores, equal_scores[partial])
        loss -= float(held.log_partition.sum())
        by_node[partial] -= held.nodes
        by_pair -= held.pair_counts
        by_equal[partial] -= held.equal
    return loss, by_node, by_pair, by_equal


def fit_aspect_crf(
    log_probabilities: FloatArray,
    ranks: IntArray,
    *,
    edges: Edges = "full",
    agreement: FloatArray | None = None,
    node_penalty: float = 1.0,
    edge_penalty: float = 1.0,
    max_iter: int = 200,
    tol: float = 1e-2,
) -> AspectCRF:
    """Fit the field on given node log probabilities (two-stage).

    Parameters
    ----------
    log_probabilities : array of shape (n_texts, n_aspects, n_ranks)
        Out of fold, or the field trusts them too much.
    ranks : int array of shape (n_texts, n_aspects)
        1..n_ranks; 0 is missing.
    edges : {"full", "near", "none"}
        A weight for every two ranks of every two aspects; or for same, near (one apart) and apart; or none.
    agreement : array of shape (n_texts, n_agreement_features), optional
        Evidence in the text that its aspects agree.
    node_penalty, edge_penalty : float
        L2 strengths. Trust is drawn to 1, the rest to 0.
    max_iter : int
    tol : float
        Largest gradient entry, summed over texts, at which the fit counts as done.
    """
    n, m, k = log_probabilities.shape
    evidence = np.zeros((n, 0)) if agreement is None else np.asarray(agreement, dtype=np.float64)
    basis, n_pairs = edge_basis(edges, k), len(aspect_pairs(m))
    sizes = [m, m * k, n_pairs * basis.shape[1], evidence.shape[1]]
    cuts = np.cumsum(sizes)[:-1]

    def unpack(weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        trust, preference, pair, equal = np.split(weights, cuts)
        table = (pair.reshape(n_pairs, basis.shape[1]) @ basis.T).reshape(n_pairs, k, k)
        return 1.0 + trust, preference.reshape(m, k), table, equal

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        trust, preference, table, equal = unpack(weights)
        nodes = trust[:, None] * log_probabilities + preference
        value, by_node, by_pair, by_equal = aspect_crf_loss(nodes, table, evidence @ equal, ranks)
        by_weight = (by_pair.reshape(n_pairs, k * k) @ basis).ravel()
        by_trust = np.einsum("nir,nir->i", by_node, log_probabilities)
        return value, np.concatenate([by_trust, by_node.sum(axis=0).ravel(), by_weight, evidence.T @ by_equal])

    strength = np.repeat([node_penalty, node_penalty, edge_penalty, node_penalty], sizes)
    best = minimise_lbfgs(l2_penalised(loss, strength), np.zeros(sum(sizes)), max_iter=max_iter, tol=tol)
    return AspectCRF(*unpack(best.weights), best.convergence)


def fit_joint_crf(
    x: Any,
    ranks: IntArray,
    *,
    n_ranks: int,
    edges: Edges = "full",
    penalty: float = 0.1,
    edge_penalty: float = 1.0,
    max_iter: int = 100,
    tol: float = 1e-2,
) -> JointNodes:
    """Fit text weights and edges together, end to end.

    Parameters
    ----------
    x : sparse or dense array of shape (n_texts, n_features)
    ranks : int array of shape (n_texts, n_aspects)
        1..n_ranks; 0 is missing.
    n_ranks : int
    edges : {"full", "near", "none"}
    penalty, edge_penalty : float
        L2 strengths of the text weights, and of edges and preferences.
    max_iter : int
    tol : float
    """
    x = sp.csr_array(x, dtype=np.float64)
    x_t = x.T.tocsr()
    (n, d), (m, k) = x.shape, (ranks.shape[1], n_ranks)
    basis, n_pairs = edge_basis(edges, k), len(aspect_pairs(m))
    above = (np.arange(k) > np.arange(k - 1)[:, None]).astype(np.float64)  # (k − 1, k): [r > q]
    sizes = [d * m * (k - 1), m * k, n_pairs * basis.shape[1]]
    cuts = np.cumsum(sizes)[:-1]

    def unpack(weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        text, preference, pair = np.split(weights, cuts)
        table = (pair.reshape(n_pairs, basis.shape[1]) @ basis.T).reshape(n_pairs, k, k)
        return text.reshape(d, m * (k - 1)), preference.reshape(m, k), table

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        text, preference, table = unpack(weights)
        nodes = (x @ text).reshape(n, m, k - 1) @ above + preference
        value, by_node, by_pair, _ = aspect_crf_loss(nodes, table, np.zeros(n), ranks)
        by_text = x_t @ (by_node @ above.T).reshape(n, -1)
        by_edge = (by_pair.reshape(n_pairs, k * k) @ basis).ravel()
        return value, np.concatenate([by_text.ravel(), by_node.sum(axis=0).ravel(), by_edge])

    counts = (ranks[:, :, None] == np.arange(1, k + 1)).sum(axis=0) + 0.5
    start = np.concatenate([np.zeros(sizes[0]), np.log(counts / counts.sum(axis=1, keepdims=True)).ravel(),
                            np.zeros(sizes[2])])  # fmt: skip
    strength = np.repeat([penalty, 1e-3, edge_penalty], sizes)
    best = minimise_lbfgs(l2_penalised(loss, strength), start, max_iter=max_iter, tol=tol)
    text, preference, table = unpack(best.weights)
    crf = AspectCRF(np.ones(m), preference, table, np.zeros(0), best.convergence)
    return JointNodes(text.reshape(d, m, k - 1), crf)


def infer_aspects(
    crf: AspectCRF, log_probabilities: FloatArray, agreement: FloatArray | None = None, known: IntArray | None = None
) -> AspectMarginals:
    """Marginals of new texts, given the ranks that are ``known`` (0 elsewhere)."""
    nodes = crf.trust[:, None] * log_probabilities + crf.preference
    bonus = None if agreement is None or not len(crf.equal_weights) else agreement @ crf.equal_weights
    return aspect_graph(nodes if known is None else clamped(nodes, known), crf.pair_scores, bonus)
