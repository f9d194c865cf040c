"""What is done in processes of its own: reading uploads and fitting models."""

import pickle
import random
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from accord.data.project import Project
from accord.errors import ConvergenceWarning
from accord.store.database import open_database
from accord.studio.refitting import Refitted
from accord.workflows.collecting.reasons import Asked, find_reasons
from accord.workflows.collecting.refit import refit
from accord.workflows.exchange import look_at_files, read_files
from accord.workflows.import_ import Imported

if TYPE_CHECKING:
    from accord.workflows.evaluate import Evaluation

__all__ = ["evaluate_project", "explain_text", "look", "read", "refit_stored"]

_LARGEST_KEPT = 64 * 2**20  # bytes of a model that is kept to start the next refit from


def refit_stored(url: str, project_id: int, packed: bytes | None) -> Refitted | None:
    """Refit a project; ``None`` where it is gone."""
    warnings.simplefilter("ignore", ConvergenceWarning)  # a half-settled ranking is shown with its uncertainty
    database = open_database(url, upgrade=False)
    last = None if packed is None else pickle.loads(packed)
    done = refit(database, project_id, rng=random.Random(), last=last)
    if done is None:
        return None
    kept = None if done.fitted is None else pickle.dumps(done.fitted, protocol=5)
    small = kept if kept is not None and len(kept) <= _LARGEST_KEPT else None
    return Refitted(done.n_judgements, done.seconds, done.is_warm, small)


def look(paths: tuple[Path, ...], settings: Mapping[str, Any], options: Mapping[str, Any]) -> Imported:
    """What :func:`read` would read."""
    return look_at_files(paths, settings, **options)


def evaluate_project(project: Project) -> "Evaluation":
    """How good the model is on a project's own judgements."""
    from accord.workflows.evaluate import evaluate  # reads all rooms, which nothing else here needs

    warnings.simplefilter("ignore")
    return evaluate(project)


def explain_text(one: Asked) -> dict[str, Any]:
    """The reasons for what the model says of a text."""
    warnings.simplefilter("ignore")
    return find_reasons(one)


def read(paths: tuple[Path, ...], settings: Mapping[str, Any], options: Mapping[str, Any]) -> Project:
    """A project from people's files."""
    return read_files(paths, settings, **options)
