"""Apply a saved model to a project."""

from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from accord.data.project import Project
from accord.errors import InputError
from accord.store.models import SavedModel
from accord.workflows.judged import people_only
from accord.workflows.kinds import task_of

__all__ = ["check_match", "predict"]


def predict(saved: SavedModel, project: Project) -> pd.DataFrame:
    """One row a judgement, comment or text, with the prediction and how sure it is."""
    check_match(saved, project)
    if project.kind == "pairs" and not project.counts["judgements"]:
        raise InputError(
            "a model of pairs predicts pairs of texts; there are no votes here. Give a table of votes "
            "or of pairs (left, right); 'accord rank' ranks texts."
        )
    if project.kind != "pairs":  # of pairs those that judges voted on are predicted too
        project = people_only(project)
    return saved.use(task_of(saved.kind).predict, _as_trained(saved, project))


def _as_trained(saved: SavedModel, project: Project) -> Project:
    """The project without labels that the model never saw: their texts are predicted as if they had none."""
    classes = getattr(saved.model, "classes_", None)
    if classes is None or saved.kind in ("pairs", "aspects"):
        return project
    judged = project.judgement_table
    known = pc.is_in(judged.column("value").cast(pa.string()), value_set=pa.array(map(str, classes)))
    other = pc.not_equal(judged.column("kind").cast(pa.string()), "label")
    return replace(project, judgement_table=judged.filter(pc.or_(known, other)))


def check_match(saved: SavedModel, project: Project) -> None:
    """Refuse a model of one kind of judgement on a project of another."""
    if saved.kind != project.kind:
        raise InputError(f"a model of {saved.kind} cannot be applied to a project of {project.kind}.")
