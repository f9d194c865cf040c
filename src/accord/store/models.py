"""Models on disk: plain values and arrays, which cannot name code.

A model file is a zip archive of ``model.json`` (what the model is: the kind, Accord's version, the settings, the
fingerprint of the data it was trained on; and the model itself as a tree of plain values) and of one file in NumPy's
format for each array. Nothing in it is compressed, so that no part can be larger than the file. A model is rebuilt by
the table of :mod:`accord.store.model_types` alone.
"""

import json
import os
import struct
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from accord import __version__
from accord.data.project import Project
from accord.data.replacing import replacing
from accord.errors import InputError
from accord.store.model_tree import Malformed, array_bytes, build, check_tree, flatten
from accord.store.model_types import TYPES
from accord.typing import KINDS

__all__ = ["SavedModel", "load_model", "save_model"]

_DOCUMENT = "model.json"
_LAYOUT = 1
_NAMES = {"format", "layout", "kind", "version", "libraries", "settings", "fingerprint", "about", "model"}
# The list of an archive's files takes about a kilobyte of memory an entry.
_LONGEST_LIST = 2**23
# What a damaged or made-up file lets the readers of zip, JSON and arrays and the constructors of models raise.
_BROKEN = (
    zipfile.BadZipFile, struct.error, ValueError, TypeError, LookupError, AttributeError, ArithmeticError,
    AssertionError, RuntimeError, EOFError, OSError, MemoryError,
)  # fmt: skip
# What a model raises whose parts do not fit together, when it is used.
_UNSOUND = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RuntimeError, AssertionError)

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A fitted estimator and what it is."""

    model: Any
    kind: str
    version: str
    settings: dict[str, Any]
    fingerprint: str
    about: dict[str, str] = field(default_factory=dict)  # what it was trained on, in a few words

    def use(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """``work(model, *arguments)``; a model whose parts do not fit together is refused in one sentence.

        A file can be changed so that each part is right by itself. What follows from it shows when it is used.
        """
        try:
            return work(self.model, *arguments)
        except InputError:
            raise
        except _UNSOUND as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:300].rstrip(".")
            raise InputError(
                f"the model does not work on these data ({reason}). Its file is damaged, or was made for other data; "
                "train it again."
            ) from error


def save_model(
    model: Any,
    path: str | Path,
    *,
    kind: str | None = None,
    project: Project | None = None,
    about: Mapping[str, str] | None = None,
) -> Path:
    """Write a fitted estimator with its description; an existing file is replaced in one step.

    A model that was not trained on a project has no fingerprint of its data. ``about`` says what it was trained
    on. Where a model is run (``n_jobs``,
    ``client``, ``cache_dir``) is not saved. A model that holds a function, or an object that is not in the table of
    types, is refused with the place where it stands.

    Parameters
    ----------
    model : estimator
        A fitted estimator of Accord.
    path : str or Path
        The file to write.
    kind : str, optional
        The kind of judgement: pairs, threads, aspects, links or rationales. Estimators of Accord tell theirs.
    project : Project, optional
        What it was trained on; its fingerprint is kept.
    about : mapping of str to str, optional
        Anything to be kept beside, such as what it was trained on.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from accord import BradleyTerryRanker, load_model, save_model
    >>> ranker = BradleyTerryRanker().fit([("tea", "coffee")], [1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_model(save_model(ranker, f"{folder}/drinks.accord")).model.rank()["item_id"].tolist()
    ['tea', 'coffee']
    """
    tree, arrays = flatten(model)
    document = {
        "format": "accord-model",
        "layout": _LAYOUT,
        "kind": _kind_of(model) if kind is None else kind,
        "version": __version__,
        "libraries": _libraries(),
        "settings": {name: repr(value) for name, value in model.get_params(deep=False).items()},
        "fingerprint": "" if project is None else project.fingerprint,
        "about": dict(about or {}),
        "model": tree,
    }

    path = Path(path)
    with replacing(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_DOCUMENT, json.dumps(document, allow_nan=False))
        for place, array in enumerate(arrays):
            with archive.open(_array_name(place), "w", force_zip64=array.nbytes > 2**30) as file:
                for raw in array_bytes(array):
                    file.write(raw)
    return path


def _kind_of(model: Any) -> str:
    """The kind of judgement that an estimator of Accord learns from."""
    package, _, room = type(model).__module__.partition(".")
    kind = room.partition(".")[0]
    if package != "accord" or kind not in KINDS:
        raise InputError(
            "the kind of a model must be given where no estimator of Accord tells it; "
            f"{type(model).__name__} does not. Give kind=, one of {', '.join(KINDS)}."
        )
    return kind


def load_model(path: str | Path) -> SavedModel:
    """Read what :func:`save_model` wrote; a file that holds anything else is refused.

    The whole file is checked before anything that it names is imported and before any array is read, and no array can
    be larger than the file.

    Parameters
    ----------
    path : str or Path
        The file of a model.

    Returns
    -------
    SavedModel
        ``model`` is the estimator; ``kind``, ``version`` and others say where it comes from.

    Examples
    --------
    >>> from accord import load_model
    >>> load_model("nowhere.accord")
    Traceback (most recent call last):
    accord.errors.InputError: there is no model file nowhere.accord. Make one with 'accord train'.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no model file {path}. Make one with 'accord train'.")
    try:
        with path.open("rb") as file:
            _check_list(file)
            with zipfile.ZipFile(file) as archive:
                return _read(archive, path.stat().st_size)
    except UnreadableModel as error:
        raise InputError(f"{path} {error} Train it again.") from None
    except _BROKEN as error:
        said = str(error)[:200].rstrip(".") or type(error).__name__
        raise InputError(
            f"{path} is not a model that Accord saved, or another version saved it, or it is damaged ({said}). "
            "Train it again."
        ) from None


class UnreadableModel(Exception):
    """A file that is a model, but not one for this version."""


def _read(archive: zipfile.ZipFile, n_bytes: int) -> SavedModel:
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    if "schema.json" in names and _DOCUMENT not in names:
        raise UnreadableModel("was saved by an earlier version of Accord, in a form that could run code.")
    if names != [_DOCUMENT, *map(_array_name, range(len(names) - 1))]:
        raise Malformed("it holds other files")
    for entry in entries:
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size or entry.flag_bits & 1:
            raise Malformed("its files are compressed or locked")
    sizes = [entry.file_size for entry in entries]
    if sum(sizes) > n_bytes:
        raise Malformed(f"its parts claim {sum(sizes):,} bytes and the file has {n_bytes:,}")
    document = json.loads(archive.read(entries[0]), parse_constant=_no_constant)
    if not isinstance(document, dict) or document.get("format") != "accord-model":
        raise Malformed("it does not say that it is one")
    if document.get("layout") != _LAYOUT:
        raise UnreadableModel(f"has layout {document.get('layout')!r}; this version of Accord reads layout {_LAYOUT}.")
    _check_document(document)
    check_tree(document["model"], sizes[1:])
    ((root, _),) = document["model"].items()
    if root.partition(".")[0] not in (document["kind"], "sklearn"):
        raise Malformed(f"{root} is not a model of {document['kind']}")
    try:
        model = build(document["model"], lambda place: archive.read(entries[place + 1]))
    except Malformed:
        raise
    except (ValueError, TypeError, AttributeError) as error:
        other = {name: of for name, of in document["libraries"].items() if _libraries()[name] != of}
        if not other:
            raise
        made = ", ".join(f"{name} {of} (here {_libraries()[name]})" for name, of in other.items())
        raise UnreadableModel(f"was saved with {made} and does not fit ({error}).") from None
    return SavedModel(model, *(document[name] for name in ("kind", "version", "settings", "fingerprint", "about")))


def _check_document(document: dict[str, Any]) -> None:
    document.setdefault("about", {})  # models of earlier versions do not say it
    texts = {"kind", "version", "fingerprint"}
    if set(document) != _NAMES or not all(isinstance(document[name], str) for name in texts):
        raise Malformed("its description is not complete")
    if document["kind"] not in KINDS:
        raise Malformed(f"there is no kind {document['kind']!r}")
    for name in ("settings", "libraries", "about"):
        if not isinstance(document[name], dict) or not all(isinstance(held, str) for held in document[name].values()):
            raise Malformed("its description is not complete")
    if set(document["libraries"]) != set(_libraries()):
        raise Malformed("its description is not complete")
    model = document["model"]
    if not isinstance(model, dict) or len(model) != 1 or not hasattr(TYPES.get(next(iter(model))), "how"):
        raise Malformed("it holds no estimator")


def _check_list(file: BinaryIO) -> None:
    """Refuse an archive whose list of files alone would fill the memory."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 98))
    tail = file.read()
    end = tail[-22:]
    if end[:4] != b"PK\x05\x06":
        raise Malformed("it is no zip archive")
    length = int.from_bytes(end[12:16], "little")
    if tail[-42:-38] == b"PK\x06\x07":  # an archive of more than 4 GB has a second end with longer numbers before it
        length = int.from_bytes(tail[-58:-50], "little")
    if length > _LONGEST_LIST:
        raise Malformed(f"its list of files claims {length:,} bytes")


def _no_constant(name: str) -> Any:
    raise Malformed(f"{name} is no number")


def _array_name(place: int) -> str:
    return f"arrays/{place}.npy"


def _libraries() -> dict[str, str]:
    import numpy
    import scipy
    import sklearn

    return {"numpy": numpy.__version__, "scipy": scipy.__version__, "scikit-learn": sklearn.__version__}
