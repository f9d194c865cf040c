"""What comes in: texts as words and pairs of words, matrices of features, and ranks as people give them."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.validation import check_is_fitted

from accord.data.aspects import whole_ranks
from accord.data.columns import check_finite
from accord.data.tables import as_frame, column_names, is_table, row_names
from accord.errors import InputError
from accord.texts.words import WordAnalyser
from accord.typing import FloatArray, IntArray, ObjectArray

__all__ = [
    "PhraseFeatures", "Units", "as_matrix", "aspect_names", "check_enough", "content_order", "doubt_zeros",
    "given_annotators", "given_ranks", "is_matrix", "phrase_counts",
    "rank_numbers",
]  # fmt: skip


_FEWEST_TEXTS = 20


def phrase_counts(texts: Any, *, ngram_range: tuple[int, int] = (1, 2)) -> tuple[Any, ObjectArray]:
    """Counts of every word and pair of words, shape (n_texts, n_phrases), and the phrases."""
    counter = CountVectorizer(analyzer=WordAnalyser(*ngram_range))
    counts = counter.fit_transform(texts)
    return sp.csr_array(counts), counter.get_feature_names_out()


class PhraseFeatures(TransformerMixin, BaseEstimator):
    """Presence of phrases that training texts share, times idf, rows of length one; from texts or from counts.

    Parameters
    ----------
    ngram_range : (int, int)
        Lengths of phrases in words.
    min_texts : int, optional
        Phrases found in fewer training texts are left out; by default in fewer than 3, but with fewer than 2,000
        training texts in fewer than 2, and with fewer than 400 none is.
    idf : bool
        Weight each phrase by log((1 + n) / (1 + n_with_phrase)) + 1.
    unit : bool
        Scale each text to length one.
    """

    def __init__(
        self,
        *,
        ngram_range: tuple[int, int] = (1, 2),
        min_texts: int | None = None,
        idf: bool = True,
        unit: bool = True,
    ) -> None:
        self.ngram_range = ngram_range
        self.min_texts = min_texts
        self.idf = idf
        self.unit = unit

    def fit(self, X: Any, y: Any = None) -> "PhraseFeatures":
        """Learn which phrases to keep, and their weights."""
        self._learn(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn, and transform the same texts without counting them twice."""
        return self._weighted(self._learn(X))

    def transform(self, X: Any) -> Any:
        """Features of texts (or of counts, if fitted on counts), shape (n_texts, n_phrases)."""
        check_is_fitted(self, "kept_")
        counts = sp.csr_array(X) if self.counter_ is None else sp.csr_array(self.counter_.transform(X))
        if counts.shape[1] != self.n_counted_:
            raise InputError(
                f"counts must have {self.n_counted_} columns, as in training; they have {counts.shape[1]}."
            )
        return self._weighted(counts)

    def get_feature_names_out(self, input_features: Any = None) -> ObjectArray:
        """The phrases; ``phrase 0`` … where only counts were given."""
        check_is_fitted(self, "kept_")
        if self.counter_ is not None:
            return self.counter_.get_feature_names_out()[self.kept_]
        names = [f"phrase {i}" for i in range(self.n_counted_)] if input_features is None else input_features
        return np.asarray(names, dtype=object)[self.kept_]

    def _learn(self, x: Any) -> Any:
        if sp.issparse(x) or getattr(x, "ndim", 1) == 2:
            self.counter_, counts = None, sp.csr_array(x)
        else:
            self.counter_ = CountVectorizer(analyzer=WordAnalyser(*self.ngram_range))
            try:
                counts = sp.csr_array(self.counter_.fit_transform(x))
            except ValueError:
                raise InputError("texts must hold words; none of these does. Give other texts or features.") from None
        n, self.n_counted_ = counts.shape
        found = np.bincount(counts.indices[counts.data > 0], minlength=self.n_counted_)
        # With few texts no phrase may recur; then every phrase is kept.
        least = self.min_texts or 1 + (n >= 400) + (n >= 2000)
        least = least if (found >= least).any() else 1
        self.kept_ = np.flatnonzero(found >= least)
        self.weights_ = np.log((1.0 + n) / (1.0 + found[self.kept_])) + 1.0 if self.idf else np.ones(len(self.kept_))
        return counts

    def _weighted(self, counts: Any) -> Any:
        x = sp.csr_array(counts[:, self.kept_], dtype=np.float64)
        x.eliminate_zeros()
        x.sort_indices()  # so that sums do not depend on the order in which words were met
        x.data = self.weights_[x.indices]
        if self.unit:
            norms = np.sqrt(np.asarray(x.power(2).sum(axis=1)).ravel())
            x.data /= np.repeat(np.where(norms > 0, norms, 1.0), np.diff(x.indptr))
        return x


