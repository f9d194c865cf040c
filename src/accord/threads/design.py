"""Rows of comments as the arrays that thread models are fitted on: sorted, coded, scaled, paired."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numba import njit

from accord.data.columns import as_column, check_finite
from accord.data.labels import coded_labels
from accord.data.tables import as_frame, is_table, row_names, texts_as_table
from accord.data.threads import Threads
from accord.errors import InputError
from accord.fitting.content_order import group_codes, label_keys, mixed, row_keys
from accord.threads.features.edges import ThreadEdges, complete_pairs
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = [
    "Scaler",
    "ThreadRows",
    "as_threads",
    "chain_pairs",
    "group_rows",
    "known_codes",
    "label_codes",
    "pair_features",
    "pair_scores",
]

_CLIP = 4.0
_UNNAMED = "features/"  # and the place of a column that has no name


@dataclass(frozen=True, eq=False)
class ThreadRows:
    """Which rows form which thread, sorted by the threads' names; the rows of a thread keep their order inside it."""

    order: IntArray  # (n_rows,): row order[p] of the input is at place p
    offsets: IntArray  # (n_threads + 1,)

    @classmethod
    def of(cls, groups: AnyArray | None, n_rows: int) -> "ThreadRows":
        """Rows grouped by ``groups``; without groups every row is a thread of its own."""
        if groups is None:
            return cls(np.arange(n_rows), np.arange(n_rows + 1))
        groups = as_column(groups)
        if groups.shape != (n_rows,):
            raise InputError(f"groups must name the thread of each of the {n_rows} rows; it has shape {groups.shape}.")
        if groups.dtype.kind in "Of" and pd.isna(groups).any():
            row = int(np.flatnonzero(pd.isna(groups))[0])
            raise InputError(f"groups must name the thread of each row; that of row {row + 1} is missing.")
        names = groups if groups.dtype.kind in "iu" else groups.astype(str)
        sizes = np.unique(names, return_counts=True)[1]
        return cls(np.argsort(names, kind="stable"), np.concatenate([[0], np.cumsum(sizes)]))

    @property
    def sizes(self) -> IntArray:
        """Number of comments of each thread."""
        return np.diff(self.offsets)

    def back(self, values: AnyArray) -> AnyArray:
        """Values by place, back in the order of the input rows."""
        out = np.empty_like(values)
        out[self.order] = values
        return out


@dataclass(frozen=True, eq=False)
class Scaler:
    """Standardise columns, clip to ±4 deviations, and drop columns that never vary; a column of ones comes last."""

    mean: FloatArray  # (n_features,)
    scale: FloatArray  # (n_features,)
    keep: IntArray  # columns that vary

    @classmethod
    def of(cls, values: FloatArray) -> "Scaler":
        """The scaler of the columns of ``values``; with no row at all nothing varies."""
        n_columns = values.shape[1]
        if not len(values):
            return cls(np.zeros(n_columns), np.ones(n_columns), np.zeros(0, dtype=np.int64))
        mean, scale = values.mean(axis=0), values.std(axis=0)
        return cls(mean, scale, np.flatnonzero(scale > 1e-10))

    def __call__(self, values: FloatArray) -> FloatArray:
        """Shape (n_rows, n_kept + 1)."""
        out = np.ones((len(values), len(self.keep) + 1))
        scaled = values[:, self.keep]
        scaled -= self.mean[self.keep]
        scaled /= self.scale[self.keep]
        np.clip(scaled, -_CLIP, _CLIP, out=out[:, :-1])
        return out


