"""Rank the texts of a project of pairs, one ranking a question."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.data.project import Project
from accord.errors import InputError
from accord.fitting.settings import configured
from accord.pairs.bradley_terry import BradleyTerryRanker
from accord.typing import Progress
from accord.workflows.kinds import task_of

__all__ = ["METHODS", "Ranking", "rank"]

METHODS = ("auto", "model", "bradley_terry")


@dataclass(frozen=True, eq=False)
class Ranking:
    """The texts of one question, best first."""

    group: str | None
    table: pd.DataFrame  # rank, tier, item_id, score, low, high, p_best, n_votes, text
    voters: pd.DataFrame  # annotator_id, n_votes, agreement
    n_votes: int
    n_undecided: int
    notes: tuple[str, ...]  # what to be careful about


def rank(
    project: Project, *, method: str = "auto", settings: Mapping[str, Any] | None = None, progress: Progress
) -> list[Ranking]:
    """Rank each group of texts by itself, unless votes cross the groups.

    ``model`` is the project's own model of pairs, which reads the texts; ``bradley_terry`` knows votes alone; ``auto``
    takes the first of them that this version of Accord has.
    """
    if method not in METHODS:
        raise InputError(f"the method must be one of {', '.join(METHODS)}; got {method!r}.")
    if project.kind != "pairs":
        raise InputError(f"only a project of pairs can be ranked; this one is of {project.kind}.")
    votes = project.comparisons()
    if not votes.n_votes:
        raise InputError("a ranking needs votes; this project has none.")
    if method == "auto":
        method = "model"
    groups = _groups(votes)
    if method == "model":
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            task = task_of("pairs")
            model = task.train(project, dict(settings or {}), progress)
            table = task.must(task.rank, "rank")(model, project)
        notes = tuple(dict.fromkeys(str(warning.message) for warning in caught))
        return [_part(votes, name, rows, table, notes) for name, rows in groups.items()]
    rankings = []
    for place, (name, rows) in enumerate(groups.items(), start=1):
        progress("ranking", place, len(groups))
        inside = votes.subset(rows)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ranker = configured(BradleyTerryRanker, settings or {}).fit(*inside.xy(), items=_items_of(votes, name))
        rankings.append(_part(votes, name, rows, ranker.rank(), tuple(str(warning.message) for warning in caught)))
    return rankings


def _groups(votes: Comparisons) -> dict[str | None, np.ndarray[Any, Any]]:
    """The votes of each group, or all of them as one if the items have no groups or votes cross them."""
    groups = votes.items.groups
    if groups is None or (groups[votes.left] != groups[votes.right]).any() or any(name is None for name in groups):
        return {None: np.arange(votes.n_votes)}
    of_vote = groups[votes.left]
    return {name: np.flatnonzero(of_vote == name) for name in dict.fromkeys(groups)}


def _items_of(votes: Comparisons, group: str | None) -> Items:
    items = votes.items
    return items if group is None or items.groups is None else items.subset(items.groups == group)


def _part(
    votes: Comparisons, group: str | None, rows: np.ndarray[Any, Any], table: pd.DataFrame, notes: tuple[str, ...]
) -> Ranking:
    """The ranking of one group, numbered from 1, with texts and how far each voter agrees with it."""
    items, inside = _items_of(votes, group), votes.subset(rows)
    table = table[table["item_id"].isin(set(items.ids))].sort_values("rank", kind="stable").reset_index(drop=True)
    table["rank"] = np.arange(1, len(table) + 1)
    table["tier"] = pd.factorize(table["tier"])[0] + 1
    if items.texts is not None:
        table["text"] = items.texts[items.positions(table["item_id"].to_numpy(object))]
    else:
        table["text"] = table["item_id"]
        notes = (*notes, "the votes come without texts, so that ids are ranked; import the texts beside them")
    undecided = int((inside.value == 0.5).sum())
    return Ranking(group, table, _voters(inside, table), inside.n_votes, undecided, notes)


def _voters(votes: Comparisons, table: pd.DataFrame) -> pd.DataFrame:
    """How often each voter's decided votes agree with the ranking, the most agreeing first."""
    if votes.annotator is None or votes.annotators is None:
        return pd.DataFrame({"annotator_id": [], "n_votes": [], "agreement": []})
    score = np.full(votes.items.n_items, np.nan)
    score[votes.items.positions(table["item_id"].to_numpy(object))] = table["score"].to_numpy()
    agrees = (score[votes.left] > score[votes.right]) == (votes.value == 1.0)
    known = (votes.value != 0.5) & (votes.annotator >= 0)
    frame = pd.DataFrame({"annotator_id": votes.annotators[votes.annotator[known]], "agrees": agrees[known]})
    tally = frame.groupby("annotator_id")["agrees"].agg(n_votes="size", agreement="mean").reset_index()
    return tally.sort_values(["agreement", "n_votes"], ascending=False).reset_index(drop=True)
