"""Argilla: records as JSON, nested as its client writes them or flat as data sets have them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from accord.data.formats.registry import Format, Glimpse
from accord.data.project import Project
from accord.data.reading.json_stream import decode, rows_of, whole
from accord.data.reading.offsets import place_span
from accord.data.reading.rows import Buffer, Context, Rows, text_id
from accord.data.reading.sources import as_text
from accord.data.reading.writing import judged_texts, plain_rows
from accord.errors import InputError

__all__ = ["FORMAT"]

_SOURCE = "argilla"
_STATUS = {"submitted": None, "discarded": "skipped", "draft": "draft"}
_OWN = ("item_id", "group_id", "reply_to", "author_id", "timestamp")
_FLAT = (".responses", ".responses.users", ".responses.status")


class _Response(msgspec.Struct):
    value: Any = None
    user_id: str | None = None
    status: str | None = None


class _Record(msgspec.Struct):
    fields: dict[str, Any]
    id: str | int | None = None
    metadata: dict[str, Any] = {}
    suggestions: dict[str, Any] | list[Any] = {}
    responses: dict[str, list[_Response] | None] = {}
    status: str | None = None


class _Span(msgspec.Struct):
    start: int
    end: int
    label: str | None = None


class _Ranked(msgspec.Struct):
    value: str
    rank: int | None = None


def _detect(seen: Glimpse) -> str | None:
    if seen.has("fields", "responses"):
        return "its records have fields and responses"
    flat = [name for name in seen.columns if name.endswith(".responses")]
    return f"it has the column {flat[0]}" if flat else None


def _read(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    questions, fields = _settings(context.config)
    for path in paths:
        buffer = Buffer(path, context, source=_SOURCE)
        for row, cells in rows_of(path):
            try:
                record = msgspec.convert(cells if "fields" in cells else _of_flat(cells, fields, path, row), _Record)
            except msgspec.ValidationError as error:
                said = str(error)
                raise InputError(
                    f"a record must have the shape of its format; row {row:,} of {path}: {said[:1].lower()}{said[1:]}. "
                    "Correct it."
                ) from None
            _record(buffer, row, record, questions)
            yield from buffer.ready()
        yield from buffer.rest()
    if context.config is None:
        context.assumed["without settings a text is a label, a number a score, a list what its entries are"] += 1


def _settings(config: Path | None) -> tuple[dict[str, dict[str, Any]], set[str]]:
    """What the settings say of each question, and the names of the fields."""
    if config is None:
        return {}, set()
    settings = whole(config, dict[str, Any])
    entries = settings.get("questions")
    if not isinstance(entries, list):
        raise InputError(f"the settings of Argilla have a list of questions; {config} has none. Use its settings.json.")
    known = {str(entry.get("name")): entry.get("settings") or {} for entry in entries if isinstance(entry, dict)}
    fields = settings.get("fields")
    named = fields if isinstance(fields, list) else []
    return known, {str(entry.get("name")) for entry in named if isinstance(entry, dict)}


def _of_flat(cells: dict[str, Any], known: set[str], path: Path, row: int) -> dict[str, Any]:
    """A record whose questions stand in columns like ``quality.responses``."""
    names = [name.removesuffix(".responses") for name in cells if name.endswith(".responses")]
    responses: dict[str, list[dict[str, Any]]] = {}
    for name in names:
        values, users, states = (_listed(cells.get(name + end), f"row {row:,} of {path}") for end in _FLAT)
        responses[name] = [
            {
                "value": value,
                "user_id": as_text(users[place]) if place < len(users) else None,
                "status": states[place] if place < len(states) else None,
            }
            for place, value in enumerate(values)
        ]
    own = ("id", "status", "_server_id", "inserted_at", "updated_at")
    suggested = {name for name in cells if ".suggestion" in name and cells[name] not in (None, [])}
    answers = {name for name in cells if any(name.startswith(f"{question}.") for question in names)}
    rest = {name: value for name, value in cells.items() if name not in answers and name not in own}
    # In a flat record fields and metadata look alike. The settings tell them apart; without them the texts are the
    # fields, but for what a project calls its own.
    texts = {name for name, value in rest.items() if isinstance(value, str) and not name.startswith("metadata.")}
    chosen = known or {name for name in texts if name not in _OWN and not name.endswith("_id")}
    fields = {name: value for name, value in rest.items() if name in chosen and value is not None}
    meta = {name.removeprefix("metadata."): value for name, value in rest.items() if name not in chosen}
    return {
        "id": cells.get("id"),
        "fields": fields,
        "metadata": {name: value for name, value in meta.items() if value is not None},
        "responses": responses,
        "suggestions": dict.fromkeys(suggested),
        "status": cells.get("status"),
    }


def _listed(value: Any, where: str) -> list[Any]:
    if isinstance(value, str) and value[:1] == "[":
        value = decode(value, list[Any], where)
    return value if isinstance(value, list) else []


def _record(buffer: Buffer, row: int, record: _Record, questions: dict[str, dict[str, Any]]) -> None:
    context = buffer.context
    if record.suggestions:
        context.lost["suggestions are not kept"] += len(record.suggestions)
    name = as_text(record.id) or str(row)
    texts = {field: value for field, value in record.fields.items() if isinstance(value, str)}
    if len(texts) < len(record.fields):
        context.lost["fields that are not texts are not kept"] += len(record.fields) - len(texts)
    if not texts:
        buffer.refuse(row, "a record has a text field", "none", "Drop it.")
        return
    for question, responses in record.responses.items():
        for response in responses or ():
            _answer(buffer, row, name, record, texts, question, questions.get(question, {}), response)
    if not any(record.responses.values()):
        _text(buffer, row, name, record, texts, next(iter(texts)))


def _text(buffer: Buffer, row: int, name: str, record: _Record, texts: dict[str, str], field: str) -> tuple[str, str]:
    """The text that a question is about, as an item."""
    own = as_text(record.metadata.get("item_id")) or name
    if len(texts) > 1:
        buffer.context.assumed[f"answers are about the field {field}; the others are kept beside it"] += 1
    meta = {key: value for key, value in (record.metadata | texts).items() if key not in (*_OWN, field)}
    cells = {key: as_text(record.metadata.get(key)) for key in _OWN[1:]}
    buffer.item(row, own, texts[field], meta=meta, **{key: value for key, value in cells.items() if value})
    return own, texts[field]


def _answer(
    buffer: Buffer,
    row: int,
    name: str,
    record: _Record,
    texts: dict[str, str],
    question: str,
    settings: dict[str, Any],
    response: _Response,
) -> None:
    status = _STATUS.get(response.status or "submitted", response.status)
    skipped = "discarded" if status == "skipped" else None
    cells = {"annotator_id": response.user_id, "status": status, "skip_reason": skipped, "judgement_id": name}
    value = response.value
    options = [entry.get("value") for entry in settings.get("options") or () if isinstance(entry, dict)]
    if isinstance(value, str) and len(texts) > 1 and value in texts and set(options or texts) <= set(texts):
        other = [field for field in (options or texts) if field != value]
        if len(other) == 1:
            sides = list(options or texts)
            left, right = (_side(buffer, row, record, texts, str(field)) for field in sides)
            vote = "1" if value == sides[0] else "0"
            buffer.judgement(row, "pair", left, other_id=right, value=vote, shown_left_id=left, **cells)
            return
    entries = value if isinstance(value, list) else []
    if entries and all(isinstance(entry, dict) for entry in entries):
        if "start" in entries[0]:
            _spans(buffer, row, name, record, texts, settings, entries, cells)
        else:
            _ranking(buffer, row, record, texts, question, entries, cells)
        return
    field = settings.get("field") if settings.get("field") in texts else next(iter(texts))
    item, _ = _text(buffer, row, name, record, texts, str(field))
    kind = settings.get("type")
    if kind == "text":
        buffer.context.lost["answers in free text are not kept"] += 1
    elif kind == "span" and value == []:
        buffer.judgement(row, "span", item, **cells)
    elif value is None:
        buffer.judgement(row, "label", item, aspect=question, **{**cells, "status": status or "skipped"})
    elif isinstance(value, bool) or not isinstance(value, int | float):
        for label in entries or ([value] if not isinstance(value, list) else ()):
            buffer.judgement(row, "label", item, value=as_text(label), aspect=question, **cells)
    else:
        buffer.judgement(row, "score", item, value=value, aspect=question, **cells)


def _side(buffer: Buffer, row: int, record: _Record, texts: dict[str, str], field: str) -> str:
    given = as_text(record.metadata.get(f"{field}_id"))
    if given is None:
        buffer.context.assumed["compared texts without an id are known by their words: equal texts are one item"] += 1
    group = as_text(record.metadata.get("group_id"))
    return buffer.item(row, given or text_id(texts[field]), texts[field], group_id=group)


def _spans(
    buffer: Buffer,
    row: int,
    name: str,
    record: _Record,
    texts: dict[str, str],
    settings: dict[str, Any],
    entries: list[Any],
    cells: dict[str, Any],
) -> None:
    field = settings.get("field")
    if field not in texts and len(texts) > 1:
        buffer.refuse(
            row, "spans need the settings, which say of which field", f"{len(texts)} fields", "Give them with --config."
        )
        return
    item, text = _text(buffer, row, name, record, texts, str(field) if field in texts else next(iter(texts)))
    try:
        spans = msgspec.convert(entries, list[_Span])
    except msgspec.ValidationError as error:
        buffer.refuse(row, "a span has start, end and label", str(error), "Correct it.")
        return
    for span in spans:
        start, end = place_span(text, span.start, span.end, None, utf16=buffer.context.utf16)
        quote = text[max(start, 0) : max(end, 0)]
        buffer.judgement(row, "span", item, start=start, end=end, quote=quote, value=span.label, **cells)


def _ranking(
    buffer: Buffer,
    row: int,
    record: _Record,
    texts: dict[str, str],
    question: str,
    entries: list[Any],
    cells: dict[str, Any],
) -> None:
    try:
        ranked = msgspec.convert(entries, list[_Ranked])
    except msgspec.ValidationError as error:
        buffer.refuse(row, "a ranking has values and ranks", str(error), "Correct it.")
        return
    unknown = [entry.value for entry in ranked if entry.value not in texts]
    if unknown:
        buffer.refuse(
            row,
            "a ranking is read if its values are names of text fields",
            repr(unknown[0]),
            "Name the options after the fields that are ranked.",
        )
        return
    if any(entry.rank is None for entry in ranked):
        buffer.context.assumed["a ranking without ranks is in the order in which it stands"] += 1
    tiers: dict[int, list[str]] = {}
    for place, entry in enumerate(ranked, start=1):
        tiers.setdefault(place if entry.rank is None else entry.rank, []).append(
            _side(buffer, row, record, texts, entry.value)
        )
    name = f"{cells.pop('judgement_id')}:{question}"
    buffer.ranking(row, [tiers[rank] for rank in sorted(tiers)], name=name, ties=True, **cells)


def _write(project: Project, folder: Path, lost: Counter[str]) -> dict[str, int]:
    folder.mkdir(parents=True, exist_ok=True)
    pairs = any(row["kind"] == "pair" for row in plain_rows(project, "judgements"))
    if project.link_table.num_rows:
        lost["links between texts have no place in Argilla"] += project.link_table.num_rows
    records = _pair_records(project, lost) if pairs else _text_records(project, lost)
    (folder / "records.json").write_bytes(msgspec.json.format(msgspec.json.encode(records), indent=1))
    return {"records.json": len(records)}


def _response(row: dict[str, Any], value: Any) -> dict[str, Any]:
    status = {"skipped": "discarded", "draft": "draft"}.get(row["status"] or "", "submitted")
    return {"value": value, "user_id": row["annotator_id"], "status": status}


def _pair_records(project: Project, lost: Counter[str]) -> list[dict[str, Any]]:
    texts = {row["item_id"]: row for row in plain_rows(project, "items")}
    records: dict[tuple[str, str], dict[str, Any]] = {}
    for row in plain_rows(project, "judgements"):
        if row["kind"] != "pair":
            lost[f"judgements of kind {row['kind']} are not written beside comparisons"] += 1
            continue
        sides = (row["item_id"], row["other_id"])
        left, right = (texts[side] for side in sides)
        record = records.setdefault(
            sides,
            {
                "id": f"{len(records) + 1}",
                "fields": {"left": left["text"] or "", "right": right["text"] or ""},
                "metadata": {"left_id": sides[0], "right_id": sides[1]},
                "suggestions": {},
                "responses": {"better": []},
                "vectors": {},
                "status": "completed",
            },
        )
        vote = None if row["value"] is None else float(row["value"])
        ranks = {None: None, 1.0: (1, 2), 0.0: (2, 1), 0.5: (1, 1)}[vote]
        value = None if ranks is None else [{"value": "left", "rank": ranks[0]}, {"value": "right", "rank": ranks[1]}]
        record["responses"]["better"].append(_response(row, value))
        group = left["group_id"]
        if group is not None and group == right["group_id"]:
            record["metadata"]["group_id"] = group
    return list(records.values())


def _text_records(project: Project, lost: Counter[str]) -> list[dict[str, Any]]:
    records = []
    for judged in judged_texts(project).values():
        item = judged.item
        responses: dict[str, list[dict[str, Any]]] = {}
        for row in judged.labels:
            responses.setdefault(row["aspect"] or "label", []).append(_response(row, row["value"]))
        for row in judged.scores:
            value = None if row["value"] is None else int(float(row["value"]))
            responses.setdefault(row["aspect"] or "score", []).append(_response(row, value))
        people = dict.fromkeys((row["annotator_id"], row["status"]) for row in judged.spans)
        for person, status in people:
            rows = [row for row in judged.spans if (row["annotator_id"], row["status"]) == (person, status)]
            marked = [
                {"start": row["start"], "end": row["end"], "label": row["value"] or "span"}
                for row in rows
                if row["start"] is not None
            ]
            responses.setdefault("spans", []).append(_response(rows[0], marked))
        meta = {name: item[name] for name in _OWN[1:] if item[name] is not None}
        meta |= {name[5:]: value for name, value in item.items() if name.startswith("meta.") and value is not None}
        records.append(
            {
                "id": item["item_id"],
                "fields": {"text": item["text"] or ""},
                "metadata": meta,
                "suggestions": {},
                "responses": responses,
                "vectors": {},
                "status": "completed" if responses else "pending",
            }
        )
    if any(row["created_at"] for row in plain_rows(project, "judgements")):
        lost["when people answered is not written"] += 1
    return records


FORMAT = Format(_SOURCE, "an Argilla data set", _detect, _read, _write)
