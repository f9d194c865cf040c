"""Neighbour features one text at a time, for classifiers that re-label texts in turn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from accord.errors import InputError
from accord.links.features.words import LinkedPairs, neighbour_counts, neighbour_presence, neighbour_windows
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["NEIGHBOUR_FEATURES", "Neighbours"]

Row = tuple[IntArray, FloatArray]  # columns and values of one sparse row


class Neighbours:
    """What the neighbours of each text say, given labels: the three feature models of [BBB11] section 3.4.

    Parameters
    ----------
    kind : {"presence", "count", "window"}
    pairs : LinkedPairs
    n_labels : int
    words : sparse matrix of shape (n_pairs, n_words), optional
        Words of each pair's windows; needed for "window".
    """

    def __init__(self, kind: str, pairs: LinkedPairs, *, n_labels: int, words: Any = None) -> None:
        if kind not in NEIGHBOUR_FEATURES:
            raise InputError(f"neighbour features are one of {', '.join(NEIGHBOUR_FEATURES)}; got {kind!r}.")
        if kind == "window" and words is None:
            raise InputError("window features need the words around the links; the links have no contexts.")
        self.kind, self.pairs, self.n_labels = kind, pairs, n_labels
        self.words = None if words is None else sp.csr_matrix(words)
        both = np.concatenate([pairs.ends[:, 0], pairs.ends[:, 1]])
        order = np.argsort(both, kind="stable")
        self._others = np.concatenate([pairs.ends[:, 1], pairs.ends[:, 0]])[order]
        self._pairs = np.tile(np.arange(pairs.n_pairs), 2)[order]
        self._starts = np.searchsorted(both[order], np.arange(pairs.n_texts + 1))
        self._row = NEIGHBOUR_FEATURES[kind]

    @property
    def n_features(self) -> int:
        """Number of columns."""
        if self.kind != "window" or self.words is None:
            return self.n_labels
        return self.n_labels * int(self.words.shape[1])

    def matrix(self, labels: IntArray) -> sp.csr_matrix:
        """Features of all texts, shape (n_texts, n_features)."""
        if self.kind == "window":
            return neighbour_windows(labels, self.pairs, self.words, n_labels=self.n_labels)
        build = neighbour_counts if self.kind == "count" else neighbour_presence
        return build(labels, self.pairs, n_labels=self.n_labels)

    def row(self, text: int, labels: IntArray) -> Row:
        """Columns (in order) and values of one text's features."""
        around = slice(self._starts[text], self._starts[text + 1])
        seen = labels[self._others[around]]
        known = seen >= 0
        return self._row(self, seen[known], self._pairs[around][known])


def _counts(of: Neighbours, seen: IntArray, pairs: IntArray) -> Row:
    counts = np.bincount(seen, minlength=of.n_labels)
    columns = np.flatnonzero(counts)
    return columns, counts[columns].astype(np.float64)


def _presence(of: Neighbours, seen: IntArray, pairs: IntArray) -> Row:
    columns = np.unique(seen)
    return columns, np.ones(len(columns))


def _windows(of: Neighbours, seen: IntArray, pairs: IntArray) -> Row:
    words = of.words
    assert words is not None  # checked when made
    if not len(seen):
        return np.empty(0, dtype=np.int64), np.empty(0)
    told: list[AnyArray] = [
        label * words.shape[1] + words.indices[words.indptr[pair] : words.indptr[pair + 1]].astype(np.int64)
        for label, pair in zip(seen, pairs, strict=True)
    ]
    columns = np.unique(np.concatenate(told))
    return columns, np.ones(len(columns))


NEIGHBOUR_FEATURES: dict[str, Callable[[Neighbours, IntArray, IntArray], Row]] = {
    "presence": _presence,
    "count": _counts,
    "window": _windows,
}
