"""Rationales from a project: train, predict, explain and ask."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from accord.data.project import Project
from accord.data.rationales import Rationales
from accord.data.table_rows import project_of_rows
from accord.data.task import RowReader, Task
from accord.errors import InputError
from accord.fitting.settings import configured
from accord.rationales import RationaleClassifier
from accord.typing import ObjectArray, Progress

__all__ = ["TASK", "ask", "explain", "predict", "train"]


def train(project: Project, settings: Mapping[str, Any], progress: Progress) -> RationaleClassifier:
    """Fit a classifier on the texts that have a class, with the highlights that any of them have."""
    labels = project.labels()
    rows = np.flatnonzero([label is not None for label in labels])
    if not len(rows):
        raise InputError("rationales explain classes; no text of this project has one. Import labels first.")
    record = _reasons(project, labels).subset(rows)
    model = configured(RationaleClassifier, settings)
    progress("rationales: fitting", 0, 1)
    model.fit(_texts(record), labels[rows].astype(str), rationales=record if np.any(record.annotated) else None)
    progress("rationales: fitting", 1, 1)
    return model


def predict(model: RationaleClassifier, project: Project) -> pd.DataFrame:
    """One row a text: ``item_id``, ``label``, ``probability``, and ``highlights`` as ``start:end`` in characters."""
    items = project.items()
    texts = [] if items.texts is None else list(items.texts)
    proba = model.predict_proba(texts)
    best = np.argmax(proba, axis=1)
    table = pd.DataFrame(
        {"item_id": items.ids, "label": model.classes_[best], "probability": proba[np.arange(len(best)), best]}
    )
    if model.n_annotated_.any():
        found = model.predict_rationales(texts, model.classes_[best])
        table["highlights"] = [" ".join(f"{a}:{b}" for a, b in one.spans) for one in found]
    return table


def explain(model: RationaleClassifier, project: Project, target: str) -> pd.DataFrame:
    """The words of a text by what they add to its class: ``reason``, ``effect``, where, and how likely a highlight."""
    items = project.items()
    text = "" if items.texts is None else str(items.texts[items.positions([target])[0]])
    return model.explain(text)


def ask(model: RationaleClassifier, project: Project, n: int) -> pd.DataFrame:
    """The texts with a class and without highlights that are most worth highlighting: ``item_id`` and ``worth``."""
    labels = project.labels()
    record = _reasons(project, labels)
    rows = np.flatnonzero([label is not None for label in labels] & ~np.asarray(record.annotated))
    if not len(rows):
        raise InputError("every text with a class has highlights already; there is none to ask for.")
    asked = model.ask(n, [_texts(record)[row] for row in rows], labels[rows].astype(str))
    return pd.DataFrame({"item_id": record.items.ids[rows[asked["row"]]], "worth": asked["worth"]})


def _texts(record: Rationales) -> list[str]:
    return [] if record.items.texts is None else [str(text) for text in record.items.texts]


def _reasons(project: Project, labels: ObjectArray) -> Rationales:
    """The highlights that speak for the class of their text.

    A span may name a class. If others outvoted that class, the span says nothing of the class that the text has, and is
    left out; if nobody gave the text that class, it is refused.
    """
    record, named = project.rationales(), project.span_labels()
    item, given = project.given_labels()
    votes, classes = set(zip(item.tolist(), given.tolist(), strict=True)), set(given.tolist())
    kept = np.ones(record.n_spans, dtype=bool)
    for row, (text, name) in enumerate(zip(record.item.tolist(), named.tolist(), strict=True)):
        if name not in classes or labels[text] in (None, name):
            continue
        if (text, name) not in votes:
            raise InputError(
                f"a highlight must speak for the class of its text; one in {str(record.items.ids[text])!r} is for "
                f"{name!r}, but the text is {labels[text]!r}. Correct the class or drop the highlight."
            )
        kept[row] = False
    lost = np.setdiff1d(record.item[~kept], record.item[kept])
    annotated = np.array(record.annotated)
    annotated[lost] = False
    return record.only(kept, annotated=annotated)


def _predict_rows(model: RationaleClassifier, table: pa.Table, linked: pa.Table | None) -> pd.DataFrame:
    return predict(model, project_of_rows("rationales", table))


TASK = Task(
    "rationales",
    train,
    predict,
    explain,
    RowReader(needed=lambda model: ("item_id", "text"), predict=_predict_rows),
    ask=ask,
)
