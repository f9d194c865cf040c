"""Write tables as files that other programs read."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from accord.data.project import Project
from accord.errors import InputError

__all__ = ["FORMATS", "export", "write_frame"]


def _jsonl(frame: pd.DataFrame, path: Path) -> None:
    frame.to_json(path, orient="records", lines=True, force_ascii=False)


FORMATS: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "jsonl": _jsonl,
    "parquet": lambda frame, path: frame.to_parquet(path, index=False),
}


def write_frame(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a frame in the format that the file's name ends with."""
    path = Path(path)
    write = FORMATS.get(path.suffix.lstrip("."))
    if write is None:
        raise InputError(f"the file's name must end in {', '.join('.' + name for name in FORMATS)}; got {path.name!r}.")
    path.parent.mkdir(parents=True, exist_ok=True)
    write(frame, path)


def export(project: Project, folder: str | Path, *, form: str) -> dict[str, int]:
    """Write the project's tables, each as one file; columns and tables that hold nothing are left out."""
    if form not in FORMATS:
        raise InputError(f"the format must be one of {', '.join(FORMATS)}; got {form!r}.")
    written = {}
    for name, frame in project.frames().items():
        if len(frame):
            write_frame(frame.dropna(axis="columns", how="all"), Path(folder) / f"{name}.{form}")
            written[f"{name}.{form}"] = len(frame)
    return written
