"""Texts as people give them."""

from typing import Any

from accord.data.columns import unique_ids
from accord.data.tables import as_frame, as_list, is_table, require_columns
from accord.errors import InputError
from accord.typing import ObjectArray

__all__ = ["as_texts", "row_ids"]


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
