"""Receive: annotations of Label Studio as judgements of a project, each once, as they are there now."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from accord.data.formats.own import Rules
from accord.data.project import ITEMS, Project
from accord.data.reading.rows import text_id
from accord.errors import InputError
from accord.store import connections, projects
from accord.store.connections import ForeignAnswer
from accord.store.database import Connection
from accord.store.judgements import Judgement
from accord.store.projects import StoredProject
from accord.workflows.collecting.label_studio import (
    Questions,
    alone_in_threads,
    as_json,
    known_texts,
    match_config,
    n_ranks_of,
    read_tasks,
)
from accord.workflows.exchange import judgement_of

__all__ = ["EVENTS", "Change", "changes_of", "keep"]

EVENTS = frozenset(
    f"ANNOTATION{plural}_{what}" for plural in ("", "S") for what in ("CREATED", "UPDATED", "DELETED")
) | {"START_TRAINING"}

_LONGEST = {"annotator_id": 500, "label": 200}
_LONGEST_MS = 86_400_000


class _Annotation(msgspec.Struct):
    id: int | str
    result: list[dict[str, Any]] = []
    task: int | str | None = None
    completed_by: Any = None
    was_cancelled: bool = False
    created_at: str | None = None
    updated_at: str | None = None
    lead_time: float | None = None


class _Task(msgspec.Struct):
    data: dict[str, Any]
    id: int | str | None = None


class _Gone(msgspec.Struct):
    id: int | str


@dataclass(frozen=True)
class Change:
    """An annotation as it is now: the answer it is, and what it says as tables; ``None`` where it was deleted."""

    answer: ForeignAnswer
    read: Project | None
    n_ignored: int = 0  # answers to questions that the project does not ask


def changes_of(project: StoredProject, event: Mapping[str, Any]) -> list[Change]:
    """Read and check an event of Label Studio; nothing is stored yet."""
    action = str(event.get("action"))
    if action == "START_TRAINING":  # the worker refits by itself when there is something new
        return []
    if action.endswith("_DELETED"):
        gone = _converted(_listed(event.get("annotations") or event.get("annotation")), list[_Gone])
        return [Change(ForeignAnswer(_name(entry.id), None, ""), None) for entry in gone]
    about = event.get("project")
    config = about.get("label_config") if isinstance(about, Mapping) else None
    if not isinstance(config, str):
        raise InputError("an event has the label_config of its project; this one has none. Send the payload too.")
    questions = match_config(project, config)
    tasks = _converted(_listed(event.get("task") or event.get("tasks")), list[_Task])
    notes = _converted(_listed(event.get("annotation") or event.get("annotations")), list[_Annotation])
    by_id = {task.id: task for task in tasks}
    changes = []
    for note in notes:
        task = tasks[0] if len(tasks) == 1 else by_id.get(note.task)
        if task is None:
            raise InputError(f"an event has the task of its annotation; task {note.task!r} is not in it.")
        changes.append(_change(project, questions, note, task))
    return changes


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _converted(value: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise InputError(f"an event must have the shape that Label Studio sends; {str(error).lower()}.") from None


def _name(annotation: int | str) -> str:
    text = str(annotation)
    plain = text.isascii() and text.isalnum() and len(text) <= 20
    # Judges cannot send a colon, so that no answer of theirs takes the name of an annotation.
    return f"ls:{text if plain else hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:20]}"


def _change(project: StoredProject, questions: Questions, note: _Annotation, task: _Task) -> Change:
    asked = [name for name in (*questions.main, questions.spans) if name is not None]
    kept = [result for result in note.result if result.get("from_name") in asked]
    content = as_json([kept, note.was_cancelled, task.data])
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
    answer = ForeignAnswer(_name(note.id), _moment(note.updated_at or note.created_at), digest)
    annotation = {
        "id": note.id,
        "result": kept,
        "completed_by": note.completed_by,
        "was_cancelled": note.was_cancelled,
        "created_at": note.created_at,
        "lead_time": note.lead_time,
    }
    rules = Rules(n_ranks=n_ranks_of(project), labels=tuple(project.settings.get("labels", ())))
    sent = [{"id": task.id, "data": task.data, "annotations": [annotation]}]
    if not kept and not note.was_cancelled:  # an annotation that says nothing
        read = Project(project.kind, ITEMS.empty_table())
    else:
        read = read_tasks(project, sent, questions, rules=rules)
    if project.kind == "threads" and read.counts["items"]:
        read = alone_in_threads(read)
    return Change(answer, read, len(note.result) - len(kept))


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise InputError(f"a time is written as in 2026-01-31T12:00:00Z; {text[:40]!r} is not.") from None


def keep(connection: Connection, project: StoredProject, changes: Sequence[Change]) -> dict[str, int]:
    """Store what annotations say now, once: how many rows are ``stored``, ``undone`` and ``ignored``."""
    counts = {"stored": 0, "undone": 0, "ignored": 0}
    for change in changes:
        rows = None if change.read is None else _rows(connection, project, change)
        new, undone = connections.replace_answer(connection, project.id, change.answer, rows)
        counts["stored"] += new
        counts["undone"] += undone
        counts["ignored"] += change.n_ignored
    return counts


def _rows(connection: Connection, project: StoredProject, change: Change) -> list[Judgement]:
    assert change.read is not None  # asked by the caller
    frame = change.read.frames()["judgements"]
    if frame.empty:
        return []
    places = _placed(connection, project, change.read)
    rows = []
    for part, row in enumerate(frame.to_dict("records")):
        judgement = judgement_of(row, places)
        skipped = judgement.status != "done"
        rows.append(
            replace(
                judgement,
                request_id=change.answer.request_id,
                part=part,
                kind="skip" if skipped else judgement.kind,
                # One question of labels is asked here, whatever its name is there.
                aspect=judgement.aspect if judgement.kind == "score" else None,
                created_at=change.answer.changed_at,
                response_ms=None if judgement.response_ms is None else min(max(judgement.response_ms, 0), _LONGEST_MS),
            )
        )
        for name, longest in _LONGEST.items():
            if len(getattr(rows[-1], name) or "") > longest:
                raise InputError(f"the {name} of an annotation has at most {longest} characters; this one has more.")
    return rows


def _placed(connection: Connection, project: StoredProject, read: Project) -> dict[str, int]:
    """The keys of the texts of an annotation; new ones are added to the project."""
    found = known_texts(connection, project, read)
    items = read.frames()["items"]
    missing = items[~items["item_id"].isin(list(found))]
    taken = projects.items_by_id(connection, project.id, missing["item_id"])
    names = {}
    for name, text in zip(missing["item_id"], missing["text"].fillna(""), strict=True):
        if len(name) > 500:
            raise InputError(f"an id has at most 500 characters; {name[:40]!r}… has {len(name):,}. Shorten it.")
        names[name] = text_id(text) if name in taken else name
    cells = missing.astype(object).where(missing.notna(), None).to_dict("records")
    projects.add_items(
        connection,
        project.id,
        (
            {
                **{name: row[name] for name in ITEMS.names if name in row},
                "item_id": names[str(row["item_id"])],
                "text": row["text"] or "",
                "meta": {
                    str(k).removeprefix("meta."): v
                    for k, v in row.items()
                    if str(k).startswith("meta.") and v is not None
                },
            }
            for row in cells
        ),
    )
    added = projects.items_by_id(connection, project.id, names.values())
    return {
        **{name: item.key for name, item in found.items()},
        **{name: added[ours].key for name, ours in names.items()},
    }
