"""Edge features: what is known of each pair of comments in a thread."""

from dataclasses import dataclass

import numpy as np

from accord.data.columns import frozen, unique_ids
from accord.errors import InputError
from accord.typing import AnyArray, FloatArray, IntArray, ObjectArray

__all__ = ["ThreadEdges", "complete_pairs", "n_pairs"]


def n_pairs(offsets: IntArray) -> IntArray:
    """Number of pairs of each thread, n(n − 1)/2, shape (n_threads,)."""
    lengths = np.diff(offsets)
    return lengths * (lengths - 1) // 2


def complete_pairs(offsets: IntArray) -> tuple[IntArray, IntArray]:
    """All pairs left < right inside each thread, as rows: thread by thread, left by left.

    Returns
    -------
    left, right : int array of shape (n_pairs,)
    """
    rows = np.arange(offsets[-1])
    later = np.repeat(offsets[1:], np.diff(offsets)) - rows - 1  # how many comments follow in the same thread
    left = np.repeat(rows, later)
    first = np.cumsum(later) - later
    right = np.arange(len(left)) - np.repeat(first, later) + left + 1
    return left, right


@dataclass(frozen=True, eq=False)
class ThreadEdges:
    """Features of every pair of comments of each thread.

    Not array-like on purpose: scikit-learn hands it whole to every fold; :meth:`aligned` then picks the pairs of the
    rows that are present.

    Parameters
    ----------
    ids : array of shape (n_comments,)
        The comments, thread by thread.
    offsets : int array of shape (n_threads + 1,)
    values : array of shape (n_pairs, n_features)
        In the order of :func:`complete_pairs`.
    names : tuple of str
    """

    ids: ObjectArray
    offsets: IntArray
    values: FloatArray
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "ids", unique_ids(self.ids, what="comment"))
        put(self, "offsets", frozen(np.asarray(self.offsets, dtype=np.int64)))
        expected = (int(n_pairs(self.offsets).sum()), len(self.names))
        if self.values.shape != expected:
            raise InputError(
                f"edge features must have one row a pair of comments of a thread and one column a name, {expected}; "
                f"they have the shape {self.values.shape}."
            )

    def aligned(self, ids: AnyArray | None, offsets: IntArray, order: IntArray | None = None) -> FloatArray:
        """The features of the pairs of the given comments, in the order of :func:`complete_pairs`.

        Parameters
        ----------
        ids : array of shape (n_rows,) or None
            Which comments the rows are; ``None`` if the rows are exactly the comments of this record.
        offsets : int array of shape (n_groups + 1,)
            The threads of the rows; each must lie inside one thread of this record.
        order : int array of shape (n_rows,), optional
            Without ids: which comment of this record each row is, the record's order unless given.
        """
        if ids is None:
            rows = np.arange(offsets[-1]) if order is None else order
            if not np.array_equal(_sizes(offsets), _sizes(self.offsets)):
                raise InputError(
                    "without comment ids the rows must be exactly the comments of the edge record, in its order; "
                    "give X as a DataFrame whose index holds the comment ids."
                )
            if np.array_equal(rows, np.arange(len(rows))) and np.array_equal(offsets, self.offsets):
                return self.values
        else:
            rows = self._places(ids)
        thread = np.searchsorted(self.offsets, rows, side="right") - 1
        local, length = rows - self.offsets[thread], np.diff(self.offsets)[thread]
        left, right = complete_pairs(offsets)
        if (thread[left] != thread[right]).any():
            raise InputError("a group of rows must lie inside one thread of the edge record; one group spans two.")
        low, high = np.minimum(local[left], local[right]), np.maximum(local[left], local[right])
        n = length[left]
        first = np.concatenate([[0], np.cumsum(n_pairs(self.offsets))])[thread[left]]
        return self.values[first + low * n - low * (low + 1) // 2 + high - low - 1]

    def _places(self, ids: AnyArray) -> IntArray:
        place = {name: k for k, name in enumerate(self.ids)}
        try:
            return np.array([place[str(name)] for name in ids], dtype=np.int64)
        except KeyError as missing:
            raise InputError(
                f"every comment must be in the edge record; {missing} is not. Make the edges from the same threads."
            ) from None


def _sizes(offsets: IntArray) -> IntArray:
    """How many comments each thread has that has any, smallest first."""
    sizes = np.diff(offsets)
    return np.asarray(np.sort(sizes[sizes > 0]))
