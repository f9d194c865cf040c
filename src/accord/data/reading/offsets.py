"""Offsets into texts: code points as Python counts them, UTF-16 code units as browsers count them."""

__all__ = ["from_utf16", "place_span"]


def from_utf16(text: str, offset: int) -> int | None:
    """The code point at an offset in UTF-16 code units; ``None`` outside the text or inside a surrogate pair.

    Examples
    --------
    >>> from_utf16("🙂 yes", 3), from_utf16("🙂 yes", 1)
    (2, None)
    """
    if offset < 0:
        return None
    units = text.encode("utf-16-le", "surrogatepass")
    if 2 * offset > len(units):
        return None
    try:
        return len(units[: 2 * offset].decode("utf-16-le"))
    except UnicodeDecodeError:
        return None


def place_span(text: str, start: int, end: int, quote: str | None, *, utf16: bool) -> tuple[int, int]:
    """A span in code points.

    Where the tool gives the words, they decide which unit its offsets have; otherwise ``utf16`` says it. A span that
    fits neither way comes back as it is, to be refused with its row.

    Examples
    --------
    >>> place_span("🙂 yes", 3, 6, "yes", utf16=False)
    (2, 5)
    """
    there = (from_utf16(text, start), from_utf16(text, end))
    if quote is not None:
        if text[max(start, 0) : max(end, 0)] == quote:
            return start, end
        if there[0] is not None and there[1] is not None and text[there[0] : there[1]] == quote:
            return there[0], there[1]
        return start, end
    if utf16 and there[0] is not None and there[1] is not None:
        return there[0], there[1]
    return start, end
