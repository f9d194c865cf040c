"""Polis: the CSV files of comments and votes of a conversation."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from accord.data.formats.registry import Format, Glimpse
from accord.data.reading.rows import Buffer, Context, Rows
from accord.data.reading.sources import Source, open_source
from accord.errors import InputError

__all__ = ["FORMAT"]

_SOURCE = "polis"
_VOTES = ("comment-id", "voter-id", "vote")
_COMMENTS = ("comment-id", "comment-body")


def _detect(seen: Glimpse) -> str | None:
    for names in (_VOTES, _COMMENTS):
        if seen.has(*names):
            return f"it has the columns {', '.join(names)}"
    return None


def _read(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    sources = [open_source(path) for path in paths]
    comments = [source for source in sources if set(_COMMENTS) <= set(source.columns)]
    votes = [source for source in sources if set(_VOTES) <= set(source.columns)]
    for source in sources:
        if source not in comments and source not in votes:
            raise InputError(
                f"a file of Polis has comments ({', '.join(_COMMENTS)}) or votes ({', '.join(_VOTES)}); "
                f"{source.path} has {source.named}. Leave it out."
            )
    agrees: dict[str, int] = {}
    for source in comments:
        yield from _comments(source, context, agrees)
    agree = _sign(votes, agrees, context)
    for source in votes:
        yield from _votes(source, context, agree)


def _comments(source: Source, context: Context, agrees: dict[str, int]) -> Iterator[Rows]:
    buffer, row = Buffer(source.path, context, source=_SOURCE), 0
    for block in source.blocks(source.columns):
        for cells in block.to_pylist():
            row += 1
            name = buffer.item(
                row,
                cells["comment-id"],
                cells["comment-body"],
                author_id=cells.get("author-id"),
                timestamp=cells.get("datetime") or cells.get("timestamp"),
                meta={"moderated": cells.get("moderated")} if cells.get("moderated") else None,
            )
            if (cells.get("agrees") or "").isdigit():
                agrees[name] = int(cells["agrees"])
        yield from buffer.ready()
    yield from buffer.rest()


def _sign(votes: Sequence[Source], agrees: dict[str, int], context: Context) -> str:
    """Whether 1 or −1 means agreement: its files and its interface differ, and the comments' totals tell."""
    counts = {"1": Counter[str](), "-1": Counter[str]()}
    if agrees:
        for source in votes:
            for block in source.blocks(["comment-id", "vote"]):
                for sign, counter in counts.items():
                    chosen = block.column("comment-id").filter(pc.equal(block.column("vote"), sign))
                    counter.update({pair["values"]: pair["counts"] for pair in pc.value_counts(chosen).to_pylist()})
    fits = {sign: sum(counter[name] == n for name, n in agrees.items()) for sign, counter in counts.items()}
    if fits["-1"] > fits["1"]:
        context.assumed["a vote of -1 is agreement: the comments' totals say so"] += 1
        return "-1"
    known = "the comments' totals say so" if fits["1"] > fits["-1"] else "as in the files that Polis exports"
    context.assumed[f"a vote of 1 is agreement: {known}"] += 1
    return "1"


def _votes(source: Source, context: Context, agree: str) -> Iterator[Rows]:
    meaning = {agree: "agree", "-1" if agree == "1" else "1": "disagree"}
    columns = [name for name in (*_VOTES, "datetime", "timestamp") if name in source.columns]
    row = 1
    for block in source.blocks(columns, coded=["comment-id", "voter-id", "vote"]):
        if not block.num_rows:
            continue
        numbers = np.arange(row, row + block.num_rows)
        row += block.num_rows
        said = block.column("vote")
        values = [meaning.get(str(vote)) for vote in said.dictionary.to_pylist()]
        value = pc.take(pa.array(values, pa.string()), said.indices)
        plain = pc.cast(said, pa.string())
        passed = pc.fill_null(pc.equal(plain, "0"), False)
        good = pc.or_(value.is_valid(), passed).to_numpy(zero_copy_only=False)
        for bad in np.flatnonzero(~good).tolist():
            context.refuse(
                source.path, int(numbers[bad]), "a vote must be 1, -1 or 0", repr(plain[bad].as_py()), "Drop the row."
            )
        none = pa.scalar(None, pa.string())
        n = block.num_rows
        batch = pa.RecordBatch.from_pydict(
            {
                "kind": pa.array(["label"] * n),
                "item_id": block.column("comment-id"),
                "value": pc.dictionary_encode(value),
                "annotator_id": block.column("voter-id"),
                "created_at": block.column("datetime" if "datetime" in columns else "timestamp")
                if {"datetime", "timestamp"} & set(columns)
                else pa.nulls(n, pa.string()),
                "status": pc.if_else(passed, "skipped", none),
                "skip_reason": pc.if_else(passed, "pass", none),
                "source": pa.array([_SOURCE] * n),
            }
        )
        yield Rows("judgements", source.path, numbers[good], batch.filter(pa.array(good)))


FORMAT = Format(_SOURCE, "a Polis file", _detect, _read)
