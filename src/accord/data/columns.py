"""Columns of records: checked once, then read-only."""

from typing import Any

import numpy as np

from accord.errors import InputError
from accord.typing import AnyArray, FloatArray, IntArray, ObjectArray

__all__ = [
    "annotator_columns",
    "annotator_ids",
    "codes_of",
    "float_column",
    "frozen",
    "id_column",
    "index_column",
    "text_column",
    "unique_ids",
]


def frozen(array: AnyArray) -> AnyArray:
    """A read-only view, so that no record is changed behind its owner's back."""
    view = array.view()
    view.flags.writeable = False
    return view


def _object_array(values: Any) -> ObjectArray:
    if isinstance(values, np.ndarray) and values.dtype == object and values.ndim == 1:
        return values
    column = np.empty(len(values), dtype=object)
    column[:] = list(values)
    return column


def id_column(values: Any, *, what: str) -> ObjectArray:
    """Ids as strings, shape (n,). Numbers are written out; missing or empty ids are refused."""
    column = _object_array(values)
    for row, value in enumerate(column):
        if value is None or value == "" or (isinstance(value, float) and np.isnan(value)):
            raise InputError(f"every {what} needs an id; row {row + 1} has none. Fill it in or drop the row.")
    if not all(type(value) is str for value in column):
        column = _object_array([value if isinstance(value, str) else str(value) for value in column])
    return frozen(column)


def unique_ids(values: Any, *, what: str) -> ObjectArray:
    """Ids as strings, each occurring once, shape (n,)."""
    column = id_column(values, what=what)
    seen: dict[str, int] = {}
    for row, value in enumerate(column):
        first = seen.setdefault(value, row)
        if first != row:
            raise InputError(
                f"{what} ids must be unique; {value!r} stands in rows {first + 1} and {row + 1}. "
                "Rename one of them or drop it."
            )
    return column


def text_column(values: Any, *, n: int, what: str) -> ObjectArray:
    """Texts as strings, shape (n,)."""
    column = _object_array(values)
    _check_length(len(column), n, what)
    for row, value in enumerate(column):
        if not isinstance(value, str):
            raise InputError(
                f"every {what} must be a string; row {row + 1} is {type(value).__name__} {value!r}. "
                "Use an empty string for a missing text."
            )
    return frozen(column)


def float_column(values: Any, *, n: int, what: str, low: float = -np.inf, high: float = np.inf) -> FloatArray:
    """Finite numbers within [low, high], shape (n,)."""
    column = np.asarray(values, dtype=np.float64)
    _check_length(len(column), n, what)
    bad = ~np.isfinite(column) | (column < low) | (column > high)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"every {what} must be a number in [{low:g}, {high:g}]; row {row + 1} is {column[row]}. Correct or drop it."
        )
    return frozen(column)


def index_column(values: Any, *, n: int | None, size: int, what: str) -> IntArray:
    """Positions into something of length ``size``, shape (n,), stored as int32."""
    column = np.asarray(values)
    if n is not None:
        _check_length(len(column), n, what)
    if column.size and not np.issubdtype(column.dtype, np.integer):
        raise InputError(f"{what} positions must be integers; they are {column.dtype}. Use ids with `from_table`.")
    if column.size and (column.min() < 0 or column.max() >= size):
        row = int(np.argmax((column < 0) | (column >= size)))
        raise InputError(f"{what} positions must lie in 0..{size - 1}; row {row + 1} is {column[row]}.")
    return frozen(column.astype(np.int32, copy=False))


def codes_of(values: Any) -> tuple[IntArray, ObjectArray]:
    """Integer codes (n,) and the names they stand for, in order of first appearance; missing values become −1."""
    import pandas as pd

    codes, names = pd.factorize(np.asarray(values, dtype=object))
    return codes.astype(np.int32), _object_array([str(name) for name in names])


def _check_length(got: int, expected: int, what: str) -> None:
    if got != expected:
        raise InputError(f"{what} must have one entry a row; there are {expected} rows and {got} entries.")


def positions(ids: Any, known: dict[str, int], *, what: str, where: str) -> IntArray:
    """Positions of ids in a known list; an unknown id is refused with its row."""
    wanted: Any = ids if isinstance(ids, list | np.ndarray) else list(ids)
    out = np.empty(len(wanted), dtype=np.int32)
    for row, value in enumerate(wanted):
        place = known.get(value if isinstance(value, str) else str(value))
        if place is None:
            raise InputError(
                f"every {what} must be a known id; row {row + 1} names {value!r}, which is not among the {where}. "
                "Add it there or drop the row."
            )
        out[row] = place
    return out


def annotator_columns(annotator: Any, annotators: Any, *, n: int) -> tuple[IntArray | None, ObjectArray | None]:
    """Checked annotator positions (−1 where not known) and ids; both or neither are given."""
    if annotator is None and annotators is None:
        return None, None
    if annotator is None or annotators is None:
        raise InputError("annotator positions and annotator ids belong together; one of them is missing. Give both.")
    shifted = index_column(np.asarray(annotator) + 1, n=n, size=len(annotators) + 1, what="annotator")
    return frozen(shifted - 1), frozen(np.asarray(annotators, dtype=object))


def annotator_ids(annotator: IntArray, annotators: ObjectArray) -> ObjectArray:
    """The annotator's id of each row, ``None`` where not known."""
    names = np.empty(len(annotators) + 1, dtype=object)
    names[:-1] = annotators  # position −1 reads the last entry, which stays None
    return names[annotator]
