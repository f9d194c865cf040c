"""Texts that cite, answer or mention each other: train on the labelled ones, predict and explain the rest."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from accord.data.links import Links
from accord.data.project import Project
from accord.errors import InputError
from accord.estimators.links import CollectiveClassifier
from accord.typing import ObjectArray, Progress
from accord.workflows.settings import configured

__all__ = ["explain", "predict", "train"]


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
