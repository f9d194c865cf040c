"""Rebuild a paper's tables, and write them beside its own figures."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from accord.experiments.report import Row
from accord.typing import Progress
from accord.workflows.words import experiment_module

__all__ = ["Reproduction", "reproduce"]

_START, _END = "<!-- tables: written by accord reproduce -->", "<!-- end of tables -->"


@dataclass(frozen=True)
class Reproduction:
    """The rows of one paper's tables."""

    word: str
    quick: bool
    seconds: float
    rows: tuple[Row, ...]

    def tables(self) -> list[tuple[str, list[Row]]]:
        """The rows by table, in order of first appearance."""
        order = list(dict.fromkeys(row.table for row in self.rows))
        by_table = sorted(self.rows, key=lambda row: order.index(row.table))
        return [(name, list(rows)) for name, rows in groupby(by_table, key=lambda row: row.table)]

    def to_json(self) -> dict[str, Any]:
        """One object: word, quick, seconds and rows."""
        return {
            "word": self.word,
            "quick": self.quick,
            "seconds": round(self.seconds, 3),
            "rows": [asdict(row) for row in self.rows],
        }

    def to_markdown(self) -> str:
        """A page with one table a table of the paper: the paper's figure, ours, and its 95 % interval."""
        return f"# Results: {self.word}\n\n{self._tables()}\n"

    def write(self, path: Path) -> None:
        """Write the page; of a page that is there, only the part between the two marks is replaced.

        So what people write around the tables, and the pictures they put there, stay.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        page = path.read_text(encoding="utf-8") if path.exists() else ""
        before, start, rest = page.partition(_START)
        _, end, after = rest.partition(_END)
        page = f"{before}{self._tables()}{after}" if start and end else self.to_markdown()
        path.write_text(page, encoding="utf-8")

    def _tables(self) -> str:
        lines = [_START, f"Written by `accord reproduce {self.word}{' --quick' * self.quick}`."]
        lines += ["Intervals are 95 % over n folds, splits or seeds; a dash means that the paper has no such figure."]
        for name, rows in self.tables():
            lines += [
                "",
                f"## {name}",
                "",
                "| row | metric | paper | ours | interval | n |",
                "|---|---|---:|---:|---|---:|",
            ]
            lines += ["| " + " | ".join(row_cells(row)) + " |" for row in rows]
        return "\n".join([*lines, "", _END])


def row_cells(row: Row) -> tuple[str, ...]:
    """A row as people read it: name, metric, the paper's figure, ours, its interval, n."""
    paper = "–" if row.paper is None else f"{row.paper:.4g}"
    interval = f"{row.low:.4g} … {row.high:.4g}" if row.n > 1 else "–"
    return (row.row, row.metric, paper, f"{row.ours:.4g}", interval, str(row.n))


def reproduce(word: str, *, quick: bool, progress: Progress, workers: int = 1) -> Reproduction:
    """Run the experiments of one word."""
    module = experiment_module(word)
    start = time.perf_counter()
    rows: Sequence[Row] = module.reproduce(quick=quick, progress=progress, workers=workers)
    return Reproduction(word, quick, time.perf_counter() - start, tuple(rows))
