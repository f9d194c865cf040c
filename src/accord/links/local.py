"""A local classifier of content and neighbour features, asked about one text at a time."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import normalize
from sklearn.utils.validation import has_fit_parameter

from accord.engines.iterated import iterate_labels
from accord.links.out_of_fold import label_scores
from accord.typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["NeighbourFeatures", "choose_scale", "fit_local", "joined_features", "local_labeller"]

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
    """A function ``(texts, labels) -> labels of those texts``, for :func:`accord.engines.iterated.iterate_labels`.

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
    squares = np.asarray(content.power(2).sum(axis=1)).ravel()
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


N_FOLDS = 3


class NeighbourFeatures(Protocol):
    """What the neighbours of each text say, given labels."""

    @property
    def n_features(self) -> int:
        """Number of columns."""
        ...

    def matrix(self, labels: IntArray) -> sp.csr_matrix:
        """Features of all texts."""
        ...

    def row(self, text: int, labels: IntArray) -> Row:
        """Columns and values of one text's features."""
        ...


def fit_local(classifier: Any, content: Any, seen: Sequence[Any], codes: IntArray, *, scale: float = 1.0) -> Any:
    """A clone of the classifier fitted on content and neighbour features.

    Parameters
    ----------
    classifier : classifier
    content : sparse matrix of shape (n_texts, n_content)
    seen : sequence of sparse matrices of shape (n_texts, n_neighbour_features)
        Neighbour features by each of several labellings, such as the true one and a predicted one. Every text is
        trained on once a labelling, with a weight of one in all where the classifier takes weights.
    codes : int array of shape (n_texts,)
    scale : float
        Of the neighbour features.
    """
    joined = sp.vstack([joined_features(content, told, scale=scale) for told in seen], format="csr")
    labels = np.tile(codes, len(seen))
    if len(seen) > 1 and has_fit_parameter(classifier, "sample_weight"):
        return clone(classifier).fit(joined, labels, sample_weight=np.full(len(labels), 1.0 / len(seen)))
    return clone(classifier).fit(joined, labels)


def choose_scale(
    classifier: Any,
    content: Any,
    neighbours: NeighbourFeatures,
    seen: Sequence[IntArray],
    codes: IntArray,
    groups: AnyArray,
    *,
    start: IntArray,
    free: BoolArray,
    scales: Sequence[float],
    order: IntArray | None = None,
    max_iter: int = 30,
    seed: int = 0,
) -> float:
    """The scale of neighbour features with which iteration labels most left-out training texts rightly.

    Texts are left out with their whole group, start at ``start`` and are re-labelled by a classifier that did not see
    them; the other texts have their labels of ``start`` or of the iteration, never the true ones.

    Parameters
    ----------
    classifier, content, codes
        As in :func:`fit_local`.
    neighbours : NeighbourFeatures
    seen : sequence of int arrays of shape (n_texts,)
        The labellings that the classifier is trained on.
    groups : array of shape (n_texts,)
        With fewer than two groups nothing can be tried, and it is the first scale.
    start : int array of shape (n_texts,)
        First labels, each by a content classifier trained without the text's group.
    free : bool array of shape (n_texts,)
        Texts that are re-labelled and counted.
    scales : sequence of float
        The first of equally good ones is chosen.
    order : int array of shape (n_texts,), optional
        As in :func:`accord.engines.iterated.iterate_labels`.
    max_iter : int
    seed : int
        Of the folds and the orders.
    """
    names = np.asarray(groups, dtype=str)
    n_folds = min(N_FOLDS, len(np.unique(names)))
    if n_folds < 2 or len(scales) < 2:
        return float(scales[0])
    folds = GroupKFold(n_folds, shuffle=True, random_state=seed).split(names, groups=names)
    parts = [(train, test) for train, test in folds if len(np.unique(codes[train])) == len(np.unique(codes))]
    told = [neighbours.matrix(labels) for labels in seen]

    def n_right(scale: float) -> int:
        labels, rng = start.copy(), np.random.default_rng(seed)
        for train, test in parts:
            local = fit_local(classifier, content[train], [each[train] for each in told], codes[train], scale=scale)
            ask: Callable[[IntArray, IntArray], IntArray] = local_labeller(
                local, content, neighbours.row, n_neighbour_features=neighbours.n_features, scale=scale
            )
            inside = np.zeros(len(codes), dtype=bool)
            inside[test] = True
            labels, _ = iterate_labels(ask, labels, max_iter=max_iter, rng=rng, free=free & inside, order=order)
        return int(np.sum(labels[free] == codes[free]))

    return float(max(scales, key=n_right))
