"""Texts as people give them."""

from typing import Any

from accord.data.tables import as_list
from accord.errors import InputError

__all__ = ["as_texts"]


def as_texts(x: Any) -> list[str]:
    """Texts as a list of strings."""
    if isinstance(x, str):
        raise InputError(f"texts come as a list; this is one string, {x[:40]!r}. Put it in a list.")
    texts = as_list(x)
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(
                f"every text must be a string; row {row + 1} is {type(text).__name__}. Use '' for a missing text."
            )
    return texts