@dataclass(frozen=True, eq=False)
class Units:
    """What is taken off the columns of a matrix of features, and what they are then divided by."""

    centre: FloatArray  # (n_features,)
    scale: FloatArray  # (n_features,)

    @classmethod
    def of(cls, x: Any) -> "Units":
        """The units in which rows of training features have length one on average.

        Most entries of measurements are not 0, and each column has a zero point and a unit of its own: it is counted
        from its mean, in standard deviations. Columns of which most entries are 0, such as words, and rows of one
        length, such as vectors of texts, say by their sizes how much they count, and keep them.
        """
        n, d = x.shape
        squares = np.asarray(x.multiply(x).sum(axis=1)).ravel()
        centre, scale = np.zeros(d), np.ones(d)
        if 2 * x.count_nonzero() > n * d and np.ptp(squares) > 1e-6 * squares.max():
            dense = np.sort(x.toarray(), axis=0)  # in order, so that sums do not depend on the order of the rows
            centre, spread = dense.mean(axis=0), dense.std(axis=0)
            varied = spread > 1e-9 * np.abs(dense).max(axis=0)
            scale = np.where(varied, spread, 1.0)
            squares = np.full(n, float(varied.sum()))
        length = np.sqrt(np.sort(squares).mean()) if n else 0.0
        return cls(centre, scale * (length or 1.0))

    def convert(self, x: Any) -> Any:
        """Features in these units, sparse, shape (n, n_features)."""
        if self.centre.any():
            x = sp.csr_array(x.toarray() - self.centre)
        return sp.csr_array(x.multiply(1.0 / self.scale))


def is_matrix(x: Any) -> bool:
    """Whether rows of numbers were given, and not texts."""
    if sp.issparse(x):
        return True
    if isinstance(x, list | tuple):
        return bool(len(x)) and not isinstance(x[0], str)
    if is_table(x):
        frame = as_frame(x)
        return "text" not in frame or pd.api.types.is_numeric_dtype(frame["text"])
    return getattr(x, "ndim", 1) == 2


