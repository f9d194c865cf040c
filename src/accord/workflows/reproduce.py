"""Rebuild a paper's tables, and write them beside its own figures."""

import json
import subprocess
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from joblib import cpu_count
from threadpoolctl import threadpool_limits

import accord
from accord.data.replacing import replacing
from accord.errors import MissingDependencyError
from accord.evaluation.table_picture import draw_table
from accord.evaluation.tables import Row
from accord.scale.workers import joblib_on
from accord.typing import Progress
from accord.workflows.kinds import paper_of

__all__ = ["LaterRun", "Origin", "Reproduction", "reproduce", "row_cells", "wide_table"]

_START, _END = "<!-- tables: written by accord reproduce -->", "<!-- end of tables -->"


@dataclass(frozen=True)
class Origin:
    """Which code a run was made with: the version, the commit where it is known, and who worked."""

    version: str = accord.__version__
    commit: str | None = None
    workers: str = "one process"

    @classmethod
    def here(cls, workers: str) -> "Origin":
        """The code that runs now; the commit is known in a checkout, with a + where files differ from it."""
        commit = None
        with suppress(OSError, subprocess.SubprocessError):
            _git("ls-files", "--error-unmatch", __file__)  # an installed package may lie inside another checkout
            commit = _git("describe", "--always", "--exclude=*", "--dirty=+", "--abbrev=10") or None
        return cls(accord.__version__, commit, workers)


def _git(*arguments: str) -> str:
    place = Path(__file__).parent
    found = subprocess.run(["git", *arguments], cwd=place, capture_output=True, text=True, timeout=10, check=True)
    return found.stdout.strip()


@dataclass(frozen=True)
class LaterRun:
    """A run whose rows took the place of earlier ones: which rows, how long it took, and what it was made with."""

    rows: str
    seconds: float
    origin: Origin

    def __str__(self) -> str:
        return f"{self.rows}: a later run, {_made(self.origin, self.seconds)}"


def _made(origin: Origin, seconds: float) -> str:
    commit = f" at commit {origin.commit}" if origin.commit else ""
    minutes = max(1, round(seconds / 60))
    return f"Accord {origin.version}{commit}: {minutes} minute{'s' * (minutes > 1)}, {origin.workers}."


