"""The exact joint distribution of m aspects with k ranks each, for many texts that share their pair scores.

    p(r) ∝ exp( Σᵢ node[i, rᵢ] + Σᵢ<ⱼ pair[ij, rᵢ, rⱼ] + equal·[r₁ = … = rₘ] )

Node scores and the bonus of one mind differ from text to text; the pair scores do not. The m aspects are split into two
halves with all joint ranks of each written out: Z = AᵀTB, where T (kʰ × kᵐ⁻ʰ) holds every pair score once for all.
A few matrix products give the log partition and all marginals. Exact while kᵐ ≤ 2²⁰.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from accord.engines.numerics import normalise_log
from accord.errors import InputError
from accord.typing import FloatArray, IntArray

__all__ = ["AspectMarginals", "aspect_graph", "aspect_pairs", "joint_scores"]

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
