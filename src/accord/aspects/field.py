"""The field over the aspects of a text: the joint distribution of their ranks.

    p(r) ∝ exp( Σᵢ node[i, rᵢ] + Σᵢ<ⱼ pair[ij, rᵢ, rⱼ] + equal·[r₁ = … = rₘ] )

Node scores and the bonus of equal ranks differ from text to text; the pair scores do not. The m aspects are split into
two halves with all joint ranks of each written out: Z = AᵀTB, where T (kʰ × kᵐ⁻ʰ) holds every pair score once for all.
A few matrix products give the log partition and all marginals. That is exact, and is done while kᵐ ≤ 2¹⁶ (six aspects
of five ranks). With more, messages are passed between the aspects (loopy belief propagation): an approximation, whose
cost grows with the number of pairs.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from accord.engines.convergence import Convergence, iterate
from accord.engines.numerics import normalise_log
from accord.errors import InputError
from accord.typing import FloatArray, IntArray

__all__ = [
    "AspectMarginals", "aspect_graph", "aspect_pairs", "clamped", "is_exact", "joint_log_likelihood", "joint_scores",
    "propagated", "with_marginals",
]  # fmt: skip

_LARGEST = 2**16
_BLOCK = 1024  # texts at a time: the halves of a block stay in cache
_MOST_FITTED = 300  # rounds of proportional fitting
_MOST_SCORE = 1_000.0  # none that was learnt comes near; beyond it every text would be fitted by enumeration
_TINY = 1e-250  # below this a partition is taken again in the log domain


@dataclass(frozen=True, eq=False)
class AspectMarginals:
    """What the joint distribution says."""

    log_partition: FloatArray  # (n_texts,)
    nodes: FloatArray  # (n_texts, n_aspects, n_ranks)
    equal: FloatArray  # (n_texts,): probability that all aspects have the same rank
    pair_counts: FloatArray  # (n_pairs, n_ranks, n_ranks): expected counts, summed over texts
    convergence: Convergence | None = None  # of belief propagation; None where the result is exact


def aspect_pairs(n_aspects: int) -> list[tuple[int, int]]:
    """The pairs i < j, in the order in which pair scores come."""
    return list(combinations(range(n_aspects), 2))


@lru_cache(maxsize=16)
def _states(m: int, k: int) -> tuple[IntArray, IntArray]:
    """All joint ranks, shape (kᵐ, m) with the last aspect fastest, and where all ranks are equal, shape (k,)."""
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
    """Log partition and marginals of every text: exact while n_ranks ** n_aspects ≤ 2¹⁶, else by belief propagation.

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
    bonus = np.zeros(n) if equal_scores is None else np.asarray(equal_scores, dtype=np.float64)
    if not is_exact(m, k):
        return propagated(node_scores, pair_scores, bonus)
    log_z, nodes, equal, expected = _enumerated(node_scores, joint_scores(pair_scores, m, k), bonus)
    states, _ = _states(m, k)
    counts = np.zeros((len(aspect_pairs(m)), k, k))
    for pair, (i, j) in enumerate(aspect_pairs(m)):
        counts[pair] = np.bincount(states[:, i] * k + states[:, j], weights=expected, minlength=k * k).reshape(k, k)
    return AspectMarginals(log_z, nodes, equal, counts)


