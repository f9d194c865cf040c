"""Rationales from a project: train, predict, explain and ask."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from accord.data.project import Project
from accord.data.rationales import Rationales
from accord.data.table_rows import project_of_rows
from accord.data.task import Beliefs, RowReader, Task
from accord.engines.numerics import entropy
from accord.errors import InputError
from accord.fitting.asking import label_margin, label_precision
from accord.fitting.settings import configured
from accord.rationales import RationaleClassifier
from accord.typing import ObjectArray, Progress

__all__ = ["TASK", "ask", "beliefs", "explain", "predict", "train"]


def train(project: Project, settings: Mapping[str, Any], progress: Progress) -> RationaleClassifier:
    """Fit a classifier on the texts that have a class, with the highlights that any of them have."""
    model = configured(RationaleClassifier, settings)
    labels = project.labels()
    rows = np.flatnonzero([label is not None for label in labels])
    if not len(rows):
        raise InputError("rationales explain classes; no text of this project has one. Import labels first.")
    record = _reasons(project, labels).subset(rows)
    progress("rationales: fitting", 0, 1)
    model.fit(_texts(record), labels[rows].astype(str), rationales=record if np.any(record.annotated) else None)
    progress("rationales: fitting", 1, 1)
    return model


def predict(model: RationaleClassifier, project: Project) -> pd.DataFrame:
    """``item_id, label, probability, given``, ``p.<label>`` of each label, and ``highlights`` of the label.

    A text whose class is given keeps it. ``highlights`` is a list of (start, end, quote) in characters.
    """
    items, known = project.items(), project.labels()
    texts = [] if items.texts is None else [str(text) for text in items.texts]
    places = {str(label): place for place, label in enumerate(model.classes_)}
    codes = np.array([-1 if label is None else places.get(str(label), -1) for label in known], dtype=np.int64)
    given = codes >= 0
    p = model.predict_proba(texts)
    p[given] = np.eye(len(places))[codes[given]]
    best = p.argmax(axis=1)
    columns: dict[str, Any] = {
        "item_id": items.ids,
        "label": model.classes_[best],
        "probability": p[np.arange(len(p)), best],
        "given": given,
    }
    columns |= {f"p.{label}": p[:, place] for label, place in places.items()}
    if model.n_annotated_:
        found = model.predict_rationales(texts, model.classes_[best])
        columns["highlights"] = [
            [(int(a), int(b), text[a:b]) for a, b in one.spans] for one, text in zip(found, texts, strict=True)
        ]
    return pd.DataFrame(columns)


def explain(model: RationaleClassifier, project: Project, target: str) -> pd.DataFrame:
    """``reason, effect, kind``: the words of a text by what they add to the class that the model gives it."""
    items = project.items()
    text = "" if items.texts is None else str(items.texts[items.positions([target])[0]])
    table = model.explain(text)
    return table[["reason", "effect", "kind"]]


def ask(model: RationaleClassifier, project: Project, n: int) -> pd.DataFrame:
    """The texts with a class and without highlights that are most worth highlighting: ``item_id`` and ``worth``."""
    labels = project.labels()
    record = _reasons(project, labels)
    rows = np.flatnonzero([label is not None for label in labels] & ~np.asarray(record.annotated))
    if not len(rows):
        raise InputError("every text with a class has highlights already; there is none to ask for.")
    asked = model.ask(n, [_texts(record)[row] for row in rows], labels[rows].astype(str))
    return pd.DataFrame({"item_id": record.items.ids[rows[asked["row"]]], "worth": asked["worth"]})


def beliefs(model: RationaleClassifier, project: Project) -> Beliefs:
    """What asking for classes needs: how sure each is."""
    items = project.items()
    p = model.predict_proba([] if items.texts is None else [str(text) for text in items.texts])
    return Beliefs(items.ids, entropy(p), label_precision(p), margin=label_margin(p))


def _texts(record: Rationales) -> list[str]:
    return [] if record.items.texts is None else [str(text) for text in record.items.texts]


def _reasons(project: Project, labels: ObjectArray) -> Rationales:
    """The highlights with the class that each is a reason for.

    A span may name a class. If others outvoted that class, the span is still a reason for it ([ZE08] footnote 4); if
    nobody gave the text that class, it is refused. What a span names that is no class of the project is a tag.
    """
    record, named = project.rationales(), project.span_labels()
    item, given = project.given_labels()
    votes, classes = set(zip(item.tolist(), given.tolist(), strict=True)), {name for name in labels if name is not None}
    own = np.full(record.n_spans, None, dtype=object)
    for row, (text, name) in enumerate(zip(record.item.tolist(), named.tolist(), strict=True)):
        if name not in classes or labels[text] in (None, name):
            continue
        if (text, name) not in votes:
            raise InputError(
                f"a highlight must speak for the class of its text; one in {str(record.items.ids[text])!r} is for "
                f"{name!r}, but the text is {labels[text]!r}. Correct the class or drop the highlight."
            )
        own[row] = str(name)
    return replace(record, labels=own)


def _predict_rows(model: RationaleClassifier, table: pa.Table, linked: pa.Table | None) -> pd.DataFrame:
    return predict(model, project_of_rows("rationales", table))


TASK = Task(
    "rationales",
    train,
    predict,
    explain,
    RowReader(needed=lambda model: ("item_id", "text"), predict=_predict_rows),
    ask=ask,
    beliefs=beliefs,
)
