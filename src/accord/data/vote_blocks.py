"""Votes in Parquet files, read block by block: their number does not matter to memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from accord.data.parquet_blocks import RowBlock, parquet_columns, parquet_files, plan_blocks
from accord.errors import InputError
from accord.typing import FloatArray, IntArray, ObjectArray

__all__ = ["VoteReader", "vote_blocks", "vote_ids"]

_BATCH = 131_072
_SIDES = ("left", "right")


def vote_blocks(source: str | Path, **plan: Any) -> list[RowBlock]:
    """The blocks of a Parquet file, or a folder of them, with ``left``, ``right``, ``value`` and maybe ``weight``."""
    files = [str(Path(file).absolute()) for file in parquet_files(source)]
    missing = [name for name in (*_SIDES, "value") if name not in parquet_columns(files)]
    if missing:
        raise InputError(f"a file of votes needs the columns left, right, value; {', '.join(missing)} is missing.")
    return plan_blocks(files, **plan)


def vote_ids(blocks: Sequence[RowBlock]) -> ObjectArray:
    """The ids of all items that were voted on, sorted."""
    found: set[str] = set()
    for block in blocks:
        for table in block.batches(list(_SIDES), rows=_BATCH, coded=_SIDES):
            for side in _SIDES:
                found.update(map(str, table.column(side).unique().drop_null().to_pylist()))
    return np.array(sorted(found), dtype=object)


@dataclass(frozen=True, eq=False)
class VoteReader:
    """Turns a block into votes between the items with some ids; sent once to every worker."""

    ids: ObjectArray

    @cached_property
    def _index(self) -> "pd.Index[Any]":
        return pd.Index(self.ids)

    def __getstate__(self) -> dict[str, Any]:
        return {"ids": self.ids}

    def __call__(self, block: RowBlock) -> Iterator[tuple[IntArray, IntArray, FloatArray, FloatArray]]:
        """Positions left and right, values and weights, some hundred thousand votes at a time."""
        at = block.start
        columns = [*_SIDES, "value"]
        if "weight" in parquet_columns([block.pieces[0][0]]):
            columns.append("weight")
        for table in block.batches(columns, rows=_BATCH, coded=_SIDES):
            left, right = (self._positions(table.column(side), at, side) for side in _SIDES)
            value = table.column("value").to_numpy().astype(np.float64)
            wrong = (value != 0.0) & (value != 0.5) & (value != 1.0)
            self._refuse(wrong, at, "a vote must be 1 (left), 0 (right) or 0.5 (undecided)")
            self._refuse(left == right, at, "a vote compares two different items")
            weight = table.column("weight").to_numpy().astype(np.float64) if len(columns) == 4 else np.ones(len(value))
            yield left, right, value, weight
            at += table.num_rows

    def _positions(self, column: pa.ChunkedArray, at: int, side: str) -> IntArray:
        found = []
        for chunk in column.chunks:
            coded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
            names = np.array(
                [None if name is None else str(name) for name in coded.dictionary.to_pylist()], dtype=object
            )
            places = np.append(self._index.get_indexer(pd.Index(names)), -1)
            found.append(places[coded.indices.fill_null(-1).to_numpy()])
        positions = np.concatenate(found)
        self._refuse(positions < 0, at, f"every {side} item of a vote must be one of the items")
        return positions

    @staticmethod
    def _refuse(wrong: Any, at: int, rule: str) -> None:
        if wrong.any():
            raise InputError(f"{rule}; row {at + int(np.argmax(wrong)) + 1:,} breaks this. Correct it or drop the row.")
