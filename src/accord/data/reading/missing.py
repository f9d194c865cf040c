"""Cells that say in words that nothing is there, as statistics programs and spreadsheets write them."""

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc

from accord.data.reading.profiles import NO_SCORE_WORDS, NOTHING_WORDS
from accord.data.reading.roles import JUDGED
from accord.data.reading.schemas import Matched

__all__ = ["without_missing"]

# What is judged, by whom and where it belongs; a text may say "NA", and so may the name of a thing that is compared.
_NUMBERS = ("start", "end", "weight", "response_ms", "propensity")
_COLUMNS = (
    *("value", "label", "tie", "annotator_id", "author_id", "group_id", "reply_to", "timestamp", "created_at"),
    *_NUMBERS,
)
_NOTHING, _NO_SCORE = pa.array(sorted(NOTHING_WORDS)), pa.array(sorted(NOTHING_WORDS | NO_SCORE_WORDS))


def without_missing(matched: Matched, block: pa.RecordBatch, said: Counter[str]) -> pa.RecordBatch:
    """The rows with such cells empty; ``said`` counts them by column. Accord's own tables stay as they are."""
    if matched.role is JUDGED:
        return block
    of_scores = {*matched.scores, *(name for name in matched.grid if matched.profiles[name].scores)}
    if matched.role.name in ("scores", "marks"):
        of_scores.add(matched.columns["value"])
    others = {matched.columns[name] for name in _COLUMNS if name in matched.columns} | set(matched.grid)
    for place, name in enumerate(block.schema.names):
        if name not in of_scores and name not in others:
            continue
        column, words = block.column(place), _NO_SCORE if name in of_scores else _NOTHING
        coded = pa.types.is_dictionary(column.type)
        if coded and not _any(_says(column.dictionary, words)):  # each different cell is looked at once
            continue
        cells = pc.cast(column, pa.string()) if coded else column
        missing = _says(cells, words)
        if _any(missing):
            n, found = pc.sum(missing).as_py(), ", ".join(sorted(pc.unique(cells.filter(missing)).to_pylist()))
            said[f"cells of {name!r} that say {found} are read as missing"] += n
            empty = pc.if_else(missing, pa.scalar(None, pa.string()), cells)
            new = pc.dictionary_encode(empty) if coded else empty
            block = block.set_column(place, pa.field(name, new.type), new)
    return block


def _says(cells: pa.Array, words: pa.Array) -> pa.Array:
    return pc.is_in(pc.utf8_trim_whitespace(cells), value_set=words)


def _any(mask: pa.Array) -> bool:
    return bool(pc.any(mask).as_py())
