"""Tables in: pandas, polars, Arrow or a plain dictionary of columns, all seen as one pandas frame."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from narwhals.dependencies import is_into_series

from accord.errors import InputError
from accord.typing import ObjectArray

__all__ = [
    "as_frame",
    "as_list",
    "column_names",
    "columns_in_order",
    "is_table",
    "optional_column",
    "plain",
    "require_columns",
    "row_names",
    "texts_as_table",
    "trained_places",
]


def as_frame(table: Any) -> pd.DataFrame:
    """A pandas frame of a pandas, polars or Arrow table, a dictionary of columns or a list of dictionaries.

    The frame given is never changed; a pandas frame is returned as it is.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_frame(pa.table({"item_id": ["a"], "text": ["Fine."]}))
      item_id   text
    0       a  Fine.
    """
    if isinstance(table, pd.DataFrame):
        return table
    if isinstance(table, Mapping) or (isinstance(table, Sequence) and table and isinstance(table[0], Mapping)):
        return pd.DataFrame(table)
    try:
        native = nw.from_native(table)
    except TypeError as error:
        raise InputError(
            "a table must be a pandas, polars or Arrow table or a dictionary of columns; "
            f"this is {type(table).__name__}."
        ) from error
    if isinstance(native, nw.LazyFrame):
        native = native.collect()
    if not isinstance(native, nw.DataFrame):
        raise InputError(f"a table with named columns is needed; this is {type(table).__name__}.")
    return native.to_pandas()


def is_table(value: Any) -> bool:
    """Whether a value has named columns: a pandas, polars or Arrow table."""
    return hasattr(value, "columns") or hasattr(value, "column_names")


def column_names(value: Any) -> list[str] | None:
    """What a table calls its columns; ``None`` where it is no table, or where not all of them have a name of their own.

    Examples
    --------
    >>> column_names(pd.DataFrame({"length": [1], "links": [0]}))
    ['length', 'links']
    >>> column_names(np.zeros((1, 2))) is None
    True
    """
    if not is_table(value):
        return None
    names = list(as_frame(value).columns)
    return names if all(isinstance(name, str) for name in names) and len(set(names)) == len(names) else None


def trained_places(names: Sequence[str], trained: Sequence[str]) -> list[int]:
    """Where each feature of training stands among the names of some columns; columns of another make are refused.

    Examples
    --------
    >>> trained_places(["links", "length"], ["length", "links"])
    [1, 0]
    """
    place = {name: k for k, name in enumerate(names)}
    known = set(trained)
    missing = [name for name in trained if name not in place]
    strange = [name for name in names if name not in known]
    if missing or strange:
        raise InputError(
            f"features must be those of training, by name; missing: {', '.join(missing) or 'none'}; "
            f"not of training: {', '.join(strange) or 'none'}. Rename, add or drop columns."
        )
    return [place[name] for name in trained]


def columns_in_order(value: Any, trained: Sequence[str] | None) -> Any:
    """The columns of a table of features in the order of training, by their names; whatever has no names as it is.

    Parameters
    ----------
    value : table, array or sparse matrix
    trained : sequence of str, optional
        What :func:`column_names` said in training.

    Examples
    --------
    >>> columns_in_order(pd.DataFrame({"links": [0], "length": [7]}), ["length", "links"])
       length  links
    0       7      0
    """
    names = None if trained is None else column_names(value)
    if names is None or trained is None:
        return value
    return as_frame(value).iloc[:, trained_places(names, trained)]


def row_names(value: Any) -> ObjectArray | None:
    """What a pandas table calls its rows in its index, shape (n,); ``None`` where they are only counted.

    Examples
    --------
    >>> row_names(pd.DataFrame({"length": [1, 2]}, index=["a", "b"])).tolist()
    ['a', 'b']
    >>> row_names(pd.DataFrame({"length": [1, 2]})) is None
    True
    """
    index = getattr(value, "index", None)
    if not isinstance(index, pd.Index) or isinstance(index, pd.RangeIndex):
        return None
    return index.to_numpy(dtype=object)


def texts_as_table(value: Any) -> Any:
    """A table with the column ``text`` of a list, array or column of strings; what holds no string stays as it is.

    A dictionary of columns becomes a table too.

    Examples
    --------
    >>> texts_as_table(["Fine.", "Good."])
        text
    0  Fine.
    1  Good.
    """
    if isinstance(value, Mapping):
        return as_frame(value)
    flat = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)
    column = is_into_series(value) or (hasattr(value, "to_pylist") and not is_table(value))
    if not flat and not column:
        return value
    texts = as_list(value)
    whole = [isinstance(text, str) for text in texts]
    if any(whole) and not all(whole):
        row = whole.index(False)
        raise InputError(
            f"every text must be a string; row {row + 1} is {type(texts[row]).__name__}. Use '' for a missing text."
        )
    return pd.DataFrame({"text": np.array(texts, dtype=object)}) if all(whole) else value


def as_list(values: Any) -> list[Any]:
    """The entries of a column as plain Python values, whatever library it is of."""
    if hasattr(values, "to_pylist"):
        return list(values.to_pylist())
    return [value.as_py() if hasattr(value, "as_py") else value for value in values]


def plain(value: Any) -> Any:
    """A value as JSON and databases take it: numbers, texts, lists and dictionaries; what is missing becomes ``None``.

    JSON has no NaN and no infinity, so these are missing too. What has no such form is given as its text.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays
        return plain(value.tolist())
    if isinstance(value, float):
        return value if isfinite(value) else None
    return None if value is pd.NaT or value is pd.NA else str(value)


def require_columns(frame: pd.DataFrame, names: Sequence[str], *, what: str) -> None:
    """Refuse a table that lacks a column, naming the columns it has."""
    missing = [name for name in names if name not in frame.columns]
    if missing:
        has = ", ".join(map(str, frame.columns)) or "none"
        are, them = ("is", "it") if len(missing) == 1 else ("are", "them")
        raise InputError(
            f"a table of {what} needs the columns {', '.join(names)}; {', '.join(missing)} {are} missing "
            f"(it has: {has}). Rename or add {them}."
        )


def optional_column(frame: pd.DataFrame, name: str) -> ObjectArray | None:
    """A column as objects with ``None`` where a value is missing, shape (n,); ``None`` if there is no such column."""
    if name not in frame:
        return None
    values = frame[name].to_numpy(dtype=object, copy=True)
    values[frame[name].isna().to_numpy()] = None
    return values
