"""Projects of pairs with so many texts that most of them have no vote: the model sees a part of the texts."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from accord.data.project import LINKS, Project

__all__ = ["Parts", "parts"]

# A project of more texts is cut; the model then sees the texts with votes and so many others to ask about.
_MOST_TEXTS, _OTHERS = 10_000, 2_000
# Of more texts with votes, their words are not read: the votes say enough.
_MOST_READ = 20_000


class Parts:
    """What the model of a project learns from, and what it ranks.

    Attributes
    ----------
    seen : Project
        The texts with votes, and some others.
    ranked : Project
        The texts with votes alone. Without a vote, a text of so many would have no rank but the one of its words.
    n_left_out : int
        Texts that are not ranked.
    settings : mapping
        Of the model.
    """

    def __init__(self, project: Project, judged: np.ndarray | None = None, chosen: np.ndarray | None = None) -> None:
        self.seen = project if chosen is None else _cut(project, chosen)
        self.ranked = project if judged is None else _cut(project, judged)
        self.n_left_out = 0 if judged is None else int(judged.size - judged.sum())
        self.settings: Mapping[str, Any] = {}
        if judged is not None and judged.sum() > _MOST_READ:
            self.settings = {"features": None}


def parts(project: Project, *, seed: int = 0) -> Parts:
    """The parts of a project; all of it, unless it is one of pairs with very many texts and some votes.

    The others are chosen by whole groups, those of texts with votes first, so that there are pairs to ask about.
    """
    n = project.item_table.num_rows
    if project.kind != "pairs" or n <= _MOST_TEXTS:
        return Parts(project)
    table = project.judgement_table
    names = pa.chunked_array(
        [chunk for name in ("item_id", "other_id") for chunk in pc.cast(table.column(name), pa.string()).chunks],
        pa.string(),
    )
    ids = pc.cast(project.item_table.column("item_id"), pa.string())
    judged = np.asarray(pc.is_in(ids, pc.drop_null(names.unique())).to_numpy())
    if not judged.any():
        return Parts(project)  # nothing can be learnt, which is said at once
    group = pd.factorize(project.item_table.column("group_id").to_pandas(), use_na_sentinel=False)[0]
    rng = np.random.default_rng(seed)
    is_far = np.ones(int(group.max()) + 1, dtype=bool)
    is_far[group[judged]] = False
    turn = rng.permutation(is_far.size)
    order = np.lexsort((rng.permutation(n), turn[group], is_far[group]))
    chosen = judged.copy()
    chosen[order[~judged[order]][:_OTHERS]] = True
    return Parts(project, judged, chosen)


def _cut(project: Project, rows: np.ndarray) -> Project:
    return replace(project, item_table=project.item_table.filter(pa.array(rows)), link_table=LINKS.empty_table())
