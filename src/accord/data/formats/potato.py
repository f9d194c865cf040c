"""Potato: each person's ``user_state.json``, its flat exports, and the data file with the texts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import msgspec

from accord.data.formats.registry import Format, Glimpse
from accord.data.project import Project
from accord.data.reading.json_stream import decode, rows_of, whole
from accord.data.reading.offsets import place_span
from accord.data.reading.rows import Buffer, Context, Rows, text_id
from accord.data.reading.sources import as_text
from accord.data.reading.writing import judged_texts, plain_rows, write_lines
from accord.errors import InputError

__all__ = ["FORMAT"]

_SOURCE = "potato"
_STATE = "user_state.json"
_LABELS, _SPANS = "instance_id_to_label_to_value", "instance_id_to_span_to_value"
_FREE_TEXT = ("text_box", "textbox", "free_response", "text")
_SLIDERS = ("slider", "value", "rating", "score", "number")
_PAIRS = ("selection", "scale_value", "best", "worst")


class _State(msgspec.Struct):
    user_id: str | None = None
    labels: dict[str, Any] = msgspec.field(default_factory=dict, name=_LABELS)
    spans: dict[str, Any] = msgspec.field(default_factory=dict, name=_SPANS)


class _Span(msgspec.Struct):
    start: int
    end: int
    label: str | None = None
    name: str | None = None
    text: str | None = None
    span: str | None = None


def _detect(seen: Glimpse) -> str | None:
    if seen.has(_LABELS) or seen.has(_SPANS):
        return f"it has {_LABELS}"
    if seen.has("instance_id", "user_id"):
        return "it has the columns instance_id, user_id"
    if seen.files and any(path.is_file() for path in seen.path.glob(f"*/{_STATE}")):
        return f"the folder has a {_STATE} for each person"
    return None


def _read(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    states: list[Path] = []
    tables: list[Path] = []
    texts: list[Path] = []
    for path in paths:
        if path.is_dir():
            states += sorted(path.glob(f"**/{_STATE}"))
        elif path.name.endswith(_STATE):
            states.append(path)
        else:
            first = next((cells for _, cells in rows_of(path)), {})
            (tables if {"instance_id", "user_id"} <= set(first) else texts).append(path)
    known: dict[str, Any] = {}
    for path in texts:
        yield from _texts(path, context, known)
    for path in states:
        state = whole(path, _State)
        buffer = Buffer(path, context, source=_SOURCE)
        person = state.user_id or path.parent.name
        for row, name in enumerate(dict.fromkeys([*state.labels, *state.spans]), start=1):
            _instance(buffer, row, name, person, state.labels.get(name), state.spans.get(name), known)
            yield from buffer.ready()
        yield from buffer.rest()
    for path in tables:
        yield from _table(path, context, known)


def _texts(path: Path, context: Context, known: dict[str, Any]) -> Iterator[Rows]:
    """A data file: an id and a text, or an id and a list of texts that are compared."""
    buffer = Buffer(path, context, source=_SOURCE)
    for row, cells in rows_of(path):
        name, text = as_text(cells.get("id")), cells.get("text")
        if name is None or not isinstance(text, str | list | dict):
            buffer.refuse(
                row, "a text has an id and a text", f"{', '.join(cells) or 'nothing'}", "Add what is missing."
            )
            continue
        if isinstance(text, str):
            known[name] = text
            own = {ours: as_text(cells.get(ours)) for ours in ("group_id", "reply_to", "author_id", "timestamp")}
            rest = {key: value for key, value in cells.items() if key not in ("id", "text", *own)}
            buffer.item(row, name, text, meta=rest, **{key: value for key, value in own.items() if value})
        else:
            parts = list(text.values()) if isinstance(text, dict) else text
            given = cells.get("text_ids")
            ids: list[Any] = given if isinstance(given, list) else []
            known[name] = [
                buffer.item(row, ids[place] if place < len(ids) else text_id(str(part)), str(part))
                for place, part in enumerate(parts)
            ]
        yield from buffer.ready()
    yield from buffer.rest()


def _table(path: Path, context: Context, known: dict[str, Any]) -> Iterator[Rows]:
    """A flat export: one row a text and person."""
    buffer = Buffer(path, context, source=_SOURCE)
    for row, cells in rows_of(path):
        where = f"row {row:,} of {path}"
        labels: dict[str, dict[str, Any]] = {}
        for column, value in cells.items():
            schema, mark, name = column.partition(":::")
            if mark and value not in (None, ""):
                labels.setdefault(schema, {})[name] = value
        given, spans = (_cell(cells.get(name), where) for name in ("label_annotations", "span_annotations"))
        if isinstance(given, dict):
            labels |= given
        name = as_text(cells["instance_id"]) or ""
        _instance(buffer, row, name, as_text(cells.get("user_id")), labels, spans, known)
        yield from buffer.ready()
    yield from buffer.rest()


def _cell(value: Any, where: str) -> Any:
    return decode(value, Any, where) if isinstance(value, str) and value[:1] in ("[", "{") else value


def _instance(
    buffer: Buffer, row: int, name: str, person: str | None, labels: Any, spans: Any, known: dict[str, Any]
) -> None:
    cells = {"annotator_id": person, "judgement_id": f"{person}:{name}"}
    for schema, answers in _schemas(labels).items():
        if set(answers) & set(_PAIRS):
            _compared(buffer, row, name, schema, answers, known, cells)
        else:
            for label, value in answers.items():
                _label(buffer, row, name, schema, label, value, cells)
    for schema, entry in _span_list(spans):
        _span(buffer, row, name, schema, entry, known, cells)


def _schemas(labels: Any) -> dict[str, dict[str, Any]]:
    """Answers by question and name, from a list of pairs or from dictionaries."""
    found: dict[str, dict[str, Any]] = {}
    if isinstance(labels, list):
        for entry in labels:
            if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], dict):
                schema, name = as_text(entry[0].get("schema")), as_text(entry[0].get("name"))
                found.setdefault(schema or "label", {})[name or ""] = entry[1]
    elif isinstance(labels, dict):
        for schema, answers in labels.items():
            inner = answers.get("labels", answers) if isinstance(answers, dict) else {str(answers): True}
            found[schema] = inner if isinstance(inner, dict) else {str(inner): True}
    return found


def _span_list(spans: Any) -> list[tuple[str, Any]]:
    if isinstance(spans, dict):
        return [(schema, entry) for schema, entries in spans.items() for entry in _list(entries)]
    found = []
    for entry in _list(spans):
        span = entry[0] if isinstance(entry, list) and entry else entry
        found.append((str(span.get("schema", "span")) if isinstance(span, dict) else "span", span))
    return found


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _label(buffer: Buffer, row: int, item: str, schema: str, label: str, value: Any, cells: dict[str, Any]) -> None:
    if value in (None, False, "", "false", "False"):
        return
    if label.lower() in _FREE_TEXT:
        buffer.context.lost["answers in free text are not kept"] += 1
    elif label.lower() in _SLIDERS:
        buffer.judgement(row, "score", item, value=value, aspect=schema, **cells)
    elif label.removeprefix("scale_").isdecimal():
        buffer.judgement(row, "score", item, value=label.removeprefix("scale_"), aspect=schema, **cells)
    else:
        if value not in (True, "true", "True", label):
            buffer.context.assumed["whatever stands beside the name of a label means that it was chosen"] += 1
        buffer.judgement(row, "label", item, value=label, aspect=schema, **cells)


def _span(
    buffer: Buffer, row: int, item: str, schema: str, entry: Any, known: dict[str, Any], cells: dict[str, Any]
) -> None:
    try:
        span = msgspec.convert(entry, _Span)
    except msgspec.ValidationError as error:
        buffer.refuse(row, "a span has a start and an end", str(error), "Correct it.")
        return
    text = known.get(item)
    if not isinstance(text, str):
        buffer.refuse(row, "a span needs its text", f"no text for {item!r}", "Give the data file too.")
        return
    quote = span.text if span.text is not None else span.span
    start, end = place_span(text, span.start, span.end, quote, utf16=buffer.context.utf16)
    buffer.judgement(
        row,
        "span",
        item,
        start=start,
        end=end,
        quote=quote if quote is not None else text[max(start, 0) : max(end, 0)],
        value=span.label or span.name,
        aspect=schema,
        **cells,
    )


def _compared(
    buffer: Buffer,
    row: int,
    name: str,
    schema: str,
    answers: dict[str, Any],
    known: dict[str, Any],
    cells: dict[str, Any],
) -> None:
    """A choice between A and B, a scale whose negative side is A, or a best and a worst."""
    texts = known.get(name)
    items = texts if isinstance(texts, list) else [f"{name}:{letter}" for letter in "AB"]
    if not isinstance(texts, list):
        if "best" in answers or isinstance(texts, str) or buffer.context.seen:
            buffer.refuse(
                row, "a comparison needs its texts", f"no list of texts for {name!r}", "Give the data file too."
            )
            return
        buffer.context.assumed["compared texts without a data file are called by their instance and letter"] += 1
    letters = dict(zip(ascii_uppercase, items, strict=False))
    if "best" in answers or "worst" in answers:
        best, worst = (letters.get(str(answers.get(end))) for end in ("best", "worst"))
        if best is None or worst is None or best == worst:
            buffer.refuse(row, "a best and a worst are two letters of the list", f"{answers}", "Correct it.")
            return
        between = [item for item in items if item not in (best, worst)]
        ranking = cells["judgement_id"]
        rest = {key: value for key, value in cells.items() if key != "judgement_id"}
        buffer.ranking(row, [[best], between, [worst]], name=ranking, aspect=schema, **rest)
        return
    value = _vote(answers)
    if value is None or len(items) != 2:
        buffer.refuse(row, "a comparison says A, B or tie of two texts", f"{answers} of {len(items)}", "Correct it.")
        return
    known_cells = {**cells, "aspect": schema, "shown_left_id": items[0]}
    buffer.judgement(row, "pair", items[0], other_id=items[1], value=value, **known_cells)


def _vote(answers: dict[str, Any]) -> str | None:
    if "selection" in answers:
        return {"A": "1", "B": "0", "tie": "0.5", "TIE": "0.5"}.get(str(answers["selection"]))
    try:
        scale = float(answers["scale_value"])
    except (KeyError, TypeError, ValueError):
        return None
    return "1" if scale < 0 else ("0" if scale > 0 else "0.5")


def _write(project: Project, folder: Path, lost: Counter[str]) -> dict[str, int]:
    """Write the data file, and each person's state."""
    texts = judged_texts(project)
    pairs: dict[tuple[str, str], str] = {}
    states: dict[str, _State] = {}
    for row in plain_rows(project, "judgements"):
        if row["status"] not in (None, "done"):
            lost["judgements without an answer are left out"] += 1
            continue
        state = states.setdefault(row["annotator_id"] or "unknown", _State(row["annotator_id"] or "unknown"))
        if row["kind"] == "pair":
            name = pairs.setdefault((row["item_id"], row["other_id"]), f"pair{len(pairs) + 1}")
            said = {1.0: "A", 0.0: "B"}.get(float(row["value"]), "tie")
            _put(state.labels, name, row["aspect"] or "better", "selection", said)
        elif row["kind"] == "span":
            if row["start"] is None:
                lost["that nothing was marked in a text is not written"] += 1
                continue
            quote = (texts[row["item_id"]].item["text"] or "")[row["start"] : row["end"]]
            span = {"schema": row["aspect"] or "span", "name": row["value"] or "span", "text": quote}
            state.spans.setdefault(row["item_id"], []).append(
                [span | {"start": row["start"], "end": row["end"]}, "true"]
            )
        elif row["kind"] == "score":
            _put(state.labels, row["item_id"], row["aspect"] or "score", "slider", row["value"])
        else:
            _put(state.labels, row["item_id"], row["aspect"] or "label", row["value"], "true")
    if project.link_table.num_rows:
        lost["links between texts have no place in Potato"] += project.link_table.num_rows
    items = {name: judged.item["text"] or "" for name, judged in texts.items()}
    data: list[dict[str, Any]] = [
        {"id": name, "text": [items[one], items[other]], "text_ids": [one, other]}
        for (one, other), name in pairs.items()
    ]
    if not pairs:
        data = [
            {
                "id": name,
                "text": text,
                **{k.removeprefix("meta."): v for k, v in texts[name].item.items() if v is not None},
            }
            for name, text in items.items()
        ]
        for entry in data:
            del entry["item_id"]
    written = {"data.jsonl": write_lines(folder / "data.jsonl", data)}
    for person, state in states.items():
        if Path(person).name != person or person in (".", "..") or "\0" in person or len(person.encode()) > 200:
            raise InputError(
                f"Potato keeps a folder a person; {person[:40]!r} cannot be the name of one. Rename the person."
            )
        path = folder / "annotation_output" / person / _STATE
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.encode(state))
        written[f"annotation_output/{person}/{_STATE}"] = len(state.labels) + len(state.spans)
    return written


def _put(labels: dict[str, Any], item: str, schema: str, name: str, value: str) -> None:
    labels.setdefault(item, []).append([{"schema": schema, "name": name}, value])


FORMAT = Format(_SOURCE, "Potato's annotations", _detect, _read, _write)
