"""Predict from Parquet to Parquet, block by block, in bounded memory; a run that was stopped goes on where it was.

Each block becomes one file in a folder beside the output, written under another name and then renamed, so that it is
there whole or not at all. A ``manifest.json`` says of which model and which input the parts are: the same command finds
them again and runs only what is missing. When all are there they are joined in the order of the input.
"""

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq

from accord import __version__
from accord.data.parquet_blocks import RowBlock, parquet_columns, parquet_files, plan_blocks, whole_groups
from accord.errors import InputError
from accord.scale.workers import Workers
from accord.store.models import SavedModel, load_model
from accord.typing import Progress
from accord.workflows.export import arrow_table
from accord.workflows.kinds import task_of

__all__ = ["Predicted", "predict_parquet"]

_JOINED_ROWS = 131_072


@dataclass(frozen=True)
class Predicted:
    """What a run wrote."""

    kind: str
    n_rows: int
    n_blocks: int
    n_resumed: int  # blocks that an earlier run had done


@dataclass(frozen=True, eq=False)
class _Task:
    """What every block needs: the model, where its rows are read and where its part is written."""

    saved: SavedModel
    columns: tuple[str, ...]
    links: str | None
    folder: str


def predict_parquet(
    model: str | Path,
    source: str | Path,
    target: str | Path,
    *,
    links: str | Path | None = None,
    workers: Workers | None = None,
    progress: Progress = lambda what, done, total: None,
    **plan: int,
) -> Predicted:
    """Apply a saved model to the rows of Parquet files.

    Parameters
    ----------
    model : path
        A model that ``accord train`` saved.
    source : path
        A Parquet file, or a folder of them. Rows of one thread or debate (``group_id``) must stand together.
    target : path
        The Parquet file to write; the same rows in the same order whatever the workers are.
    links : path, optional
        Of a model of links: a Parquet file with ``src_id`` and ``dst_id``, and best ``group_id``. Links between groups
        are not used. Groups that are read together are also predicted together, which matters a little where the model
        of links is the block model: more rows a block are closer to one graph.
    workers : Workers, optional
        Workers must see ``source`` and ``target`` under the same names.
    progress : Progress
    **plan
        ``min_rows`` and ``max_rows`` of :func:`~accord.data.parquet_blocks.plan_blocks`.
    """
    saved, target = load_model(model), Path(target).absolute()
    if target.suffix != ".parquet":
        raise InputError(f"predictions of a Parquet file are written to another; {target.name!r} must end in .parquet.")
    files = [str(Path(file).absolute()) for file in parquet_files(source)]
    if str(target) in files:
        raise InputError(f"the predictions need a file of their own; {target} is the input.")
    if (saved.kind == "links") != (links is not None):
        raise InputError("a model of links needs a file of links, and no other model does; see --links.")
    columns = _columns(saved, parquet_columns(files))
    blocks = plan_blocks(files, group=task_of(saved.kind).rows.group, **plan)
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = target.with_name(f".{target.name}.parts")
    linked = None if links is None else str(Path(links).absolute())
    inputs = files if linked is None else [*files, linked]
    with _checkpoint(folder, _description(model, inputs, blocks)):
        missing = [place for place in range(len(blocks)) if not _part(folder, place).exists()]
        n_resumed = len(blocks) - len(missing)

        def report(what: str, done: int, total: int) -> None:
            progress("predicting", n_resumed + done, len(blocks))

        task = _Task(saved, tuple(columns), linked, str(folder))
        # Tasks are few bytes each: where the rows are. Workers read and write; only counts come back.
        tasks = [partial(_identity, (place, blocks[place])) for place in missing]
        with (workers or Workers()).open(tasks, common=task, keep=False, progress=report) as opened:
            opened.map(_predict_block)
        n_rows = _join(folder, len(blocks), target, progress)
        shutil.rmtree(folder)
    return Predicted(saved.kind, n_rows, len(blocks), n_resumed)


def predict_rows(kind: str, model: Any, table: pa.Table, linked: pa.Table | None) -> pd.DataFrame:
    """What the model of a kind says of some rows, whole groups of them."""
    return task_of(kind).rows.predict(model, table, linked)


def _predicted(model: Any, kind: str, table: pa.Table, linked: pa.Table | None) -> pd.DataFrame:
    return predict_rows(kind, model, table, linked)


