"""Train a model on a project and keep it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from accord.data.project import Project
from accord.errors import InputError
from accord.scale.workers import Workers
from accord.store.models import SavedModel, load_model, save_model
from accord.typing import Progress
from accord.workflows.words import verb_of

__all__ = ["train"]


def train(
    project: Project,
    path: str | Path,
    *,
    settings: Mapping[str, Any],
    progress: Progress,
    word: str | None = None,
    workers: Workers | None = None,
) -> SavedModel:
    """Fit the model of the project's word and save it at ``path``; where it was trained leaves no trace in it."""
    if word is not None and word != project.word:
        raise InputError(f"this is a project of {project.word}; it cannot train {word}. Give the matching word.")
    if Path(path).is_dir():
        raise InputError(f"a model is saved as one file; {path} is a folder. Give the file's name.")
    for key in sorted({"n_jobs", "client"} & set(settings)):
        raise InputError(f"the setting {key!r} is not one of the model; say who works with --workers or --scheduler.")
    where = {} if workers is None else {"n_jobs": workers.n_jobs, "client": workers.client}
    model = verb_of(project.word, "train")(project, {**settings, **where}, progress)
    if workers is not None:
        model.set_params(n_jobs=None, client=None)
    save_model(model, path, word=project.word, project=project)
    return load_model(path)
