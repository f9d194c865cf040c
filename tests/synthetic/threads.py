"""Threads whose comments' labels pull on each other: an Ising model on each complete graph, sampled exactly."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import expit

from accord.data.threads import Threads
from accord.errors import InputError
from accord.typing import FloatArray, IntArray
from synthetic.words import leaning_texts, numbered

__all__ = ["SyntheticThreads", "sample_ising", "threads"]


@dataclass(frozen=True, eq=False)
class SyntheticThreads:
    """Threads and the truth behind them.

    The labels s ∈ {−1, 1} (``Bad``, ``Good``) of a thread of n comments are one exact draw of
    p(s) ∝ exp(Σᵢ hᵢ sᵢ + coupling / (n − 1) Σ_{i<j} sᵢ sⱼ), with hᵢ = features · weights.

    Attributes
    ----------
    threads : Threads
        With texts (the higher h, the more words of one half of the vocabulary), authors and labels.
    features : float array of shape (n_comments, n_features)
    weights : float array of shape (n_features,)
    field : float array of shape (n_comments,)
        h.
    coupling : float
        Above 0 the labels of a thread tend to be equal, below 0 to differ.
    """

    threads: Threads
    features: FloatArray
    weights: FloatArray
    field: FloatArray
    coupling: float


def threads(
    n_threads: int = 50,
    *,
    low: int = 2,
    high: int = 12,
    n_features: int = 4,
    strength: float = 0.7,
    coupling: float = 1.0,
    n_authors: int = 30,
    random_state: int = 0,
) -> SyntheticThreads:
    """Threads of ``low`` to ``high`` comments.

    Parameters
    ----------
    n_threads, low, high, n_features, n_authors : int
    strength : float
        The standard deviation of h: how much a comment's own features say.
    coupling : float
    random_state : int
    """
    if not 1 <= low <= high:
        raise InputError(f"threads have from low ≥ 1 to high ≥ low comments; these are {low} and {high}.")
    rng = np.random.default_rng(random_state)
    sizes = rng.integers(low, high + 1, n_threads)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    n = int(offsets[-1])
    features = rng.normal(size=(n, n_features))
    weights = rng.normal(size=n_features)
    weights *= strength / np.linalg.norm(weights)
    field = features @ weights
    signs = np.concatenate(
        [sample_ising(rng, field[a:b], coupling) for a, b in pairwise(offsets)] or [np.empty(0, dtype=np.int64)]
    )
    authors = numbered("author", n_authors)
    thread_ids = numbered("thread", n_threads)
    record = Threads(
        thread_ids=thread_ids,
        offsets=offsets,
        comment_ids=numbered("comment", n),
        texts=leaning_texts(rng, expit(2.0 * field)),
        questions=leaning_texts(rng, np.full(n_threads, 0.5), prefix="q"),
        askers=authors[rng.integers(0, n_authors, n_threads)],
        categories=numbered("category", 3)[rng.integers(0, 3, n_threads)],
        authors=authors[rng.integers(0, n_authors, n)],
        labels=np.where(signs > 0, "Good", "Bad").astype(object),
    )
    return SyntheticThreads(record, features, weights, field, coupling)


def sample_ising(rng: np.random.Generator, field: FloatArray, coupling: float) -> IntArray:
    """One exact draw of p(s) ∝ exp(Σ hᵢ sᵢ + coupling / (n − 1) Σ_{i<j} sᵢ sⱼ), s ∈ {−1, 1}ⁿ, shape (n,).

    The coupling sees only how many are positive, so the number of positives is drawn first and then which ones, by the
    weights of the numbers of positives among the first i: O(n²).
    """
    n = len(field)
    if n == 0:
        return np.empty(0, dtype=np.int64)
    # log_ways[i, k] = log Σ over sets of k of the first i of exp(Σ_{in} h − Σ_{out} h)
    log_ways = np.full((n + 1, n + 1), -np.inf)
    log_ways[0, 0] = 0.0
    for i, h in enumerate(field):
        log_ways[i + 1] = log_ways[i] - h
        log_ways[i + 1, 1:] = np.logaddexp(log_ways[i + 1, 1:], log_ways[i, :-1] + h)
    # Σ_{i<j} sᵢ sⱼ = (M² − n) / 2 with M = 2k − n
    magnetisation = 2.0 * np.arange(n + 1) - n
    pull = coupling / (n - 1) * (magnetisation**2 - n) / 2.0 if n > 1 else np.zeros(n + 1)
    log_weights = log_ways[n] + pull
    left = int(np.argmax(log_weights + rng.gumbel(size=n + 1)))
    signs = np.empty(n, dtype=np.int64)
    for i in range(n - 1, -1, -1):
        # P(sᵢ = 1 | k positives among the first i + 1)
        chance = np.exp(log_ways[i, left - 1] + field[i] - log_ways[i + 1, left]) if left > 0 else 0.0
        signs[i] = 1 if rng.random() < chance else -1
        left -= signs[i] > 0
    return signs
