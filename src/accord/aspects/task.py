"""Aspects of a project: train on scores, predict all of them, say why."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from accord.aspects import AspectRanker
from accord.data.documents import Items
from accord.data.project import Project
from accord.data.table_rows import project_of_rows
from accord.data.task import RowReader, Task
from accord.errors import InputError
from accord.fitting.settings import configured
from accord.typing import AnyArray, IntArray, Progress

__all__ = ["TASK", "explain", "predict", "train"]


def train(project: Project, settings: Mapping[str, Any], progress: Progress) -> AspectRanker:
    """Fit an :class:`~accord.aspects.AspectRanker` on the texts and scores of a project."""
    ratings = project.ratings()
    given = {"n_ranks": ratings.n_ranks, "random_state": 0, **settings}
    ranker = configured(AspectRanker, given)
    progress("training", 0, 1)
    ranker.fit(_texts(ratings.items), pd.DataFrame(ratings.ranks, columns=list(ratings.aspects)))
    progress("training", 1, 1)
    return ranker


def predict(model: AspectRanker, project: Project) -> pd.DataFrame:
    """One row a text and aspect.

    ``rank`` is predicted from the text alone, with its ``probability``; ``p_one_mind`` is the chance that all aspects
    of the text have the same rank; ``score`` is what people gave, if they did. Where people scored other aspects of the
    text but not this one, ``rank_given_scores`` is inferred from the text and those scores (field over aspects only).
    """
    items = project.items()
    texts = _texts(items)
    n, m = items.n_items, len(model.aspects_)
    ranks = model.predict(texts).reshape(n, m)
    columns: dict[str, Any] = {
        "item_id": np.repeat(items.ids, m),
        "aspect": np.tile(np.array(model.aspects_, dtype=object), n),
        "rank": ranks.ravel(),
    }
    if model.model in ("ordinal", "ordinal_crf"):
        p = model.predict_proba(texts).reshape(n, m, -1)
        columns["probability"] = np.take_along_axis(p, ranks[:, :, None] - 1, axis=2).ravel()
    if model.model in ("ordinal", "ordinal_crf") or model.agreement_ is not None:
        columns["p_one_mind"] = np.repeat(model.predict_one_mind(texts), m)
    known = _known(model, project)
    if known.any():
        columns["score"] = _where(known > 0, known)
        if model.model == "ordinal_crf":
            inferred = model.predict(texts, known=known).reshape(n, m)
            columns["rank_given_scores"] = _where((known == 0) & (known > 0).any(axis=1, keepdims=True), inferred)
    return pd.DataFrame(columns)


def _where(shown: AnyArray, values: IntArray) -> pd.Series:
    """Whole numbers where they are shown, missing elsewhere, as one column."""
    return pd.Series(values.ravel(), dtype="Int64").where(shown.ravel())


def explain(model: AspectRanker, project: Project, target: str) -> pd.DataFrame:
    """The words behind each aspect of one text and the evidence of one mind, strongest first."""
    items = project.items()
    text = _texts(items)[int(items.positions([target])[0])]
    return model.explain(text).to_table()


def _texts(items: Items) -> list[str]:
    if items.texts is None:
        raise InputError("ranking aspects needs texts; the items of this project have none. Import them with a text.")
    return list(items.texts)


def _known(model: AspectRanker, project: Project) -> IntArray:
    """The ranks that a project has of the model's aspects, 0 elsewhere."""
    known = np.zeros((project.items().n_items, len(model.aspects_)), dtype=np.int64)
    if project.counts["judgements"]:
        ratings = project.ratings()
        places = {name: place for place, name in enumerate(ratings.aspects)}
        for column, name in enumerate(model.aspects_):
            if name in places:
                known[:, column] = ratings.ranks[:, places[name]]
    return known


def _predict_rows(model: AspectRanker, table: pa.Table, linked: pa.Table | None) -> pd.DataFrame:
    return predict(model, project_of_rows("aspects", table))


TASK = Task(
    "aspects", train, predict, explain, RowReader(needed=lambda model: ("item_id", "text"), predict=_predict_rows)
)
