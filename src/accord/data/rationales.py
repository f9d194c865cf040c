"""Rationales: the stretches of a text that made an annotator decide."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from accord.data.columns import (
    annotator_columns,
    annotator_ids,
    codes_of,
    derived,
    frozen,
    index_column,
    whole_numbers,
)
from accord.data.documents import Items
from accord.data.tables import as_frame, require_columns
from accord.errors import InputError
from accord.typing import AnyArray, BoolArray, IntArray, ObjectArray

__all__ = ["Rationales", "inside_tags", "token_spans", "whitespace_tokens"]

_SPACES = re.compile(r"\S+")


def whitespace_tokens(text: str) -> tuple[list[str], IntArray]:
    """Tokens between white space, and their character spans, shape (n_tokens, 2).

    Examples
    --------
    >>> whitespace_tokens("Not bad!")[0]
    ['Not', 'bad!']
    """
    matches = list(_SPACES.finditer(text))
    return [m.group() for m in matches], np.array([m.span() for m in matches], dtype=np.int64).reshape(-1, 2)


def inside_tags(spans: AnyArray, tokens: AnyArray) -> BoolArray:
    """Whether each token is inside a span; a token that is partly highlighted is inside.

    Parameters
    ----------
    spans : int array of shape (n_spans, 2)
        Character spans ``[start, end)``.
    tokens : int array of shape (n_tokens, 2)
        Character spans of the tokens, in order and not overlapping.

    Returns
    -------
    tags : bool array of shape (n_tokens,)

    Examples
    --------
    >>> inside_tags([(5, 7)], [(0, 3), (4, 7), (7, 8)]).tolist()  # half a word marks the word
    [False, True, False]
    """
    spans, tokens = np.asarray(spans).reshape(-1, 2), np.asarray(tokens).reshape(-1, 2)
    # A token meets a span iff it ends after the span's start and starts before the span's end.
    first = np.searchsorted(tokens[:, 1], spans[:, 0], side="right")
    last = np.searchsorted(tokens[:, 0], spans[:, 1], side="left")
    steps = np.zeros(len(tokens) + 1, dtype=np.int64)
    some = first < last
    np.add.at(steps, first[some], 1)
    np.add.at(steps, last[some], -1)
    return np.cumsum(steps[:-1]) > 0


def token_spans(tags: AnyArray) -> IntArray:
    """Runs of inside tokens as ``[start, end)`` token spans, shape (n_runs, 2).

    Examples
    --------
    >>> token_spans([True, True, False, True]).tolist()
    [[0, 2], [3, 4]]
    """
    padded = np.concatenate([[False], np.asarray(tags, dtype=bool), [False]])
    return np.flatnonzero(padded[1:] != padded[:-1]).reshape(-1, 2)


@dataclass(frozen=True, eq=False)
class Rationales:
    """Highlighted character spans of texts.

    An annotated text in which nothing was marked is told from one that was never annotated by ``annotated``.

    Parameters
    ----------
    items : Items
        With texts.
    item : int array of shape (n_spans,)
        Positions in ``items``.
    start, end : int array of shape (n_spans,)
        Characters ``[start, end)`` of the text as given.
    annotator : int array of shape (n_spans,), optional
        Positions in ``annotators``; −1 where not known.
    annotators : array of shape (n_annotators,), optional
    annotated : bool array of shape (n_items,), optional
        Texts that somebody looked at; by default those with a span or a reading.
    readings : int array of shape (n_readings, 2), optional
        Who read which text and marked nothing: positions in ``items`` and ``annotators`` (−1 where not known).
    labels : array of shape (n_spans,), optional
        The class that each span is a reason for; ``None`` where it is that of its text.

    Examples
    --------
    >>> from accord import Items, Rationales
    >>> items = Items(["n1", "n2"], texts=["The soup was cold.", "Fine."])
    >>> marks = Rationales.from_table({"item_id": ["n1"], "start": [4], "end": [17], "quote": ["soup was cold"]}, items)
    >>> marks.n_spans, marks.annotated.tolist(), marks.per_item()[0].tolist()
    (1, [True, False], [[4, 17]])
    """

    items: Items
    item: IntArray
    start: IntArray
    end: IntArray
    annotator: IntArray | None = None
    annotators: ObjectArray | None = None
    annotated: BoolArray | None = None
    readings: IntArray | None = None
    labels: ObjectArray | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        if self.items.texts is None:
            raise InputError("rationales mark words of texts; give the items their texts.")
        n = len(self.item)
        put(self, "item", index_column(self.item, n=n, size=self.items.n_items, what="item"))
        start, end = whole_numbers(self.start, what="start"), whole_numbers(self.end, what="end")
        if len(start) != n or len(end) != n:
            raise InputError(
                f"every span needs a start and an end; there are {n} spans, {len(start)} starts, {len(end)} ends."
            )
        lengths = np.fromiter((len(text) for text in self.items.texts), np.int64, self.items.n_items)[self.item]
        bad = (start < 0) | (end <= start) | (end > lengths)
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(
                f"a span must lie inside its text, 0 <= start < end <= length; row {row + 1} is "
                f"[{start[row]}, {end[row]}) in {self.items.ids[self.item[row]]!r}, which has "
                f"{lengths[row]} characters. Correct the offsets or drop the row."
            )
        put(self, "start", frozen(start.astype(np.int32)))
        put(self, "end", frozen(end.astype(np.int32)))
        annotator, annotators = annotator_columns(self.annotator, self.annotators, n=n)
        put(self, "annotator", annotator)
        put(self, "annotators", annotators)
        annotated = np.zeros(self.items.n_items, dtype=bool)
        annotated[self.item] = True
        readings = np.asarray(np.zeros((0, 2), dtype=np.int32) if self.readings is None else self.readings)
        n_known = 0 if annotators is None else len(annotators)
        index_column(readings[:, 0], n=None, size=self.items.n_items, what="item")
        index_column(readings[:, 1] + 1, n=None, size=1 + n_known, what="annotator")
        annotated[readings[:, 0]] = True
        put(self, "readings", frozen(readings.astype(np.int32)))
        if self.labels is not None and len(self.labels) != n:
            raise InputError(f"labels must have one entry a span ({n}); there are {len(self.labels)}.")
        if self.annotated is not None:
            given = np.asarray(self.annotated, dtype=bool)
            if given.shape != annotated.shape:
                raise InputError(f"annotated must have one entry an item ({len(annotated)}); it has {given.size}.")
            if (annotated & ~given).any():
                row = int(np.argmax(annotated & ~given))
                raise InputError(f"item {self.items.ids[row]!r} has spans but is said not to be annotated.")
            annotated = given
        put(self, "annotated", frozen(annotated))

    @property
    def n_spans(self) -> int:
        """Number of spans."""
        return self.item.size

    def subset(self, rows: AnyArray) -> "Rationales":
        """The spans of some of the texts (positions or a mask), in that order.

        Parameters
        ----------
        rows : int array of positions, or bool array of shape (n_items,)
            Which texts to keep.
        """
        rows = np.arange(self.items.n_items)[rows]
        place = np.full(self.items.n_items, -1, dtype=np.int32)
        place[rows] = np.arange(len(rows))
        kept = self.only(place[self.item] >= 0)
        readings = np.asarray(self.readings)[place[np.asarray(self.readings)[:, 0]] >= 0]
        return derived(
            kept,
            items=self.items.subset(rows),
            item=place[kept.item],
            annotated=np.asarray(self.annotated)[rows],
            readings=np.stack([place[readings[:, 0]], readings[:, 1]], axis=1),
        )

    def only(self, spans: AnyArray, *, annotated: BoolArray | None = None) -> "Rationales":
        """Some of the spans (positions or a mask); the texts stay, and so do those that were read, unless said.

        Parameters
        ----------
        spans : int array of positions, or bool array of shape (n_spans,)
            Which spans to keep.
        annotated : bool array of shape (n_items,), optional
            Which texts count as read; by default those that did before.
        """
        columns = {name: getattr(self, name) for name in ("item", "start", "end", "annotator", "labels")}
        return derived(
            self,
            annotated=self.annotated if annotated is None else annotated,
            **{name: None if column is None else column[spans] for name, column in columns.items()},
        )

    def per_item(self) -> list[IntArray]:
        """Character spans of every text, in order: a list of arrays of shape (n, 2)."""
        order = np.lexsort((self.start, self.item))
        spans = np.stack([self.start, self.end], axis=1)[order]
        cuts = np.searchsorted(self.item[order], np.arange(1, self.items.n_items))
        return list(np.split(spans, cuts))

    def annotations(self) -> list[tuple[int, str, list[tuple[int, int, Any]]]]:
        """What each person marked in each text: item, annotator ("" where not known), and (start, end, label) in order.

        Somebody who read a text and marked nothing has no spans there.
        """
        n, found = self.n_spans, dict[tuple[int, int], list[tuple[int, int, Any]]]()
        who = np.full(n, -1) if self.annotator is None else self.annotator
        labels = np.full(n, None) if self.labels is None else self.labels
        for row in np.lexsort((self.end, self.start)).tolist():
            span = (int(self.start[row]), int(self.end[row]), labels[row])
            found.setdefault((int(self.item[row]), int(who[row])), []).append(span)
        for item, reader in [] if self.readings is None else self.readings.tolist():
            found.setdefault((item, reader), [])
        annotated = [] if self.annotated is None else np.flatnonzero(self.annotated).tolist()
        found |= {(item, -1): [] for item in set(annotated).difference(item for item, _ in found)}
        names = [] if self.annotators is None else [str(name) for name in self.annotators]
        return [(item, names[code] if code >= 0 else "", spans) for (item, code), spans in sorted(found.items())]

    @classmethod
    def from_table(cls, table: Any, items: Items) -> "Rationales":
        """Spans of a table with ``item_id``, ``start``, ``end`` and optionally ``quote`` and ``annotator_id``.

        A quote must be the text of its span.

        Parameters
        ----------
        table : table of pandas, polars or Arrow
        items : Items
            The texts; every ``item_id`` of the table must be one of them.
        """
        frame = as_frame(table)
        require_columns(frame, ["item_id", "start", "end"], what="spans")
        item = items.positions(frame["item_id"])
        annotator = annotators = None
        if "annotator_id" in frame:
            annotator, annotators = codes_of(frame["annotator_id"])
        record = cls(items, item, frame["start"].to_numpy(), frame["end"].to_numpy(), annotator, annotators)
        if "quote" in frame and items.texts is not None:
            for row, quote in enumerate(frame["quote"]):
                said = items.texts[item[row]][record.start[row] : record.end[row]]
                if isinstance(quote, str) and quote != said:
                    raise InputError(
                        f"a span's quote must be its text; row {row + 1} quotes {quote[:60]!r} where the text of "
                        f"{items.ids[item[row]]!r} has {said[:60]!r}. Correct the offsets or the quote."
                    )
        return record

    def to_table(self) -> pd.DataFrame:
        """A table with the columns that :meth:`from_table` reads."""
        texts = self.items.texts
        columns: dict[str, Any] = {
            "item_id": self.items.ids[self.item],
            "start": self.start,
            "end": self.end,
            "quote": [texts[i][a:b] for i, a, b in zip(self.item, self.start, self.end, strict=True)]
            if texts is not None
            else None,
        }
        if self.annotator is not None and self.annotators is not None:
            columns["annotator_id"] = annotator_ids(self.annotator, self.annotators)
        return pd.DataFrame(columns)
