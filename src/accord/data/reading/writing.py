"""What the writers share: the judgements of a project in the order that files are written in."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
from pandas.api.types import is_numeric_dtype

from accord.data.project import Project
from accord.data.reading.spreadsheets import disarmed

__all__ = ["Judged", "answered", "judged_texts", "plain_rows", "vote_confidence", "write_csv", "write_lines"]


@dataclass
class Judged:
    """One text with what people judged about it."""

    item: dict[str, Any]
    labels: list[dict[str, Any]] = field(default_factory=list)
    scores: list[dict[str, Any]] = field(default_factory=list)
    spans: list[dict[str, Any]] = field(default_factory=list)

    def people(self) -> list[str | None]:
        """Everybody who judged this text, in order; ``None`` stands for unknown people."""
        return list(dict.fromkeys(row["annotator_id"] for row in (*self.labels, *self.scores, *self.spans)))

    def by_people(self) -> "list[Judged]":
        """What each person judged."""
        return [self.by(person) for person in self.people()]

    def by(self, person: str | None) -> "Judged":
        """What one person judged."""
        kinds = (self.labels, self.scores, self.spans)
        return Judged(self.item, *([row for row in rows if row["annotator_id"] == person] for rows in kinds))


def plain_rows(project: Project, table: str) -> list[dict[str, Any]]:
    """The rows of a table as dictionaries; what is missing is ``None``."""
    tables = {"items": project.item_table, "judgements": project.judgement_table, "links": project.link_table}
    rows: list[dict[str, Any]] = tables[table].to_pylist()
    return rows


def judged_texts(project: Project) -> dict[str, Judged]:
    """Every text with its labels, scores and spans, by id."""
    texts = {row["item_id"]: Judged(row) for row in plain_rows(project, "items")}
    for row in plain_rows(project, "judgements"):
        judged = texts.get(row["item_id"])
        kinds = {"label": "labels", "score": "scores", "span": "spans"}
        if judged is not None and row["kind"] in kinds:
            getattr(judged, kinds[row["kind"]]).append(row)
    return texts


def vote_confidence(project: Project) -> Callable[[dict[str, Any]], float]:
    """How sure the votes on a pair are of one vote's answer: (n for it + 1)/(n + 2), a tie being half a vote for each.

    It is what the votes say after a uniform prior; a vote that most others contradict is below one half. Where people
    voted on the pair, judges do not count.
    """
    judges = set(project.judges()["annotator_id"])
    counts: dict[tuple[bool, str, str], float] = {}
    for row in answered(plain_rows(project, "judgements")):
        if row["kind"] == "pair":
            value, weight = float(row["value"]), 1.0 if row["weight"] is None else row["weight"]
            kind = row["annotator_id"] in judges
            for pair, part in (
                ((kind, row["item_id"], row["other_id"]), value),
                ((kind, row["other_id"], row["item_id"]), 1 - value),
            ):
                counts[pair] = counts.get(pair, 0.0) + weight * part

    def confidence(row: dict[str, Any]) -> float:
        first, second = row["item_id"], row["other_id"]
        kind = (False, first, second) not in counts
        ahead, behind = counts[kind, first, second], counts[kind, second, first]
        p = (ahead + 1.0) / (ahead + behind + 2.0)
        return p if float(row["value"]) >= 0.5 else 1.0 - p

    return confidence


def write_lines(path: Path, records: Iterable[Any], *, ascii_only: bool = False) -> int:
    """Write JSON lines; returns how many. With ``ascii_only`` other characters are escaped."""
    path.parent.mkdir(parents=True, exist_ok=True)
    encode: Callable[[Any], bytes] = _escaped if ascii_only else msgspec.json.Encoder().encode
    n = 0
    with path.open("wb") as file:
        for record in records:
            file.write(encode(record) + b"\n")
            n += 1
    return n


def _escaped(record: Any) -> bytes:
    return json.dumps(record).encode("ascii")


def answered(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The rows that have an answer."""
    return (row for row in rows if row["status"] in (None, "done"))


def write_csv(frame: pd.DataFrame, path: Path, *, sep: str = ",") -> None:
    """Write a table with separators; no cell is one that a spreadsheet would run."""
    frame, returns = frame.copy(deep=False), False
    for name in frame.columns:
        if not is_numeric_dtype(frame[name].dtype):
            cells = [disarmed(cell) if isinstance(cell, str) else cell for cell in frame[name]]
            frame[name] = pd.Series(cells, index=frame.index, dtype=object)
            returns |= any("\r" in cell for cell in cells if isinstance(cell, str))
    # A carriage return ends a line unless its cell is quoted, and nothing else makes pandas quote it.
    frame.to_csv(path, index=False, sep=sep, quoting=csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL)
