"""Who judged: people, and judges, which are programs such as language models, each with its family and its cost."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from accord.data.reading.sources import open_source
from accord.data.tables import as_frame
from accord.errors import InputError

__all__ = ["ANNOTATORS", "ANNOTATOR_KINDS", "annotator_table", "read_annotators"]

ANNOTATOR_KINDS = ("person", "judge")
ANNOTATORS = pa.schema(
    [
        ("annotator_id", pa.string()),
        ("kind", pa.string()),  # one of ANNOTATOR_KINDS
        ("family", pa.string()),  # judges of one family make the same mistakes
        ("model", pa.string()),
        ("cost", pa.float64()),  # of one judgement, in any unit
    ]
)
_SYNONYMS = {
    "annotator_id": ("annotator", "judge", "judge_id", "worker_id", "worker", "voter", "user_id", "id", "name"),
    "kind": ("type",),
    "model": ("model_name",),
    "cost": ("price",),
}


def read_annotators(path: str | Path) -> pa.Table:
    """The table of annotators in a CSV, TSV, JSONL or Parquet file."""
    source = open_source(path)
    batches = list(source.blocks(list(source.columns)))
    frame = pa.Table.from_batches(batches).to_pandas() if batches else pd.DataFrame(columns=list(source.columns))
    return annotator_table(frame, where=str(path))


def annotator_table(table: Any, *, where: str = "the table of annotators") -> pa.Table:
    """A checked table of annotators: ``annotator_id, kind, family, model, cost``; the last three may be missing.

    Examples
    --------
    >>> annotator_table({"annotator_id": ["m-1"], "kind": ["judge"], "family": ["m"]}).to_pylist()[0]
    {'annotator_id': 'm-1', 'kind': 'judge', 'family': 'm', 'model': None, 'cost': None}
    """
    frame = as_frame(table)
    named: dict[str, str] = {}
    for ours in ANNOTATORS.names:
        found = [
            name for name in (ours, *_SYNONYMS.get(ours, ())) if name in frame.columns and name not in named.values()
        ]
        if found:
            named[ours] = found[0]
    for name in ("annotator_id", "kind"):
        if name not in named:
            has = ", ".join(map(str, frame.columns)) or "none"
            raise InputError(f"{where} needs a column {name!r}; it has: {has}. Add or rename it.")
    columns: dict[str, Any] = {}
    for name in ("annotator_id", "kind", "family", "model"):
        cells = frame[named[name]] if name in named else pd.Series([None] * len(frame), dtype=object)
        columns[name] = [None if pd.isna(cell) or str(cell).strip() == "" else str(cell).strip() for cell in cells]
    columns["kind"] = [kind and kind.lower() for kind in columns["kind"]]
    columns["cost"] = _costs(frame[named["cost"]], where) if "cost" in named else [None] * len(frame)
    seen: set[str] = set()
    for row, (name, kind) in enumerate(zip(columns["annotator_id"], columns["kind"], strict=True), start=1):
        if name is None:
            raise InputError(f"every annotator needs an id; row {row} of {where} has none. Fill it in.")
        if kind not in ANNOTATOR_KINDS:
            raise InputError(
                f"the kind of an annotator is person or judge; row {row} of {where} has {kind!r}. Correct it."
            )
        if name in seen:
            raise InputError(f"an annotator has one row; {where} has {name!r} twice. Drop one of them.")
        seen.add(name)
    return pa.table(columns, schema=ANNOTATORS)


def _costs(cells: "pd.Series[Any]", where: str) -> list[float | None]:
    numbers = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64)
    given = cells.notna().to_numpy() & (cells.astype(str).str.strip() != "").to_numpy()
    wrong = given & ~((numbers >= 0) & np.isfinite(numbers))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"the cost of an annotator is a number of at least 0; row {row + 1} of {where} has {cells.iloc[row]!r}. "
            "Correct it or leave it empty."
        )
    return [float(number) if there else None for number, there in zip(numbers, given, strict=True)]
