"""Apply a saved model to a project."""

import pandas as pd

from accord.data.project import Project
from accord.errors import InputError
from accord.store.models import SavedModel
from accord.workflows.kinds import task_of

__all__ = ["check_match", "notes_on", "predict"]


def predict(saved: SavedModel, project: Project) -> pd.DataFrame:
    """One row a judgement, comment or text, with the prediction and how sure it is."""
    check_match(saved, project)
    if project.kind == "pairs" and not project.counts["judgements"]:
        raise InputError(
            "a model of pairs predicts the pairs that were voted on; there are no votes here. Give a table of votes "
            "or a Parquet file of pairs (left, right) and the name of an OUTPUT; 'accord rank' ranks texts."
        )
    return saved.use(task_of(saved.kind).predict, project)


def notes_on(saved: SavedModel, project: Project, table: pd.DataFrame) -> list[str]:
    """What to know about some predictions: one sentence for each thing that makes them less than they seem."""
    notes = []
    if "given" in table and len(table) and table["given"].all():
        notes.append(
            "every label in this table was given by a person, so that nothing is predicted; give texts without labels"
        )
    if saved.kind == "links" and not project.counts["links"] and len(table):
        notes.append("there are no links between these texts, so that each is judged by its words alone")
    classes = getattr(saved.model, "classes_", None)
    if classes is not None and saved.kind != "aspects":
        unknown = sorted({str(label) for label in project.labels() if label is not None} - set(map(str, classes)))
        if unknown:
            notes.append(f"the model never saw the labels {', '.join(unknown)} and cannot predict them; train it again")
    if saved.kind == "threads" and project.counts["items"]:
        groups = project.item_table.column("group_id")
        if groups.null_count == 0 and len(groups.unique()) == len(groups):
            notes.append("every thread has one comment, so that no comment is judged beside another")
    return notes


def check_match(saved: SavedModel, project: Project) -> None:
    """Refuse a model of one kind of judgement on a project of another."""
    if saved.kind != project.kind:
        raise InputError(f"a model of {saved.kind} cannot be applied to a project of {project.kind}.")
