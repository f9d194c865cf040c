"""Say how good the model is on the texts that nobody has judged, so that people know when to stop."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from accord.data.project import Project
from accord.data.task import Task
from accord.errors import InputError
from accord.evaluation.rest import Rest, forecast_gain, rest_accuracy
from accord.store.models import SavedModel
from accord.typing import FloatArray, ObjectArray, Progress
from accord.workflows.ask import askable
from accord.workflows.kinds import task_of, trained

__all__ = ["estimate_rest"]

_FOLDS = 5
_SHARES = (0.25, 0.5, 1.0)  # of the other answers; the smaller ones tell what more answers add


def estimate_rest(
    saved: SavedModel | None, project: Project, *, seed: int = 0, progress: Progress
) -> tuple[Rest, list[str]]:
    """The accuracy on texts without a judgement, and notes on what it rests on.

    The model is fitted again without each fifth of the judged texts, to see how right it is about them; and with a
    quarter and half of the others, to see what more answers would add. Of aspects, a text counts by the share of its
    ranks that are right.
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
    truth, rng = _truth(project), np.random.default_rng(seed)
    # One column a share of the other answers that a model learns from; the last one is of all of them.
    right, sure = np.full((len(ids), len(_SHARES)), np.nan), np.empty(len(ids))
    fold, n_fits = rng.permutation(len(ids)) % _FOLDS, _FOLDS * len(_SHARES)
    for k in range(_FOLDS):
        held, others = ids[fold == k], rng.permutation(ids[fold != k])
        for place, share in enumerate(_SHARES):
            progress("fitting without a part", k * len(_SHARES) + place, n_fits)
            left_out = np.concatenate([held, others[round(share * len(others)) :]])
            try:
                found_right, found_sure = _held_out(task, _without(project, left_out), held, truth)
            except InputError:
                if share == 1.0:
                    raise
                continue  # too few answers, or all the same
            right[fold == k, place] = found_right
            sure[fold == k] = found_sure
    progress("fitting without a part", n_fits, n_fits)
    table = task.predict(trained(project, {}, progress), project) if saved is None else saved.use(task.predict, project)
    table = table[~table["given"] & table["item_id"].isin(found.ids)]
    rest_sure = table.groupby("item_id")["probability"].mean().to_numpy(float)
    rest = rest_accuracy(is_random, right[:, -1], sure, rest_sure)
    told = ~np.isnan(right).any(axis=0)
    if told.sum() < 2:
        notes.append("What more answers would add cannot be told: half of those there are is too few to learn from.")
        return rest, notes
    n_more = min(max(10, int(round(len(ids), -1))), rest.n_rest)
    sizes = np.array(_SHARES)[told] * (1.0 - 1.0 / _FOLDS) * len(ids)
    return replace(rest, forecast=forecast_gain(sizes, 1.0 - right[:, told], rest, len(ids), n_more)), notes


def _held_out(task: Task, part: Project, held: ObjectArray, truth: Mapping[Any, str]) -> tuple[FloatArray, FloatArray]:
    """How right a model that is fitted on a part is about texts left out, and how sure it is, one entry a text."""
    rows = _said(task.predict(task.train(part, {}, lambda what, done, total: None), part))
    rows = rows[rows["item_id"].isin(held)]
    own = [_key(row, part.kind) for row in rows.to_dict("records")]
    rows = rows.assign(right=[float(truth[key] == said) for key, said in zip(own, rows["said"], strict=True)])
    mean = rows.groupby("item_id")[["right", "probability"]].mean().loc[list(held)]
    return mean["right"].to_numpy(float), mean["probability"].to_numpy(float)


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