def chain_pairs(offsets: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs of consecutive comments, as rows: thread by thread."""
    inner = np.ones(offsets[-1], dtype=bool)
    sizes = np.diff(offsets)
    inner[offsets[1:][sizes > 0] - 1] = False
    left = np.flatnonzero(inner)
    return left, left + 1


def pair_features(
    x: FloatArray,
    evidence: FloatArray,
    left: IntArray,
    right: IntArray,
    similarities: FloatArray | None,
) -> FloatArray:
    """Features of pairs of comments ([JMN16] section 4.2), shape (n_pairs, n_features).

    |x_i − x_j| of every node feature, what the node classifier says of both (never from a fit on the same thread), and
    the similarities, if given.

    Parameters
    ----------
    x : array of shape (n_rows, n_features)
        Scaled node features.
    evidence : array of shape (n_rows, n_labels)
        Node log probabilities from a classifier that has not seen the thread.
    left, right : int array of shape (n_pairs,)
    similarities : array of shape (n_pairs, n_similarities), optional
    """
    belief = beliefs(evidence)
    a, b = belief[left], belief[right]
    parts = [np.abs(x[left] - x[right]), np.abs(a - b), a * b, np.abs(a + b)]
    if similarities is not None:
        parts.append(similarities)
    return np.hstack(parts)


def beliefs(evidence: FloatArray) -> FloatArray:
    """tanh(log-odds / 2) = 2p − 1 of each label; one column is enough for two labels."""
    return np.asarray(2.0 * np.exp(evidence[:, 1:] if evidence.shape[1] == 2 else evidence) - 1.0)


def pair_scores(
    x: FloatArray,
    evidence: FloatArray,
    left: IntArray,
    right: IntArray,
    similarities: FloatArray | None,
    scaler: Scaler,
    weights: FloatArray,
) -> FloatArray:
    """``scaler(pair_features(…)) @ weights.T`` without the features in memory, shape (n_pairs, n_vectors)."""
    n_columns = len(scaler.mean)
    spread = np.zeros((len(weights), n_columns))
    spread[:, scaler.keep] = weights[:, :-1]
    scale = np.ones(n_columns)
    scale[scaler.keep] = scaler.scale[scaler.keep]
    given = np.zeros((len(left), 0)) if similarities is None else similarities
    return _pair_scores(
        x, beliefs(evidence), left, right, given, scaler.mean, 1.0 / scale, spread, np.ascontiguousarray(weights[:, -1])
    )


@njit(cache=True, error_model="numpy")
def _pair_scores(
    x: FloatArray,
    belief: FloatArray,
    left: IntArray,
    right: IntArray,
    similarities: FloatArray,
    mean: FloatArray,
    inverse: FloatArray,
    weights: FloatArray,
    bias: FloatArray,
) -> FloatArray:
    n_x, n_b, n_s = x.shape[1], belief.shape[1], similarities.shape[1]
    scores = np.empty((len(left), len(weights)))
    row = np.empty(n_x + 3 * n_b + n_s)
    for p in range(len(left)):
        i, j = left[p], right[p]
        for c in range(n_x):
            row[c] = abs(x[i, c] - x[j, c])
        for c in range(n_b):
            a, b = belief[i, c], belief[j, c]
            row[n_x + c] = abs(a - b)
            row[n_x + n_b + c] = a * b
            row[n_x + 2 * n_b + c] = abs(a + b)
        for c in range(n_s):
            row[n_x + 3 * n_b + c] = similarities[p, c]
        for c in range(len(row)):
            row[c] = min(max((row[c] - mean[c]) * inverse[c], -_CLIP), _CLIP)
        for v in range(len(weights)):
            total = bias[v]
            for c in range(len(row)):
                total += weights[v, c] * row[c]
            scores[p, v] = total
    return scores


def similarities_of(
    edges: ThreadEdges | None, ids: AnyArray | None, rows: ThreadRows, left: IntArray, right: IntArray
) -> FloatArray | None:
    """The rows of an edge record for these pairs, which must be pairs of :func:`complete_pairs`."""
    if edges is None:
        return None
    values = edges.aligned(None if ids is None else ids[rows.order], rows.offsets, rows.order)
    every, _ = complete_pairs(rows.offsets)
    if len(left) == len(every):
        return values
    # Consecutive pairs: the first pair of each comment that has a later one.
    return values[np.searchsorted(every, left)]


def as_threads(X: Any, groups: Any = None, labels: Any = None) -> Threads | None:
    """The record of a Threads record or of a table of texts; ``None`` for everything else.

    Parameters
    ----------
    X : Threads, table with a column ``text``, or texts
    groups, labels : array of shape (n_comments,), optional
        Instead of the columns ``group_id`` and ``label`` of a table, or of the record's own labels.
    """
    if isinstance(X, Threads):
        return X if labels is None else replace(X, labels=np.asarray(labels, dtype=object))
    X = texts_as_table(X)
    if not is_table(X) or "text" not in as_frame(X).columns:
        return None
    frame = as_frame(X).copy()
    if "item_id" not in frame:
        frame["item_id"] = np.arange(len(frame)).astype(str)
    for name, values in (("group_id", groups), ("label", labels)):
        if values is not None:
            if len(values) != len(frame):
                raise InputError(f"there must be one {name} a row, {len(frame)}; there are {len(values)}.")
            frame[name] = np.asarray(values, dtype=object)
    if "group_id" not in frame:
        frame["group_id"] = frame["item_id"]
    return Threads.from_table(frame)


def tells_threads(X: Any, groups: Any) -> bool:
    """Whether rows say which thread they belong to; a single row need not."""
    X = X if isinstance(X, Threads) else texts_as_table(X)
    if groups is not None or isinstance(X, Threads) or np.shape(X)[0] < 2:
        return True
    return is_table(X) and {"text", "group_id"} <= set(as_frame(X).columns)


def places_in(X: Any, threads: Threads) -> IntArray | None:
    """The row of X that each comment of its threads comes from; ``None`` where X is the record itself."""
    if isinstance(X, Threads):
        return None
    frame = as_frame(texts_as_table(X))
    ids = frame["item_id"].astype(str) if "item_id" in frame else np.arange(len(frame)).astype(str)
    return np.asarray(pd.Index(ids).get_indexer(pd.Index(threads.comment_ids.astype(str))), dtype=np.int64)


def in_trained_order(values: FloatArray, names: tuple[str, ...], trained: tuple[str, ...]) -> FloatArray:
    """The columns of a table in the order of training, by their names; a table of another make is refused."""
    if len(names) != len(trained):
        raise InputError(f"X must have the {len(trained)} features of training; it has {len(names)}.")
    if names == trained or _unnamed(names) or _unnamed(trained):
        return values
    place = {name: k for k, name in enumerate(names)}
    for name in trained:
        if name not in place:
            raise InputError(f"X must have the features of training; {name!r} is not among its columns.")
    return values[:, [place[name] for name in trained]]


def _unnamed(names: tuple[str, ...]) -> bool:
    return bool(names) and names[0] == f"{_UNNAMED}0"


def as_float_table(X: Any) -> tuple[FloatArray, AnyArray | None, tuple[str, ...]]:
    """Values, row ids (the index of a table) and column names of X.

    Columns without names are called ``features/0``, ``features/1``, ….
    """
    import scipy.sparse as sp

    ids = np.asarray(X.index).astype(str) if hasattr(X, "index") and hasattr(X, "columns") else None
    table = as_frame(X) if is_table(X) else None
    values = X.toarray() if sp.issparse(X) else np.asarray(X if table is None else table)
    if values.ndim != 2 or values.dtype.kind not in "fiub":
        raise InputError(
            f"X must be a table of numbers with one row a comment; it has shape {values.shape} and type "
            f"{values.dtype}. Give the comments' texts, a table with a column 'text', or a Threads record."
        )
    values = values.astype(np.float64)
    check_finite(values, ids=row_names(X), names=None if table is None else table.columns, what="X")
    names = (
        tuple(str(name) for name in table.columns)
        if table is not None
        else tuple(f"{_UNNAMED}{k}" for k in range(values.shape[1]))
    )
    return values, ids, names


def label_codes(y: Any, n_rows: int) -> tuple[AnyArray, IntArray]:
    """The labels that occur, sorted, and the place of each row's label among them; −1 where a row has none."""
    if y is None or np.shape(y) != (n_rows,):
        raise InputError(f"y must have one label a row, {n_rows} of them; it has shape {np.shape(y)}.")
    y = as_column(y)
    observed = ~pd.isna(y)
    if not observed.any():
        raise InputError("training needs labelled comments; no comment has a label.")
    classes, places = coded_labels(y[observed])
    if len(classes) < 2:
        raise InputError(f"training needs two labels or more; all comments are {str(classes[0])!r}.")
    codes = np.full(n_rows, -1, dtype=np.int64)
    codes[observed] = places
    return classes, codes


def group_rows(groups: Any, values: FloatArray, labels: IntArray) -> tuple[IntArray, IntArray]:
    """Numbers of the threads in an order that depends on what they hold alone, and a key of each row.

    Parameters
    ----------
    groups : array of shape (n_rows,), optional
        Without it every row is a thread of its own.
    values : float array of shape (n_rows, n_features)
    labels : int array of shape (n_rows,)
        −1 where a row has none.
    """
    keys = row_keys(values)
    keys = mixed(keys, label_keys(labels, keys))
    return group_codes(np.arange(len(keys)) if groups is None else as_column(groups).astype(str), keys), keys


def known_codes(known: Any, classes: AnyArray, n_rows: int) -> IntArray:
    """The place of each given label among ``classes``; −1 where none is given."""
    known = np.asarray(known, dtype=object)
    if known.shape != (n_rows,):
        raise InputError(f"known must have one entry a comment, {n_rows}; it has shape {known.shape}.")
    place = {label: k for k, label in enumerate(classes.tolist())}
    codes = np.full(n_rows, -1, dtype=np.int64)
    for row in np.flatnonzero(~pd.isna(known)):
        if known[row] not in place:
            listed = ", ".join(map(str, classes))
            raise InputError(f"a known label must be one that was trained, {listed}; row {row + 1} has {known[row]!r}.")
        codes[row] = place[known[row]]
    return codes