def as_matrix(x: Any) -> Any:
    """Features as a sparse matrix of finite numbers."""
    try:
        table = as_frame(x) if is_table(x) else None
        matrix = sp.csr_array(x if table is None else table.to_numpy(), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("X must be texts or a matrix of numbers; it holds something else.") from None
    check_finite(matrix, ids=row_names(x), names=None if table is None else table.columns)
    return matrix


def aspect_names(y: Any, names: Sequence[str] | None) -> list[str]:
    """Names of the aspects: those given, or the columns of a table, or numbers."""
    m = 1 if np.ndim(y) == 1 else np.shape(y)[1]
    own = getattr(y, "columns", None)
    found = [str(name) for name in (names if names is not None else own if own is not None else range(m))]
    if len(found) != m:
        raise InputError(f"there must be one name an aspect; y has {m} columns and there are {len(found)} names.")
    return found


def given_ranks(y: Any, aspects: list[str], n_ranks: int) -> IntArray:
    """Ranks as integers, 0 where missing, shape (n_texts, n_aspects); columns that are named are met by their names."""
    names = column_names(y)
    if names is not None and sorted(names) == sorted(aspects):
        y = as_frame(y)[aspects]
    values = rank_numbers(y)
    if not len(values):
        raise InputError("there must be ranks; there are none.")
    values = values.reshape(len(values), -1)
    if values.shape[1] != len(aspects):
        raise InputError(f"ranks must have {len(aspects)} columns, one an aspect; they have {values.shape[1]}.")
    return whole_ranks(np.nan_to_num(values, nan=0.0), aspects, n_ranks)


def rank_numbers(y: Any) -> FloatArray:
    """Ranks as people give them, as numbers, nan where missing; what is no number is refused with its row.

    Examples
    --------
    >>> rank_numbers([[5, None], ["3", pd.NA]]).tolist()
    [[5.0, nan], [3.0, nan]]
    """
    given = as_frame(y) if is_table(y) else y
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        column = np.array(given, dtype=object)
    for place, value in np.ndenumerate(column):
        try:
            column[place] = np.nan if np.ndim(value) == 0 and pd.isna(value) else float(value)
        except (TypeError, ValueError):
            where = f" of {str(given.columns[place[1]])!r}" if isinstance(given, pd.DataFrame) else ""
            raise InputError(
                f"ranks must be numbers, 0 or nan where missing; row {place[0] + 1}{where} has {value!r}. "
                "Give the columns of ranks alone."
            ) from None
    return column.astype(np.float64)


def doubt_zeros(y: Any, n_ranks: int) -> None:
    """Warn where 0, which counts as missing, looks like the lowest score of a scale from 0 to n_ranks − 1."""
    values = rank_numbers(y)
    if 0.0 in values and values.max() < n_ranks:  # not where NaN stands for missing scores: then the maximum is NaN
        warnings.warn(
            f"a rank of 0 counts as missing, and no text has the highest rank {n_ranks}: if 0 is the lowest score, "
            "add 1 to all scores.",
            stacklevel=3,
        )


def content_order(x: Any, ranks: IntArray, annotator: ObjectArray) -> tuple[IntArray, IntArray, IntArray]:
    """An order of rows that depends on what they hold alone, so that no fit depends on the order in which they came.

    Parameters
    ----------
    x : sparse array of shape (n, n_features)
    ranks : int array of shape (n, n_aspects)
    annotator : array of shape (n,)
        Who scored; ``None`` where it is not known. Names do not matter, only who shares one.

    Returns
    -------
    order : int array of shape (n,)
    texts, annotators : int arrays of shape (n,)
        Codes, in the order of the rows given. A text that several annotators scored has one code, if there are enough
        texts to hold some of them out; without annotators every row is a text. The annotator −1 is nobody.
    """
    x = sp.csr_array(x)
    x.sort_indices()
    ends = x.indptr
    digests = [
        blake2b(
            x.indices[a:b].astype(np.int64).tobytes() + x.data[a:b].astype(np.float32).tobytes(), digest_size=16
        ).hexdigest()
        for a, b in pairwise(ends)
    ]
    keys = [(digest, sorted(row), row) for digest, row in zip(digests, ranks.tolist(), strict=True)]
    told: dict[Any, list[Any]] = {}
    for name, key in zip(annotator, keys, strict=True):
        if name is not None:
            told.setdefault(name, []).append(key)
    codes = {name: code for code, name in enumerate(sorted(told, key=lambda name: sorted(told[name])))}
    who = np.array([-1 if name is None else codes[name] for name in annotator], dtype=np.int64)
    order = sorted(range(len(keys)), key=lambda row: (keys[row], who[row]))
    texts = np.unique(digests, return_inverse=True)[1].astype(np.int64)
    if not told or texts.max(initial=-1) + 1 < _FEWEST_TEXTS:
        texts = np.arange(len(keys))
        texts[order] = np.arange(len(keys))
    return np.array(order, dtype=np.int64), texts, who


def given_annotators(annotator: Any, n: int) -> ObjectArray:
    """Who gave the ranks of each row as objects, ``None`` where it is not known; shape (n,)."""
    names = np.full(n, None, dtype=object)
    if annotator is not None:
        given = list(annotator)
        if len(given) != n:
            raise InputError(f"annotator must name one person a row; there are {n} rows and {len(given)} names.")
        names[:] = [None if pd.isna(name) else name for name in given]
    return names


def check_enough(ranks: IntArray, aspects: list[str]) -> None:
    """Refuse ranks that nothing can be learnt from."""
    empty = np.flatnonzero((ranks == 0).all(axis=0))
    if len(empty) == ranks.shape[1]:
        raise InputError("training needs scores; all of them are missing.")
    if len(empty):
        raise InputError(f"every aspect needs a score; {aspects[empty[0]]!r} has none. Drop that aspect.")
    if int((ranks > 0).any(axis=1).sum()) < 2:
        raise InputError("training needs at least 2 texts with scores; there is one.")
