"""Who prefers what: consensus, groups of taste, pairs that voters disagree about, and one person's ranking."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from accord.data.project import Project
from accord.errors import InputError
from accord.fitting.settings import configured
from accord.pairs.personal import PersonalRanker
from accord.pairs.task import people_votes
from accord.typing import Progress

__all__ = ["Personal", "personal"]


@dataclass(frozen=True, eq=False)
class Personal:
    """What was learnt of the voters of a project."""

    n_tastes: int
    groups: pd.DataFrame  # group, share, n_voters, likes, dislikes
    voters: pd.DataFrame  # annotator, n_votes, strength, apart, error, group, p_group
    disagreements: pd.DataFrame  # left, right, p_left, apart, p.1 …
    ranking: pd.DataFrame | None  # of one person, with texts

    @property
    def sentences(self) -> list[str]:
        """What the tables say, in words."""
        if not self.n_tastes:
            return [f"The votes of {len(self.voters)} voters show no tastes that differ: the consensus is everybody's."]
        n = len(self.groups)
        said = f"{len(self.voters)} voters differ in {self.n_tastes} taste{'s' if self.n_tastes > 1 else ''}"
        return [f"{said}, and fall into {n} groups." if n > 1 else f"{said}, by degrees rather than in groups."]


def personal(
    project: Project,
    *,
    person: str | None = None,
    settings: Mapping[str, Any] | None = None,
    n: int = 10,
    progress: Progress,
) -> Personal:
    """Learn how the people of a project depart from their consensus.

    Parameters
    ----------
    project : Project
    person : str, optional
        Whose ranking is wanted too.
    settings : mapping, optional
        Of :class:`~accord.pairs.personal.PersonalRanker`.
    n : int
        How many pairs that voters disagree about.
    progress : callable
    """
    if project.kind != "pairs":
        raise InputError(f"personal preferences are learnt from pairs; this project is of {project.kind}.")
    votes = people_votes(project)
    table = votes.to_table()
    if "annotator_id" not in table:
        raise InputError("personal preferences need to know who gave each vote; these votes do not say it.")
    if len(project.judges()) and set(table["annotator_id"]) <= set(project.judges()["annotator_id"]):
        raise InputError("personal preferences are those of people; all of these votes are of judges. Ask some people.")
    if person is not None and person not in set(table["annotator_id"]):
        raise InputError(f"the person must have voted in this project; there is no vote of {person!r}.")
    progress("learning tastes", 0, 1)
    ranker = configured(PersonalRanker, settings or {}).fit(
        *votes.xy(),
        items=votes.items,
        annotator=table["annotator_id"].to_numpy(),
        sample_weight=table.get("weight"),
        shown_left=table.get("shown_left_id"),
    )
    progress("learning tastes", 1, 1)
    ranking = None
    if person is not None:
        ranking = ranker.rank(person)
        if votes.items.texts is not None:
            ranking["text"] = votes.items.texts[votes.items.positions(ranking["item_id"].to_numpy(object))]
    return Personal(ranker.n_tastes_, ranker.groups_, ranker.voters_, ranker.disagreements(n), ranking)
