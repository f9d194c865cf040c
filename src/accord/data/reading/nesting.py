"""Records that hold the answers to them, as forums and chats give them: each text as a record of its own."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from accord.data.reading.flattening import flattened
from accord.data.reading.names import IDENTITY
from accord.data.reading.profiles import plain_name
from accord.data.reading.sources import as_text

__all__ = ["is_nested", "unnested"]

_BELOW = ("comments", "answers", "responses", "replies", "children", "thread")
_OTHER = _BELOW[:3]  # what stands below is another thing than what it is about, such as the answers to a question
_TEXTS = ("text", *IDENTITY["text"])
_INNER = ("text_original", "text_display", *_TEXTS)
_IDS = ("item_id", *IDENTITY["item_id"], "question_id", "thread_id", "topic_id", "number")
_LABELS = ("label", *IDENTITY["label"])
_PARENTS = ("reply_to", *IDENTITY["reply_to"])


def _below(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The answers to a record, which may stand in a list or in an object that holds nothing else."""
    for name in _BELOW:
        entries = record.get(name)
        if isinstance(entries, dict) and len(entries) == 1:
            (entries,) = entries.values()
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            continue
        if any(_text_of(flattened(entry)) is not None for entry in entries):
            return entries
    return []


def _text_of(record: Mapping[str, Any]) -> str | None:
    """The name of the text of a flat record: its own, or that of an object in it."""
    for key in _TEXTS:
        if isinstance(record.get(key), str):
            return key
    inner = [name for name, value in record.items() if "." in name and isinstance(value, str)]
    return next((name for key in _INNER for name in inner if plain_name(name.rpartition(".")[2]) == key), None)


def is_nested(records: Iterable[Mapping[str, Any]]) -> bool:
    """Whether some records hold others that are texts too, unless they alone are labelled, and not what they hold."""
    found = list(records)
    below = [entry for record in found for entry in _below(record)]
    labelled = [any(record.get(name) for record in found for name in _LABELS), _any_labelled(below)]
    return bool(below) and labelled != [True, False]


def _any_labelled(records: Iterable[Mapping[str, Any]]) -> bool:
    stack = list(records)
    while stack:
        record = stack.pop()
        if any(record.get(name) for name in _LABELS):
            return True
        stack += _below(record)
    return False


def unnested(records: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Every text as a record, with the id of what it answers and, below questions, that of its thread.

    Examples
    --------
    >>> asked = {"id": "q", "title": "Which one?", "comments": [{"id": "a", "body": "The first."}]}
    >>> for record in unnested([asked]):
    ...     print(record)
    {'id': 'q', 'text': 'Which one?', 'thread_id': 'q'}
    {'id': 'a', 'text': 'The first.', 'reply_to': 'q', 'thread_id': 'q'}
    """
    for number, record in enumerate(records, start=1):
        asked = any(isinstance(record.get(name), list) for name in _OTHER) or isinstance(record.get("title"), str)
        stack: list[tuple[Mapping[str, Any], str | None, str]] = [(record, None, str(number))]
        thread = None
        while stack:
            own, parent, path = stack.pop()
            row, name = _row(own, path)
            thread = name if thread is None else thread
            entries = _below(own)
            if row["text"] is None:  # a wrapper without words
                name = parent or ""
            else:
                if parent and not any(as_text(own.get(key)) for key in _PARENTS):
                    row["reply_to"] = parent
                if asked:
                    row.setdefault("thread_id", thread)
                yield row
            below = [(entry, name or None, f"{path}.{place}") for place, entry in enumerate(entries, start=1)]
            stack += reversed(below)


def _row(record: Mapping[str, Any], path: str) -> tuple[dict[str, Any], str]:
    """The record alone, with its text under one name, and its id, made of its place where it has none."""
    record = flattened({field: value for field, value in record.items() if field not in _BELOW or not value})
    if {"is_accepted", "accepted"} & record.keys() and "score" in record:  # which counts votes in forums
        record["votes"] = record.pop("score")
    key = _text_of(record)
    title = record.get("title") if isinstance(record.get("title"), str) else None
    words = [part for part in (title, record[key] if key else None) if part]
    given = next((key for key in _IDS if as_text(record.get(key)) is not None), None)
    name = as_text(record[given]) if given else path
    row: dict[str, Any] = {"id": name, "text": "\n\n".join(words) or None}
    row |= {field: value for field, value in record.items() if field not in (key, given, "title", *_BELOW)}
    return row, name or path
