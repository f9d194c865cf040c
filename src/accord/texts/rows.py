"""Texts as people give them."""

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from accord.data.columns import unique_ids
from accord.data.tables import as_frame, as_list, is_table, require_columns
from accord.errors import InputError
from accord.typing import IntArray, ObjectArray

__all__ = ["as_texts", "row_ids", "text_keys"]


def as_texts(x: Any) -> list[str]:
    """Texts as a list of strings: of a list, an array, a column, or a table with a column ``text``.

    Examples
    --------
    >>> as_texts({"item_id": ["a", "b"], "text": ["Good.", "Bad."]})
    ['Good.', 'Bad.']
    """
    if isinstance(x, str):
        raise InputError(f"texts come as a list; this is one string, {x[:40]!r}. Put it in a list.")
    if isinstance(x, dict) or is_table(x):
        x = as_frame(x)
        require_columns(x, ["text"], what="texts")
        x = x["text"]
    texts = as_list(x)
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(
                f"every text must be a string; row {row + 1} is {type(text).__name__}. Use '' for a missing text."
            )
    return texts


def row_ids(x: Any) -> ObjectArray | None:
    """The ids of the rows, shape (n_rows,), of a table with a column ``item_id``; ``None`` where there is none.

    Examples
    --------
    >>> row_ids({"item_id": ["a", "b"], "text": ["Good.", "Bad."]}).tolist()
    ['a', 'b']
    >>> row_ids(["Good.", "Bad."]) is None
    True
    """
    if not isinstance(x, dict) and not is_table(x):
        return None
    frame = as_frame(x)
    return unique_ids(frame["item_id"], what="row") if "item_id" in frame else None


def text_keys(texts: Iterable[Any]) -> IntArray:
    """A hash of each text, shape (n_texts,), the same on every machine; what is missing counts as an empty text.

    Examples
    --------
    >>> keys = text_keys(["Good.", "Bad.", "Good."])
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    told = (text.encode("utf-8", "surrogatepass") if isinstance(text, str) else b"" for text in texts)
    return np.array([int.from_bytes(hashlib.blake2b(each, digest_size=8).digest()) for each in told], dtype=np.uint64)
