"""Train a model on a project and keep it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from accord.data.project import Project
from accord.data.reading.roles import LABELLED
from accord.data.replacing import check_place
from accord.errors import InputError
from accord.scale.workers import Workers
from accord.store.models import SavedModel, load_model, save_model
from accord.typing import Progress
from accord.workflows.kinds import trained
from accord.workflows.trained_on import trained_on

__all__ = ["train"]


def train(
    project: Project,
    path: str | Path,
    *,
    settings: Mapping[str, Any],
    progress: Progress,
    kind: str | None = None,
    workers: Workers | None = None,
) -> SavedModel:
    """Fit the model of the project's kind and save it at ``path``; where it was trained leaves no trace in it."""
    if kind is not None and kind != project.kind:
        raise InputError(f"this is a project of {project.kind}; it cannot train {kind}. Give the matching kind.")
    if Path(path).is_dir():
        raise InputError(f"a model is saved as one file; {path} is a folder. Give the file's name.")
    check_place(path)
    for key in sorted({"n_jobs", "client"} & set(settings)):
        raise InputError(f"{key!r} is not a setting of the model; use --workers or --scheduler.")
    _check_labels(project)
    where = {} if workers is None else {"n_jobs": workers.n_jobs, "client": workers.client}
    model = trained(project, {**settings, **where}, progress)
    if workers is not None:
        model.set_params(n_jobs=None, client=None)
    save_model(model, path, kind=project.kind, project=project, about=trained_on(project))
    return load_model(path)


def _check_labels(project: Project) -> None:
    """Refuse labels that are all the same: there is nothing to tell apart."""
    if project.kind not in LABELLED:
        return
    labels = project.labels()
    given = labels[~pd.isna(labels)].astype(str)
    if len(given) and (given == given[0]).all():
        raise InputError(
            f"a model of {project.kind} needs two different labels; all {len(given):,} are {str(given[0])!r}. Label "
            "some texts that are not so."
        )
