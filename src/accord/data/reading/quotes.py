"""Where the words that somebody quotes stand in their text."""

import ast
import re

__all__ = ["find_quotes", "places_of"]

_BETWEEN = re.compile(r"[;|\n]|\.{3}|…")  # between several quotes in one cell
_LONGEST_LIST = 100_000  # characters of a cell that holds a list


def places_of(text: str, quote: str) -> list[tuple[int, int]]:
    """Every place of a quote in a text: as it is written, else with other white space, capitals or quotation marks.

    Examples
    --------
    >>> places_of("Cold soup. Cold\\nbread.", "cold bread")
    [(11, 21)]
    """
    if not quote:
        return []
    exact = [(found.start(), found.end()) for found in re.finditer(re.escape(quote), text)]
    if exact:
        return exact
    words = [re.sub(r"(?:\\?['’‘])", "['’‘]", re.escape(word)) for word in quote.strip("\"'“”„«» ").split()]
    if not words:
        return []
    pattern = re.compile(r"\s+".join(words), re.IGNORECASE)
    return [(found.start(), found.end()) for found in pattern.finditer(text)]


def find_quotes(text: str, cell: str) -> list[tuple[int, int]] | str:
    """The spans of the quotes in a cell, or why they cannot be found.

    A cell holds one quote, or several: a list as JSON and Python write it, or with semicolons, vertical bars or line
    ends between them.

    Examples
    --------
    >>> find_quotes("Cold soup and rude waiters.", "cold soup; rude waiters")
    [(0, 9), (14, 26)]
    >>> find_quotes("Cold soup and rude waiters.", '["Cold soup", "rude waiters"]')
    [(0, 9), (14, 26)]
    >>> find_quotes("A cold soup, cold bread.", "cold")
    "'cold' stands in it 2 times (at 2, 13)"
    """
    whole = places_of(text, cell)
    if len(whole) == 1:
        return whole
    listed = _listed(cell) if not whole else None
    if listed is not None:
        parts = listed
    else:
        parts = [part.strip() for part in _BETWEEN.split(cell) if part.strip()] if not whole else [cell]
    spans = []
    for part in parts:
        places = places_of(text, part)
        if len(places) != 1:
            at = ", ".join(str(start) for start, _ in places[:5])
            return (
                f"{part[:40]!r} stands in it {len(places)} times (at {at})" if places else f"{part[:40]!r} is not in it"
            )
        spans += places
    return spans


def _listed(cell: str) -> list[str] | None:
    """The quotes in a cell that is a list of texts, or of records with a text each; ``None`` if it is none."""
    cell = cell.strip()
    if not (cell.startswith("[") and cell.endswith("]")) or len(cell) > _LONGEST_LIST:
        return None
    try:
        entries = ast.literal_eval(cell)  # lists of texts are the same in JSON and in Python
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    texts = [_text_of(entry) for entry in entries]
    return [text.strip() for text in texts if text is not None] if None not in texts else None


def _text_of(entry: object) -> str | None:
    """The words of an entry of a list: a text, or a record that has one."""
    if isinstance(entry, dict):
        entry = entry.get("text", entry.get("quote"))
    return entry if isinstance(entry, str) else None
