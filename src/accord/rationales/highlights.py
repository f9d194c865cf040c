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
    texts: list[str], labels: Any, rationales: Any, annotator: Any = None
) -> list[tuple[int, str, IntArray]]:
    """Highlights by row and annotator: row, annotator's name ("" where not known), checked spans (n, 2).

    Parameters
    ----------
    texts : list of str
    labels : array of shape (n_texts,)
    rationales : sequence of shape (n_texts,), or Rationales, or None
        As in :meth:`accord.RationaleClassifier.fit`.
    annotator : sequence of shape (n_texts,), optional
    """
    if rationales is None:
        return []
    texts = as_list(texts)
    if isinstance(rationales, Rationales):
        spans = _spans_of_record(rationales, texts)
    else:
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


def _unique_places(record: Rationales, texts: list[str], annotated: BoolArray) -> dict[str, int]:
    """Annotated items by their texts."""
    place: dict[str, int] = {}
    for item in np.flatnonzero(annotated).tolist():
        if place.setdefault(texts[item], item) != item:
            one, other = str(record.items.ids[item]), str(record.items.ids[place[texts[item]]])
            raise InputError(
                f"rationales are matched to rows by text; {one!r} and {other!r} have the same text. "
                "Give the spans as one list a row, or the texts in the record's own order."
            )
    return place


def _spans_of_record(record: Rationales, texts: list[str]) -> list[tuple[int, str, IntArray]]:
    """The record's annotations of the given texts: row, annotator and spans."""
    all_texts = [] if record.items.texts is None else list(record.items.texts)
    annotated = np.ones(len(all_texts), dtype=bool) if record.annotated is None else record.annotated
    if all_texts == texts:
        where = {row: row for row in np.flatnonzero(annotated).tolist()}
    else:
        place = _unique_places(record, all_texts, annotated)
        where = {row: place[text] for row, text in enumerate(texts) if text in place}
    all_spans = record.per_item()
    by_item: dict[int, list[int]] = {}
    for position, marked in enumerate(record.item):
        by_item.setdefault(int(marked), []).append(position)
    out: list[tuple[int, str, IntArray]] = []
    for row, found in where.items():
        positions = by_item.get(found, [])
        if record.annotator is None or record.annotators is None or not positions:
            out.append((row, "", all_spans[found]))
            continue
        for code in np.unique(record.annotator[positions]):
            name = "" if code < 0 else str(record.annotators[code])
            out.append((row, name, record.of(found, int(code))))
    return out


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
    found: list[list[int]] = []
    for span in spans:
        if np.ndim(span) == 0 or len(span) not in (2, 3) or any(place % 1 for place in span[:2]):
            raise InputError(
                f"a span is (start, end) or (start, end, label), in whole characters; row {row + 1} has {span!r}."
            )
    for span in sorted(([*span] for span in spans), key=lambda span: span[0]):
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
        if found and start < found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([start, end])
    return np.array(found, dtype=np.int64).reshape(-1, 2)
