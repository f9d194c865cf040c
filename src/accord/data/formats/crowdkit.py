"""crowd-kit: tables of comparisons (worker, left, right, label) and of labels (task, worker, label)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from accord.data.formats.registry import Format, Glimpse
from accord.data.project import Project
from accord.data.reading.rows import Context, Rows
from accord.data.reading.sources import open_source
from accord.data.reading.writing import plain_rows, write_csv
from accord.errors import InputError
from accord.typing import AnyArray

__all__ = ["FORMAT"]

_SOURCE = "crowd-kit"
_PAIRS = ("worker", "left", "right", "label")
_LABELS = ("task", "worker", "label")


def _detect(seen: Glimpse) -> str | None:
    for names in (_PAIRS, _LABELS):
        if seen.has(*names):
            return f"it has the columns {', '.join(names)}"
    return None


def _read(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    for path in paths:
        source, row = open_source(path), 1
        if _detect(Glimpse(path, source.columns)) is None:
            raise InputError(
                f"a table of crowd-kit has the columns {', '.join(_PAIRS)}, or {', '.join(_LABELS)}; {path} has "
                f"{source.named}. Rename them."
            )
        pairs = set(_PAIRS) <= set(source.columns)
        names = _PAIRS if pairs else _LABELS
        for block in source.blocks(names, coded=names):
            if not block.num_rows:
                continue
            numbers = np.arange(row, row + block.num_rows)
            row += block.num_rows
            columns = {
                "kind": pa.array(["pair" if pairs else "label"] * block.num_rows),
                "item_id": block.column("left" if pairs else "task"),
                "annotator_id": block.column("worker"),
                "value": block.column("label"),
                "source": pa.array([_SOURCE] * block.num_rows),
            }
            good = np.ones(block.num_rows, dtype=bool)
            if pairs:
                columns["other_id"] = block.column("right")
                columns["value"], good = _winners(block, path, numbers, context)
            batch = pa.RecordBatch.from_pydict(columns)
            yield Rows("judgements", path, numbers[good], batch.filter(pa.array(good)))


def _winners(block: pa.RecordBatch, path: Path, numbers: AnyArray, context: Context) -> tuple[pa.Array, AnyArray]:
    """The label names the winner."""
    label, left, right = (pc.cast(block.column(name), pa.string()) for name in ("label", "left", "right"))
    value = pc.if_else(
        pc.equal(label, left), "1", pc.if_else(pc.equal(label, right), "0", pa.scalar(None, pa.string()))
    )
    good = value.is_valid().to_numpy(zero_copy_only=False)
    for row in np.flatnonzero(~good).tolist():
        context.refuse(
            path,
            int(numbers[row]),
            "the label of a comparison must be the id on its left or right",
            repr(label[row].as_py()),
            "Correct the label or drop the row.",
        )
    return pc.dictionary_encode(value), good


def _write(project: Project, folder: Path, lost: Counter[str]) -> dict[str, int]:
    votes, labels = [], []
    for row in plain_rows(project, "judgements"):
        if row["kind"] not in ("pair", "label"):
            lost[f"judgements of kind {row['kind']} have no place in crowd-kit's tables"] += 1
        elif row["status"] not in (None, "done"):
            lost["judgements without an answer are left out"] += 1
        elif row["kind"] == "pair" and float(row["value"]) == 0.5:
            lost["ties have no place in crowd-kit's comparisons"] += 1
        elif row["kind"] == "pair":
            winner = row["item_id"] if float(row["value"]) == 1.0 else row["other_id"]
            votes.append((row["annotator_id"], row["item_id"], row["other_id"], winner))
        else:
            labels.append((row["item_id"], row["annotator_id"], row["value"]))
    written = {}
    folder.mkdir(parents=True, exist_ok=True)
    for name, names, rows in (("comparisons.csv", _PAIRS, votes), ("labels.csv", _LABELS, labels)):
        if rows:
            write_csv(pd.DataFrame(rows, columns=list(names)), folder / name)
            written[name] = len(rows)
    return written


FORMAT = Format(_SOURCE, "a table of crowd-kit", _detect, _read, _write, tabular=True)
