"""Parquet files as blocks of rows that can be worked on one by one, groups of rows kept whole.

A block is a run of row groups: small ones are joined, very large ones are cut. Where rows belong to groups (the
comments of a thread, the texts of a debate), a group belongs to the block it begins in. Only the column of group names
is read to find the cuts, and they depend on the files alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from accord.errors import InputError
from accord.typing import IntArray

__all__ = ["RowBlock", "parquet_columns", "parquet_files", "parquet_schema", "plan_blocks", "whole_groups"]

MIN_ROWS = 65_536
MAX_ROWS = 1_048_576


@dataclass(frozen=True)
class RowBlock:
    """Rows ``start`` to ``stop``, counted over all files, and the row groups that hold them."""

    start: int
    stop: int
    pieces: tuple[tuple[str, int, int], ...]  # file, row group in it, first row of that row group over all files

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.stop - self.start

    def batches(
        self, columns: Sequence[str] | None = None, *, rows: int = 16_384, coded: Sequence[str] = ()
    ) -> Iterator[pa.Table]:
        """The rows in order, ``rows`` at a time or fewer; the columns ``coded`` come dictionary-encoded."""
        for name, group, first in self.pieces:
            at = first
            with pq.ParquetFile(name, read_dictionary=list(coded), pre_buffer=False) as file:
                for batch in file.iter_batches(rows, row_groups=[group], columns=columns):
                    low, high = max(self.start - at, 0), min(self.stop - at, batch.num_rows)
                    at += batch.num_rows
                    if low < high:
                        yield pa.Table.from_batches([batch.slice(low, high - low)])
                    if at >= self.stop:
                        break


def parquet_files(source: str | Path) -> list[str]:
    """One Parquet file, or all of a folder in the order of their names."""
    path = Path(source)
    found = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not found or not all(file.is_file() for file in found):
        raise InputError(f"{path} must be a Parquet file or a folder of them; there is none.")
    return [str(file) for file in found]


def parquet_schema(files: Sequence[str]) -> pa.Schema:
    """The columns of the files, which must have the same names in all of them."""
    first: pa.Schema | None = None
    for name in files:
        with _opened(name) as file:
            schema = file.schema_arrow
        first = first or schema
        if schema.names != first.names:
            raise InputError(f"all files must have the same columns; {name} differs from {files[0]}.")
    return first


def parquet_columns(files: Sequence[str]) -> list[str]:
    """The names of the columns of the files."""
    return list(parquet_schema(files).names)


def _opened(name: str, **options: Any) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(name, **options)
    except (pa.ArrowInvalid, pa.ArrowIOError) as error:
        raise InputError(f"{name} is not readable as Parquet: {str(error).splitlines()[0]}") from None


def plan_blocks(
    files: Sequence[str], *, group: str | None = None, min_rows: int = MIN_ROWS, max_rows: int = MAX_ROWS
) -> list[RowBlock]:
    """The blocks of some files.

    Parameters
    ----------
    files : sequence of str
    group : str, optional
        The column that names the group of each row. Rows of one group must stand together.
    min_rows, max_rows : int
        Row groups are joined until a block has ``min_rows``, and cut where one has more than ``max_rows``.

    Returns
    -------
    list of RowBlock
        Every row is in exactly one block.
    """
    pieces, edges, at = [], [0], 0
    for name in files:
        with _opened(name) as file:
            for row_group in range(file.metadata.num_row_groups):
                n = file.metadata.row_group(row_group).num_rows
                pieces.append((name, row_group, at))
                parts = -(-n // max_rows)
                for part in range(1, parts + 1):
                    stop = at + n * part // parts
                    if stop - edges[-1] >= min_rows:
                        edges.append(stop)
                at += n
    if not at:
        raise InputError(f"{files[0]} has no rows.")
    if edges[-1] < at:
        edges.append(at)
    wanted = np.array(edges[1:-1], dtype=np.int64)
    cuts = wanted if group is None else _group_starts(files, group, wanted)
    bounds = np.unique(np.concatenate([[0], cuts, [at]]))
    firsts = np.array([first for _, _, first in pieces])
    blocks = []
    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        low = int(np.searchsorted(firsts, start, side="right")) - 1
        high = int(np.searchsorted(firsts, stop, side="left"))
        blocks.append(RowBlock(start, stop, tuple(pieces[low:high])))
    return blocks


def _group_starts(files: Sequence[str], column: str, wanted: IntArray) -> IntArray:
    """For each wanted cut the first row at or after it where a group begins; the end of the table where none does."""
    seen: list[Any] = []
    found: list[IntArray] = []
    last, at = None, 0
    for name in files:
        with _opened(name, read_dictionary=[column]) as file:
            if column not in file.schema_arrow.names:
                raise InputError(f"{name} has no column {column!r}, which names the group of each row. Add it.")
            for batch in file.iter_batches(1 << 18, columns=[column]):
                values = batch.column(0)
                if values.null_count:
                    row = at + int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
                    raise InputError(f"every row needs a {column}; row {row + 1} has none. Fill it in or drop the row.")
                coded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
                codes = coded.indices.to_numpy()
                if not len(codes):
                    continue
                starts = np.flatnonzero(np.diff(codes)) + 1
                if coded.dictionary[int(codes[0])].as_py() != last:
                    starts = np.concatenate([[0], starts])
                last = coded.dictionary[int(codes[-1])].as_py()
                names = coded.dictionary.to_pandas().to_numpy()
                seen.append(pd.util.hash_array(names.astype(object))[codes[starts]])
                found.append(starts + at)
                at += len(codes)
    starts, hashes = np.concatenate(found), np.concatenate(seen)
    _, first, counts = np.unique(hashes, return_index=True, return_counts=True)
    if (counts > 1).any():
        twice = hashes[first[counts > 1][0]]
        row = int(starts[np.flatnonzero(hashes == twice)[1]])
        raise InputError(
            f"rows of one {column} must stand together; that of row {row + 1} stood before, with others between. "
            f"Sort the table by {column}."
        )
    ends = np.append(starts, at)
    return np.asarray(ends[np.searchsorted(ends, np.minimum(wanted, at))])


def whole_groups(batches: Iterator[pa.Table], group: str | None) -> Iterator[pa.Table]:
    """The same rows in batches that never end inside a group; a group larger than a batch makes a larger one."""
    if group is None:
        yield from batches
        return
    held: list[pa.Table] = []
    for batch in batches:
        values = batch.column(group).combine_chunks()
        coded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
        codes = coded.indices.to_numpy()
        changes = np.flatnonzero(np.diff(codes))
        last = int(changes[-1]) + 1 if len(changes) else 0
        if held and last == 0 and batch.column(group)[0].as_py() != held[-1].column(group)[-1].as_py():
            yield _joined(held)
            held = []
        if last:
            yield _joined([*held, batch.slice(0, last)])
            held = []
        held.append(batch.slice(last))
    if held:
        yield _joined(held)


def _joined(tables: list[pa.Table]) -> pa.Table:
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks() if len(tables) > 1 else tables[0]