def _enumerated(
    node_scores: FloatArray, pairs: FloatArray, bonus: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Log partitions, marginals, P(equal) and expected counts of joint ranks, from the pairs' joint scores."""
    n, m, k = node_scores.shape
    states, places = _states(m, k)
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
    return log_z, nodes, equal, expected


_DAMPING, _MOST_ROUNDS, _SETTLED = 0.5, 200, 1e-7


def propagated(node_scores: FloatArray, pair_scores: FloatArray, equal_scores: FloatArray) -> AspectMarginals:
    """The same by loopy belief propagation, the log partition by Bethe's free energy. Exact for two aspects.

    The factor of equal ranks sends e^g − 1 times the product of what the other aspects say, plus 1. The probability of
    equal ranks is their weight over the partition.
    """
    n, m, k = node_scores.shape
    pairs = aspect_pairs(m)
    first, second = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    tables = np.exp(pair_scores - pair_scores.max(axis=(1, 2), keepdims=True))
    nodes = np.exp(node_scores - node_scores.max(axis=2, keepdims=True))
    sent = np.concatenate([first, second]), np.concatenate([second, first])  # from, to
    both_ways = np.concatenate([tables, tables.transpose(0, 2, 1)])
    bonus = np.expm1(equal_scores)[:, None, None]
    into = np.zeros((m, len(sent[1])))  # which messages an aspect receives
    into[sent[1], np.arange(len(sent[1]))] = 1.0
    back = np.concatenate([np.arange(len(pairs)) + len(pairs), np.arange(len(pairs))])

    def beliefs(log_messages: FloatArray, from_equal: FloatArray) -> FloatArray:
        """Product of the node and of all that it hears, shape (n, m, k), on a scale of its own in every row."""
        heard = np.einsum("ie,nek->nik", into, log_messages) + np.log(from_equal)
        return np.asarray(nodes * np.exp(heard - heard.max(axis=2, keepdims=True)))

    def round_of(state: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
        log_messages, from_equal = state
        belief = beliefs(log_messages, from_equal)
        out = belief[:, sent[0]] * np.exp(-log_messages[:, back])  # without what came from there
        new = np.einsum("nek,ekl->nel", out / out.sum(axis=2, keepdims=True), both_ways)
        new = np.log(np.maximum(new / new.sum(axis=2, keepdims=True), 1e-300))
        towards = belief / from_equal
        towards /= towards.sum(axis=2, keepdims=True)
        others = np.stack([np.delete(towards, i, axis=1).prod(axis=1) for i in range(m)], axis=1)
        equal = 1.0 + bonus * others
        equal /= equal.sum(axis=2, keepdims=True)
        return _DAMPING * log_messages + (1 - _DAMPING) * new, from_equal**_DAMPING * equal ** (1 - _DAMPING)

    start = np.full((n, len(sent[0]), k), -np.log(k)), np.full((n, m, k), 1.0 / k)
    (log_messages, from_equal), convergence = iterate(round_of, start, max_iter=_MOST_ROUNDS, tol=_SETTLED)
    belief = beliefs(log_messages, from_equal)
    p = belief / belief.sum(axis=2, keepdims=True)
    cavity = belief[:, sent[0]] * np.exp(-log_messages[:, back])
    joint = cavity[:, : len(pairs), :, None] * tables * cavity[:, len(pairs) :, None, :]
    joint /= joint.sum(axis=(2, 3), keepdims=True)
    towards = belief / from_equal
    towards /= towards.sum(axis=2, keepdims=True)
    same = towards.prod(axis=1)  # (n, k)
    whole = 1.0 + bonus[:, 0] * same.sum(axis=1, keepdims=True)
    # Bethe: Σ factors' (score − log belief) plus Σ nodes' (degree)·log belief; the factor of equal ranks enters by its
    # own partition, since outside the diagonal it is a product.
    entropy_pairs = -(joint * np.log(np.maximum(joint, 1e-300))).sum(axis=(1, 2, 3))
    entropy_nodes = -(p * np.log(np.maximum(p, 1e-300))).sum(axis=2)
    energy = (p * np.where(p > 0, node_scores, 0.0)).sum(axis=(1, 2)) + (joint * pair_scores).sum(axis=(1, 2, 3))
    of_equal = (
        np.log(whole[:, 0]) - (p * np.log(np.maximum(towards, 1e-300))).sum(axis=(1, 2)) - entropy_nodes.sum(axis=1)
    )
    log_z = energy + entropy_pairs + (2 - m) * entropy_nodes.sum(axis=1) + of_equal
    diagonal = node_scores.sum(axis=1) + pair_scores[:, np.arange(k), np.arange(k)].sum(axis=0) + equal_scores[:, None]
    equal = np.exp(np.minimum(diagonal - log_z[:, None], 0.0)).sum(axis=1)
    return AspectMarginals(log_z, p, np.minimum(equal, 1.0), joint.sum(axis=0), convergence)


def with_marginals(log_p: FloatArray, pair_scores: FloatArray, equal_scores: FloatArray) -> FloatArray:
    """Node scores with which a field with these edges has the marginals exp(log_p); all of shape (n, m, k).

    Proportional fitting: of all distributions with these marginals the nearest to the edges' own, to four digits. The
    field then tells how the aspects hang together, and leaves each of them as its node has it.
    """
    most = float(np.abs(pair_scores).max(initial=0.0))
    if not most <= _MOST_SCORE:  # not a number is refused too
        raise InputError(
            f"scores of pairs of ranks lie within ±{_MOST_SCORE:g}; one is {most:g}. The model is damaged; train it "
            "again."
        )
    nodes, left = np.array(log_p), np.arange(len(log_p))
    m, k = log_p.shape[1:]
    step = 1.0 / max(1.0, 0.7 * m)  # a full step for all aspects at once overshoots
    pairs = joint_scores(pair_scores, m, k) if is_exact(m, k) else None
    for _ in range(_MOST_FITTED):
        if pairs is None:
            now = aspect_graph(nodes[left], pair_scores, equal_scores[left]).nodes
        else:
            now = _enumerated(nodes[left], pairs, equal_scores[left])[1]
        off = np.abs(now - np.exp(log_p[left])).max(axis=(1, 2), initial=0.0) > 1e-4
        left, now = left[off], now[off]
        if not len(left):
            break
        nodes[left] += step * (log_p[left] - np.log(np.maximum(now, 1e-300)))
    return nodes


def is_exact(n_aspects: int, n_ranks: int) -> bool:
    """Whether :func:`aspect_graph` writes out all joint ranks."""
    return float(n_ranks) ** n_aspects <= _LARGEST


def clamped(node_scores: FloatArray, ranks: IntArray) -> FloatArray:
    """Node scores in which every known aspect (rank > 0) has only its own rank left."""
    k = node_scores.shape[2]
    other = (ranks[:, :, None] > 0) & (ranks[:, :, None] != np.arange(1, k + 1))
    return np.where(other, -np.inf, node_scores)


def joint_log_likelihood(
    node_scores: FloatArray, pair_scores: FloatArray, equal_scores: FloatArray, ranks: IntArray
) -> FloatArray:
    """log p of the known ranks of each text, shape (n_texts,); missing ranks (0) are summed over."""
    whole = aspect_graph(node_scores, pair_scores, equal_scores)
    held = aspect_graph(clamped(node_scores, ranks), pair_scores, equal_scores)
    return held.log_partition - whole.log_partition
