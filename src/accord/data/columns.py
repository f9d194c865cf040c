"""Columns of records: checked once, then read-only."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import scipy.sparse as sp

from accord.errors import InputError
from accord.typing import AnyArray, FloatArray, IntArray, ObjectArray

__all__ = [
    "annotator_columns",
    "annotator_ids",
    "as_column",
    "check_finite",
    "codes_of",
    "derived",
    "exact_ids",
    "float_column",
    "frozen",
    "id_column",
    "index_column",
    "look_up",
    "numbers",
    "positions",
    "read_only",
    "text_column",
    "unique_ids",
    "whole_numbers",
]


_EXACT = 2.0**53  # from here on a decimal number stands for several whole ones
Record = TypeVar("Record")


def derived(record: Record, **changes: Any) -> Record:
    """A record with some of its columns replaced by parts of them: what was checked once is not checked again."""
    new = object.__new__(type(record))
    columns = {entry.name: getattr(record, entry.name) for entry in fields(record)}  # type: ignore[arg-type]
    for name, column in {**columns, **changes}.items():
        object.__setattr__(new, name, read_only(column) if isinstance(column, np.ndarray) else column)
    return new


def frozen(array: AnyArray) -> AnyArray:
    """A read-only array that nobody can change: a copy, unless it and what it is a view of are read-only already."""
    if not _is_fixed(array):
        array = array.copy()
    return read_only(array)


def read_only(array: AnyArray) -> AnyArray:
    """A read-only view, for what is too large to copy; its owner can still change it."""
    view = array.view()
    view.flags.writeable = False
    return view


def check_finite(features: Any, *, ids: Any = None, names: Any = None, what: str = "features") -> None:
    """Refuse a matrix with an entry that is no finite number, and name its row and its column.

    Parameters
    ----------
    features : array or sparse matrix of shape (n_rows, n_features)
    ids : sequence of shape (n_rows,), optional
        What the rows are called; without it they are counted from 1, and so are columns without ``names``.
    names : sequence of shape (n_features,), optional
    what : str
        What the error calls the matrix.
    """
    if np.isfinite(features.data if sp.issparse(features) else features).all():
        return
    held = sp.coo_array(features)
    entry = int(np.argmax(~np.isfinite(held.data)))
    row, column = int(held.coords[0][entry]), int(held.coords[1][entry])
    called = [] if ids is None else list(ids)
    whose = repr(str(called[row])) if len(called) == features.shape[0] else f"row {row + 1}"
    where = f"column {column + 1}" if names is None else repr(str(names[column]))
    raise InputError(f"{what} must be finite; {whose} has {held.data[entry]} in {where}. Fill it in or drop the row.")


def _is_fixed(array: Any) -> bool:
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    return True


def as_column(values: Any) -> AnyArray:
    """Values as an array; a list of texts among which something else stands holds objects.

    NumPy alone would write what is missing (NaN) as the text "nan", which is then a label or a person like any other.

    Examples
    --------
    >>> as_column(["good", float("nan")]).tolist()
    ['good', nan]
    >>> as_column([1, 0, 1]).tolist()
    [1, 0, 1]
    """
    column = np.asarray(values)
    if column.dtype.kind == "U" and isinstance(values, Sequence) and not all(isinstance(one, str) for one in values):
        return np.asarray(values, dtype=object)
    return column


def _object_array(values: Any) -> ObjectArray:
    if isinstance(values, np.ndarray) and values.dtype == object and values.ndim == 1:
        return values
    column = np.empty(len(values), dtype=object)
    column[:] = list(values)
    return column


def id_column(values: Any, *, what: str) -> ObjectArray:
    """Ids as strings, shape (n,). Numbers are written out; missing or empty ids are refused."""
    column = _object_array(values)
    absent = np.asarray(pd.isna(column))
    if not absent.any():
        if not all(type(value) is str for value in column):
            exact_ids(column, what=what)
            column = _object_array([str(value) for value in column])
        absent = column == ""
    if absent.any():
        row = int(np.argmax(absent))
        raise InputError(f"every {what} needs an id; row {row + 1} has none. Fill it in or drop the row.")
    return frozen(column)


def exact_ids(values: Any, *, what: str) -> None:
    """Refuse numbers that may have lost their last digits: pandas makes decimals of long ids beside a missing one.

    Examples
    --------
    >>> exact_ids([1780000000000000129, 2.0, None], what="text")
    """
    for row, value in enumerate(values):
        if isinstance(value, float) and abs(value) >= _EXACT and np.isfinite(value):
            raise InputError(
                f"the id of a {what} has to be exact; row {row + 1} has {value!r}, a decimal number of 15 digits. "
                "Read the column as text, such as with dtype=str, or as whole numbers with dtype='Int64'."
            )


def unique_ids(values: Any, *, what: str) -> ObjectArray:
    """Ids as strings, each occurring once, shape (n,).

    Examples
    --------
    >>> unique_ids([1, "b"], what="item").tolist()
    ['1', 'b']
    """
    column = id_column(values, what=what)
    codes, names = pd.factorize(column)
    if len(names) < len(column):
        row = int(np.argmax(np.r_[False, codes[1:] <= np.maximum.accumulate(codes)[:-1]]))
        first = int(np.argmax(codes == codes[row]))
        raise InputError(
            f"{what} ids must be unique; {column[row]!r} stands in rows {first + 1} and {row + 1}. "
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
    column = numbers(values, what=what)
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


def numbers(values: Any, *, what: str) -> FloatArray:
    """Numbers as float64; what cannot be read as a number is refused with its row, what is missing becomes NaN."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        column = _object_array(values)
        numbers = pd.to_numeric(pd.Series(column), errors="coerce").to_numpy(np.float64)
        bad = np.isnan(numbers) & ~np.asarray(pd.isna(column))
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(
                f"every {what} must be a number; row {row + 1} is {column[row]!r}. Correct or drop it."
            ) from None
        return numbers


