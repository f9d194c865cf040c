"""Highlights: spans that people give, matched to their texts and laid over the tokens; and spans that are predicted."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from accord.data.columns import as_column
from accord.data.rationales import Rationales, inside_tags, token_spans
from accord.data.tables import as_list
from accord.errors import InputError
from accord.fitting.optimise import minimise_lbfgs
from accord.rationales.binary_chain import SCORE_LIMIT
from accord.rationales.features import Tokens
from accord.typing import AnyArray, BoolArray, FloatArray, IntArray, ObjectArray

__all__ = [
    "Annotation",
    "MatchedSpans",
    "PredictedRationale",
    "annotations_of",
    "best_threshold",
    "expected_threshold",
    "given_classes",
    "match_spans",
]


class MatchedSpans(NamedTuple):
    """What one person marked in one text as reasons for one class."""

    row: int
    annotator: str  # "" where not known
    label: Any
    spans: IntArray  # (n, 2) characters, in order and not overlapping


class Annotation(NamedTuple):
    """The same over the tokens of the text."""

    row: int
    habit: int  # row of φ: 0 the habits that all share, 1, 2, … those of one person
    label: int  # code of the class
    tags: BoolArray  # (n_tokens,) whether each was highlighted


def given_classes(y: Any) -> AnyArray:
    """Classes of texts, shape (n_texts,), none missing."""
    labels = as_column(y)
    if labels.ndim != 1:
        raise InputError(f"classes must have one entry a text; their shape is {labels.shape}.")
    missing = np.flatnonzero(pd.isna(labels))
    if len(missing):
        raise InputError(f"every text needs a class; row {missing[0] + 1} has none. Drop that text.")
    return labels


def match_spans(
    texts: list[str], labels: Any, rationales: Any, annotator: Any = None, *, ids: ObjectArray | None = None
) -> list[MatchedSpans]:
    """The highlights of each row, checked, by annotator and class.

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
    n = len(texts)
    if isinstance(rationales, Rationales):
        given: Any = _of_record(rationales, texts, ids)
    else:
        if len(rationales) != n:
            raise InputError(f"rationales must have one entry a text ({n}); there are {len(rationales)}.")
        names = [""] * n if annotator is None else ["" if pd.isna(name) else str(name) for name in annotator]
        if len(names) != n:
            raise InputError(f"annotator must have one entry a text ({n}); there are {len(names)}.")
        given = [
            (row, names[row], _checked(spans, texts[row], row))
            for row, spans in enumerate(as_list(rationales))
            if isinstance(spans, Iterable) or not pd.isna(spans)
        ]
    classes = set(np.asarray(labels).tolist())
    out = []
    for row, name, spans in given:
        by_label: dict[Any, list[tuple[int, int]]] = {}
        for start, end, label in spans:
            if label is not None and label not in classes:
                raise InputError(
                    f"a highlight must be a reason for one of the classes ({', '.join(map(str, sorted(classes)))}); "
                    f"row {row + 1} has one for {str(label)!r}. Drop the span or correct its class."
                )
            by_label.setdefault(labels[row] if label is None else label, []).append((start, end))
        for label, found in (by_label or {labels[row]: []}).items():
            out.append(MatchedSpans(row, name, label, _merged(found)))
    return out


def _of_record(record: Rationales, texts: list[str], ids: ObjectArray | None) -> list[tuple[int, str, Any]]:
    """The record's annotations of the rows: row, annotator and spans."""
    known = np.empty(0, dtype=object) if record.items.texts is None else record.items.texts
    if ids is None and known.tolist() != texts:
        raise InputError(
            f"rows meet their spans by id; X has no ids, and its {len(texts)} texts are not the record's "
            f"{record.items.n_items} in their order. Give X as a table with item_id and text, or a list of spans a row."
        )
    places = np.arange(len(texts)) if ids is None else record.items.places(ids)
    rows = {place: row for row, place in enumerate(places.tolist()) if place >= 0}
    out = [(rows[item], name, spans) for item, name, spans in record.annotations() if item in rows]
    for row, _, _ in out:
        if known[places[row]] != texts[row]:
            raise InputError(
                f"a span marks characters of its text; {str(record.items.ids[places[row]])!r} has another text in row "
                f"{row + 1} of X than in the record. Give both the same text."
            )
    return sorted(out, key=lambda one: one[:2])


def _checked(spans: Any, text: str, row: int) -> list[tuple[int, int, Any]]:
    """Spans of one text as (start, end, label or None)."""
    if not isinstance(spans, Iterable):
        raise InputError(
            f"spans come as a list of (start, end); row {row + 1} has {spans!r}. Write None where none is."
        )
    out = []
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
        out.append((start, end, span[2] if len(span) == 3 else None))
    return out


