"""Ranks as people give them: named aspects, holes, and what must be refused."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from accord.data.aspects import whole_ranks
from accord.errors import InputError
from accord.typing import IntArray

__all__ = ["aspect_names", "check_enough", "given_ranks"]


def aspect_names(y: Any, names: Sequence[str] | None) -> list[str]:
    """Names of the aspects: those given, or the columns of a table, or numbers."""
    m = 1 if np.ndim(y) == 1 else np.shape(y)[1]
    own = getattr(y, "columns", None)
    found = [str(name) for name in (names if names is not None else own if own is not None else range(m))]
    if len(found) != m:
        raise InputError(f"there must be one name an aspect; y has {m} columns and there are {len(found)} names.")
    return found


def given_ranks(y: Any, aspects: list[str], n_ranks: int) -> IntArray:
    """Ranks as integers, 0 where missing, shape (n_texts, n_aspects)."""
    try:
        values = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"ranks must be numbers in 1..{n_ranks}, 0 or nan where missing.") from None
    if not len(values):
        raise InputError("there must be ranks; there are none.")
    values = values.reshape(len(values), -1)
    if values.shape[1] != len(aspects):
        raise InputError(f"ranks must have {len(aspects)} columns, one an aspect; they have {values.shape[1]}.")
    return whole_ranks(np.nan_to_num(values, nan=0.0), aspects, n_ranks)


def check_enough(ranks: IntArray, aspects: list[str]) -> None:
    """Refuse ranks that nothing can be learnt from."""
    empty = np.flatnonzero((ranks == 0).all(axis=0))
    if len(empty) == ranks.shape[1]:
        raise InputError("training needs scores; all of them are missing.")
    if len(empty):
        raise InputError(f"every aspect needs a score; {aspects[empty[0]]!r} has none. Drop that aspect.")
    if int((ranks > 0).any(axis=1).sum()) < 2:
        raise InputError("training needs at least 2 texts with scores; there is one.")
