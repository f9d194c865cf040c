"""Threads: a question and the comments under it, some or all of them labelled."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from accord.data.columns import codes_of, frozen, text_column, unique_ids
from accord.data.tables import as_frame, optional_column, require_columns
from accord.errors import InputError
from accord.typing import AnyArray, IntArray, ObjectArray

__all__ = ["Threads"]

_PER_THREAD = ("questions", "askers", "categories")
_PER_COMMENT = ("authors", "labels")


@dataclass(frozen=True, eq=False)
class Threads:
    """Comment threads as one ragged batch: the comments of thread t are rows ``offsets[t]:offsets[t + 1]``.

    Parameters
    ----------
    thread_ids : array of shape (n_threads,)
    offsets : int array of shape (n_threads + 1,)
    comment_ids, texts : array of shape (n_comments,)
    questions, askers, categories : array of shape (n_threads,), optional
        The question's text, who asked it, and the part of the forum.
    authors, labels : array of shape (n_comments,), optional
        ``None`` stands for an unknown author or a missing label.

    Examples
    --------
    >>> from accord import Threads
    >>> threads = Threads.from_table(
    ...     {
    ...         "item_id": ["c1", "c2", "c3"],
    ...         "text": ["Ask at the desk.", "No idea.", "At noon."],
    ...         "group_id": ["t1", "t1", "t2"],
    ...         "label": ["Good", "Bad", None],
    ...     }
    ... )
    >>> threads.n_threads, threads.offsets.tolist(), threads.subset([1]).texts.tolist()
    (2, [0, 2, 3], ['At noon.'])
    """

    thread_ids: ObjectArray
    offsets: IntArray
    comment_ids: ObjectArray
    texts: ObjectArray
    questions: ObjectArray | None = None
    askers: ObjectArray | None = None
    categories: ObjectArray | None = None
    authors: ObjectArray | None = None
    labels: ObjectArray | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "thread_ids", unique_ids(self.thread_ids, what="thread"))
        put(self, "comment_ids", unique_ids(self.comment_ids, what="comment"))
        n_threads, n_comments = len(self.thread_ids), len(self.comment_ids)
        put(self, "texts", text_column(self.texts, n=n_comments, what="comment text"))
        offsets = np.asarray(self.offsets, dtype=np.int64)
        if (
            len(offsets) != n_threads + 1
            or offsets[0] != 0
            or offsets[-1] != n_comments
            or (np.diff(offsets) < 0).any()
        ):
            raise InputError(
                f"offsets must rise from 0 to the number of comments in n_threads + 1 = {n_threads + 1} steps; "
                f"they have {len(offsets)} entries for {n_comments} comments."
            )
        put(self, "offsets", frozen(offsets))
        for names, n, what in ((_PER_THREAD, n_threads, "thread"), (_PER_COMMENT, n_comments, "comment")):
            for name in names:
                values = getattr(self, name)
                if values is None:
                    continue
                column = np.asarray(values, dtype=object)
                if len(column) != n:
                    raise InputError(f"{name} must have one entry a {what}; there are {n} and {len(column)} entries.")
                put(self, name, frozen(column))

    @property
    def n_threads(self) -> int:
        """Number of threads."""
        return self.thread_ids.size

    @property
    def n_comments(self) -> int:
        """Number of comments in all threads."""
        return self.comment_ids.size

    @property
    def thread_of(self) -> IntArray:
        """The thread of each comment, as a position, shape (n_comments,)."""
        return np.repeat(np.arange(self.n_threads), np.diff(self.offsets))

    def subset(self, rows: AnyArray) -> "Threads":
        """Some of the threads (positions or a mask), in that order.

        Parameters
        ----------
        rows : int array of positions, or bool array of shape (n_threads,)
            Which threads to keep.
        """
        rows = np.arange(self.n_threads)[rows]
        starts, lengths = self.offsets[rows], np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        comments = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])

        def take(column: Any, places: IntArray) -> Any:
            return None if column is None else column[places]

        return Threads(
            self.thread_ids[rows],
            offsets,
            self.comment_ids[comments],
            self.texts[comments],
            *(take(getattr(self, name), rows) for name in _PER_THREAD),
            *(take(getattr(self, name), comments) for name in _PER_COMMENT),
        )

    @classmethod
    def from_table(cls, table: Any) -> "Threads":
        """Threads of a table with one row a comment.

        Columns: ``item_id``, ``text``, ``group_id`` (the thread) and optionally ``author_id``, ``label``,
        ``timestamp``, and, repeated on each of its comments, ``question``, ``asker_id``, ``category``. The comments
        of a thread are put in order of time where all of them have a ``timestamp`` (a date or a number); else they
        keep their order. Threads come in order of first appearance.

        Parameters
        ----------
        table : table of pandas, polars or Arrow
        """
        frame = as_frame(table)
        require_columns(frame, ["item_id", "text", "group_id"], what="comments")
        codes, names = codes_of(frame["group_id"])
        if (codes < 0).any():
            row = int(np.argmax(codes < 0))
            raise InputError(
                f"every comment needs a thread; row {row + 1} has no group_id. Fill it in or drop the row."
            )
        order = np.lexsort((_times(frame, codes, len(names)), codes))  # a stable sort: equal times keep their order
        offsets = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(names)))])
        firsts = order[offsets[:-1]]

        def column(name: str, rows: IntArray) -> ObjectArray | None:
            values = optional_column(frame, name)
            return None if values is None else values[rows]

        return cls(
            thread_ids=names,
            offsets=offsets,
            comment_ids=frame["item_id"].to_numpy(object)[order],
            texts=frame["text"].fillna("").to_numpy(object)[order],
            questions=column("question", firsts),
            askers=column("asker_id", firsts),
            categories=column("category", firsts),
            authors=column("author_id", order),
            labels=column("label", order),
        )

    def to_table(self) -> pd.DataFrame:
        """A table with the columns that :meth:`from_table` reads."""
        thread = self.thread_of
        columns: dict[str, Any] = {
            "item_id": self.comment_ids,
            "text": self.texts,
            "group_id": self.thread_ids[thread],
        }
        for name, values in (("question", self.questions), ("asker_id", self.askers), ("category", self.categories)):
            if values is not None:
                columns[name] = values[thread]
        for name, values in (("author_id", self.authors), ("label", self.labels)):
            if values is not None:
                columns[name] = values
        return pd.DataFrame(columns)


def _times(frame: pd.DataFrame, codes: IntArray, n_threads: int) -> AnyArray:
    """When each comment was written, as a number; 0 for all comments of a thread in which one has no time."""
    stamps = optional_column(frame, "timestamp")
    if stamps is None:
        return np.zeros(len(frame))
    column = pd.Series(stamps)
    numbers = pd.to_numeric(column, errors="coerce")
    dates = pd.to_datetime(column.where(numbers.isna()), errors="coerce", utc=True, format="mixed")
    # Numbers and dates cannot be compared: a thread has the one or the other.
    times = np.zeros(len(frame))
    for found, values in ((numbers, numbers), (dates, dates.astype("int64"))):
        missing = np.bincount(codes[found.isna().to_numpy()], minlength=n_threads) > 0
        times = np.where(missing[codes], times, values.to_numpy(float))
    return times
