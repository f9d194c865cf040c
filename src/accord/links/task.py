"""Texts that cite, answer or mention each other: train on the labelled ones, predict and explain the rest."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from accord.data.links import Links
from accord.data.project import Project
from accord.data.table_rows import project_of_rows
from accord.data.task import Beliefs, RowReader, Task
from accord.engines.numerics import entropy
from accord.errors import InputError
from accord.fitting.asking import agreement_information, label_margin, label_precision
from accord.fitting.settings import configured
from accord.links import CollectiveClassifier
from accord.typing import ObjectArray, Progress

__all__ = ["TASK", "beliefs", "explain", "predict", "train"]


def train(project: Project, settings: Mapping[str, Any], progress: Progress) -> CollectiveClassifier:
    """Fit the collective classifier on all texts, those without a label included, and the links among them."""
    model = configured(CollectiveClassifier, settings)
    texts, labels = _texts(project), _labels(project)
    if pd.isna(labels).all():
        raise InputError("training needs labelled texts; this project has no label. Import some first.")
    progress("training", 0, 1)
    model.fit(texts, labels, links=_links(project))
    progress("training", 1, 1)
    return model


def predict(model: CollectiveClassifier, project: Project) -> pd.DataFrame:
    """``item_id``, ``label``, ``probability``, ``given`` and one ``p.<label>`` a label; labels of people hold.

    A label that was never trained is refused.
    """
    texts, known = _texts(project), _labels(project)
    beliefs = model.predict_proba(texts, links=_links(project), known=known)
    table = pd.DataFrame(
        {
            "item_id": texts["item_id"].to_numpy(object),
            "label": model.classes_[beliefs.argmax(axis=1)],
            "probability": beliefs.max(axis=1),
            "given": ~pd.isna(known),
        }
    )
    for column, label in enumerate(model.classes_):
        table[f"p.{label}"] = beliefs[:, column]
    return table


def explain(model: CollectiveClassifier, project: Project, item_id: str) -> pd.DataFrame:
    """``reason``, ``effect`` (log odds for the label) and ``kind``, strongest first; ``attrs`` hold the ``label``.

    The label of the text itself is set aside; those of its neighbours hold.
    """
    texts, known = _texts(project), _labels(project)
    known[texts["item_id"].to_numpy(object) == item_id] = None
    return model.explain(item_id, texts, links=_links(project), known=known)


def beliefs(model: CollectiveClassifier, project: Project) -> Beliefs:
    """What asking about texts needs: how sure each label is, and what it tells about its neighbours."""
    texts = _texts(project)
    p, ends, equal = model.pairwise_proba(texts, links=_links(project), known=_labels(project))
    shared = agreement_information(p, ends, equal)
    return Beliefs(texts["item_id"].to_numpy(object), entropy(p), label_precision(p), ends, shared, label_margin(p))


def _texts(project: Project) -> pd.DataFrame:
    table = project.items().to_table()
    return table[[name for name in ("item_id", "text", "group_id") if name in table]]


def _links(project: Project) -> Links:
    return project.links() if project.counts["links"] else Links(*np.empty((2, 0), dtype=object))


def _labels(project: Project) -> ObjectArray:
    """The labels that the project holds, as they are trained; ``None`` elsewhere."""
    labels = project.labels()
    given = ~pd.isna(labels)
    labels[given] = labels[given].astype(str)
    labels[~given] = None
    return labels


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
    beliefs=beliefs,
)
