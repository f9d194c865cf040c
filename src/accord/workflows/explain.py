"""Say why a model judges a text as it does."""

import pandas as pd

from accord.data.project import Project
from accord.errors import InputError
from accord.store.models import SavedModel
from accord.workflows.judged import people_only
from accord.workflows.kinds import task_of
from accord.workflows.predict import check_match

__all__ = ["explain"]


def explain(saved: SavedModel, project: Project, target: str) -> pd.DataFrame:
    """The reasons for the judgement of the text ``target``, strongest first."""
    check_match(saved, project)
    if target not in project.items():
        raise InputError(f"the text to explain must be in the project; it has no item {target!r}.")
    return saved.use(task_of(saved.kind).explain, people_only(project), target)
