"""What the commands share: their options, their progress bars and their ways of showing tables."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accord.typing import KINDS, Progress

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from accord.data.project import Project
    from accord.scale import Workers

__all__ = [
    "OTHER_MODEL",
    "GuessedProject",
    "Json",
    "KindArgument",
    "NamedProject",
    "Scheduler",
    "Settings",
    "WorkerCount",
    "check_page",
    "command_app",
    "kind_and_project",
    "opened_project",
    "page_width",
    "print_json",
    "print_table",
    "progress_bars",
    "records",
    "shortened",
    "texts_of",
    "workers_of",
]

OTHER_MODEL = "Give another project, or a model of this kind."
_MOST_ROWS = 60  # of a table on a terminal
_MOST_LETTERS = 40  # in a line of a column that stands beside texts

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting of the model; may be given several times."),
]
GuessedProject = Annotated[
    list[str],
    typer.Argument(
        metavar="[KIND] PROJECT",
        help=f"The kind of judgement ({', '.join(KINDS)}), if the project does not tell; then its folder, "
        "example:NAME, or a raw table.",
    ),
]
KindArgument = Annotated[str, typer.Argument(metavar="KIND", help=f"The kind of judgement: {', '.join(KINDS)}.")]
NamedProject = Annotated[
    list[str],
    typer.Argument(
        metavar="[KIND] PROJECT",
        help=f"The kind of judgement ({', '.join(KINDS)}), then the project's folder, example:NAME, or a raw table. A "
        "raw table without a kind is one of votes (pairs).",
    ),
]

WorkerCount = Annotated[
    int | None, typer.Option("--workers", min=1, help="How many processes of this machine work at once.")
]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Work on the Dask cluster at this address, such as tcp://host:8786."),
]


def kind_and_project(words: list[str]) -> tuple[str | None, str]:
    """The kind, if it is named, and the project; that of a raw table is guessed where none is named."""
    from pathlib import Path

    from accord.errors import InputError
    from accord.workflows.kinds import check_kind

    if len(words) > 2 or (len(words) == 1 and words[0] in KINDS and not Path(words[0]).exists()):
        raise InputError(f"say the kind of judgement and one project; got {' '.join(words)!r}.")
    if len(words) == 2:
        return check_kind(words[0]), words[1]
    return None, words[0]


def workers_of(count: int | None, scheduler: str | None) -> "Workers":
    """What ``--workers`` and ``--scheduler`` say; at most one of them may be given."""
    from accord.errors import InputError
    from accord.scale import Workers

    if count is not None and scheduler is not None:
        raise InputError("work is done by processes of this machine or by a cluster; give --workers or --scheduler.")
    return Workers(count, scheduler)


def command_app() -> typer.Typer:
    """The app of one command's file."""
    return typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@contextmanager
def progress_bars(*, hidden: bool = False) -> Iterator[Progress]:
    """A :data:`~accord.typing.Progress` that draws one bar a task on standard error, if that is a terminal."""
    if hidden or not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def report(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total or None)
            bars.update(tasks[what], completed=done, total=total or None)

        yield report


def print_json(value: Any) -> None:
    """One JSON object on standard output; what is not finite becomes null."""
    from accord.data.tables import plain

    sys.stdout.write(json.dumps(plain(value), ensure_ascii=False, allow_nan=False) + "\n")


def opened_project(name: str, kind: str | None, *, cure: str | None = None, unanswered: bool = False) -> "Project":
    """What people name on the command line; what is not read of a raw table is said on standard error."""
    from accord.workflows.projects import open_project

    notes: list[str] = []
    project = open_project(name, kind=kind, notes=notes, cure=cure, unanswered=unanswered)
    for note in notes:
        typer.echo(f"note: {note}.", err=True)
    return project


def check_page(path: Path | None) -> None:
    """Refuse a page that cannot be written before the work for it is done."""
    from accord.data.replacing import check_place

    if path is not None:
        check_place(path, endings=(".html", ".htm"))


def records(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """The rows of a frame as dictionaries, missing values as ``None``."""
    columns = {str(name): frame[name].astype(object).where(frame[name].notna(), None) for name in frame.columns}
    names = list(columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def print_table(table: "Table | pd.DataFrame", *, title: str | None = None) -> None:
    """A table for people on standard output."""
    from rich.console import Console
    from rich.table import Table

    if not isinstance(table, Table):
        table = _of_frame(table, title)
    Console(width=page_width()).print(table)


def texts_of(project: "Project") -> "pd.Series":
    """The text of each id of a project; empty where it has none."""
    texts = project.frames()["items"].set_index("item_id")["text"].astype(object)
    return texts.where(texts.notna(), "")


def shortened(text: str, room: int) -> str:
    """A text on one line, with an ellipsis where it is longer than the room there is."""
    line = " ".join(text.split())
    return line if len(line) <= room else f"{line[: max(room - 1, 1)]}…"


def page_width() -> int:
    """Characters in a line of standard output; a file or pipe has no width of its own."""
    from shutil import get_terminal_size

    return get_terminal_size().columns if sys.stdout.isatty() else 140


def _of_frame(frame: "pd.DataFrame", title: str | None) -> "Table":
    from pandas.api.types import is_numeric_dtype
    from rich.table import Table
    from rich.text import Text

    left_out = len(frame) - _MOST_ROWS if sys.stdout.isatty() and len(frame) > _MOST_ROWS else 0
    if left_out:
        frame = frame.head(_MOST_ROWS)
    wide = [name for name in frame.columns if str(name).startswith("p.")]
    if wide and sum(_width(frame, name) for name in frame.columns) > page_width():
        frame = frame.drop(columns=wide)
    if "text" in frame:
        room = page_width() - 4 - sum(_width(frame, name) for name in frame.columns if name != "text")
        frame = frame.assign(text=[shortened(text or "", max(room, 20)) for text in frame["text"]])
    said = [f"{left_out:,} more rows"] if left_out else []
    if any(name not in frame for name in wide):
        said.append(f"the columns {', '.join(map(str, wide))}")
    caption = f"Not shown: {' and '.join(said)}. See all with --out FILE or --json." if said else None
    table = Table(title=title, title_justify="left", header_style="bold", caption=caption, caption_justify="left")
    for name in frame.columns:
        numeric = is_numeric_dtype(frame[name].dtype)
        most = _MOST_LETTERS if "text" in frame and name != "text" and not numeric else None
        table.add_column(str(name), justify="right" if numeric else "left", no_wrap=numeric, max_width=most)
    for row in records(frame):
        table.add_row(*(Text(_cell(value, name)) for name, value in row.items()))
    return table


def _width(frame: "pd.DataFrame", name: Any) -> int:
    """Characters that a column of a table needs, with the line beside it."""
    cells = (len(_cell(value, str(name))) for value in frame[name].head(_MOST_ROWS))
    return 3 + max([len(str(name)), *(min(letters, _MOST_LETTERS) for letters in cells)])


def _cell(value: Any, name: str) -> str:
    if value is None:
        return "–"
    if isinstance(value, list):  # highlights: start, end, quote
        return " · ".join(quote for _, _, quote in value)
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return "yes" if value else "no"
    likely = name == "probability" or name.startswith(("p.", "p_"))
    return (f"{value:.2f}" if likely else f"{value:.3g}") if isinstance(value, float) else str(value)
