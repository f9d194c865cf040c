"""All Our Ideas: the CSV files of votes, non-votes and ideas of a wiki survey."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from accord.data.formats.registry import Format, Glimpse
from accord.data.reading.rows import Buffer, Context, Rows
from accord.data.reading.sources import Source, open_source
from accord.errors import InputError

__all__ = ["FORMAT"]

_SOURCE = "all-our-ideas"
_MISSING = ("NA", "")
_VOTES = ("Winner ID", "Loser ID")
_NON_VOTES = ("Left Choice ID", "Right Choice ID", "Reason")
_IDEAS = ("Idea ID", "Idea Text")
_CODED = (
    "Winner ID", "Winner Text", "Loser ID", "Loser Text", "Left Choice ID", "Right Choice ID", "Left Choice Text",
    "Right Choice Text", "Session ID", "Valid", "Reason", "Record Type",
)  # fmt: skip
_ALSO = ("Vote ID", "Record ID", "Skip ID", "Created at", "Response Time (s)")


def _detect(seen: Glimpse) -> str | None:
    for names in (_VOTES, _NON_VOTES, _IDEAS):
        if seen.has(*names):
            return f"it has the columns {', '.join(names)}"
    return None


def _read(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    sources = [open_source(path) for path in paths]
    for source in sources:
        if _detect(Glimpse(source.path, source.columns)) is None:
            raise InputError(
                f"a file of All Our Ideas has votes (Winner ID, Loser ID), non-votes (Reason) or ideas (Idea Text); "
                f"{source.path} has {source.named}. Leave it out."
            )
    for source in sources:
        if set(_IDEAS) <= set(source.columns):
            yield from _ideas(source, context)
    for source in sources:
        if set(_IDEAS) <= set(source.columns):
            continue
        step = _votes if set(_VOTES) <= set(source.columns) else _non_votes
        row = 1
        columns = [name for name in (*_CODED, *_ALSO) if name in source.columns]
        for block in source.blocks(columns, coded=[name for name in _CODED if name in columns]):
            if block.num_rows:
                numbers = np.arange(row, row + block.num_rows)
                yield from step(source, block, numbers, context)
                row += block.num_rows
    context.assumed["a session is taken as a person"] += 1
    context.lost["prompt ids and the time of the last change are not kept"] += 1


def _ideas(source: Source, context: Context) -> Iterator[Rows]:
    buffer, row = Buffer(source.path, context, source=_SOURCE), 0
    for block in source.blocks(source.columns):
        for cells in block.to_pylist():
            row += 1
            meta = {"user_submitted": _given(cells.get("User Submitted")), "active": _given(cells.get("Active"))}
            buffer.item(
                row,
                cells["Idea ID"],
                cells["Idea Text"],
                timestamp=_given(cells.get("Created at")),
                author_id=_given(cells.get("Session ID")),
                meta={name: value for name, value in meta.items() if value is not None},
            )
        yield from buffer.rest()


def _given(cell: str | None) -> str | None:
    return None if cell in _MISSING else cell


def _votes(source: Source, block: pa.RecordBatch, numbers: Any, context: Context) -> Iterator[Rows]:
    for side in ("Winner", "Loser"):
        yield from _texts(source, block, numbers, f"{side} ID", f"{side} Text", context)
    winner, loser = _plain(block, "Winner ID"), _plain(block, "Loser ID")
    left, right = winner, loser
    if {"Left Choice ID", "Right Choice ID"} <= set(source.columns):
        left = pc.coalesce(_plain(block, "Left Choice ID"), winner)
        right = pc.coalesce(_plain(block, "Right Choice ID"), loser)
    won, lost = pc.fill_null(pc.equal(winner, left), False), pc.fill_null(pc.equal(winner, right), False)
    value = pc.if_else(won, "1", pc.if_else(lost, "0", pa.scalar(None, pa.string())))
    shown = pc.fill_null(pc.or_(pc.and_(won, pc.equal(loser, right)), pc.and_(lost, pc.equal(loser, left))), False)
    good = shown.to_numpy(zero_copy_only=False)
    for row in np.flatnonzero(~good).tolist():
        context.refuse(
            source.path,
            int(numbers[row]),
            "winner and loser must be the left and right choice",
            f"winner {winner[row].as_py()!r} and loser {loser[row].as_py()!r}, shown "
            f"{left[row].as_py()!r} and {right[row].as_py()!r}",
            "Correct the ids.",
        )
    columns = {
        "item_id": pc.dictionary_encode(left),
        "other_id": pc.dictionary_encode(right),
        "value": pc.dictionary_encode(value),
        "shown_left_id": pc.dictionary_encode(left),
        "judgement_id": _plain(block, "Vote ID"),
        **_shared(block),
    }
    yield _judgements(source, numbers, columns, good)


def _non_votes(source: Source, block: pa.RecordBatch, numbers: Any, context: Context) -> Iterator[Rows]:
    for side in ("Left", "Right"):
        yield from _texts(source, block, numbers, f"{side} Choice ID", f"{side} Choice Text", context)
    left, right, reason = (_plain(block, name) for name in _NON_VOTES)
    kind = pc.utf8_lower(_plain(block, "Record Type"))
    columns = {
        "item_id": pc.dictionary_encode(left),
        "other_id": pc.dictionary_encode(right),
        "shown_left_id": pc.dictionary_encode(left),
        "judgement_id": pc.coalesce(_plain(block, "Record ID"), _plain(block, "Skip ID")),
        **_shared(block),
        # A bounce is a pair that was shown and left without a word.
        "status": pc.dictionary_encode(pc.coalesce(_shared(block)["status"], pa.array(["skipped"] * len(left)))),
        "skip_reason": pc.dictionary_encode(pc.coalesce(reason, kind)),
    }
    yield _judgements(source, numbers, columns, np.ones(block.num_rows, dtype=bool))


def _judgements(source: Source, numbers: Any, columns: dict[str, Any], good: Any) -> Rows:
    n = len(numbers)
    fixed = {"kind": pa.array(["pair"]), "source": pa.array([_SOURCE])}
    zeros = pa.array(np.zeros(n, dtype=np.int32))
    coded = {name: pa.DictionaryArray.from_arrays(zeros, value) for name, value in fixed.items()}
    batch = pa.RecordBatch.from_pydict({**coded, **columns})
    if good.all():
        return Rows("judgements", source.path, numbers, batch)
    return Rows("judgements", source.path, numbers[good], batch.filter(pa.array(good)))


def _shared(block: pa.RecordBatch) -> dict[str, pa.Array]:
    valid = pc.utf8_lower(_plain(block, "Valid"))
    invalid = pc.fill_null(pc.is_in(valid, value_set=pa.array(["false", "f", "0"])), False)
    seconds = _numbers(_plain(block, "Response Time (s)"))
    return {
        "annotator_id": pc.dictionary_encode(_plain(block, "Session ID")),
        "created_at": _plain(block, "Created at"),
        "response_ms": pa.array(np.round(seconds * 1000.0), from_pandas=True),
        "status": pc.if_else(invalid, "invalid", pa.scalar(None, pa.string())),
    }


def _numbers(column: pa.Array) -> Any:
    """Seconds; NaN where there is none, or what stands there is no number."""
    try:
        return pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        coded = pc.dictionary_encode(column)
        known = [_float(cell) for cell in coded.dictionary.to_pylist()]
        return np.array([*known, np.nan])[pc.fill_null(coded.indices, len(known)).to_numpy(zero_copy_only=False)]


def _float(cell: str | None) -> float:
    try:
        return float(cell or "nan")
    except ValueError:
        return float("nan")


def _plain(block: pa.RecordBatch, name: str) -> pa.Array:
    """A column as text, missing where it says so; missing throughout if the file has none."""
    if name not in block.schema.names:
        return pa.nulls(block.num_rows, pa.string())
    column = block.column(name)
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, pa.string())
    return pc.if_else(pc.equal(column, "NA"), pa.scalar(None, pa.string()), column)


def _texts(
    source: Source, block: pa.RecordBatch, numbers: Any, id_name: str, text_name: str, context: Context
) -> Iterator[Rows]:
    """The ideas that a block names, each id with each of its texts once."""
    if text_name not in block.schema.names:
        return
    ids, texts = block.column(id_name), block.column(text_name)
    id_codes = pc.fill_null(ids.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    text_codes = pc.fill_null(texts.indices, -1).to_numpy(zero_copy_only=False)
    _, first = np.unique(id_codes * (len(texts.dictionary) + 1) + text_codes, return_index=True)
    names, words = ids.dictionary.to_pylist(), texts.dictionary.to_pylist()
    buffer = Buffer(source.path, context, source=_SOURCE)
    for row in first.tolist():
        if id_codes[row] >= 0:
            text = words[text_codes[row]] if text_codes[row] >= 0 else None
            buffer.item(int(numbers[row]), names[id_codes[row]], text)
    yield from buffer.rest()


FORMAT = Format(_SOURCE, "an All Our Ideas file", _detect, _read)
