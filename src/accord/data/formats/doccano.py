"""doccano: JSON lines with a text and its labels or spans."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from accord.data.formats.registry import Format, Glimpse
from accord.data.project import Project
from accord.data.reading.json_stream import records
from accord.data.reading.offsets import place_span
from accord.data.reading.rows import Buffer, Context, Rows
from accord.data.reading.writing import Judged, answered, judged_texts, plain_rows, write_lines

__all__ = ["FORMAT"]

_SOURCE = "doccano"


class _Entity(msgspec.Struct):
    start_offset: int
    end_offset: int
    label: str
    id: int | None = None


class _Example(msgspec.Struct):
    text: str
    id: int | str | None = None
    label: list[str | tuple[int, int, str]] | None = None
    labels: list[str | tuple[int, int, str]] | None = None
    entities: list[_Entity | tuple[int, int, str]] | None = None
    cats: list[str] | None = None
    relations: list[dict[str, Any]] | None = None
    comments: list[Any] | None = None
    Comments: list[Any] | None = None
    meta: dict[str, Any] | None = None


def _detect(seen: Glimpse) -> str | None:
    if not isinstance(seen.record, dict) or not isinstance(seen.record.get("text"), str):
        return None
    for name in ("label", "labels", "entities"):
        if isinstance(seen.record.get(name), list):
            return f"its records have a text and a list called {name}"
    return None


def _read(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    for path in paths:
        buffer = Buffer(path, context, source=_SOURCE)
        for row, example in records(path, _Example):
            _example(buffer, row, example)
            yield from buffer.ready()
        yield from buffer.rest()
    context.lost["doccano's files do not say who annotated"] += 1


def _example(buffer: Buffer, row: int, example: _Example) -> None:
    meta = {name: value for name, value in (example.meta or {}).items() if name not in ("item_id",)}
    name = buffer.item(row, example.id if example.id is not None else row, example.text, meta=meta)
    if example.relations:
        buffer.context.lost["relations between spans of one text are not kept"] += len(example.relations)
    if example.comments or example.Comments:
        buffer.context.lost["comments on texts are not kept"] += 1
    given = [*(example.label or ()), *(example.labels or ())]
    spans = [entry for entry in given if not isinstance(entry, str)]
    labels = [*(entry for entry in given if isinstance(entry, str)), *(example.cats or ())]
    for label in labels:
        buffer.judgement(row, "label", name, value=label)
    for entity in example.entities or ():
        spans.append(entity if isinstance(entity, tuple) else (entity.start_offset, entity.end_offset, entity.label))
    # doccano writes an empty list for a text that nobody looked at, too.
    read = example.entities is not None and bool(labels)
    for start, end, label in spans:
        start, end = place_span(example.text, start, end, None, utf16=buffer.context.utf16)
        quote = example.text[max(start, 0) : max(end, 0)]
        buffer.judgement(row, "span", name, start=start, end=end, quote=quote, value=label)
    if read and not spans:
        buffer.judgement(row, "span", name)


def _write(project: Project, folder: Path, lost: Counter[str]) -> dict[str, int]:
    # doccano guesses the encoding of a file, and takes one sign outside the first plane for cp1254.
    return {"doccano.jsonl": write_lines(folder / "doccano.jsonl", _examples(project, lost), ascii_only=True)}


def _examples(project: Project, lost: Counter[str]) -> Iterator[dict[str, Any]]:
    for row in plain_rows(project, "judgements"):
        if row["kind"] in ("pair", "score"):
            lost[f"judgements of kind {row['kind']} have no place in doccano"] += 1
        elif row["status"] not in (None, "done"):
            lost["judgements without an answer are left out"] += 1
        elif row["annotator_id"] is not None:
            lost["who annotated is not written"] += 1
    if project.link_table.num_rows:
        lost["links between texts have no place in doccano"] += project.link_table.num_rows
    texts = judged_texts(project)
    kinds = {"labels": False, "spans": False}
    for judged in texts.values():
        kinds = {kind: found or bool(getattr(judged, kind)) for kind, found in kinds.items()}
    for judged in texts.values():
        yield _record(judged, **kinds)


def _record(judged: Judged, *, labels: bool, spans: bool) -> dict[str, Any]:
    """A text in the shape that doccano's project of this kind reads: classes, spans, or both."""
    record: dict[str, Any] = {"id": judged.item["item_id"], "text": judged.item["text"] or ""}
    meta = {name[5:]: value for name, value in judged.item.items() if name.startswith("meta.") and value is not None}
    if meta:
        record["meta"] = meta
    given = list(dict.fromkeys(row["value"] for row in answered(judged.labels)))
    marked = [
        [row["start"], row["end"], row["value"] or "span"] for row in answered(judged.spans) if row["start"] is not None
    ]
    if labels and spans:
        return {**record, "cats": given, "entities": marked}
    return {**record, "label": marked if spans else given}


FORMAT = Format(_SOURCE, "a doccano file", _detect, _read, _write)
