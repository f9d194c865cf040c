"""Prodigy: JSON lines of tasks with an answer."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from accord.data.formats.registry import Format, Glimpse
from accord.data.project import Project
from accord.data.reading.json_stream import records
from accord.data.reading.offsets import place_span
from accord.data.reading.rows import Buffer, Context, Rows, text_id
from accord.data.reading.sources import as_text
from accord.data.reading.writing import Judged, judged_texts, plain_rows, write_lines

__all__ = ["FORMAT"]

_SOURCE = "prodigy"
_ANSWERS = ("accept", "reject", "ignore")
_OWN = ("item_id", "group_id", "reply_to", "author_id", "timestamp")


class _Span(msgspec.Struct):
    start: int
    end: int
    label: str | None = None
    text: str | None = None


class _Option(msgspec.Struct):
    id: str | int
    text: str | None = None


class _Task(msgspec.Struct):
    text: str | None = None
    id: str | int | None = None
    answer: str | None = None
    label: str | None = None
    spans: list[_Span] | None = None
    options: list[_Option] = []
    accept: list[str | int] | dict[str, Any] | None = None
    reject: list[Any] | dict[str, Any] | None = None
    input: Any = None
    A: Any = None
    B: Any = None
    mapping: dict[str, Any] | None = None
    meta: dict[str, Any] | None = None
    relations: list[Any] | None = None
    input_hash: int | None = msgspec.field(default=None, name="_input_hash")
    annotator_id: str | None = msgspec.field(default=None, name="_annotator_id")
    session_id: str | None = msgspec.field(default=None, name="_session_id")
    timestamp: int | float | None = msgspec.field(default=None, name="_timestamp")


def _detect(seen: Glimpse) -> str | None:
    if not isinstance(seen.record, dict):
        return None
    if seen.record.get("answer") in _ANSWERS:
        return "its records have an answer of accept, reject or ignore"
    return "its records have _input_hash" if "_input_hash" in seen.record else None


def _read(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    for path in paths:
        buffer = Buffer(path, context, source=_SOURCE)
        for row, task in records(path, _Task):
            _task(buffer, row, task)
            yield from buffer.ready()
        yield from buffer.rest()


def _task(buffer: Buffer, row: int, task: _Task) -> None:
    cells = {
        "annotator_id": task.annotator_id or task.session_id,
        "created_at": as_text(task.timestamp),
        "judgement_id": as_text(task.id),
    }
    if task.relations:
        buffer.context.lost["relations between spans are not kept"] += len(task.relations)
    if task.answer not in (*_ANSWERS, None):
        buffer.refuse(row, "an answer is accept, reject or ignore", repr(task.answer), "Correct it.")
    elif task.A is not None and task.B is not None:
        _comparison(buffer, row, task, cells)
    elif task.text is None:
        buffer.refuse(row, "a task has a text, or A and B", "neither", "Drop it.")
    else:
        _about_text(buffer, row, task, cells)


def _about_text(buffer: Buffer, row: int, task: _Task, cells: dict[str, Any]) -> None:
    meta = task.meta or {}
    given = as_text(meta.get("item_id")) or as_text(task.input_hash)
    if given is None:
        buffer.context.assumed["texts without a hash are known by their words: equal texts are one item"] += 1
    own = {name: as_text(meta.get(name)) for name in _OWN[1:]}
    rest = {name: value for name, value in meta.items() if name not in _OWN}
    item = buffer.item(row, given or text_id(task.text or ""), task.text, meta=rest, **_given(own))
    if task.answer is None:  # a task that nobody has seen
        return
    ignored = task.answer == "ignore"
    status = {"accept": None, "reject": "rejected", "ignore": "skipped"}[task.answer]
    known = {**cells, "status": status, "skip_reason": "ignore" if ignored else None}
    if status == "rejected":
        buffer.context.assumed["a rejected answer is kept with the status rejected and not counted"] += 1
    chosen = task.accept if isinstance(task.accept, list) else []
    for option in chosen:
        buffer.judgement(row, "label", item, value=as_text(option), **known)
    if task.label is not None:
        buffer.judgement(row, "label", item, value=task.label, **known)
    for span in task.spans or ():
        start, end = place_span(task.text or "", span.start, span.end, span.text, utf16=buffer.context.utf16)
        quote = span.text if span.text is not None else (task.text or "")[max(start, 0) : max(end, 0)]
        buffer.judgement(row, "span", item, start=start, end=end, quote=quote, value=span.label, **known)
    if task.spans == [] and not ignored:
        buffer.judgement(row, "span", item, **known)
    elif not chosen and task.label is None and not task.spans:
        buffer.judgement(row, "label", item, **{**known, "status": status or "skipped"})


def _given(cells: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in cells.items() if value is not None}


def _comparison(buffer: Buffer, row: int, task: _Task, cells: dict[str, Any]) -> None:
    """Two outputs for one input, shown in an order that the mapping undoes."""
    texts = [_words(side) for side in (task.A, task.B)]
    asked = _words(task.input)
    if texts[0] is None or texts[1] is None or texts[0] == texts[1]:
        buffer.refuse(row, "a comparison has two different texts A and B", "fewer", "Drop it.")
        return
    group = text_id(asked) if asked else None
    meta = {"prompt": asked} if asked else None
    ids = [
        buffer.item(row, _side_id(side, text or ""), text, group_id=group, meta=meta)
        for side, text in zip((task.A, task.B), texts, strict=True)
    ]
    winner = _winner(task)
    if task.answer == "ignore" or winner is None:
        reason = "ignore" if task.answer == "ignore" else "no choice"
        buffer.judgement(row, "pair", ids[0], other_id=ids[1], **cells, status="skipped", skip_reason=reason)
    else:
        value = "1" if winner == "A" else "0"
        buffer.judgement(row, "pair", ids[0], other_id=ids[1], value=value, shown_left_id=_first(task, ids), **cells)


def _words(side: Any) -> str | None:
    if isinstance(side, dict):
        side = side.get("text", side.get("content"))
    return side if isinstance(side, str) else None


def _side_id(side: Any, text: str) -> str:
    given = as_text(side.get("id")) if isinstance(side, dict) else None
    return given or text_id(text)


def _winner(task: _Task) -> str | None:
    """A or B; ``None`` if nothing was chosen."""
    mapping = task.mapping or {}
    if isinstance(task.accept, list):
        chosen = as_text(task.accept[0]) if len(task.accept) == 1 else None
        side = mapping.get(chosen or "", chosen)
        return side if side in ("A", "B") else None
    shown = {as_text(role): side for side, role in mapping.items() if side in ("A", "B")}  # accept → A, reject → B
    return shown.get(task.answer)


def _first(task: _Task, ids: list[str]) -> str | None:
    """Which of the two was shown first, if the options say so."""
    mapping = task.mapping or {}
    if not task.options:
        return None
    first = as_text(task.options[0].id)
    return {"A": ids[0], "B": ids[1]}.get(str(mapping.get(first or "", first)))


def _write(project: Project, folder: Path, lost: Counter[str]) -> dict[str, int]:
    return {"prodigy.jsonl": write_lines(folder / "prodigy.jsonl", _tasks(project, lost))}


def _tasks(project: Project, lost: Counter[str]) -> Iterator[dict[str, Any]]:
    texts = judged_texts(project)
    if project.link_table.num_rows:
        lost["links between texts have no place in Prodigy's files"] += project.link_table.num_rows
    for row in plain_rows(project, "judgements"):
        if row["kind"] == "pair":
            task = _pair(row, texts, lost)
            if task is not None:
                yield task
        elif row["kind"] == "score":
            lost["scores have no place in Prodigy's files"] += 1
    compared = any(row["kind"] == "pair" for row in plain_rows(project, "judgements"))
    for judged in texts.values():
        meta = {name: judged.item[name] for name in _OWN if judged.item[name] is not None}
        meta |= {name[5:]: value for name, value in judged.item.items() if name.startswith("meta.") and value}
        task = {"text": judged.item["text"] or "", "meta": meta}
        states = ("done", "rejected", "skipped")
        for person in judged.by_people():
            for status in states:
                yield from _answered(task, person, status)
        if not judged.labels and not judged.spans and not compared:
            yield task


def _answered(task: dict[str, Any], own: Judged, status: str) -> Iterator[dict[str, Any]]:
    """One task for all that a person said of a text with one status."""
    labels = [row for row in own.labels if (row["status"] or "done") == status]
    spans = [row for row in own.spans if (row["status"] or "done") == status]
    if not labels and not spans:
        return
    first = (labels or spans)[0]
    record = {**task, "answer": {"done": "accept", "rejected": "reject", "skipped": "ignore"}[status]}
    values = [row["value"] for row in labels if row["value"] is not None]
    if values:
        record["accept"] = values
    if spans:
        record["spans"] = [
            {"start": row["start"], "end": row["end"], **({"label": row["value"]} if row["value"] else {})}
            for row in spans
            if row["start"] is not None
        ]
    if first["annotator_id"] is not None:
        record["_annotator_id"] = first["annotator_id"]
    yield record


def _pair(row: dict[str, Any], texts: dict[str, Judged], lost: Counter[str]) -> dict[str, Any] | None:
    done = row["status"] in (None, "done")
    if done and float(row["value"]) == 0.5:
        lost["ties have no place in Prodigy's comparisons"] += 1
        return None
    sides = {side: texts[row[name]].item for side, name in (("A", "item_id"), ("B", "other_id"))}
    task: dict[str, Any] = {side: {"id": item["item_id"], "text": item["text"] or ""} for side, item in sides.items()}
    task["options"] = [{"id": side, "text": entry["text"]} for side, entry in task.items()]
    task["mapping"] = {"A": "A", "B": "B"}
    task["id"] = row["judgement_id"]
    task["answer"] = "accept" if done else "ignore"
    task["accept"] = [] if not done else ["A" if float(row["value"]) == 1.0 else "B"]
    if row["annotator_id"] is not None:
        task["_annotator_id"] = row["annotator_id"]
    return task


FORMAT = Format(_SOURCE, "a Prodigy file", _detect, _read, _write)
