"""Highlights as people give them, checked and laid over the tokens."""

from typing import Any

import numpy as np
import pandas as pd

from accord.data.rationales import Rationales, inside_tags
from accord.data.tables import as_list
from accord.errors import InputError
from accord.rationales.features import Tokens
from accord.typing import AnyArray, BoolArray, IntArray, ObjectArray

__all__ = ["Annotation", "annotations_of", "checked_spans", "given_classes", "given_spans"]

# One annotation of one text: the row, the annotator's position, and which tokens were highlighted.
Annotation = tuple[int, int, BoolArray]


def given_classes(y: Any) -> AnyArray:
    """Classes of texts, shape (n_texts,), none missing."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise InputError(f"classes must have one entry a text; their shape is {labels.shape}.")
    missing = np.flatnonzero(pd.isna(labels))
    if len(missing):
        raise InputError(f"every text needs a class; row {missing[0] + 1} has none. Drop that text.")
    return labels


def given_spans(
    texts: list[str], labels: Any, rationales: Any, annotator: Any = None, *, ids: ObjectArray | None = None
) -> list[tuple[int, str, IntArray]]:
    """Highlights by row and annotator: row, annotator's name ("" where not known), checked spans (n, 2).

    Parameters
    ----------
    texts : list of str
    labels : array of shape (n_texts,)
    rationales : sequence of shape (n_texts,), or Rationales, or None
        As in :meth:`accord.RationaleClassifier.fit`.
    annotator : sequence of shape (n_texts,), optional
    ids : array of shape (n_texts,), optional
        Ids of the rows, by which they meet the spans of a record; without them the rows must be those of the record.
    """
    if rationales is None:
        return []
    texts = as_list(texts)
    if isinstance(rationales, Rationales):
        return [(row, name, _merged(marks)) for row, name, marks in _spans_of_record(rationales, texts, ids)]
    if len(rationales) != len(texts):
        raise InputError(f"rationales must have one entry a text ({len(texts)}); there are {len(rationales)}.")
    names = [""] * len(texts) if annotator is None else ["" if name is None else str(name) for name in annotator]
    if len(names) != len(texts):
        raise InputError(f"annotator must have one entry a text ({len(texts)}); there are {len(names)}.")
    spans = [(row, names[row], marks) for row, marks in enumerate(rationales) if marks is not None]
    return [(row, name, checked_spans(marks, texts[row], row=row, label=labels[row])) for row, name, marks in spans]


def annotations_of(tokens: Tokens, spans: list[tuple[int, str, IntArray]]) -> tuple[list[Annotation], ObjectArray]:
    """Who highlighted which tokens of which rows, and the annotators' names; without any, one nameless annotator."""
    annotators = np.array(sorted({name for _, name, _ in spans}) or [""], dtype=object)
    places = {name: place for place, name in enumerate(annotators)}
    return [(row, places[name], inside_tags(marks, tokens.of(row))) for row, name, marks in spans], annotators


def _spans_of_record(record: Rationales, texts: list[str], ids: ObjectArray | None) -> list[tuple[int, str, IntArray]]:
    """The record's annotations of the rows: row, annotator and spans."""
    if ids is None and (record.items.texts is None or record.items.texts.tolist() != texts):
        raise InputError(
            f"rows meet their spans by id; X has no ids, and its {len(texts)} texts are not the record's "
            f"{record.items.n_items} in their order. Give X as a table with item_id and text, or a list of spans a row."
        )
    places = np.arange(len(texts)) if ids is None else record.items.places(ids)
    known = record.items.texts if record.items.texts is not None else np.empty(0, dtype=object)
    by_item = _by_item_and_annotator(record)
    out: list[tuple[int, str, IntArray]] = []
    for row, place in enumerate(places.tolist()):
        if place < 0 or not np.asarray(record.annotated)[place]:
            continue
        if known[place] != texts[row]:
            raise InputError(
                f"a span marks characters of its text; {str(record.items.ids[place])!r} has another text in row "
                f"{row + 1} of X than in the record. Give both the same text."
            )
        out += [(row, name, marks) for name, marks in by_item.get(place, [("", np.empty((0, 2), dtype=np.int64))])]
    return out


def _by_item_and_annotator(record: Rationales) -> dict[int, list[tuple[str, IntArray]]]:
    """The spans of each marked text, one array a person ("" where not known)."""
    who = np.full(record.n_spans, -1) if record.annotator is None else record.annotator
    names = np.append([] if record.annotators is None else record.annotators, "")  # position −1 is the nameless one
    order = np.lexsort((record.start, who, record.item))
    item, who = record.item[order], who[order]
    cuts = np.flatnonzero((np.diff(item) != 0) | (np.diff(who) != 0)) + 1
    found: dict[int, list[tuple[str, IntArray]]] = {}
    for rows in np.split(np.arange(len(order)), cuts) if len(order) else []:
        marks = np.stack([record.start[order[rows]], record.end[order[rows]]], axis=1)
        found.setdefault(int(item[rows[0]]), []).append((str(names[who[rows[0]]]), marks))
    return found


def checked_spans(spans: Any, text: str, *, row: int, label: Any = None) -> IntArray:
    """The spans of one text as an array (n, 2), in order; overlapping ones are merged, touching ones are not.

    Parameters
    ----------
    spans : sequence of (start, end) or (start, end, label)
        Characters ``[start, end)``.
    text : str
    row : int
        For the message.
    label : object
        The text's class; a span that speaks for another one is refused.
    """
    for span in spans:
        if np.ndim(span) == 0 or len(span) not in (2, 3) or any(place % 1 for place in span[:2]):
            raise InputError(
                f"a span is (start, end) or (start, end, label), in whole characters; row {row + 1} has {span!r}."
            )
        start, end = int(span[0]), int(span[1])
        if not 0 <= start < end <= len(text):
            raise InputError(
                f"a span must lie inside its text, 0 <= start < end <= length; row {row + 1} has [{start}, {end}) in a "
                f"text of {len(text)} characters. Correct the offsets or drop the span."
            )
        if len(span) == 3 and span[2] != label:
            raise InputError(
                f"a rationale must speak for its text's class; row {row + 1} has the class {str(label)!r} and the span "
                f"[{start}, {end}) for {str(span[2])!r}. Drop the span or correct the class."
            )
    return _merged([span[:2] for span in spans])


def _merged(spans: Any) -> IntArray:
    """Spans in order, overlapping ones as one, shape (n, 2)."""
    found: list[list[int]] = []
    for start, end in sorted((int(start), int(end)) for start, end in spans):
        if found and start < found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([start, end])
    return np.array(found, dtype=np.int64).reshape(-1, 2)
