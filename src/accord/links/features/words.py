"""Features of texts that speak about each other: pairs of linked texts, their words, and what neighbours say.

Every matrix is sparse. No feature knows who wrote a text: only words, links and similarity count.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from accord.data.columns import as_column, check_finite, text_column, unique_ids
from accord.data.links import Links
from accord.data.project import ITEMS
from accord.data.tables import as_frame, is_table, require_columns, texts_as_table, trained_places
from accord.engines.numerics import spread
from accord.errors import InputError
from accord.typing import AnyArray, FloatArray, IntArray, ObjectArray

__all__ = [
    "FeatureScale",
    "LinkedPairs",
    "LinkedTexts",
    "has_words",
    "kind_features",
    "linked_pairs",
    "linked_texts",
    "meta_features",
    "neighbour_counts",
    "neighbour_presence",
    "neighbour_windows",
    "pair_texts",
    "pair_words",
]

# What a table may say of a text beside its features: never a feature, whoever wrote it, asked it or labelled it.
_NOT_FEATURES = frozenset({*ITEMS.names, "label", "question", "asker_id", "category"})


@dataclass(frozen=True, eq=False)
class LinkedPairs:
    """Unordered pairs of linked texts, each once, and the links that make them.

    Attributes
    ----------
    n_texts : int
    ends : int array of shape (n_pairs, 2)
        Positions of the two texts, the smaller first.
    pair_of_link : int array of shape (n_links,)
        The pair that each link belongs to.
    forward : bool array of shape (n_links,)
        Whether the link goes from the first end to the second.
    weights : float array of shape (n_pairs,)
        Mean weight of the links of each pair.
    """

    n_texts: int
    ends: IntArray
    pair_of_link: IntArray
    forward: AnyArray
    weights: FloatArray

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return len(self.ends)

    @property
    def connected(self) -> AnyArray:
        """Which texts have a link, shape (n_texts,)."""
        touched = np.zeros(self.n_texts, dtype=bool)
        touched[self.ends.ravel()] = True
        return touched

    def subset(self, kept: AnyArray) -> tuple["LinkedPairs", AnyArray]:
        """Some of the pairs (a mask), and which links make them, shape (n_links,)."""
        links = kept[self.pair_of_link]
        pair_of_link = (np.cumsum(kept) - 1)[self.pair_of_link[links]]
        pairs = replace(
            self,
            ends=self.ends[kept],
            pair_of_link=pair_of_link,
            forward=self.forward[links],
            weights=self.weights[kept],
        )
        return pairs, links


@dataclass(frozen=True, eq=False)
class LinkedTexts:
    """The rows of a model of links: ids, texts or features, groups, and the links among them."""

    ids: ObjectArray  # (n_texts,)
    content: Any  # (n_texts,) texts, or (n_texts, n_features) features
    groups: ObjectArray  # (n_texts,)
    order: IntArray  # (n_texts,) positions in an order that does not depend on that of the rows
    pairs: LinkedPairs
    contexts: ObjectArray | None  # (n_links,) the words around each link
    kinds: ObjectArray | None = None  # (n_links,) what each link is
    names: ObjectArray | None = None  # (n_features,) of the features of a table

    @property
    def n_texts(self) -> int:
        """Number of texts."""
        return len(self.ids)

    @property
    def is_text(self) -> bool:
        """Whether the content is text rather than features."""
        return isinstance(self.content, np.ndarray) and self.content.ndim == 1

    def apart(self, parts: IntArray) -> tuple["LinkedTexts", AnyArray]:
        """The same texts where those of different parts know nothing of each other, and which pairs are left."""
        kept = parts[self.pairs.ends[:, 0]] == parts[self.pairs.ends[:, 1]]
        pairs, links = self.pairs.subset(kept)
        columns = [None if column is None else column[links] for column in (self.contexts, self.kinds)]
        groups = np.array([f"{part} {group}" for part, group in zip(parts, self.groups, strict=True)])
        return replace(self, groups=groups, pairs=pairs, contexts=columns[0], kinds=columns[1]), kept

    def position(self, text: str) -> int:
        """The row of one text."""
        found = np.flatnonzero(self.ids == text)
        if not len(found):
            raise InputError(f"the text to explain must be a row of X; {text!r} is not among the {self.n_texts} ids.")
        return int(found[0])

    def with_features(self, names: ObjectArray | None, n_features: int) -> "LinkedTexts":
        """The same texts with the features of training: by name where both have names, else by their number."""
        if names is None or self.names is None:
            if self.content.shape[1] != n_features:
                raise InputError(
                    f"features must be the {n_features} of training; there are {self.content.shape[1]} columns. "
                    "Give the same columns, in the same order."
                )
            return self
        places = trained_places(self.names.tolist(), names.tolist())
        return replace(self, content=self.content[:, places], names=names)


def linked_texts(X: Any, *, links: Links | None, groups: Any = None, ids: Any = None) -> LinkedTexts:
    """The rows of X with the links among them; links to texts that are not rows of X are left out.

    Parameters
    ----------
    X : table or array
        A table with ``item_id`` and ``text``, texts alone (with ``ids`` where there are links), a table with
        ``item_id`` and columns of numbers (other columns of items, such as ``author_id`` or ``label``, are no
        features), a table with ``item_id`` alone where there are links, or features of shape (n_texts, n_features)
        together with ``ids``.
    links : Links, or table with ``src_id`` and ``dst_id``, optional
        A link of weight 0 is no link.
    groups : array of shape (n_texts,), optional
        The debate or thread of each text; the column ``group_id`` of a table by default, else every text is its own.
    ids : array of shape (n_texts,), optional
    """
    if is_table(links):
        links = Links.from_table(links)
    if links is not None and not isinstance(links, Links):
        raise InputError(
            f"links must be a Links record or a table with src_id and dst_id; got {type(links).__name__}. "
            "Make one with Links.from_table."
        )
    X, names, named = texts_as_table(X), None, True
    if sp.issparse(X) or isinstance(X, np.ndarray):
        if ids is None:
            raise InputError("features need ids= (one a row), because links name texts by id. Or give a table.")
        content = _features(X, ids)
    else:
        frame = as_frame(X)
        if "item_id" not in frame and ids is None and links is None:
            ids, named = np.arange(len(frame)).astype(str), False
        if ids is None:
            require_columns(frame, ["item_id"], what="texts")
        ids = frame["item_id"].to_numpy(object) if ids is None else ids
        groups = frame["group_id"].to_numpy(object) if groups is None and "group_id" in frame else groups
        if "text" in frame:
            content = text_column(frame["text"].fillna("").to_numpy(object), n=len(frame), what="text")
        else:
            names, content = _feature_columns(frame, ids, needed=links is None)
    ids = unique_ids(ids, what="text")
    n = content.shape[0]
    for what, column in (("ids", ids), ("groups", ids if groups is None else groups)):
        if len(column) != n:
            raise InputError(f"{what} must have one entry a row; there are {n} rows and {len(column)} entries.")
    order = np.argsort(ids.astype(str), kind="stable") if named else _by_content(content)
    groups = _group_names(groups, np.argsort(order))
    if links is None:
        none = np.empty(0, dtype=np.int64)
        pairs = linked_pairs(none, none, n_texts=n)
        return LinkedTexts(ids, content, groups, order, pairs, None, names=names)
    links = links if links.weights is None else links.subset(links.weights > 0.0)
    kept, source, target = links.among(ids)
    pairs = linked_pairs(source, target, n_texts=n, weights=kept.weights)
    return LinkedTexts(ids, content, groups, order, pairs, kept.contexts, kept.kinds, names)


def _group_names(groups: Any, own: IntArray) -> AnyArray:
    """The group of each text as a string; a text without one is a group of its own, named by its number in ``own``."""
    if groups is None:
        return own.astype(str)
    column = as_column(groups)
    missing = np.asarray(pd.isna(column))
    names = column.astype(str)
    if not missing.any():
        return names
    return np.where(missing, np.char.add("\0" + "of its own ", own.astype(str)), names)


def _by_content(content: Any) -> IntArray:
    """Positions of texts, or rows of features, in order of what stands there."""
    if content.ndim == 2:
        return np.asarray(np.lexsort(content.T[::-1]))
    return np.array(sorted(range(len(content)), key=content.__getitem__), dtype=np.int64)


def _feature_columns(frame: pd.DataFrame, ids: Any, *, needed: bool) -> tuple[ObjectArray, FloatArray]:
    """Names and values of the columns of a table that are features."""
    features = frame.drop(columns=[name for name in frame if name in _NOT_FEATURES]).infer_objects()
    names = np.array([str(name) for name in features], dtype=object)
    if not len(names) and needed:
        raise InputError("a table of texts needs a column 'text' or columns of numbers; it has neither. Add one.")
    if len(set(names)) < len(names):
        raise InputError(f"columns of features need different names; they are {', '.join(names)}. Rename some.")
    for name, kind in zip(names, features.dtypes, strict=True):
        if not pd.api.types.is_numeric_dtype(kind):
            raise InputError(f"every feature must be a column of numbers; {name!r} holds {kind}. Drop or convert it.")
    return names, _features(features.to_numpy(np.float64, na_value=np.nan), ids, names)


def _features(X: Any, ids: Any, names: ObjectArray | None = None) -> Any:
    """Features as a matrix of finite numbers, shape (n_texts, n_features)."""
    try:
        content = sp.csr_matrix(X) if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"features must be numbers; this is an array of {X.dtype}. Give texts as a table with item_id and text."
        ) from None
    if content.ndim != 2:
        raise InputError(f"features must have the shape (n_texts, n_features); they have {content.shape}.")
    check_finite(content, ids=ids, names=names)
    return content


def linked_pairs(source: IntArray, target: IntArray, *, n_texts: int, weights: FloatArray | None = None) -> LinkedPairs:
    """Pairs of texts that are linked in either direction, in order of their positions; links weigh 1 by default."""
    source, target = np.asarray(source, dtype=np.int64), np.asarray(target, dtype=np.int64)
    if np.any(source == target):
        raise InputError(f"a link joins two different texts; text {source[np.argmax(source == target)]} links itself.")
    keys, pair_of_link = np.unique(
        np.minimum(source, target) * n_texts + np.maximum(source, target), return_inverse=True
    )
    ends = np.column_stack(np.divmod(keys, max(n_texts, 1))).astype(np.int64).reshape(-1, 2)
    pair_of_link = pair_of_link.ravel()
    count = np.bincount(pair_of_link, minlength=len(ends))
    total = np.bincount(pair_of_link, weights=weights, minlength=len(ends))
    return LinkedPairs(n_texts, ends, pair_of_link, source < target, total / np.maximum(count, 1))


def has_words(contexts: ObjectArray) -> bool:
    """Whether anything but blanks stands around some link."""
    return any(context.strip() for context in contexts)


def pair_texts(contexts: ObjectArray, pairs: LinkedPairs) -> ObjectArray:
    """The words around all links of a pair as one text, shape (n_pairs,); the order of links does not matter."""
    joined: list[list[str]] = [[] for _ in range(pairs.n_pairs)]
    for context, pair in zip(contexts, pairs.pair_of_link, strict=True):
        joined[pair].append(context)
    texts = np.empty(pairs.n_pairs, dtype=object)
    texts[:] = ["\n".join(sorted(parts)) for parts in joined]
    return texts


def pair_words(words: Any, pairs: LinkedPairs) -> sp.csr_matrix:
    """Presence, in the windows of any link of a pair, of each word.

    Parameters
    ----------
    words : sparse matrix of shape (n_links, n_words)
        Words of each link's window.
    pairs : LinkedPairs

    Returns
    -------
    sparse matrix of zeros and ones, shape (n_pairs, n_words)
    """
    n_links = len(pairs.pair_of_link)
    gather = sp.csr_matrix((np.ones(n_links), (pairs.pair_of_link, np.arange(n_links))), shape=(pairs.n_pairs, n_links))
    return _presence(gather @ sp.csr_matrix(words))


def neighbour_counts(labels: IntArray, pairs: LinkedPairs, *, n_labels: int) -> sp.csr_matrix:
    """How many neighbours of each text have each label, [BBB11] section 3.4; a label of −1 is not known.

    Returns
    -------
    sparse matrix of shape (n_texts, n_labels)
    """
    rows, _, seen = _incidences(labels, pairs)
    return sp.coo_matrix((np.ones(len(rows)), (rows, seen)), shape=(pairs.n_texts, n_labels)).tocsr()


def neighbour_presence(labels: IntArray, pairs: LinkedPairs, *, n_labels: int) -> sp.csr_matrix:
    """Whether any neighbour of each text has each label, [BBB11] section 3.4."""
    return _presence(neighbour_counts(labels, pairs, n_labels=n_labels))


def neighbour_windows(labels: IntArray, pairs: LinkedPairs, words: Any, *, n_labels: int) -> sp.csr_matrix:
    """Each window word paired with the label of the neighbour, the space L × C of [BBB11] section 3.4.

    Parameters
    ----------
    labels : int array of shape (n_texts,)
    pairs : LinkedPairs
    words : sparse matrix of shape (n_pairs, n_words)
        Words of each pair's windows, as of :func:`pair_words`.
    n_labels : int

    Returns
    -------
    sparse matrix of zeros and ones, shape (n_texts, n_labels · n_words)
        Column ``label · n_words + word``.
    """
    rows, pair, seen = _incidences(labels, pairs)
    choose = sp.csr_matrix(
        (np.ones(len(rows)), (rows * n_labels + seen, pair)), shape=(pairs.n_texts * n_labels, pairs.n_pairs)
    )
    stacked = _presence(choose @ sp.csr_matrix(words))
    return stacked.reshape((pairs.n_texts, n_labels * words.shape[1])).tocsr()


def meta_features(pairs: LinkedPairs, similarity: FloatArray) -> FloatArray:
    """What a pair's links say apart from their words.

    Returns
    -------
    float array of shape (n_pairs, 3)
        Log of the number of links, whether they go both ways, similarity of the two texts.
    """
    count = np.bincount(pairs.pair_of_link, minlength=pairs.n_pairs).astype(np.float64)
    forward = np.bincount(pairs.pair_of_link, weights=pairs.forward, minlength=pairs.n_pairs)
    both = (forward > 0) & (forward < count)
    return np.column_stack([np.log(np.maximum(count, 1.0)), both.astype(np.float64), similarity])


def kind_features(kinds: ObjectArray, pairs: LinkedPairs, names: Sequence[str]) -> FloatArray:
    """Log of one plus the number of links of each kind, shape (n_pairs, n_kinds); unknown kinds are not counted."""
    place = {name: column for column, name in enumerate(names)}
    columns = np.array([place.get(str(kind), -1) for kind in kinds], dtype=np.int64)
    counts = np.zeros((pairs.n_pairs, len(names)))
    known = columns >= 0
    np.add.at(counts, (pairs.pair_of_link[known], columns[known]), 1.0)
    return np.asarray(np.log1p(counts))


@dataclass(frozen=True, eq=False)
class FeatureScale:
    """How given features are brought to rows of about length 1, which ridge regression expects.

    Counts and weights of words (no negative number, half of them zeros) are scaled row by row. Other numbers are
    standardised by column first, and then all rows are scaled alike.
    """

    by_row: bool
    centre: FloatArray  # (n_features,)
    spread: FloatArray  # (n_features,)

    @classmethod
    def of(cls, features: Any) -> "FeatureScale":
        """The scale of the features of training texts, shape (n_texts, n_features)."""
        n, p = features.shape
        values = features.data if sp.issparse(features) else np.asarray(features)
        if not values.size or (np.all(values >= 0.0) and 2 * np.count_nonzero(values) <= n * p):
            return cls(True, np.zeros(p), np.ones(p))
        dense = features.toarray() if sp.issparse(features) else np.asarray(features, dtype=np.float64)
        return cls(False, dense.mean(axis=0), spread(dense) * np.sqrt(p))

    def apply(self, features: Any) -> sp.csr_matrix:
        """Scaled features, shape (n_texts, n_features)."""
        if self.by_row:
            return (
                sp.csr_matrix(normalize(sp.csr_matrix(features, dtype=np.float64)))
                if features.shape[1]
                else (sp.csr_matrix(features.shape))
            )
        dense = features.toarray() if sp.issparse(features) else np.asarray(features, dtype=np.float64)
        return sp.csr_matrix((dense - self.centre) / self.spread)


def _presence(counts: sp.csr_matrix) -> sp.csr_matrix:
    present = sp.csr_matrix(counts, dtype=np.float64, copy=True)
    present.eliminate_zeros()
    present.data[:] = 1.0
    return present


def _incidences(labels: IntArray, pairs: LinkedPairs) -> tuple[IntArray, IntArray, IntArray]:
    """Text, pair and the neighbour's label of every end of every pair whose other end has a known label."""
    rows = np.concatenate([pairs.ends[:, 0], pairs.ends[:, 1]])
    others = np.concatenate([pairs.ends[:, 1], pairs.ends[:, 0]])
    pair = np.tile(np.arange(pairs.n_pairs), 2)
    seen = np.asarray(labels)[others]
    known = seen >= 0
    return rows[known], pair[known], seen[known]
