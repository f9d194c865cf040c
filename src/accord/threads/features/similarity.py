"""Similarities between pairs of texts: n-gram cosines, overlaps, tilings, common sequences, all pairs in one pass.

Every measure is computed for whole arrays of pairs: sparse counts are merged by a kernel, common subsequences come
from rapidfuzz on one character a token, and greedy string tiling is a kernel that skips pairs without a common
trigram.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numba import njit
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

from accord.threads.features.text import Tokens, ngram_counts
from accord.typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["SIMILARITIES", "PairSimilarities", "row_cosines"]

_N_MAX = 4
_RANGES = ((1, 1), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4))
MIN_TILE = 3
# Tiling is quadratic in the length of the texts; what stands after so many tokens is not looked at.
MAX_TILED_TOKENS = 400
_PAIRS_AT_ONCE = 1 << 15

SIMILARITIES: tuple[str, ...] = (
    *(f"cosine_{a}{b}" for a, b in _RANGES),
    *(f"cosine_{a}{b}_content" for a, b in _RANGES),
    *(f"jaccard_{n}" for n in range(1, _N_MAX + 1)),
    "containment_1",
    "containment_2",
    "string_tiling",
    "lcs_mean",
    "lcs_left",
    "common_substring",
    "idf_overlap",
)


@njit(cache=True, error_model="numpy")
def merge_rows(
    indptr: IntArray, indices: IntArray, counts: FloatArray, weights: FloatArray, left: IntArray, right: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """For each pair of rows: Σ counts·counts, the number of shared columns, and Σ weights of shared columns."""
    dot, shared, weight = np.zeros(len(left)), np.zeros(len(left)), np.zeros(len(left))
    for p in range(len(left)):
        a, a_end = indptr[left[p]], indptr[left[p] + 1]
        b, b_end = indptr[right[p]], indptr[right[p] + 1]
        while a < a_end and b < b_end:
            if indices[a] == indices[b]:
                dot[p] += counts[a] * counts[b]
                shared[p] += 1.0
                weight[p] += weights[indices[a]]
                a += 1
                b += 1
            elif indices[a] < indices[b]:
                a += 1
            else:
                b += 1
    return dot, shared, weight


@njit(cache=True, error_model="numpy")
def longest_runs(
    codes: IntArray,
    offsets: IntArray,
    left: IntArray,
    right: IntArray,
    candidate: BoolArray,
    min_tile: int,
    max_tokens: int,
) -> tuple[FloatArray, FloatArray]:
    """For each pair: the longest common run of tokens, and the tokens covered by greedy string tiling.

    Pairs that are not a candidate (no common n-gram of ``min_tile`` words) are tiled by nothing.
    """
    longest, tiled = np.zeros(len(left)), np.zeros(len(left))
    row = np.zeros(max_tokens + 1, dtype=np.int64)
    for p in range(len(left)):
        a0, b0 = offsets[left[p]], offsets[right[p]]
        n_a = min(offsets[left[p] + 1] - a0, max_tokens)
        n_b = min(offsets[right[p] + 1] - b0, max_tokens)
        used_a, used_b = np.zeros(n_a, dtype=np.bool_), np.zeros(n_b, dtype=np.bool_)
        first = True
        while True:
            # The longest run of unmarked tokens, by the common-substring recurrence on one row.
            best, end_a, end_b = 0, 0, 0
            row[: n_b + 1] = 0
            for i in range(n_a):
                for j in range(n_b - 1, -1, -1):
                    if codes[a0 + i] == codes[b0 + j] and not used_a[i] and not used_b[j]:
                        row[j + 1] = row[j] + 1
                        if row[j + 1] > best:
                            best, end_a, end_b = row[j + 1], i + 1, j + 1
                    else:
                        row[j + 1] = 0
            if first:
                longest[p] = best
                first = False
            if not candidate[p] or best < min_tile:
                break
            for k in range(best):
                used_a[end_a - 1 - k] = True
                used_b[end_b - 1 - k] = True
            tiled[p] += best
    return longest, tiled


def _ratio(top: FloatArray, bottom: AnyArray) -> FloatArray:
    """top / bottom, and 0 where nothing stands below (an empty text is like no other)."""
    return np.divide(top, bottom, out=np.zeros(len(top)), where=np.asarray(bottom) > 0)


@dataclass(frozen=True, eq=False)
class PairSimilarities:
    """Documents prepared once; :meth:`between` then compares any pairs of them.

    Parameters
    ----------
    tokens : Tokens
    word_weights : array of shape (n_words,)
        Inverse document frequency of each word, for the weighted overlap.
    """

    tokens: Tokens
    word_weights: FloatArray

    def between(self, left: IntArray, right: IntArray) -> FloatArray:
        """Similarities of the documents at ``left`` and ``right``, shape (n_pairs, len(SIMILARITIES)).

        ``left`` is the one that is contained, where a measure is not symmetric (the question, or the earlier
        comment).
        """
        left, right = np.asarray(left, dtype=np.int64), np.asarray(right, dtype=np.int64)
        columns: dict[str, FloatArray] = {}
        shared_trigrams = np.zeros(len(left))
        for suffix, tokens in (("", self.tokens), ("_content", self.tokens.without_stop_words())):
            dots, squares = np.zeros((_N_MAX + 1, len(left))), np.zeros((_N_MAX + 1, tokens.n_docs))
            for n, counts in enumerate(ngram_counts(tokens, _N_MAX), start=1):
                weights = self.word_weights if n == 1 and not suffix else np.zeros(counts.shape[1])
                dots[n], shared, weight = merge_rows(counts.indptr, counts.indices, counts.data, weights, left, right)
                squares[n] = np.asarray(counts.multiply(counts).sum(axis=1)).ravel()
                if suffix:
                    continue
                types = np.diff(counts.indptr).astype(np.float64)
                columns[f"jaccard_{n}"] = _ratio(shared, types[left] + types[right] - shared)
                columns[f"containment_{n}"] = _ratio(shared, types[left])
                if n == MIN_TILE:
                    shared_trigrams = shared
                if n == 1:
                    presence = sp.csr_matrix((np.ones_like(counts.data), counts.indices, counts.indptr), counts.shape)
                    mass = np.asarray(presence @ self.word_weights)
                    columns["idf_overlap"] = _ratio(weight, mass[left])
            for low, high in _RANGES:
                norms = squares[low : high + 1].sum(axis=0)
                dot = dots[low : high + 1].sum(axis=0)
                columns[f"cosine_{low}{high}{suffix}"] = _ratio(dot, np.sqrt(norms[left] * norms[right]))
        columns |= self._sequences(left, right, shared_trigrams)
        return np.column_stack([columns[name] for name in SIMILARITIES])

    def _sequences(self, left: IntArray, right: IntArray, shared_trigrams: FloatArray) -> dict[str, FloatArray]:
        lengths = self.tokens.lengths.astype(np.float64)
        longest, tiled = longest_runs(
            self.tokens.codes, self.tokens.offsets, left, right, shared_trigrams > 0, MIN_TILE, MAX_TILED_TOKENS
        )
        strings = self.tokens.as_strings()
        common = np.asarray(
            cpdist([strings[a] for a in left], [strings[b] for b in right], scorer=LCSseq.similarity, dtype=np.float64)
            if len(left)
            else np.zeros(0),
            dtype=np.float64,
        )
        both = lengths[left] + lengths[right]
        return {
            "string_tiling": _ratio(2.0 * tiled, np.minimum(lengths, MAX_TILED_TOKENS)[left] + lengths[right]),
            "lcs_mean": _ratio(2.0 * common, both),
            "lcs_left": _ratio(common, lengths[left]),
            "common_substring": _ratio(longest, np.minimum(lengths[left], lengths[right])),
        }


def row_cosines(vectors: FloatArray, left: IntArray, right: IntArray) -> FloatArray:
    """Cosine of rows ``left`` and ``right`` of dense vectors; 0 where a vector is zero, shape (n_pairs,)."""
    norms = np.linalg.norm(vectors, axis=1)
    dots = np.zeros(len(left))
    for start in range(0, len(left), _PAIRS_AT_ONCE):
        some = slice(start, start + _PAIRS_AT_ONCE)
        dots[some] = np.einsum("pd,pd->p", vectors[left[some]], vectors[right[some]])
    return _ratio(dots, norms[left] * norms[right])
