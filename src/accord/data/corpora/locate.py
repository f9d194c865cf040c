"""Where the corpora are looked for, and how their files are opened."""

import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
from platformdirs import user_data_path

from accord.errors import InputError, MissingDataError

__all__ = ["corpus_file", "corpus_folder", "read_csv", "read_json_lines", "read_lines", "search_path"]

Root = str | os.PathLike[str] | None


def search_path(root: Root = None) -> list[Path]:
    """The folders in which corpora are looked for, in order.

    An explicit ``root`` is the only place. Otherwise it is the folder that the environment variable ``ACCORD_DATA``
    names, then ``corpora`` in the user's data folder.
    """
    if root is not None:
        return [Path(root)]
    named = os.environ.get("ACCORD_DATA")
    return ([Path(named)] if named else []) + [user_data_path("accord", appauthor=False) / "corpora"]


def corpus_folder(name: str, root: Root = None) -> Path:
    """The folder of a corpus: ``<root>/<name>`` in the first place of :func:`search_path` that has it."""
    places = [folder / name for folder in search_path(root)]
    for place in places:
        if place.is_dir():
            return place
    looked = " or ".join(str(place) for place in places)
    raise MissingDataError(
        f"the corpus {name!r} must be a folder of files; there is none at {looked}. "
        "Set ACCORD_DATA to the folder that holds it; `accord datasets` says how to get it."
    )


def corpus_file(corpus: str, file: str, root: Root = None) -> Path:
    """One file of a corpus."""
    path = corpus_folder(corpus, root) / file
    if not path.is_file():
        raise MissingDataError(
            f"the corpus {corpus!r} needs the file {file}; it is not at {path}. "
            "Get the whole corpus again; `accord datasets check` says what is missing."
        )
    return path


def read_lines(path: Path) -> Iterator[bytes]:
    """Lines of a text file that may be gzipped, without their ends."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            for line in file:
                yield line.rstrip(b"\r\n")
    except (OSError, EOFError) as error:
        raise InputError(f"{path} must be a readable file; {error}. Get it again.") from error


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file with one JSON object a line."""
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    records = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            records.append(decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError(f"every line of {path} must be a JSON object; line {number}: {error}.") from error
    return records


def read_csv(path: Path, **settings: Any) -> pd.DataFrame:
    """A table with a header line; an empty cell of a text column is an empty string."""
    try:
        return pd.read_csv(path, keep_default_na=False, na_values={}, **settings)
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"{path} must be a table of comma-separated values; {error}. Get it again.") from error
