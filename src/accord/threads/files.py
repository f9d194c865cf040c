"""Threads in Parquet files: training whose comments are never all in one place.

Every worker loads its own blocks, once, and keeps them scaled; counts, moments, losses and gradients are all that
travels. The features of a file stand in its columns, and edges have a bias alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from accord.data.parquet_blocks import RowBlock, parquet_files, parquet_schema, plan_blocks
from accord.engines.graphs import Graphs
from accord.errors import InputError
from accord.fitting.blocked import summed_loss
from accord.fitting.blocked_crf import CrfBlock
from accord.fitting.graph_crf import GraphCRF
from accord.fitting.optimise import l2_penalised, minimise_lbfgs
from accord.scale.blocks import Blocks
from accord.scale.workers import Workers
from accord.threads.design import Scaler, ThreadRows
from accord.threads.held_out import FIXED, HeldOut, hold_out, node_penalties
from accord.threads.local import log_linear_loss, n_vectors
from accord.threads.models import (
    Settings,
    ThreadWeights,
    edge_share,
    edge_units,
    minimise_blocks,
)
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["FittedFile", "fit_file"]

# The strength is chosen on so many comments, from so many places of the files.
_CHOICE_ROWS, _CHOICE_BLOCKS = 20_000, 8
_OWN = ("group_id", "item_id", "label")


@dataclass(frozen=True, eq=False)
class FittedFile:
    """What was learnt from the files."""

    weights: ThreadWeights
    scaler: Scaler
    classes: AnyArray
    names: tuple[str, ...]


def fit_file(
    source: str | Path, settings: Settings, workers: Workers, *, features: Sequence[str] | None = None, **plan: Any
) -> FittedFile:
    """Train on Parquet files with ``group_id``, ``label`` and columns of features; see ``fit_parquet``."""
    _check(settings)
    files = [str(Path(file).absolute()) for file in parquet_files(source)]
    schema = parquet_schema(files)
    names = tuple(features) if features is not None else _numeric(schema)
    missing = [name for name in ("group_id", "label", *names) if name not in schema.names]
    if missing or not names:
        raise InputError(f"training needs group_id, label and features; {source} has no {(*missing, 'features')[0]}.")
    blocks = plan_blocks(files, group="group_id", **plan)
    with workers.open(blocks, common=(names, settings), keep=False) as opened:
        scaler, classes, sizes = _survey(opened, len(names))
    held = None
    if settings.node_penalty == "auto":
        held = _hold_out(blocks, names, settings, workers, scaler, classes, sizes.n_nodes)
        settings = replace(settings, node_penalty=FIXED if held is None else held.penalty)
    loaders = [partial(_load, block, names, scaler, classes, settings) for block in blocks]
    with workers.open(loaders) as opened:
        weights = _fit(opened, settings, sizes, len(scaler.keep) + 1, len(classes))
    if held is not None:
        weights = replace(weights, penalty=held.penalty, penalties_tried=held.path)
    return FittedFile(weights, scaler, classes, names)


def _check(settings: Settings) -> None:
    plain = settings.learner == "lbfgs" and settings.edges == "bias"
    if not plain or settings.order != 1 or settings.model not in ("fccrf", "local", "chain"):
        raise InputError(
            "files are learnt from by model='fccrf', 'local' or 'chain' of order 1, with edges='bias' and "
            "learner='lbfgs'. Use one of these, or fit to a table."
        )


def _numeric(schema: pa.Schema) -> tuple[str, ...]:
    def is_number(kind: pa.DataType) -> bool:
        return pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)

    return tuple(entry.name for entry in schema if entry.name not in _OWN and is_number(entry.type))


@dataclass(frozen=True)
class _Sizes:
    n_nodes: int
    pull: float  # Σ of what edge_scale leaves of each edge
    n_observed: int


def _survey(blocks: Blocks, n_features: int) -> tuple[Scaler, AnyArray, _Sizes]:
    """The scaler of all rows, the labels that occur, and how much there is of everything."""
    counts = blocks.map(_first_look, what="reading")
    n = int(sum(count[0] for count in counts))
    mean = sum((count[1] for count in counts), start=np.zeros(n_features)) / n
    squares = blocks.sum(_second_look, mean, what="reading")
    scale = np.sqrt(squares / n)
    classes = np.array(sorted(set().union(*(count[3] for count in counts))), dtype=object)
    if len(classes) < 2:
        raise InputError(f"training needs two labels or more; there are {len(classes)} in the file.")
    pull, n_observed = (sum(count[2][k] for count in counts) for k in (0, 1))
    sizes = _Sizes(n, pull, n_observed)
    return Scaler(mean, scale, np.flatnonzero(scale > 1e-10)), np.asarray(classes.astype(str)), sizes


def _first_look(block: RowBlock, shared: tuple[tuple[Any, Settings], None], rng: np.random.Generator) -> Any:
    names, settings = shared[0]
    values, rows, labels = _read(block, names)
    seen = ~pd.isna(labels)
    graphs = settings.layout(np.zeros((len(values), 2)), rows.sizes)
    pull = float(edge_share(graphs, settings.edge_scale).sum())
    return len(values), values.sum(axis=0), (pull, int(seen.sum())), set(map(str, labels[seen]))


def _second_look(
    block: RowBlock, shared: tuple[tuple[Any, Settings], FloatArray], rng: np.random.Generator
) -> FloatArray:
    (names, _), mean = shared
    return np.asarray(((_read(block, names)[0] - mean) ** 2).sum(axis=0))


def _read(block: RowBlock, names: tuple[str, ...]) -> tuple[FloatArray, ThreadRows, AnyArray]:
    """Features, threads and labels of a block, in the order of the file."""
    table = pa.concat_tables(block.batches(["group_id", "label", *names]))
    values = np.column_stack([table.column(name).to_numpy().astype(np.float64) for name in names])
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise InputError(
            f"features must be finite; row {block.start + int(row) + 1:,} has {names[column]} = nan or inf."
        )
    groups = pd.factorize(table.column("group_id").to_pandas())[0]
    labels = np.asarray(table.column("label").to_pylist(), dtype=object)
    return values, ThreadRows.of(groups, len(values)), labels


def _load(block: RowBlock, names: tuple[str, ...], scaler: Scaler, classes: AnyArray, settings: Settings) -> CrfBlock:
    """A block as the CRF that it is a part of."""
    values, rows, given = _read(block, names)
    layout = np.zeros((len(values), len(classes)))
    # Rows of a thread stand together, so they are in the order of their threads already.
    local = settings.model == "local"
    graphs = (
        Graphs.complete(layout, np.ones(len(values), dtype=np.int64)) if local else settings.layout(layout, rows.sizes)
    )
    return CrfBlock(
        GraphCRF(graphs, scaler(values), edge_share(graphs, settings.edge_scale)[:, None]), _codes(given, classes)
    )


def _hold_out(
    blocks: Sequence[RowBlock], names: tuple[str, ...], settings: Settings, workers: Workers, scaler: Scaler,
    classes: AnyArray, n_rows: int,
) -> HeldOut | None:  # fmt: skip
    """What nodes say of threads held out, by the first threads of some blocks: a total strength suits any number."""
    n = max(_CHOICE_BLOCKS, -(-_CHOICE_ROWS * len(blocks) // n_rows))
    some = [blocks[k] for k in np.unique(np.linspace(0, len(blocks) - 1, n).astype(int))]
    most = -(-_CHOICE_ROWS // len(some))
    with workers.open(some, common=(names, scaler, classes, most), keep=False) as opened:
        parts = opened.map(_first_threads, what="reading")
    starts = np.cumsum([0, *(len(thread) for _, _, thread in parts)])[:-1]
    return hold_out(
        np.concatenate([x for x, _, _ in parts]), np.concatenate([labels for _, labels, _ in parts]), len(classes),
        np.concatenate([thread + start for (_, _, thread), start in zip(parts, starts, strict=True)]),
        np.ones(len(scaler.keep)), penalty=None, n_folds=settings.n_folds, random_state=settings.random_state,
    )  # fmt: skip


def _first_threads(
    block: RowBlock, shared: tuple[tuple[Any, Scaler, AnyArray, int], None], rng: np.random.Generator
) -> tuple[FloatArray, IntArray, IntArray]:
    """Scaled features, labels and threads of the first whole threads of a block, of one at least."""
    names, scaler, classes, most = shared[0]
    values, rows, given = _read(block, names)
    n = max(int(np.sum(np.cumsum(rows.sizes) <= most)), 1)
    end = int(rows.sizes[:n].sum())
    return scaler(values[:end]), _codes(given[:end], classes), np.repeat(np.arange(n), rows.sizes[:n])


def _codes(given: AnyArray, classes: AnyArray) -> IntArray:
    """Places of labels among the classes; −1 where there is none."""
    codes = np.full(len(given), -1, dtype=np.int64)
    seen = ~pd.isna(given)
    codes[seen] = np.searchsorted(classes, given[seen].astype(str))
    return codes


def _local_share(weights: FloatArray, block: CrfBlock, *, n_labels: int, n_observed: int) -> tuple[float, FloatArray]:
    seen: IntArray = np.flatnonzero(block.labels >= 0)
    share = np.full(len(seen), 1.0 / n_observed)
    return log_linear_loss(weights, block.crf.node_features[seen], block.labels[seen], n_labels, row_weights=share)


def _fit(opened: Blocks, settings: Settings, sizes: _Sizes, n_inputs: int, n_labels: int) -> ThreadWeights:
    vectors = n_vectors(n_labels)
    strength = np.tile(node_penalties(float(settings.node_penalty), np.ones(n_inputs - 1), sizes.n_observed), vectors)
    own = summed_loss(partial(_local_share, n_labels=n_labels, n_observed=sizes.n_observed), opened)
    found = minimise_lbfgs(l2_penalised(own, strength), np.zeros(len(strength)), max_iter=settings.max_iter, tol=1e-4)
    local = found.weights.reshape(vectors, -1)
    if settings.model == "local":
        return ThreadWeights(local, local, np.zeros((0, 1)), None, None, None, found.convergence)
    joint = minimise_blocks(
        opened, settings, n_observed=sizes.n_observed, start=np.append(found.weights, 0.0),
        strength=np.append(strength, 0.0),
        units=np.append(np.ones(len(strength)), edge_units(sizes.pull / sizes.n_nodes)),
    )  # fmt: skip
    return ThreadWeights(
        local, joint.weights[:-1].reshape(vectors, -1), joint.weights[-1:].reshape(1, 1), None, None, None,
        joint.convergence,
    )  # fmt: skip
