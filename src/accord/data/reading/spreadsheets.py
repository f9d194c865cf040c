"""Cells that a spreadsheet would run as a formula: disarmed where they are written, and read back as they were.

A cell is armed if it begins, after apostrophes and blanks, with a sign that begins a formula, and is no number. One
more apostrophe is put before it; reading takes one away from a cell that begins with an apostrophe and then so. Writing
a cell and reading it again changes nothing.
"""

import re

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["disarmed", "read_back"]

_BLANKS = "\\t\\n\\v\\f\\r \u00a0\u200b\u3000\ufeff"
_BEGINS = f"'*[{_BLANKS}]*[=+@\uff1d\uff0b\uff0d\uff20-]"  # the full-width signs too
_ARMED = re.compile(rf"\A{_BEGINS}")
_DISARMED = f"^'({_BEGINS})"


def disarmed(cell: str) -> str:
    """A cell that no spreadsheet runs.

    Examples
    --------
    >>> disarmed("=1+1"), disarmed("-5"), disarmed("yes")
    ("'=1+1", '-5', 'yes')
    """
    if not _ARMED.match(cell):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def read_back(block: pa.RecordBatch) -> pa.RecordBatch:
    """The cells of text columns as they were before they were disarmed."""
    for place, name in enumerate(block.schema.names):
        column = block.column(place)
        coded = pa.types.is_dictionary(column.type)
        texts = column.dictionary if coded else column
        if pc.any(pc.match_substring_regex(texts, _DISARMED)).as_py():
            plain = pc.replace_substring_regex(column.cast(pa.string()), _DISARMED, r"\1")
            block = block.set_column(place, name, plain.dictionary_encode().cast(column.type) if coded else plain)
    return block
