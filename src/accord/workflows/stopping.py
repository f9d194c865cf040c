"""Say how good the model is on the texts that nobody has judged, so that people know when to stop."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from accord.data.project import Project
from accord.errors import InputError
from accord.evaluation.rest import Rest, rest_accuracy
from accord.store.models import SavedModel
from accord.typing import Progress
from accord.workflows.ask import askable
from accord.workflows.kinds import task_of, trained

__all__ = ["estimate_rest"]

_FOLDS = 5


def estimate_rest(
    saved: SavedModel | None, project: Project, *, seed: int = 0, progress: Progress
) -> tuple[Rest, list[str]]:
    """The accuracy on texts without a judgement, and notes on what it rests on.

    The model is fitted again without each fifth of the judged texts, to see how right it is about them. Of aspects, a
    text counts by the share of its ranks that are right.
    """
    task, found = task_of(project.kind), askable(project)
    if task.beliefs is None:
        raise InputError("an estimate for the rest is of labels and scores; votes have the stability of their ranking.")
    judged = project.answered().drop_duplicates("item_id")
    judged = judged[judged["item_id"].isin(found.ids[found.given])]
    ways, notes = judged["strategy"], []
    is_random = (ways == "random").to_numpy()
    if ways.isna().all():  # nothing is known of how they were chosen
        is_random = np.ones(len(judged), dtype=bool)
        notes = ["It is taken that the judged texts were drawn at random, because no ways of choosing are stored."]
    ids = judged["item_id"].astype(str).to_numpy(object)
    truth = _truth(project)
    right, sure = np.empty(len(ids)), np.empty(len(ids))
    fold = np.random.default_rng(seed).permutation(len(ids)) % _FOLDS
    for k in range(_FOLDS):
        progress("fitting without a part", k, _FOLDS)
        held = ids[fold == k]
        part = _without(project, held)
        rows = _said(task.predict(task.train(part, {}, lambda what, done, total: None), part))
        rows = rows[rows["item_id"].isin(held)]
        own = [_key(row, project.kind) for row in rows.to_dict("records")]
        rows = rows.assign(right=[float(truth[key] == said) for key, said in zip(own, rows["said"], strict=True)])
        mean = rows.groupby("item_id")[["right", "probability"]].mean().loc[held]
        right[fold == k], sure[fold == k] = mean["right"], mean["probability"]
    progress("fitting without a part", _FOLDS, _FOLDS)
    table = task.predict(trained(project, {}, progress), project) if saved is None else saved.use(task.predict, project)
    table = table[~table["given"] & table["item_id"].isin(found.ids)]
    rest_sure = table.groupby("item_id")["probability"].mean().to_numpy(float)
    return rest_accuracy(is_random, right, sure, rest_sure), notes


def _said(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(said=(table["rank"] if "rank" in table else table["label"]).astype(str))


def _key(row: dict[Any, Any], kind: str) -> Any:
    return (row["item_id"], row["aspect"]) if kind == "aspects" else row["item_id"]


def _truth(project: Project) -> dict[Any, str]:
    if project.kind == "aspects":
        table = project.ratings().to_table()
        keys = table[["item_id", "aspect"]].itertuples(index=False, name=None)
        return dict(zip(keys, table["value"].astype(int).astype(str), strict=True))
    ids = project.item_table.column("item_id").to_pylist()
    return {name: str(label) for name, label in zip(ids, project.labels(), strict=True) if label is not None}


def _without(project: Project, ids: Any) -> Project:
    table = project.judgement_table
    held = pc.is_in(pc.cast(table.column("item_id"), pa.string()), pa.array(ids, pa.string()))
    return replace(project, judgement_table=table.filter(pc.invert(held)))