def _columns(saved: SavedModel, has: Sequence[str]) -> list[str]:
    """The columns to read for a model; one that is missing is refused."""
    rows = task_of(saved.kind).rows
    needed = list(saved.use(rows.needed))
    missing = [name for name in needed if name not in has]
    if missing:
        shown = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        raise InputError(
            f"this model of {saved.kind} reads the columns {shown}, which the table does not have. Add them."
        )
    return needed + [name for name in rows.optional if name in has and name not in needed]


def _identity(block: Any) -> Any:
    return block


def _part(folder: str | Path, place: int) -> Path:
    return Path(folder) / f"part-{place:06d}.parquet"


def _predict_block(numbered: tuple[int, RowBlock], shared: tuple[_Task, None], rng: np.random.Generator) -> int:
    """Write the part of one block, all or nothing; its number of rows."""
    (place, block), task = numbered, shared[0]
    group = task_of(task.saved.kind).rows.group
    writing = Path(task.folder) / f"{place}-{uuid.uuid4().hex}.writing"
    writer: pq.ParquetWriter | None = None
    n_rows, at = 0, block.start
    try:
        coded = [group] if group is not None else []
        for table in whole_groups(block.batches(list(task.columns), coded=coded), group):
            try:
                found = task.saved.use(_predicted, task.saved.kind, table, _linked(task.links, table))
            except InputError as error:
                raise InputError(f"in rows {at + 1:,} to {at + table.num_rows:,} of the input: {error}") from None
            result = arrow_table(found)
            if writer is None:
                writer = pq.ParquetWriter(writing, result.schema, compression="lz4", use_dictionary=False)
            writer.write_table(result.cast(writer.schema))
            n_rows += result.num_rows
            at += table.num_rows
        if writer is not None:
            writer.close()
        os.replace(writing, _part(task.folder, place))
    finally:
        if writer is not None:
            writer.close()
        writing.unlink(missing_ok=True)
    return n_rows


def _linked(links: str | None, table: pa.Table) -> pa.Table | None:
    """The links of the texts of a table: by their group where the file says it, else by where they start."""
    if links is None:
        return None
    data = pyarrow.dataset.dataset(links)
    by, own = ("group_id", "group_id") if "group_id" in data.schema.names else ("src_id", "item_id")
    values = table.column(own).unique()
    values = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
    names = [name for name in ("src_id", "dst_id", "kind", "weight", "context") if name in data.schema.names]
    if not {"src_id", "dst_id"} <= set(names):
        raise InputError(f"a file of links needs the columns src_id and dst_id; {links} has {data.schema.names}.")
    return data.to_table(columns=names, filter=pyarrow.dataset.field(by).isin(values))


def _join(folder: Path, n_blocks: int, target: Path, progress: Progress) -> int:
    """All parts as one file, in order; the file appears whole."""
    writing = folder / "joined.writing"
    schema = pq.read_schema(_part(folder, 0))
    n_rows = 0
    with pq.ParquetWriter(writing, schema, compression="lz4", use_dictionary=False) as writer:
        for place in range(n_blocks):
            with pq.ParquetFile(_part(folder, place), pre_buffer=False) as part:
                for batch in part.iter_batches(_JOINED_ROWS):
                    writer.write_table(pa.Table.from_batches([batch]).cast(schema))
                    n_rows += batch.num_rows
            progress("joining", place + 1, n_blocks)
    os.replace(writing, target)
    return n_rows


def _description(model: str | Path, files: list[str], blocks: list[RowBlock]) -> dict[str, Any]:
    """What the parts depend on: another model, input, cut or version makes them useless."""
    stats = [os.stat(file) for file in files]
    return {
        "format": "accord-prediction",
        "version": __version__,
        "model": hashlib.sha256(Path(model).read_bytes()).hexdigest(),
        "input": [[file, stat.st_size, stat.st_mtime_ns] for file, stat in zip(files, stats, strict=True)],
        "blocks": [block.stop for block in blocks],
    }


@contextmanager
def _checkpoint(folder: Path, description: dict[str, Any]) -> Iterator[None]:
    """The folder of the parts, for this run alone; parts of another model or input are thrown away."""
    import fcntl

    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"one run at a time may write here; another one is using {folder}.") from None
        manifest = folder / "manifest.json"
        try:
            known = json.loads(manifest.read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            known = None
        for file in folder.iterdir():
            if file.name.endswith(".writing") or (known != description and file.name.startswith("part-")):
                file.unlink()
        if known != description:
            writing = folder / "manifest.writing"
            writing.write_text(json.dumps(description) + "\n", encoding="utf-8")
            writing.replace(manifest)
        yield
