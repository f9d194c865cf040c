"""Preference data as TRL trains on: a prompt, the answer chosen and the answer rejected."""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import log
from pathlib import Path
from typing import Any

import msgspec

from accord.data.formats.registry import Format, Glimpse
from accord.data.project import Project
from accord.data.reading.json_stream import decode, rows_of
from accord.data.reading.rows import Buffer, Context, Rows, text_id
from accord.data.reading.sources import JSON_LINES, suffix_of
from accord.data.reading.writing import plain_rows, vote_confidence, write_lines
from accord.errors import InputError

__all__ = ["FORMAT"]

_SOURCE = "trl"
_SURE = ("confidence", "margin", "score_chosen", "score_rejected")


class _Message(msgspec.Struct):
    role: str
    content: str


def _detect(seen: Glimpse) -> str | None:
    return "it has the columns chosen, rejected" if seen.has("chosen", "rejected") else None


def _read(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    for path in paths:
        buffer = Buffer(path, context, source=_SOURCE)
        for row, cells in rows_of(path):
            _preference(buffer, row, cells)
            yield from buffer.ready()
        yield from buffer.rest()
    context.assumed["equal answers to one prompt are one text; the chosen answer is written on the left"] += 1


def _preference(buffer: Buffer, row: int, cells: dict[str, Any]) -> None:
    where = f"row {row:,} of {buffer.file}"
    if suffix_of(buffer.file) not in (".json", *JSON_LINES):
        cells = {name: _unpacked(cell, where) for name, cell in cells.items()}
    try:
        prompt, _ = _content(cells.get("prompt"), where)
        (before, chosen), (_, rejected) = (_turns(cells.get(name), where) for name in ("chosen", "rejected"))
    except InputError:
        buffer.refuse(
            row, "an answer is a text or a list of messages with role and content", "something else", "Correct it."
        )
        return
    if chosen is None or rejected is None or chosen == rejected:
        buffer.refuse(
            row, "a preference has two different answers", "one answer only" if chosen else "none", "Drop the row."
        )
        return
    sure = [name for name in _SURE if cells.get(name) is not None]
    if sure:
        buffer.context.lost[f"how sure a preference is ({', '.join(sure)}) is not kept: each is one vote"] += 1
    asked = prompt or before
    group = text_id(asked) if asked else None
    ids = []
    for answer in (chosen, rejected):
        meta = {"prompt": asked} if asked else None
        ids.append(buffer.item(row, text_id(f"{asked or ''}\0{answer}"), answer, group_id=group, meta=meta))
    buffer.judgement(row, "pair", ids[0], other_id=ids[1], value="1", judgement_id=cells.get("id"))


def _unpacked(cell: Any, where: str) -> Any:
    """A cell of a table as the list of messages that it holds; any other text as it is."""
    if not isinstance(cell, str) or not cell.startswith("[{"):
        return cell
    try:
        return decode(cell, list[dict[str, Any]], where)
    except InputError:
        return cell


def _turns(value: Any, where: str) -> tuple[str | None, str | None]:
    """What comes before the last message, and the last message."""
    text, messages = _content(value, where)
    if messages is None:
        return None, text
    return "\n\n".join(f"{turn.role}: {turn.content}" for turn in messages[:-1]) or None, messages[-1].content


def _content(value: Any, where: str) -> tuple[str | None, list[_Message] | None]:
    """A text, or messages as a text and as they are."""
    if isinstance(value, list):
        try:
            messages = msgspec.convert(value, list[_Message])
        except msgspec.ValidationError as error:
            raise InputError(f"a message has a role and a content; {where}: {error}.") from None
        if messages:
            text = (
                messages[0].content if len(messages) == 1 else "\n\n".join(f"{m.role}: {m.content}" for m in messages)
            )
            return text, messages
        return None, None
    return (value, None) if isinstance(value, str) else (None, None)


def _write(project: Project, folder: Path, lost: Counter[str]) -> dict[str, int]:
    return {"preferences.jsonl": write_lines(folder / "preferences.jsonl", _preferences(project, lost))}


def _preferences(project: Project, lost: Counter[str]) -> Iterator[dict[str, Any]]:
    items = {row["item_id"]: row for row in plain_rows(project, "items")}
    confidence = vote_confidence(project)
    for row in plain_rows(project, "judgements"):
        if row["kind"] != "pair" or row["status"] not in (None, "done"):
            lost["only answered comparisons have a place in preference data"] += 1
        elif float(row["value"]) == 0.5:
            lost["ties have no place in preference data"] += 1
        else:
            ids = (row["item_id"], row["other_id"])
            chosen, rejected = (items[name] for name in (ids if float(row["value"]) == 1.0 else ids[::-1]))
            if row["annotator_id"] is not None:
                lost["who voted is not written"] += 1
            sure = confidence(row)
            record = {"chosen": chosen["text"] or "", "rejected": rejected["text"] or "", "confidence": sure,
                      "margin": log(sure / (1.0 - sure))}  # fmt: skip
            prompt = chosen.get("meta.prompt") or chosen["group_id"]
            yield {"prompt": prompt, **record} if prompt else record


FORMAT = Format(_SOURCE, "preference data", _detect, _read, _write)
