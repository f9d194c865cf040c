"""Long experiments in parts: finished ones stay on disk, so that a run that was cut off goes on where it stopped."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import accord
from accord.texts.cache import content_key, default_cache_dir

__all__ = ["FinishedParts", "kept_until_used", "source_key"]

# Folders of runs that are over, whose results are not yet where they belong; None outside of such a block.
_over: ContextVar[list[Path] | None] = ContextVar("over", default=None)


def source_key(*parts: Any) -> str:
    """A hash of this package's source and of ``parts``: a changed program never goes on with another's figures."""
    files = sorted(Path(accord.__file__).parent.rglob("*.py"))
    return content_key(*(file.read_text(encoding="utf-8") for file in files), *parts)


def _plain(value: Any) -> Any:
    """A value for JSON, which knows neither arrays nor tuples nor keys that are not texts."""
    if isinstance(value, np.ndarray):
        return {"array": value.tolist(), "dtype": value.dtype.str}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {"entries": [[_plain(key), _plain(held)] for key, held in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": [_plain(held) for held in value]}
    if isinstance(value, list):
        return [_plain(held) for held in value]
    return value


def _restored(kept: Any) -> Any:
    if isinstance(kept, list):
        return [_restored(held) for held in kept]
    if not isinstance(kept, dict):
        return kept
    if "array" in kept:
        return np.array(kept["array"], dtype=kept["dtype"])
    if "tuple" in kept:
        return tuple(_restored(held) for held in kept["tuple"])
    return {_restored(key): _restored(held) for key, held in kept["entries"]}


@dataclass(frozen=True)
class FinishedParts:
    """The finished parts of one run, one JSON file each; with no folder nothing is kept."""

    folder: Path | None = None

    @classmethod
    def of(cls, name: str, *content: Any) -> "FinishedParts":
        """The parts of the run called ``name`` on ``content``, by the present program."""
        return cls(default_cache_dir() / "reproduce" / f"{name}-{source_key(*content)[:16]}")

    def get(self, part: str, compute: Callable[[], Any]) -> Any:
        """What was kept of ``part``, or else what ``compute`` gives, which is kept.

        Numbers, texts, arrays, lists, tuples and dictionaries of these come back as they were.
        """
        if self.folder is None:
            return compute()
        path = self.folder / f"{part}.json"
        if path.exists():
            return _restored(json.loads(path.read_text(encoding="utf-8")))
        value = compute()
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}.partial")
        partial.write_text(json.dumps(_plain(value)), encoding="utf-8")
        partial.replace(path)
        return value

    def clear(self) -> None:
        """Forget the parts, once the run is over; inside :func:`kept_until_used`, once its results are used."""
        if self.folder is None:
            return
        waiting = _over.get()
        if waiting is None:
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            waiting.append(self.folder)


@contextmanager
def kept_until_used() -> Iterator[None]:
    """Parts of runs that end inside the block stay until it ends well.

    Where results cannot be written, the next run takes the parts and writes them at once.
    """
    waiting: list[Path] = []
    token = _over.set(waiting)
    try:
        yield
    finally:
        _over.reset(token)
    for folder in waiting:
        FinishedParts(folder).clear()
