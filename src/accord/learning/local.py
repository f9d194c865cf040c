"""A local classifier of content and neighbour features, asked about one text at a time."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from accord.learning.out_of_fold import label_scores
from accord.typing import FloatArray, IntArray

__all__ = ["joined_features", "local_labeller"]

Row = tuple[IntArray, FloatArray]


def joined_features(content: Any, neighbours: Any, *, scale: float = 1.0) -> sp.csr_matrix:
    """Content and ``scale`` times neighbour features side by side, every row scaled to length 1 as one vector."""
    return sp.csr_matrix(normalize(sp.hstack([content, scale * neighbours], format="csr")))


def local_labeller(
    classifier: Any,
    content: sp.csr_matrix,
    row: Callable[[int, IntArray], Row],
    *,
    n_neighbour_features: int,
    scale: float = 1.0,
) -> Callable[[IntArray, IntArray], IntArray]:
    """A function ``(texts, labels) -> labels of those texts``, for :func:`accord.inference.iterated.iterate_labels`.

    A linear classifier is read off its weights, without building the joined row.

    Parameters
    ----------
    classifier : fitted classifier of joined features, with classes 0 … n_labels − 1
    content : sparse matrix of shape (n_texts, n_content)
    row : callable
        ``(text, labels) -> (columns, values)`` of the neighbour features.
    n_neighbour_features : int
    scale : float
        Of the neighbour features, as in training.
    """
    n_content = content.shape[1]
    squares = np.asarray(content.multiply(content).sum(axis=1)).ravel()
    if not hasattr(classifier, "coef_"):

        def ask(text: int, labels: IntArray) -> int:
            columns, values = row(text, labels)
            around = sp.csr_matrix((values, columns, [0, len(columns)]), shape=(1, n_neighbour_features))
            return _best(label_scores(classifier, joined_features(content[[text]], around, scale=scale))[0])

        return _each(ask)
    weights = np.atleast_2d(np.asarray(classifier.coef_))
    base = np.asarray(content @ weights[:, :n_content].T)  # (n_texts, n_scores)
    beside = np.ascontiguousarray(weights[:, n_content:].T)
    offset = np.asarray(classifier.intercept_)

    def read_off(text: int, labels: IntArray) -> int:
        columns, values = row(text, labels)
        values = scale * values
        length = np.sqrt(squares[text] + values @ values) or 1.0
        scores = (base[text] + values @ beside[columns]) / length + offset
        return _best(scores[0] if len(scores) == 1 else scores)

    return _each(read_off)


def _each(label: Callable[[int, IntArray], int]) -> Callable[[IntArray, IntArray], IntArray]:
    return lambda texts, labels: np.array([label(int(text), labels) for text in texts], dtype=np.int64)


def _best(score: FloatArray | float) -> int:
    """The label of a score of the second label, or of one score a label."""
    return int(np.argmax(score)) if np.ndim(score) else int(score > 0.0)
