"""The formats there are: a dictionary of Accord's own, and entry points for those of others.

A package adds a format by an entry point of the group ``accord.formats`` that names a :class:`Format`::

    [project.entry-points."accord.formats"]
    my_tool = "my_package.accord_format:FORMAT"
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from accord.data.project import Project
from accord.data.reading.json_stream import records, whole
from accord.data.reading.rows import Context, Rows
from accord.data.reading.sources import JSON_LINES, missing_file, open_source, suffix_of
from accord.errors import InputError, did_you_mean

__all__ = ["FORMATS", "Format", "Glimpse", "detect", "format_names", "format_of", "glimpse"]

_GROUP = "accord.formats"
_TABLES = (".csv", ".tsv", ".tab", ".parquet")

# Name: the module that has its ``FORMAT``, or another name behind a colon. Files are tried in this order, so that the
# more particular come first.
FORMATS: dict[str, str] = {
    "label-studio": "accord.data.formats.label_studio.reader",
    "inspect": "accord.data.formats.judge_logs:INSPECT",
    "promptfoo": "accord.data.formats.judge_logs:PROMPTFOO",
    "deepeval": "accord.data.formats.judge_logs:DEEPEVAL",
    "lm-eval": "accord.data.formats.judge_logs:LM_EVAL",
    "argilla": "accord.data.formats.argilla",
    "potato": "accord.data.formats.potato",
    "convokit": "accord.data.formats.convokit",
    "eraser": "accord.data.formats.eraser",
    "all-our-ideas": "accord.data.formats.all_our_ideas",
    "polis": "accord.data.formats.polis",
    "trl": "accord.data.formats.trl",
    "arena": "accord.data.formats.arena",
    "prodigy": "accord.data.formats.prodigy",
    "spacy": "accord.data.formats.spacy",
    "doccano": "accord.data.formats.doccano",
    "brat": "accord.data.formats.tagged:BRAT",
    "conll": "accord.data.formats.tagged:CONLL",
    "webanno": "accord.data.formats.tagged:WEBANNO",
    "crowd-kit": "accord.data.formats.crowdkit",
    "stack-exchange": "accord.data.formats.forums:STACK_EXCHANGE",
    "discourse": "accord.data.formats.forums:DISCOURSE",
    "reddit": "accord.data.formats.forums:REDDIT",
    "huggingface": "accord.data.formats.huggingface",
}


@dataclass(frozen=True)
class Glimpse:
    """What is seen of a file before it is read."""

    path: Path
    columns: tuple[str, ...] = ()  # of a table, or of the first JSON record
    record: Any = None  # the first JSON record
    files: tuple[str, ...] = ()  # the names in a folder

    def has(self, *names: str) -> bool:
        """Whether there are all of these columns."""
        return set(names) <= set(self.columns)


@dataclass(frozen=True)
class Format:
    """One tool's files.

    Parameters
    ----------
    name, title : str
        As it is called on the command line, and by people.
    detect : callable
        Says why a file looks like this format, or ``None``.
    read : callable
        Rows of the project's own tables from files, as a stream; texts come before the judgements about them.
    write : callable, optional
        Writes a project into a folder and counts in a ``Counter`` what the tool cannot hold; returns rows by file.
    tabular : bool
        Whether plain tables with a kind hold the same.
    """

    name: str
    title: str
    detect: Callable[[Glimpse], str | None]
    read: Callable[[Sequence[Path], Context], Iterator[Rows]] | None = None
    write: Callable[[Project, Path, Counter[str]], dict[str, int]] | None = None
    tabular: bool = False


def format_names(*, writable: bool = False) -> list[str]:
    """The names of all formats, or of those that can be written."""
    names = [*FORMATS, *(name for name in _others() if name not in FORMATS)]
    return [name for name in names if not writable or format_of(name).write is not None]


def format_of(name: str) -> Format:
    """A format by its name."""
    if name in FORMATS:
        module, _, attribute = FORMATS[name].partition(":")
        return _checked(name, getattr(import_module(module), attribute or "FORMAT"))
    others = _others()
    if name in others:
        return _checked(name, others[name].load())
    known = format_names()
    raise InputError(f"there is no format {name!r}; there are tables, {', '.join(known)}.{did_you_mean(name, known)}")


def _others() -> dict[str, Any]:
    return {entry.name: entry for entry in entry_points(group=_GROUP)}


def _checked(name: str, found: Any) -> Format:
    if not isinstance(found, Format):
        raise InputError(f"the entry point {name!r} of {_GROUP} must name a Format; it names {type(found).__name__}.")
    return found


def detect(paths: Sequence[Path]) -> tuple[Format, str] | None:
    """The format that files look like, and why; ``None`` for plain tables."""
    glimpses = [glimpse(path) for path in paths]
    for name in format_names():
        form = format_of(name)
        for seen in glimpses:
            reason = form.detect(seen) if form.read is not None else None
            if reason is not None:
                return form, f"{seen.path.name} looks like {form.title} ({reason}); use --format to say otherwise"
    return None


def glimpse(path: Path) -> Glimpse:
    """Look at the beginning of a file, or at the names in a folder."""
    if path.is_dir():
        return Glimpse(path, files=tuple(sorted(entry.name for entry in path.iterdir())))
    if not path.is_file():
        raise missing_file(path)
    if suffix_of(path) in _TABLES:
        return Glimpse(path, columns=_declared(path) or open_source(path).columns)
    if suffix_of(path) in JSON_LINES or (suffix_of(path) == ".json" and _starts_with_list(path)):
        return _of_record(path, next((record for _, record in records(path, Any)), None))
    if suffix_of(path) == ".json":
        return _of_record(path, whole(path, Any))
    return Glimpse(path)


def _declared(path: Path) -> tuple[str, ...]:
    """The first line of a file that says there what it is, such as WebAnno's TSV, which is no table."""
    with path.open("rb") as file:
        line = file.readline(200).decode("utf-8", "replace").strip()
    return (line,) if line.startswith("#FORMAT=") else ()


def _of_record(path: Path, record: Any) -> Glimpse:
    return Glimpse(path, columns=tuple(record) if isinstance(record, dict) else (), record=record)


def _starts_with_list(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(1000).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"["
