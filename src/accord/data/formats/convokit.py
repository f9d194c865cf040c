"""ConvoKit: the folder of a corpus. Its files are read as they are; the package is not needed."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from accord.data.formats.registry import Format, Glimpse
from accord.data.project import Project
from accord.data.reading.json_stream import records, whole
from accord.data.reading.rows import Buffer, Context, Rows
from accord.data.reading.writing import judged_texts, plain_rows, write_lines
from accord.errors import InputError

__all__ = ["FORMAT"]

_SOURCE = "convokit"
_UTTERANCES = "utterances.jsonl"


class _Utterance(msgspec.Struct):
    id: str
    text: str | None = None
    conversation_id: str | None = None
    root: str | None = None  # what older corpora call the conversation
    speaker: str | dict[str, Any] | None = None
    user: str | None = None
    reply_to_id: str | None = msgspec.field(default=None, name="reply-to")
    reply_to: str | None = None
    timestamp: Any = None
    meta: dict[str, Any] | None = None


class _Info(msgspec.Struct):
    id: str
    value: Any = None


def _detect(seen: Glimpse) -> str | None:
    if _UTTERANCES in seen.files:
        return f"the folder has {_UTTERANCES}"
    if "utterances.json" in seen.files:
        return "the folder has utterances.json"
    if seen.has("id", "text", "conversation_id") and (seen.has("reply-to") or seen.has("reply_to")):
        return "its records have conversation_id and reply-to"
    return None


def _read(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    for path in paths:
        folder = path if path.is_dir() else path.parent
        file = path
        if path.is_dir():
            file = path / _UTTERANCES if (path / _UTTERANCES).is_file() else path / "utterances.json"
        buffer = Buffer(file, context, source=_SOURCE)
        for row, utterance in records(file, _Utterance):
            _utterance(buffer, row, utterance)
            yield from buffer.ready()
        yield from buffer.rest()
        for info in sorted(folder.glob("info.*.jsonl")) if path.is_dir() else ():
            yield from _labels(info, context)
        _speakers(folder, context)


def _utterance(buffer: Buffer, row: int, said: _Utterance) -> None:
    speaker = said.speaker if said.speaker is not None else said.user
    if isinstance(speaker, dict):
        speaker = speaker.get("id")
    buffer.item(
        row,
        said.id,
        said.text,
        group_id=said.conversation_id or said.root,
        reply_to=said.reply_to_id or said.reply_to,
        author_id=speaker,
        timestamp=said.timestamp,
        meta={name: value for name, value in (said.meta or {}).items() if value is not None},
    )


def _labels(path: Path, context: Context) -> Iterator[Rows]:
    """Values laid over the utterances, one field a file."""
    field = path.name.removeprefix("info.").removesuffix(".jsonl")
    buffer = Buffer(path, context, source=_SOURCE)
    for row, info in records(path, _Info):
        if isinstance(info.value, str | int | float | bool):
            buffer.judgement(row, "label", info.id, value=info.value, aspect=field)
        else:
            context.lost[f"values of {path.name} that are neither a text nor a number are not kept"] += 1
        yield from buffer.ready()
    yield from buffer.rest()


def _speakers(folder: Path, context: Context) -> None:
    for name in ("speakers.json", "users.json", "conversations.json"):
        path = folder / name
        if path.is_file():
            about = whole(path, dict[str, Any])
            if any(isinstance(entry, dict) and (entry.get("meta") or len(entry) > 2) for entry in about.values()):
                context.lost[f"what {name} says about them is not kept"] += len(about)


def _write(project: Project, folder: Path, lost: Counter[str]) -> dict[str, int]:
    written = {_UTTERANCES: write_lines(folder / _UTTERANCES, _utterances(project))}
    items = plain_rows(project, "items")
    speakers: dict[str, Any] = {row["author_id"] or "unknown": {"meta": {}, "vectors": []} for row in items}
    conversations: dict[str, Any] = {row["group_id"] or row["item_id"]: {"meta": {}, "vectors": []} for row in items}
    meta = sorted({name[5:] for row in items for name in row if name.startswith("meta.")})
    index = {
        "utterances-index": {name: ["<class 'str'>"] for name in meta},
        "speakers-index": {},
        "conversations-index": {},
        "overall-index": {},
        "version": 1,
        "vectors": [],
    }
    for name, content in (
        ("speakers.json", speakers),
        ("conversations.json", conversations),
        ("corpus.json", {}),
        ("index.json", index),
    ):
        (folder / name).write_bytes(msgspec.json.encode(content))
        written[name] = len(content)
    labels: dict[str, list[dict[str, Any]]] = {}
    for row in plain_rows(project, "judgements"):
        if row["kind"] != "label" or row["status"] not in (None, "done"):
            lost["only answered labels have a place in a corpus of ConvoKit"] += 1
        elif row["annotator_id"] is not None:
            lost["labels are written one a text, the one most people gave"] += 1
    fields = {name: judged.labels for name, judged in judged_texts(project).items() if judged.labels}
    for name, label in zip(project.item_table.column("item_id").to_pylist(), project.labels(), strict=True):
        if label is not None:
            field = fields[name][0]["aspect"] or "label"
            labels.setdefault(field, []).append({"id": name, "value": label})
    for field, rows in labels.items():
        name = f"info.{field}.jsonl"
        if Path(name).name != name or "\0" in name or len(name.encode()) > 200:
            raise InputError(
                f"ConvoKit keeps a file a field; {field[:40]!r} cannot be in the name of one. Rename the aspect."
            )
        written[name] = write_lines(folder / name, rows)
    if project.link_table.num_rows:
        lost["links between texts have no place in a corpus of ConvoKit"] += project.link_table.num_rows
    return written


def _utterances(project: Project) -> Iterator[dict[str, Any]]:
    for row in plain_rows(project, "items"):
        yield {
            "id": row["item_id"],
            "conversation_id": row["group_id"] or row["item_id"],
            "text": row["text"] or "",
            "speaker": row["author_id"] or "unknown",
            "meta": {name[5:]: value for name, value in row.items() if name.startswith("meta.") and value is not None},
            "reply-to": row["reply_to"],
            "timestamp": _moment(row["timestamp"]),
            "vectors": [],
        }


def _moment(text: str | None) -> int | str | None:
    """A time as the number that it was: ConvoKit sorts by it."""
    return int(text) if text is not None and text.isascii() and text.isdecimal() and len(text) < 16 else text


FORMAT = Format(_SOURCE, "a ConvoKit corpus", _detect, _read, _write)