def _merged(spans: list[tuple[int, int]]) -> IntArray:
    """Spans in order, (n, 2); overlapping ones are merged, touching ones are not."""
    found: list[list[int]] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([start, end])
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def annotations_of(
    tokens: Tokens, matched: list[MatchedSpans], codes: dict[Any, int]
) -> tuple[list[Annotation], list[str]]:
    """The highlighted tokens, in order of the rows, and the people who have habits of their own.

    Somebody whose name is not known shares the common habits, and so does the only one who is known. People are
    ordered by what they marked, so that their names do not matter.

    Parameters
    ----------
    tokens : Tokens
    matched : list of MatchedSpans
    codes : dict
        Code of each class.
    """
    work: dict[str, list[Any]] = {}
    for one in matched:
        work.setdefault(one.annotator, []).append((one.row, codes[one.label], one.spans.tolist()))
    people = sorted((sorted(marks), name) for name, marks in work.items() if name)
    names = [name for _, name in people]
    habits = {name: place if len(names) > 1 else 0 for place, name in enumerate(names, 1)} | {"": 0}
    found = [
        Annotation(one.row, habits[one.annotator], codes[one.label], inside_tags(one.spans, tokens.of(one.row)))
        for one in matched
    ]
    return sorted(found, key=lambda one: (one.row, one.habit, one.label)), names


@dataclass(frozen=True, eq=False)
class PredictedRationale:
    """The words that an annotator would highlight in a text of a given class."""

    label: Any
    spans: IntArray  # (n_spans, 2) characters of the tokens that are likely enough to be highlighted
    best_spans: IntArray  # (n_best, 2) characters of the single most likely highlighting, often none
    tokens: IntArray  # (n_tokens, 2) characters of each token
    probabilities: FloatArray  # (n_tokens,) that a token is highlighted

    @classmethod
    def of(
        cls, label: Any, probabilities: FloatArray, best: BoolArray, tokens: IntArray, threshold: float
    ) -> "PredictedRationale":
        """From the probabilities and the most likely tags of a text's tokens."""
        return cls(
            label, characters(probabilities >= threshold, tokens), characters(best, tokens), tokens, probabilities
        )

    def spans_above(self, threshold: float) -> IntArray:
        """Runs of tokens that are highlighted with at least this probability, as characters, shape (n, 2)."""
        return characters(self.probabilities >= threshold, self.tokens)


def characters(tags: BoolArray, tokens: IntArray) -> IntArray:
    """Runs of marked tokens as characters, shape (n, 2)."""
    runs = token_spans(tags)
    return np.stack([tokens[runs[:, 0], 0], tokens[runs[:, 1] - 1, 1]], axis=1) if len(runs) else runs


def expected_threshold(probabilities: FloatArray, tags: BoolArray) -> float:
    """The probability from which tokens are best called highlighted: the largest expected F1 over all tokens.

    Whether single tokens near the threshold were highlighted is left to chance: few texts would move
    :func:`best_threshold` far. Expected is what the probabilities say once their log odds are scaled and shifted to fit
    the tags.
    """
    if not np.any(tags):
        return 0.5
    odds = np.clip(logit(probabilities), -SCORE_LIMIT, SCORE_LIMIT)

    def loss(vector: FloatArray) -> tuple[float, FloatArray]:
        scores = vector[0] * odds + vector[1]
        excess = expit(scores) - tags
        value = float((np.logaddexp(0.0, scores) - tags * scores).mean())
        return value, np.array([(excess * odds).mean(), excess.mean()])

    scale, shift = minimise_lbfgs(loss, np.array([1.0, 0.0]), tol=1e-5, max_iter=50).weights
    if scale <= 0:  # the probabilities say nothing of these tags
        return best_threshold(probabilities, tags)
    order = np.argsort(-probabilities, kind="stable")
    hits = np.cumsum(expit(scale * odds[order] + shift))
    f1 = 2.0 * hits / (np.arange(1, len(hits) + 1) + hits[-1])
    return float(probabilities[order[int(np.argmax(f1))]])


def best_threshold(probabilities: FloatArray, tags: BoolArray) -> float:
    """The probability from which tokens are best called highlighted: the largest F1 over all tokens.

    The single most likely tag sequence marks almost nothing where highlights are rare and their places uncertain.
    """
    if not np.any(tags):
        return 0.5
    order = np.argsort(-probabilities, kind="stable")
    hits = np.cumsum(tags[order])
    f1 = 2.0 * hits / (np.arange(1, len(tags) + 1) + hits[-1])
    return float(probabilities[order[int(np.argmax(f1))]])
