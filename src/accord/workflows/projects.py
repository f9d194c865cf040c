"""Open what people name on the command line: a project's folder, an example, or a raw table."""

import tempfile
from importlib.resources import files
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from accord.data.project import Project
from accord.data.reading.reshaping import reshaped
from accord.data.reading.schemas import compared_columns
from accord.data.reading.sources import open_source
from accord.data.reading.unpacking import open_files
from accord.errors import InputError, did_you_mean
from accord.workflows.import_ import TABLES, import_files, project_of_tables

__all__ = ["EXAMPLES", "open_example", "open_project"]

# Name: the kind of judgement, and the tables it is made of.
EXAMPLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "arguments": ("pairs", ("arguments/items.csv", "arguments/votes.csv")),
    "cafe-threads": ("threads", ("cafe/threads.csv",)),
    "cafe-reviews": ("aspects", ("cafe/reviews.csv",)),
    "cafe-statements": ("links", ("cafe/statements.csv", "cafe/citations.csv")),
    "cafe-notes": ("rationales", ("cafe/notes.csv", "cafe/highlights.csv")),
}
# One more, which the studio does not show: people and judges who compared the same texts.
_JUDGED = {"answers": ("pairs", ("answers/items.csv", "answers/votes.csv", "answers/annotators.csv"))}
_PREFIX = "example:"


def open_example(name: str) -> Project:
    """One of the example projects that ship with Accord.

    Parameters
    ----------
    name : str
        ``arguments``, ``answers``, ``cafe-threads``, ``cafe-reviews``, ``cafe-statements`` or ``cafe-notes``.

    Returns
    -------
    Project

    Examples
    --------
    >>> from accord import open_example
    >>> open_example("cafe-threads").threads().labels[:2].tolist()
    ['good', 'bad']
    """
    known = {**EXAMPLES, **_JUDGED}
    if name not in known:
        raise InputError(f"there is no example {name!r}; there are {', '.join(known)}.{did_you_mean(name, known)}")
    kind, tables = known[name]
    folder = Path(str(files("accord") / "examples"))
    return project_of_tables(kind, [folder / table for table in tables])


def open_project(
    path: str | Path,
    *,
    kind: str | None = None,
    notes: list[str] | None = None,
    cure: str | None = None,
    unanswered: bool = False,
) -> Project:
    """A project's folder, ``example:NAME``, or a raw table; ``kind`` says which kind of judgement it must have.

    What is not read of a raw table is said in sentences that are added to ``notes``.

    Parameters
    ----------
    path : str or Path
        A project's folder, ``example:NAME``, or a table of judgements.
    kind : str, optional
        The kind of judgement that is wanted.
    notes : list of str, optional
        Gets a sentence for each thing of a raw table that was not read.
    cure : str, optional
        What to do if the project is of another kind, as a sentence.
    unanswered : bool
        Whether a table of pairs that nobody compared (``left``, ``right``) is read too: as undecided votes, whose pairs
        can be predicted.

    Returns
    -------
    Project

    Examples
    --------
    >>> from accord import open_project
    >>> open_project("example:cafe-reviews", kind="aspects").ratings().aspects.tolist()
    ['food', 'overall', 'price', 'room', 'service']
    """
    if str(path).startswith(_PREFIX):
        project = open_example(str(path).removeprefix(_PREFIX))
    elif Path(path).is_file():
        pairs = _of_pairs(path) if unanswered and kind == "pairs" else None
        project, said = pairs or _of_table(kind, path)
        (notes if notes is not None else []).extend(said)
    else:
        project = Project.load(path)
    if kind is not None and project.kind != kind:
        raise InputError(
            f"{path} is a project of {project.kind}; a project of {kind} is needed. "
            f"{cure or f'Name the kind {project.kind}, or another project.'}"
        )
    return project


def _of_pairs(path: str | Path) -> tuple[Project, list[str]] | None:
    """A project of the pairs of a table without answers, and what was not read of it; ``None`` if it has none."""
    with tempfile.TemporaryDirectory(prefix="accord-") as work:
        opened = open_files([Path(path)], Path(work) / "opened")
        if len(opened.paths) != 1 or opened.paths[0].suffix.lower() == ".json":
            return None
        source = open_source(opened.paths[0])
        sides = compared_columns(source)
        if sides is None or reshaped(source, "pairs") is not None:
            return None
        table = pa.Table.from_batches(source.blocks(sides)).rename_columns(["left", "right"])
        table = table.filter(pc.or_(pc.is_valid(table["left"]), pc.is_valid(table["right"])))
        if not table.num_rows:
            return None
        votes = Path(work) / "votes.csv"
        pyarrow.csv.write_csv(table.append_column("value", pa.array([0.5] * table.num_rows)), votes)
        try:
            project, said = _of_table("pairs", votes)
        except InputError as error:
            raise InputError(str(error).replace(str(votes), str(path))) from None
    unused = [repr(name) for name in source.columns if name not in sides]
    return project, [*said, *([f"not used of {path}: {', '.join(unused)}"] if unused else [])]


def _of_table(kind: str | None, path: str | Path) -> tuple[Project, list[str]]:
    """A project of one table, and what was not read of it."""
    with tempfile.TemporaryDirectory(prefix="accord-") as work:
        imported = import_files([path], Path(work) / "project", kind=kind, form=kind and TABLES)
        project = Project.load(Path(work) / "project")
    unused = [repr(look.column) for look in imported.looks if not look.use]
    said = [f"{what} ({n:,})" for what, n in imported.assumed.items() if "left out" in what]
    if kind is None:
        said += [what for what in imported.assumed if what.startswith("this is a project of")]
    said += [f"lost: {what} ({n:,})" for what, n in imported.lost.items()]
    if unused:
        said.append(
            f"not used of {path}: {', '.join(unused)}; 'accord import {path} --dry-run' shows each column, and --map "
            "says what it is"
        )
    return project, said
