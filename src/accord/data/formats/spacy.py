"""spaCy and tools around it: JSON records with a text, its spans and its categories."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from accord.data.formats.registry import Format, Glimpse
from accord.data.reading.json_stream import records
from accord.data.reading.offsets import place_span
from accord.data.reading.rows import Buffer, Context, Rows, text_id
from accord.data.reading.sources import as_text

__all__ = ["FORMAT"]

_SOURCE = "spacy"
_SPANS = ("spans", "ents", "entities")
_LABELS = ("label", "labels")
_WHO = ("annotator_id", "annotator")
_OWN = ("group_id", "reply_to", "author_id", "timestamp")
_CHOSEN = 0.5  # from which a category counts as given
Span = tuple[int, int, str | None, str | None]  # start, end, label, the words


def _span(entry: Any) -> Span | None:
    """A span of an object or of a list of start, end and label; ``None`` for anything else."""
    if isinstance(entry, dict):
        start, end = (
            entry.get(name, entry.get(f"{name}_char", entry.get(f"{name}_offset"))) for name in ("start", "end")
        )
        label, quote = entry.get("label", entry.get("label_")), entry.get("text")
    elif isinstance(entry, list) and len(entry) in (2, 3):
        (start, end), label, quote = entry[:2], (entry[2] if len(entry) == 3 else None), None
    else:
        return None
    if not (isinstance(start, int) and isinstance(end, int)) or isinstance(start, bool) or isinstance(end, bool):
        return None
    return start, end, as_text(label), quote if isinstance(quote, str) else None


def _joined(record: Any) -> Any:
    """A record of its own, of a text beside its annotations as older training data have them."""
    if isinstance(record, list) and len(record) == 2 and isinstance(record[0], str) and isinstance(record[1], dict):
        return {"text": record[0], **record[1]}
    return record


def _detect(seen: Glimpse) -> str | None:
    record = _joined(seen.record)
    if not isinstance(record, dict) or not isinstance(record.get("text"), str) or "answer" in record:
        return None
    for name in _SPANS:
        entries = record.get(name)
        fits = isinstance(entries, list) and all(_span(entry) is not None for entry in entries)
        # Lists of start, end and label without anything else are doccano's too, which reads them alike.
        if fits and entries and ((isinstance(entries[0], dict) and "start" in entries[0]) or record is not seen.record):
            return f"its records have a text and a list called {name} with starts and ends"
    cats = record.get("cats")
    if isinstance(cats, dict) and cats and all(isinstance(value, int | float) for value in cats.values()):
        return "its records have a text and an object called cats"
    return None


def _read(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    for path in paths:
        buffer = Buffer(path, context, source=_SOURCE)
        for row, record in records(path, Any):
            example = _joined(record)
            if not isinstance(example, dict) or not isinstance(example.get("text"), str):
                buffer.refuse(row, "a record has a text", "none", "Fill it in or drop the record.")
            else:
                _example(buffer, row, example)
            yield from buffer.ready()
        yield from buffer.rest()


def _example(buffer: Buffer, row: int, example: Mapping[str, Any]) -> None:
    text, given = str(example["text"]), as_text(example.get("id"))
    if given is None:
        buffer.context.assumed["texts without an id are known by their words: equal texts are one item"] += 1
    read = {"text", "id", "tokens", "cats", *_SPANS, *_LABELS, *_WHO, *_OWN}
    meta = {name: value for name, value in example.items() if name not in read}
    own = {name: as_text(example[name]) for name in _OWN if example.get(name) is not None}
    item = buffer.item(row, given or text_id(text), text, meta=meta, **own)
    who = {"annotator_id": as_text(next((example[name] for name in _WHO if example.get(name) is not None), None))}
    for name in _LABELS:
        labels = example.get(name)
        for label in labels if isinstance(labels, list) else [labels]:
            if isinstance(label, str) and label:
                buffer.judgement(row, "label", item, value=label, **who)
            elif label:
                buffer.context.lost[f"entries of {name} that are no labels are not kept"] += 1
    cats = example.get("cats")
    for label, value in cats.items() if isinstance(cats, dict) else ():
        if isinstance(value, int | float) and value >= _CHOSEN:
            buffer.judgement(row, "label", item, value=label, **who)
    lists = [entries for name in _SPANS if isinstance(entries := example.get(name), list)]
    for entry in (entry for entries in lists for entry in entries):
        found = _span(entry)
        if found is None:
            buffer.refuse(row, "a span has a start and an end", repr(entry)[:60], "Correct it.")
            continue
        start, end, label, quote = found
        start, end = place_span(text, start, end, quote, utf16=buffer.context.utf16)
        words = text[max(start, 0) : max(end, 0)]
        buffer.judgement(row, "span", item, start=start, end=end, quote=words, value=label, **who)


FORMAT = Format(_SOURCE, "a file of texts with spans, as spaCy writes them", _detect, _read)
