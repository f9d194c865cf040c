"""Models on disk: skops files, which run no code when they are read.

The file holds the fitted estimator and beside it what it is: the kind, Accord's version, the settings and the
fingerprint of the data it was trained on.
"""

import zipfile
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from accord import __version__
from accord.data.project import Project
from accord.errors import InputError
from accord.typing import KINDS

__all__ = ["SavedModel", "load_model", "save_model"]

# A model file may hold classes of these packages. Everything else is refused, and never imported.
_TRUSTED = ("accord.", "numpy.", "scipy.sparse.", "sklearn.")


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A fitted estimator and what it is."""

    model: Any
    kind: str
    version: str
    settings: dict[str, Any]
    fingerprint: str


def save_model(model: Any, path: str | Path, *, kind: str, project: Project | None = None) -> Path:
    """Write a fitted estimator with its description; an existing file is replaced in one step.

    A model that was not trained on a project has no fingerprint of its data.

    Examples
    --------
    >>> import tempfile
    >>> from accord import BradleyTerryRanker, load_model, save_model
    >>> ranker = BradleyTerryRanker().fit([("tea", "coffee")], [1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_model(save_model(ranker, f"{folder}/drinks.accord", kind="pairs")).model.rank()["item_id"].tolist()
    ['tea', 'coffee']
    """
    import skops.io

    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "format": "accord-model",
        "kind": kind,
        "version": __version__,
        "settings": {name: repr(value) for name, value in model.get_params(deep=False).items()},
        "fingerprint": "" if project is None else project.fingerprint,
        "model": model,
    }
    part = path.with_name(f".{path.name}.part")
    try:
        skops.io.dump(content, part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def load_model(path: str | Path) -> SavedModel:
    """Read what :func:`save_model` wrote; a file that holds other types than Accord's own is refused.

    Examples
    --------
    >>> load_model("nowhere.accord")
    Traceback (most recent call last):
    accord.errors.InputError: there is no model file nowhere.accord. Make one with 'accord train'.
    """
    import skops.io

    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no model file {path}. Make one with 'accord train'.")
    try:
        unknown = skops.io.get_untrusted_types(file=path)
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError, ImportError, OSError) as error:
        raise InputError(f"{path} is not a model that Accord saved ({type(error).__name__}). Train it again.") from None
    foreign = sorted(name for name in unknown if not _is_trusted(name))
    if foreign:
        raise InputError(
            f"a model file may hold only types of Accord, NumPy, SciPy and scikit-learn; {path} holds {foreign[0]}. "
            "Use only models that you or people you trust saved."
        )
    content = skops.io.load(path, trusted=unknown)
    if not isinstance(content, dict) or content.get("format") != "accord-model" or content.get("kind") not in KINDS:
        raise InputError(f"{path} is not a model that Accord saved. Train it again.")
    return SavedModel(
        content["model"], content["kind"], content["version"], content["settings"], content["fingerprint"]
    )


def _is_trusted(name: str) -> bool:
    """Whether a name in a model file is a class (or a ufunc) of a trusted package; functions are not."""
    if not name.startswith(_TRUSTED):
        return False
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError:
        return False
    return isinstance(found, type | np.ufunc)
