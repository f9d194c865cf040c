"""Labels as codes: those to learn from, and those that are given at prediction."""

from typing import Any

import numpy as np
import pandas as pd

from accord.errors import InputError
from accord.typing import AnyArray, IntArray

__all__ = ["known_codes", "label_codes"]


def label_codes(y: Any, n_rows: int) -> tuple[AnyArray, IntArray]:
    """The labels that occur, sorted, and the place of each row's label among them; −1 where a row has none."""
    if y is None or np.shape(y) != (n_rows,):
        raise InputError(f"y must have one label a row, {n_rows} of them; it has shape {np.shape(y)}.")
    y = np.asarray(y)
    observed = ~pd.isna(y)
    if not observed.any():
        raise InputError("training needs labelled comments; no comment has a label.")
    try:
        classes = np.unique(y[observed])
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in y[observed]}))
        raise InputError(f"labels must be of one kind; they are of {kinds}. Write all of them as text.") from None
    if len(classes) < 2:
        raise InputError(f"training needs two labels or more; all comments are {str(classes[0])!r}.")
    codes = np.full(n_rows, -1, dtype=np.int64)
    codes[observed] = np.searchsorted(classes, y[observed])
    return classes, codes


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
            raise InputError(f"a known label must be one that was trained, {listed}; row {row} has {known[row]!r}.")
        codes[row] = place[known[row]]
    return codes