@dataclass(frozen=True)
class Reproduction:
    """The rows of one paper's tables, and what they were made with.

    ``notes`` are sentences about rows that are not of this run; ``later`` are the runs that some rows are of instead.
    """

    kind: str
    quick: bool
    seconds: float
    rows: tuple[Row, ...]
    origin: Origin = field(default_factory=Origin)
    notes: tuple[str, ...] = ()
    later: tuple[LaterRun, ...] = ()

    @classmethod
    def from_json(cls, run: Mapping[str, Any]) -> "Reproduction":
        """A run as ``write`` keeps it beside its page."""
        rows = tuple(Row(**row) for row in run["rows"])
        later = tuple(LaterRun(**{**each, "origin": Origin(**each["origin"])}) for each in run.get("later", ()))
        return cls(
            run["kind"], run["quick"], run["seconds"], rows, Origin(**run["origin"]), tuple(run.get("notes", ())), later
        )

    def beside(self, earlier: "Reproduction", note: str) -> "Reproduction":
        """With the rows of an earlier run that this one does not have, and what people must know of them."""
        own = {(row.table, row.row, row.metric) for row in self.rows}
        kept = [row for row in earlier.rows if (row.table, row.row, row.metric) not in own]
        order = list(dict.fromkeys(row.table for row in (*earlier.rows, *self.rows)))
        rows = sorted((*self.rows, *kept), key=lambda row: order.index(row.table))
        return replace(self, rows=tuple(rows), notes=(*self.notes, note))

    def renewed(self, newer: "Reproduction", what: str, *, gone: Collection[tuple[str, str]] = ()) -> "Reproduction":
        """With the rows of a later run of some parts where this one has them.

        Parameters
        ----------
        newer : Reproduction
            The later run.
        what : str
            Which rows it has, as the page says it.
        gone : collection of (table, row)
            Rows that were drawn from older ones, and that the later run does not have: they are left out.
        """
        fresh = {(row.table, row.row, row.metric): row for row in newer.rows}
        kept = [
            fresh.pop((row.table, row.row, row.metric), row) for row in self.rows if (row.table, row.row) not in gone
        ]
        order = list(dict.fromkeys(row.table for row in (*self.rows, *newer.rows)))
        rows = sorted([*kept, *fresh.values()], key=lambda row: order.index(row.table))
        return replace(self, rows=tuple(rows), later=(*self.later, LaterRun(what, newer.seconds, newer.origin)))

    def tables(self) -> list[tuple[str, list[Row]]]:
        """The rows by table, in order of first appearance."""
        order = list(dict.fromkeys(row.table for row in self.rows))
        by_table = sorted(self.rows, key=lambda row: order.index(row.table))
        return [(name, list(rows)) for name, rows in groupby(by_table, key=lambda row: row.table)]

    def to_json(self) -> dict[str, Any]:
        """One object: kind, quick, seconds and rows."""
        return {
            "kind": self.kind,
            "quick": self.quick,
            "seconds": round(self.seconds, 3),
            "rows": [asdict(row) for row in self.rows],
        }

    def to_markdown(self, pictures: Mapping[str, str] | None = None) -> str:
        """A page with one table a table of the paper: our figures with their 95 % intervals, and the paper's."""
        return f"# Results: {self.kind}\n\n{self._tables(pictures or {})}\n"

    def write(self, path: Path) -> None:
        """Write the page, its pictures and the rows as JSON; of a page that is there, only what is between the marks.

        So what people write around the tables, and the pictures they put there, stay.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        pictures = self._draw(path)
        page = path.read_text(encoding="utf-8") if path.exists() else ""
        before, start, rest = page.partition(_START)
        _, end, after = rest.partition(_END)
        page = f"{before}{self._tables(pictures)}{after}" if start and end else self.to_markdown(pictures)
        with replacing(path.with_suffix(".json")) as part:
            kept = self.to_json() | {"origin": asdict(self.origin)}
            if self.notes:
                kept["notes"] = list(self.notes)
            if self.later:
                kept["later"] = [asdict(each) for each in self.later]
            part.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        with replacing(path) as part:
            part.write_text(page, encoding="utf-8")

    def _draw(self, page: Path) -> dict[str, str]:
        """The pictures by table; none without matplotlib, because a long run must not be lost for them.

        Curves that a kind draws of its rows (``draw_figures``) are put beside the page, which shows them or not.
        """
        pictures = {}
        draw_figures = paper_of(self.kind).draw_figures
        with suppress(MissingDependencyError):
            if draw_figures is not None:
                draw_figures(self.rows, page.parent)
        for name, rows in self.tables():
            picture = page.with_name(f"{page.stem}-table-{name.replace('/', '-').replace('_', '-')}.svg")
            with suppress(MissingDependencyError):
                if draw_table(rows, picture):
                    pictures[name] = picture.name
        return pictures

    def _tables(self, pictures: Mapping[str, str]) -> str:
        run = "Parts of one run" if self.notes or self.later else "One run"
        lines = [
            _START,
            f"{run} of `accord reproduce {self.kind}{' --quick' * self.quick}`, {_made(self.origin, self.seconds)}",
            *map(str, self.later),
            *self.notes,
            "Ours ± half of the 95 % interval over n folds, splits or seeds; a dash: there is no such figure.",
        ]
        for name, rows in self.tables():
            lines += ["", f"## {name}", ""]
            if name in pictures:
                lines += [f"![{self.kind}, {name}: ours and the paper's]({pictures[name]})", ""]
            lines += wide_table(rows)
        return "\n".join([*lines, "", _END])


def wide_table(rows: Sequence[Row]) -> list[str]:
    """The rows of one table as Markdown: one line a row, one column a metric, the paper's figures beside ours.

    Rows that are sizes of one thing (``gppl@50``, ``gppl@100``) share a line; then each metric has a table of its own.
    """
    if not all("@" in row.row for row in rows):
        return _grid(rows, "")
    lines = []
    for metric in dict.fromkeys(row.metric for row in rows):
        own = [row for row in rows if row.metric == metric]
        sizes = [replace(row, row=row.row.rpartition("@")[0], metric="@" + row.row.rpartition("@")[2]) for row in own]
        lines += [*_grid(sizes, f"{metric}, "), ""]
    return lines[:-1]


def _grid(rows: Sequence[Row], prefix: str) -> list[str]:
    metrics, names = (list(dict.fromkeys(getattr(row, part) for row in rows)) for part in ("metric", "row"))
    cells = {(row.row, row.metric): row for row in rows}
    columns: list[tuple[str, list[str]]] = []
    for metric in metrics:
        own = [cells.get((name, metric)) for name in names]
        columns.append((metric, _ours(own)))
        if any(cell is not None and cell.paper is not None for cell in own):
            papers = ["–" if cell is None or cell.paper is None else f"{cell.paper:.4g}" for cell in own]
            columns.append(("paper", papers))
    counts = [sorted({row.n for row in rows if row.row == name}) for name in names]
    together = sorted({n for own in counts for n in own})
    if len(together) > 1:  # else the line above the table says it once
        columns.append(("n", [" or ".join(map(str, own)) for own in counts]))
    return [
        f"{prefix}n = {together[0]}" if len(together) == 1 else f"{prefix}n in the last column",
        "",
        "| row | " + " | ".join(header for header, _ in columns) + " |",
        "|---|" + "---:|" * len(columns),
        *(f"| {name} | " + " | ".join(column[i] for _, column in columns) + " |" for i, name in enumerate(names)),
    ]


def _ours(own: Sequence[Row | None]) -> list[str]:
    """Our figures of one column, all with the same number of decimals."""
    largest = max((abs(row.ours) for row in own if row is not None), default=0.0)
    decimals = 1 if largest >= 1000 else 2 if largest >= 10 else 3 if largest >= 1 else 4
    shown = []
    for row in own:
        if row is None:
            shown.append("–")
        else:
            spread = f" ± {(row.high - row.low) / 2:.{decimals}f}" if row.high > row.low else ""
            shown.append(f"{row.ours:.{decimals}f}{spread}")
    return shown


def row_cells(row: Row) -> tuple[str, ...]:
    """A row as people read it: name, metric, the paper's figure, ours, its interval, n."""
    paper = "–" if row.paper is None else f"{row.paper:.4g}"
    interval = f"{row.low:.4g} … {row.high:.4g}" if row.n > 1 else "–"
    return (row.row, row.metric, paper, f"{row.ours:.4g}", interval, str(row.n))


def reproduce(
    kind: str, *, quick: bool, progress: Progress, workers: int | None = None, scheduler: str | None = None
) -> Reproduction:
    """Run the experiments of one kind; who works does not change the figures.

    They run in ``workers`` processes (one a core unless said), each computing with one thread, or on all workers of the
    Dask cluster at an address.
    """
    paper = paper_of(kind)
    start = time.perf_counter()
    with joblib_on(scheduler), threadpool_limits(1):
        n_jobs = -1 if scheduler is not None else workers or cpu_count()  # -1: all that the cluster has
        who = "a cluster" if scheduler is not None else "one process" if n_jobs == 1 else f"{n_jobs} processes"
        origin = Origin.here(who)  # now: files may change while a long run goes on
        rows: Sequence[Row] = paper.reproduce(quick=quick, progress=progress, workers=n_jobs)
    return Reproduction(kind, quick, time.perf_counter() - start, tuple(rows), origin)
