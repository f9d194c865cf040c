"""Say which questions are worth asking next, and try out ways of asking on what was already answered."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from accord.data.project import Project
from accord.errors import InputError
from accord.store.models import SavedModel
from accord.typing import Progress
from accord.workflows.kinds import task_of, trained
from accord.workflows.predict import check_match

__all__ = ["ask", "simulate"]


def ask(
    saved: SavedModel | None, project: Project, *, n: int, strategy: str | None = None, progress: Progress
) -> pd.DataFrame:
    """The ``n`` questions most worth asking next; without a saved model one is trained first.

    ``strategy`` is how pairs are chosen; the other kinds have one way only.
    """
    if n < 1:
        raise InputError(f"the number of questions must be at least 1; got {n}.")
    task = task_of(project.kind)
    choose = task.must(task.ask, "ask")
    if strategy is not None and project.kind != "pairs":
        raise InputError(f"a strategy can be chosen for pairs only; this project is of {project.kind}.")
    how = () if strategy is None else (strategy,)
    if saved is None:
        return choose(trained(project, {}, progress), project, n, *how)
    check_match(saved, project)
    return saved.use(choose, project, n, *how)


def simulate(project: Project, *, settings: Mapping[str, Any], progress: Progress) -> pd.DataFrame:
    """How fast each way of asking learns, replayed on the judgements that are there."""
    task = task_of(project.kind)
    return task.must(task.simulate, "simulate")(project, dict(settings), progress)
