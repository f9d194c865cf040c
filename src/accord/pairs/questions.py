"""Which pair to ask about next, from the mean and variance of the difference of two scores."""

from collections.abc import Callable

import numpy as np
from scipy.special import entr, log_ndtr

from accord.errors import InputError
from accord.fitting.workers import is_whole
from accord.pairs.process.likelihoods import Preference
from accord.typing import FloatArray, IntArray

__all__ = [
    "STRATEGIES",
    "answer_precision",
    "bald",
    "candidate_pairs",
    "first_pairs",
    "pick_pairs",
    "transfer",
    "uncertainty",
]

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


def uncertainty(likelihood: Preference, mean: FloatArray, variance: FloatArray, rate: float = 0.0) -> FloatArray:
    """Entropy of the predicted answer in nats, shape (n_pairs,): uncertainty sampling as in [SG18].

    Answers may be undecided, biased towards a side (each pair is as likely to be shown either way) and random at the
    rate of the average voter.
    """
    sides = (-1.0, 1.0) if likelihood.bias else (0.0,)
    found = [entr(likelihood.probability(mean, variance, side, rate=rate)).sum(axis=1) for side in sides]
    return np.asarray(np.mean(found, axis=0))


def bald(likelihood: Preference, mean: FloatArray, variance: FloatArray, rate: float = 0.0) -> FloatArray:
    """Information that the answer gives about the two scores in nats, shape (n_pairs,).

    Entropy of the answer minus its expected entropy once the scores are known: answers that are a coin toss whatever
    the scores say are not worth asking for.
    """
    none, known = np.zeros(mean.size), np.zeros(mean.size)
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        known += weight * uncertainty(likelihood, mean + np.sqrt(variance) * node, none, rate)
    return np.maximum(uncertainty(likelihood, mean, variance, rate) - known, 0.0)


def answer_precision(mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Expected Fisher information of a vote about the difference of its two scores, shape (n_pairs,)."""
    u = (mean[:, None] + np.sqrt(variance)[:, None] * _NODES) / np.sqrt(2.0)
    # φ(u)² / (2 Φ(u) Φ(−u)); where both vanish so does the quotient
    return np.asarray(np.exp(-u * u - log_ndtr(u) - log_ndtr(-u)) @ _WEIGHTS / (4.0 * np.pi))


def transfer(
    mean: FloatArray, variance: FloatArray, other_mean: FloatArray, other_variance: FloatArray, covariance: FloatArray
) -> FloatArray:
    """Information that a vote gives about the votes on other pairs, in nats, mean over these, shape (n_pairs,).

    Both votes are taken as Gaussian readings of the differences of scores. What a vote says about its own two items
    only does not count: it helps nobody where other items are to be ranked.

    Parameters
    ----------
    mean, variance : arrays of shape (n_pairs,)
        Of the differences that could be asked about.
    other_mean, other_variance : arrays of shape (n_others,)
        Of the differences that are to be known.
    covariance : array of shape (n_pairs, n_others)
    """
    here = variance + 1.0 / answer_precision(mean, variance)
    there = other_variance + 1.0 / answer_precision(other_mean, other_variance)
    return np.asarray(-0.5 * np.log1p(-(covariance**2) / (here[:, None] * there)).mean(axis=1))


# (likelihood, mean, variance, rate of random answers) → gain of each pair
STRATEGIES: dict[str, Callable[[Preference, FloatArray, FloatArray, float], FloatArray]] = {
    "bald": bald,
    "uncertainty": uncertainty,
}


def pick_pairs(gain: FloatArray, left: IntArray, right: IntArray, n: int) -> IntArray:
    """Positions of the ``n`` best pairs, best first, each item at most once as long as that is possible.

    A batch of the very best pairs would ask about the same two or three items over and over.
    """
    if not is_whole(n, 0):
        raise InputError(f"n, the number of pairs to ask about, must be a whole number of at least 0; got {n!r}.")
    order = np.argsort(-gain, kind="stable")
    chosen: list[int] = []
    left_over: list[int] = []
    used: set[int] = set()
    for pair in order:
        if len(chosen) == n:
            break
        a, b = int(left[pair]), int(right[pair])
        if a in used or b in used:
            left_over.append(int(pair))
            continue
        used.update((a, b))
        chosen.append(int(pair))
    chosen += left_over[: n - len(chosen)]
    return np.array(chosen, dtype=np.int64)


def first_pairs(
    n_items: int, groups: IntArray | None, n_pairs: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Pairs to begin with, when no vote is known: left and right items, each of shape (n_found,), n_found ≤ n_pairs.

    The items of a group stand in a circle, in an order that is drawn, and neighbours are compared. The first half of
    these pairs meets every item, and all but one connect the group, so that any two of its items can be ranked.
    Further circles, drawn anew, follow where more pairs are wanted and there are some. Groups take turns by their size.
    """
    groups = np.zeros(n_items, dtype=np.int64) if groups is None else groups
    members = [rows for rows in np.split(np.argsort(groups, kind="stable"), _ends(groups)) if rows.size > 1]
    found: list[tuple[float, int, int]] = []
    for rows in members:
        most = rows.size * (rows.size - 1) // 2
        seen: dict[tuple[int, int], None] = {}
        while len(seen) < min(most, n_pairs):
            circle = rng.permutation(rows)
            if rows.size * 4 > most:  # few pairs are left to be met by chance: the rest in an order that is drawn
                sides = np.triu_indices(rows.size, 1)
                rest = rng.permutation(np.column_stack([circle[side] for side in sides]))
            else:
                rest = np.empty((0, 2), dtype=np.int64)
            around = np.column_stack([circle, np.roll(circle, -1)])
            for a, b in np.concatenate([around[: rows.size - 1 : 2], around[1::2][::-1], around[-1:], rest]).tolist():
                seen.setdefault((min(a, b), max(a, b)), None)
        # Of groups of 20 and 10 texts two pairs of the larger one come with each of the smaller one.
        found += [((turn + rng.random()) / rows.size, *pair) for turn, pair in enumerate(seen)]
    pairs = np.array([pair for _, *pair in sorted(found)[:n_pairs]], dtype=np.int64).reshape(-1, 2)
    swap = rng.random(len(pairs)) < 0.5
    pairs[swap] = pairs[swap][:, ::-1]
    return pairs[:, 0], pairs[:, 1]


def _ends(groups: IntArray) -> IntArray:
    """Where each group but the last ends once items are sorted by group, shape (n_groups − 1,)."""
    return np.cumsum(np.unique(groups, return_counts=True)[1])[:-1]


def candidate_pairs(
    n_items: int, groups: IntArray | None, limit: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Pairs of different items, inside one group where there are groups; at most ``limit``, drawn at random."""
    members = [np.arange(n_items)]
    if groups is not None:
        members = np.split(np.argsort(groups, kind="stable"), _ends(groups))
    sizes = np.array([rows.size * (rows.size - 1) // 2 for rows in members], dtype=np.int64)
    if sizes.sum() <= limit:
        pairs = [tuple(rows[side] for side in np.triu_indices(rows.size, 1)) for rows in members]
        return np.concatenate([a for a, _ in pairs]), np.concatenate([b for _, b in pairs])
    chosen = rng.choice(len(members), size=limit, p=sizes / sizes.sum())
    length = np.array([rows.size for rows in members])[chosen]
    start = np.cumsum([0, *(rows.size for rows in members)])[chosen]
    flat = np.concatenate(members)
    first = rng.integers(0, length)
    second = (first + rng.integers(1, length)) % length
    return flat[start + first], flat[start + second]
