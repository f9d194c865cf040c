"""Label Studio: tasks with annotations as JSON, and the flat JSON_MIN and CSV that it exports too."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from accord.data.formats.label_studio.config import Control, LabelConfig, read_config
from accord.data.formats.label_studio.export import write
from accord.data.formats.registry import Format, Glimpse
from accord.data.reading.json_stream import decode, records, rows_of
from accord.data.reading.names import NO_JUDGEMENT
from accord.data.reading.offsets import place_span
from accord.data.reading.profiles import plain_name, profile_of
from accord.data.reading.rows import Buffer, Context, Rows, text_id
from accord.data.reading.sources import JSON_LINES, as_text, suffix_of

__all__ = ["FORMAT"]

_SOURCE = "label-studio"
_FLAT = ("annotation_id", "annotator", "lead_time")  # what JSON_MIN and CSV have and the data does not
_ABOUT = ("id", "created_at", "updated_at", *_FLAT)
_LOOKED_AT = 2_000  # rows
_CONFIG_CURE = "Give the label config with --config."


class _Result(msgspec.Struct):
    type: str
    value: dict[str, Any] = {}
    id: str | int | None = None
    from_name: str = ""
    to_name: str = ""


class _Annotation(msgspec.Struct):
    result: list[_Result] = []
    id: int | str | None = None
    completed_by: Any = None
    was_cancelled: bool = False
    ground_truth: bool | None = False
    created_at: str | None = None
    lead_time: float | None = None


class _Task(msgspec.Struct):
    data: dict[str, Any]
    id: int | str | None = None
    annotations: list[_Annotation] = []
    completions: list[_Annotation] = []  # what old versions called them
    predictions: list[Any] = []


@dataclass(frozen=True)
class _Text:
    """One text of a task as an item."""

    name: str
    text: str


def _detect(seen: Glimpse) -> str | None:
    if seen.has("data") and (seen.has("annotations") or seen.has("completions") or seen.has("predictions")):
        return "its tasks have data and annotations"
    if seen.has(*_FLAT):
        return f"it has the columns {', '.join(_FLAT)}"
    return None


def _read(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    config = read_config(context.config) if context.config is not None else LabelConfig()
    for path in paths:
        buffer = Buffer(path, context, source=_SOURCE)
        reader = _Reader(buffer, config)
        for row, task in _tasks(path, config, context):
            reader.task(row, task)
            yield from buffer.ready()
        yield from buffer.rest()
    if context.config is None:
        context.assumed["without a label config the text is the field that a question names, or the only text"] += 1


def _tasks(path: Path, config: LabelConfig, context: Context) -> Iterator[tuple[int, _Task]]:
    flat = False  # whether the rows are JSON; the cells of a table hold lists as text
    if suffix_of(path) in (".json", *JSON_LINES):
        first = next((record for _, record in records(path, dict[str, Any])), {})
        flat = "data" not in first
        if not flat:
            yield from records(path, _Task)
            return
    if context.config is None:
        config = _with_choices(path, config, context)
    for row, cells in rows_of(path):
        yield row, _of_flat(cells, config, f"row {row:,} of {path}", packed=not flat)


def _with_choices(path: Path, config: LabelConfig, context: Context) -> LabelConfig:
    """Without a label config a single choice looks like any other text: the only column of few short values is one."""
    cells: dict[str, list[str | None]] = {}
    for number, (_, row) in enumerate(islice(rows_of(path), _LOOKED_AT)):
        for name, value in row.items():
            column = cells.setdefault(name, [None] * number)
            column += [None] * (number - len(column))
            column.append(value if isinstance(value, str) and value[:1] not in ("[", "{") else None)
    few = [
        name
        for name, column in cells.items()
        if name not in _ABOUT and profile_of(column).is_label and not NO_JUDGEMENT.search(plain_name(name))
    ]
    if len(few) == 1:
        context.assumed[f"{few[0]!r} has few different values and is read as a question; --config says otherwise"] += 1
        return replace(config, controls={**config.controls, few[0]: Control("choices", ("",))})
    if few:
        context.lost[
            f"which of {', '.join(few)} are answers cannot be told, and none is read; say it with --config"
        ] += 1
    return config


def _of_flat(cells: dict[str, Any], config: LabelConfig, where: str, *, packed: bool) -> _Task:
    """A task from a row in which the answers stand beside the data under the names of their questions."""
    data, results = {}, []
    for name, cell in cells.items():
        value = cell
        if packed and isinstance(cell, str) and cell[:1] in ("[", "{") and name not in _ABOUT:
            value = _list_in_cell(cell, where)
        question = config.controls.get(name)
        found = _flat_answers(name, value, question)
        if found is None:
            data[name] = cell if name not in config.dialogue else value
        else:
            results += found
    annotation = _Annotation(
        result=list(results),
        id=as_text(cells.get("annotation_id")),
        completed_by=cells.get("annotator"),
        created_at=as_text(cells.get("created_at")),
        lead_time=_seconds(cells.get("lead_time")),
    )
    return _Task(
        {key: value for key, value in data.items() if key not in _ABOUT}, as_text(cells.get("id")), [annotation]
    )


def _list_in_cell(cell: str, where: str) -> Any:
    try:
        return decode(cell, Any, where)
    except ValueError:  # a text that only begins like a list
        return cell


def _seconds(cell: Any) -> float | None:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None


_FLAT_KINDS = {"choices": "choices", "labels": "labels", "rating": "rating", "number": "number", "selected": "pairwise"}


def _flat_answers(name: str, value: Any, question: Control | None) -> list[_Result] | None:
    """The answers to one question; ``None`` if this is not one."""
    about = question.about[0] if question else ""
    if question is not None and question.tag == "choices" and isinstance(value, str):
        return [_Result("choices", {"choices": [value]}, from_name=name, to_name=about)]
    entries = value if isinstance(value, list) else [value]
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        return [] if question is not None else None
    results = []
    for entry in entries:
        kind = next((kind for key, kind in _FLAT_KINDS.items() if key in entry), None)
        if kind is None:
            return [] if question is not None else None
        results.append(_Result(kind, entry, from_name=name, to_name=about))
    return results


class _Reader:
    """Turns tasks into rows."""

    def __init__(self, buffer: Buffer, config: LabelConfig) -> None:
        self.buffer, self.config, self.context = buffer, config, buffer.context
        self._compared: _Task | None = None  # the task whose sides were read last

    def task(self, row: int, task: _Task) -> None:
        """Read one task with all its annotations."""
        if task.predictions:
            self.context.lost["predictions are not kept"] += len(task.predictions)
        name = as_text(task.id) if task.id is not None else str(row)
        if not any(len(control.about) > 1 for control in self.config.controls.values()):
            for object_name, (tag, _) in self.config.objects.items():
                if tag in ("text", "hypertext"):
                    self._text(row, task, name or "", object_name)
        for annotation in [*task.annotations, *task.completions]:
            self._annotation(row, task, name or "", annotation)

    def _annotation(self, row: int, task: _Task, name: str, annotation: _Annotation) -> None:
        person = annotation.completed_by
        if isinstance(person, dict):
            person = person.get("email") or person.get("username") or person.get("id")
        cells = {
            "annotator_id": as_text(person),
            "created_at": annotation.created_at,
            "response_ms": None if annotation.lead_time is None else _milliseconds(annotation.lead_time),
        }
        if annotation.ground_truth:
            self.context.lost["marks of ground truth are not kept"] += 1
        if annotation.was_cancelled:
            self._skip(row, task, name, annotation, cells)
            return
        for place, result in enumerate(annotation.result):
            judgement = f"{as_text(annotation.id) or name}:{as_text(result.id) or place}"
            step = _STEPS.get(result.type)
            if step is None:
                self.context.lost[f"answers of type {result.type} are not kept"] += 1
            else:
                step(self, row, task, name, result, {**cells, "judgement_id": judgement})

    def _skip(self, row: int, task: _Task, name: str, annotation: _Annotation, cells: dict[str, Any]) -> None:
        known = {**cells, "judgement_id": as_text(annotation.id), "status": "skipped", "skip_reason": "cancelled"}
        sides = self.config.pairwise()
        if sides is not None:
            left, right = (self._side(row, task, side) for side in sides)
            if left and right:
                self.buffer.judgement(row, "pair", left, other_id=right, shown_left_id=left, **known)
            return
        text = self._text(row, task, name, next(iter(self.config.objects), ""))
        if text is not None:
            self.buffer.judgement(row, "label", text.name, **known)

    # -- texts ---------------------------------------------------------------------------------------------------

    def _text(self, row: int, task: _Task, name: str, object_name: str) -> _Text | None:
        """The text that a question is about, added as an item."""
        key = self._key(row, task, object_name)
        if key is None:
            return None
        content = task.data[key]
        if not isinstance(content, str):
            self.buffer.refuse(
                row, "the text of a task must be a text", f"{type(content).__name__} in {key}", "Correct it."
            )
            return None
        texts = [entry for entry, (tag, _) in self.config.objects.items() if tag in ("text", "hypertext")]
        given = task.data.get("item_id") if len(texts) < 2 else task.data.get(f"{key}_id")
        own = as_text(given) or (name if len(texts) < 2 else f"{name}.{key}")
        cells = {ours: as_text(task.data.get(ours)) for ours in ("group_id", "reply_to", "author_id", "timestamp")}
        rest = {
            field: value
            for field, value in task.data.items()
            if field not in (key, "item_id", *cells) and not isinstance(value, list | dict)
        }
        self.buffer.item(row, own, content, meta=rest, **{field: value for field, value in cells.items() if value})
        return _Text(own, content)

    def _key(self, row: int, task: _Task, object_name: str) -> str | None:
        """The field of the data that an object shows."""
        if object_name in self.config.objects:
            key = self.config.objects[object_name][1]
        else:
            texts = [field for field, value in task.data.items() if isinstance(value, str)]
            named = [field for field in (object_name, "text") if field in texts]
            key = named[0] if named else (texts[0] if len(texts) == 1 else "")
        if key not in task.data:
            self.buffer.refuse(
                row,
                "a question must be about a field of the data",
                f"{key or object_name or 'several texts'!r}, and the data have {', '.join(task.data) or 'none'}",
                _CONFIG_CURE,
            )
            return None
        return key

    def _side(self, row: int, task: _Task, object_name: str) -> str | None:
        """One of two texts that are compared: known by its id if the data give one, otherwise by its words."""
        key = self._key(row, task, object_name)
        if key is None:
            return None
        text = as_text(task.data[key]) or ""
        given = as_text(task.data.get(f"{key}_id"))
        if task is not self._compared and len(task.data) > 2 + sum(field.endswith("_id") for field in task.data):
            self.context.lost["fields of a task besides the compared texts are not kept"] += 1
        self._compared = task
        if given is None:
            self.context.assumed["compared texts without an id are known by their words: equal texts are one item"] += 1
        return self.buffer.item(row, given or text_id(text), text, group_id=as_text(task.data.get("group_id")))

    # -- answers -------------------------------------------------------------------------------------------------

    def pairwise(self, row: int, task: _Task, name: str, result: _Result, cells: dict[str, Any]) -> None:
        sides = self.config.pairwise()
        if sides is None:
            self.buffer.refuse(
                row, "a pairwise answer needs the label config, which says what is left and right", "none", _CONFIG_CURE
            )
            return
        left, right = (self._side(row, task, side) for side in sides)
        said = result.value.get("selected")
        if said not in ("left", "right"):
            self.buffer.refuse(row, "a pairwise answer is left or right", repr(said), "Correct it or drop the task.")
        elif left and right:
            value = "1" if said == "left" else "0"
            self.buffer.judgement(row, "pair", left, other_id=right, value=value, shown_left_id=left, **cells)

    def choices(self, row: int, task: _Task, name: str, result: _Result, cells: dict[str, Any]) -> None:
        text = self._text(row, task, name, result.to_name)
        if text is not None:
            for value in _list(result.value.get("choices")):
                self.buffer.judgement(row, "label", text.name, value=value, aspect=result.from_name, **cells)

    def number(self, row: int, task: _Task, name: str, result: _Result, cells: dict[str, Any]) -> None:
        text = self._text(row, task, name, result.to_name)
        value = result.value.get("rating", result.value.get("number"))
        if text is not None:
            self.buffer.judgement(row, "score", text.name, value=value, aspect=result.from_name or "score", **cells)

    def spans(self, row: int, task: _Task, name: str, result: _Result, cells: dict[str, Any]) -> None:
        value = result.value
        if self.config.objects.get(result.to_name, ("",))[0] == "paragraphs" or "startOffset" in value:
            text, start, end = self._paragraph(row, task, name, result)
        else:
            text = self._text(row, task, name, result.to_name)
            start, end = _whole(value.get("start")), _whole(value.get("end"))
        if text is None:
            return
        if start is None or end is None:
            self.buffer.refuse(
                row, "a span has a start and an end in a plain text", f"{value.get('start')!r}", "Drop the span."
            )
            return
        quote = value.get("text") if isinstance(value.get("text"), str) else None
        start, end = place_span(text.text, start, end, quote, utf16=self.context.utf16)
        quote = quote if quote is not None else text.text[max(start, 0) : max(end, 0)]
        labels = _list(value.get("labels") or value.get("hypertextlabels") or value.get("paragraphlabels")) or [None]
        for label in labels:
            self.buffer.judgement(row, "span", text.name, start=start, end=end, quote=quote, value=label, **cells)

    def _paragraph(
        self, row: int, task: _Task, name: str, result: _Result
    ) -> tuple[_Text | None, int | None, int | None]:
        """A span in one turn of a dialogue; the turns become the items of a group."""
        key = self._key(row, task, result.to_name)
        turns = task.data.get(key) if key else None
        speaker, words = self.config.dialogue.get(result.to_name, ("author", "text"))
        if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
            self.buffer.refuse(row, "a dialogue is a list of turns", f"{type(turns).__name__} in {key}", _CONFIG_CURE)
            return None, None, None
        for place, turn in enumerate(turns):
            before = f"{name}.{place - 1}" if place else None
            self.buffer.item(
                row,
                f"{name}.{place}",
                as_text(turn.get(words)),
                group_id=name,
                author_id=turn.get(speaker),
                reply_to=before,
            )
        first, last = _whole(result.value.get("start")), _whole(result.value.get("end"))
        if first is None or first != last or not 0 <= first < len(turns):
            self.buffer.refuse(
                row,
                "a span in a dialogue lies in one turn",
                f"{result.value.get('start')!r} to {result.value.get('end')!r} of {len(turns)} turns",
                "Split it.",
            )
            return None, None, None
        text = as_text(turns[first].get(words)) or ""
        start, end = (_whole(result.value.get(field)) for field in ("startOffset", "endOffset"))
        return _Text(f"{name}.{first}", text), start, end

    def ranker(self, row: int, task: _Task, name: str, result: _Result, cells: dict[str, Any]) -> None:
        buckets = result.value.get("ranker")
        key = self._key(row, task, result.to_name)
        listed = task.data.get(key) if key else None
        if not isinstance(buckets, dict) or not isinstance(listed, list):
            self.buffer.refuse(row, "a ranking has buckets of ids from a list of the data", "none", _CONFIG_CURE)
            return
        known = {}
        for entry in listed:
            if isinstance(entry, dict) and as_text(entry.get("id")):
                text = as_text(entry.get("body") or entry.get("text") or entry.get("html") or entry.get("title"))
                known[as_text(entry["id"])] = self.buffer.item(row, entry["id"], text, group_id=name)
        ranked = [bucket for bucket in buckets if bucket != "_"] or list(buckets)
        if len(ranked) != 1:
            self.buffer.refuse(
                row, "a ranking has one bucket that is in order", f"{len(ranked)} buckets", "Use one bucket."
            )
            return
        order = [as_text(entry) for entry in _list(buckets[ranked[0]])]
        unknown = [entry for entry in order if entry not in known]
        if unknown:
            self.buffer.refuse(row, "a ranking names ids of its list", repr(unknown[0]), "Correct it.")
            return
        tiers = [[known[entry]] for entry in order]
        rest = [item for entry, item in known.items() if entry not in order]
        judgement = cells.pop("judgement_id")
        self.buffer.ranking(row, [*tiers, rest] if rest else tiers, name=judgement, **cells)


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _whole(value: Any) -> int | None:
    """A whole number, also one in quotation marks."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _milliseconds(seconds: float) -> float | str:
    """A time as it is written; one beyond all numbers as a text, which is refused with its row."""
    return round(seconds * 1000) if math.isfinite(seconds * 1000) else str(seconds)


_STEPS = {
    "pairwise": _Reader.pairwise,
    "choices": _Reader.choices,
    "rating": _Reader.number,
    "number": _Reader.number,
    "labels": _Reader.spans,
    "hypertextlabels": _Reader.spans,
    "paragraphlabels": _Reader.spans,
    "ranker": _Reader.ranker,
}

FORMAT = Format(_SOURCE, "a Label Studio export", _detect, _read, write)
