"""How the cells of a text file are written: its encoding, the sign between cells, and lines that are not rows."""

import codecs
import csv
import re
from dataclasses import dataclass
from pathlib import Path

from accord.errors import InputError

__all__ = ["SEPARATORS", "Dialect", "cells_of", "dialect_of", "encoding_of"]

_LOOKED_AT = 1 << 20  # bytes
_ROWS = 60
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_FOREIGN = re.compile(rb"[\xc0-\xff]{3}")  # words of another alphabet; accents do not stand three in a row
_UNDEFINED = bytes((0x81, 0x8D, 0x8F, 0x90, 0x9D))  # what Windows-1252 does not have


@dataclass(frozen=True)
class Dialect:
    """The sign between cells, and the sign before a quotation mark that does not end its cell (often none)."""

    separator: str = ","
    escape: str | None = None

    @property
    def named(self) -> str:
        """The separators in words."""
        return SEPARATORS[self.separator]


def encoding_of(path: Path) -> str:
    """The encoding of a file: by its byte order mark, UTF-8 where that fits, else Windows-1252.

    A file of another alphabet in an encoding of one byte a letter is refused: which one it is cannot be seen.
    """
    with path.open("rb") as file:
        start = file.read(_LOOKED_AT)
        rest = file.read() if len(start) == _LOOKED_AT and path.stat().st_size < 64 << 20 else b""
    for mark, name in _MARKS.items():
        if start.startswith(mark):
            return name
    if start[1::2].count(0) > 0.3 * len(start[1::2]) or start[::2].count(0) > 0.3 * len(start[::2]):
        return "utf-16-le" if start[1::2].count(0) >= start[::2].count(0) else "utf-16-be"
    if _is_utf8(start, cut=len(start) == _LOOKED_AT) and (not rest or _is_utf8(rest, cut=False, inside=True)):
        return "utf-8"
    if set(start + rest) & set(_UNDEFINED) or _FOREIGN.search(start + rest):
        raise InputError(
            f"a table must be UTF-8, UTF-16 or Windows-1252; {path} is none of them. Save it as UTF-8, or name its "
            "encoding with --encoding, such as --encoding cp1251."
        )
    return "cp1252"


def _is_utf8(content: bytes, *, cut: bool, inside: bool = False) -> bool:
    if inside:  # the first letter may have begun before
        content = content.lstrip(bytes(range(0x80, 0xC0)))
    try:
        codecs.getincrementaldecoder("utf-8")().decode(content, final=not cut)
    except UnicodeDecodeError:
        return False
    return True


def dialect_of(path: Path, usual: str = ",") -> Dialect:
    """How the cells of a UTF-8 file are separated; the usual way where nothing speaks against it."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        text = file.read(_LOOKED_AT)
    if len(text) == _LOOKED_AT:
        text = text[: text.rfind("\n") + 1] or text
    found = {separator: Dialect(separator, _escape_of(text, separator)) for separator in (usual, *SEPARATORS)}
    best, most = found[usual], (0.0, 0)
    for separator, dialect in found.items():
        rows = cells_of(text, dialect, _ROWS)
        width = len(rows[0]) if rows else 0
        if width < 2:
            continue
        whole = sum(len(row) == width for row in rows) / len(rows)
        if (whole, width) > most and whole >= 0.5 and (separator == usual or whole > max(most[0], 0.9)):
            best, most = dialect, (whole, width if separator == usual else 0)
    return best


def _escape_of(text: str, separator: str) -> str | None:
    """A backslash where quotation marks inside cells can only be read with it: a cell may also end in one."""
    if '\\"' not in text or _is_closed(text, Dialect(separator)):
        return None
    return "\\" if _is_closed(text, Dialect(separator, "\\")) else None


def _is_closed(text: str, dialect: Dialect) -> bool:
    """Whether every quotation mark that ends a cell stands before a separator or the end of its row."""
    lines = text.splitlines(keepends=True)
    try:
        for _ in csv.reader(lines, delimiter=dialect.separator, escapechar=dialect.escape, strict=True):
            pass
    except csv.Error as error:
        return "expected after" not in str(error)  # a text that was cut may end inside a cell
    return True


def cells_of(text: str, dialect: Dialect, most: int | None = None) -> list[list[str]]:
    """The first rows of a text, empty lines left out.

    Examples
    --------
    >>> cells_of('a;b\\n1;"2;3"\\n', Dialect(";"))
    [['a', 'b'], ['1', '2;3']]
    """
    rows: list[list[str]] = []
    options = {"delimiter": dialect.separator, "escapechar": dialect.escape}
    try:
        for row in csv.reader(text.splitlines(keepends=True), **options):  # type: ignore[arg-type]
            if any(row):
                rows.append(row)
            if most is not None and len(rows) > most:
                return rows[:most]
    except csv.Error:  # a cell longer than the module takes: the streaming reader says which
        return rows
    return rows
