"""Texts that cite, answer or mention each other: train on the labelled ones, predict and explain the rest."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import pyarrow as pa

from accord.data.links import Links
from accord.data.project import Project
from accord.data.table_rows import project_of_rows
from accord.data.task import RowReader, Task
from accord.errors import InputError
from accord.fitting.settings import configured
from accord.links import CollectiveClassifier
from accord.typing import ObjectArray, Progress

__all__ = ["TASK", "explain", "predict", "train"]


def train(project: Project, settings: Mapping[str, Any], progress: Progress) -> CollectiveClassifier:
    """Fit the collective classifier on the labelled texts and the links among them."""
    model = configured(CollectiveClassifier, settings)
    texts, labels = _texts(project), project.labels()
    labelled = ~pd.isna(labels)
    if not labelled.any():
        raise InputError("training needs labelled texts; this project has no label. Import some first.")
    progress("training", 0, 1)
    model.fit(texts[labelled], labels[labelled].astype(str), links=_links(project))
    progress("training", 1, 1)
    return model


def predict(model: CollectiveClassifier, project: Project) -> pd.DataFrame:
    """``item_id``, ``label``, ``probability``, ``known`` and one ``p_<label>`` a label; known labels hold.

    A label that was never trained is refused.
    """
    texts, known = _texts(project), _known(project)
    beliefs = model.predict_proba(texts, links=_links(project), known=known)
    table = pd.DataFrame(
        {
            "item_id": texts["item_id"].to_numpy(object),
            "label": model.classes_[beliefs.argmax(axis=1)],
            "probability": beliefs.max(axis=1),
            "known": ~pd.isna(known),
        }
    )
    for column, label in enumerate(model.classes_):
        table[f"p_{label}"] = beliefs[:, column]
    return table


def explain(model: CollectiveClassifier, project: Project, target: str) -> pd.DataFrame:
    """``kind``, ``reason`` and ``effect`` (log odds for the predicted label), strongest first.

    The label of the text itself is set aside; those of its neighbours hold.
    """
    texts, known = _texts(project), _known(project)
    known[texts["item_id"].to_numpy(object) == target] = None
    return model.explain(target, texts, links=_links(project), known=known)


def _texts(project: Project) -> pd.DataFrame:
    table = project.items().to_table()
    if "text" not in table:
        raise InputError("the model of links reads texts; this project has none. Import a table with a column 'text'.")
    return table[[name for name in ("item_id", "text", "group_id") if name in table]]


def _links(project: Project) -> Links | None:
    return project.links() if project.counts["links"] else None


def _known(project: Project) -> ObjectArray:
    """The labels that the project holds, as they were trained; ``None`` elsewhere."""
    known = project.labels()
    given = ~pd.isna(known)
    known[given] = known[given].astype(str)
    return known


def _predict_rows(model: CollectiveClassifier, table: pa.Table, linked: pa.Table | None) -> pd.DataFrame:
    return predict(model, project_of_rows("links", table, linked))


TASK = Task(
    "links",
    train,
    predict,
    explain,
    RowReader(
        needed=lambda model: ("item_id", "group_id", "text"),
        predict=_predict_rows,
        optional=("label",),
        group="group_id",
    ),
)