def whole_numbers(values: Any, *, what: str) -> IntArray:
    """Whole numbers as int64; a missing or broken one is refused with its row."""
    column = np.asarray(values)
    if np.issubdtype(column.dtype, np.integer):
        return column.astype(np.int64, copy=False)
    read = numbers(column, what=what)
    bad = ~np.isfinite(read) | (read != np.floor(read))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"every {what} must be a whole number; row {row + 1} is {column[row]}. Correct or drop it.")
    return read.astype(np.int64)


def codes_of(values: Any) -> tuple[IntArray, ObjectArray]:
    """Integer codes (n,) and the names they stand for, in order of first appearance; missing values become −1.

    Examples
    --------
    >>> codes, names = codes_of(["ann", None, "bob", "ann"])
    >>> codes.tolist(), names.tolist()
    ([0, -1, 1, 0], ['ann', 'bob'])
    """
    codes, names = _factorised(values)
    # Ids are strings: the number 1 and the text "1" are one name.
    same, written = pd.factorize(_object_array([str(name) for name in names]))
    codes = np.where(codes < 0, -1, np.append(same, -1)[codes])
    return codes.astype(np.int32), _object_array(written)


def _factorised(values: Any) -> tuple[IntArray, Any]:
    """Codes and unique values; a column of a frame keeps its own, compact type."""
    return pd.factorize(values if isinstance(values, pd.Series) else _object_array(values))


def _check_length(got: int, expected: int, what: str) -> None:
    if got != expected:
        raise InputError(f"{what} must have one entry a row; there are {expected} rows and {got} entries.")


def look_up(ids: Any, known: Mapping[str, int]) -> IntArray:
    """Positions of ids in a known list, shape (n,), −1 where an id is not known.

    Each different id is looked up once, so that ten million votes between a thousand items are fast.

    Examples
    --------
    >>> look_up(["b", "z"], {"a": 0, "b": 1}).tolist()
    [1, -1]
    """
    codes, names = _factorised(ids)
    places = np.fromiter((known.get(str(name), -1) for name in names), np.int32, len(names))
    return np.append(places, np.int32(-1))[codes]  # a missing id has code −1 and reads the last entry


def positions(ids: Any, known: Mapping[str, int], *, what: str, where: str) -> IntArray:
    """Positions of ids in a known list; an unknown id is refused with its row."""
    out = look_up(ids, known)
    if (out < 0).any():
        row = int(np.argmax(out < 0))
        value = ids.iloc[row] if isinstance(ids, pd.Series) else _object_array(ids)[row]
        raise InputError(
            f"every {what} must be a known id; row {row + 1} names {value!r}, which is not among the {where}. "
            "Add it there or drop the row."
        )
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
