"""Say which questions are worth asking next, and try out ways of asking on what was already answered."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from accord.data.project import Project
from accord.errors import InputError
from accord.store.models import SavedModel
from accord.typing import Progress
from accord.workflows.kinds import task_of
from accord.workflows.predict import check_match

__all__ = ["ask", "simulate"]


def ask(saved: SavedModel | None, project: Project, *, n: int, progress: Progress) -> pd.DataFrame:
    """The ``n`` questions most worth asking next; without a saved model one is trained first."""
    if n < 1:
        raise InputError(f"the number of questions must be at least 1; got {n}.")
    task = task_of(project.kind)
    choose = task.must(task.ask, "ask")
    if saved is None:
        return choose(task.train(project, {}, progress), project, n)
    check_match(saved, project)
    return choose(saved.model, project, n)


def simulate(project: Project, *, settings: Mapping[str, Any], progress: Progress) -> pd.DataFrame:
    """How fast each way of asking learns, replayed on the judgements that are there."""
    task = task_of(project.kind)
    return task.must(task.simulate, "simulate")(project, dict(settings), progress)
