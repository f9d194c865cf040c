"""The texts that asking looks at: all of a small project, a part of a large one, drawn at random.

To read a text takes longer than to weigh its answer. The best of a thousand texts tell nearly as much as the best of a
hundred thousand, and a question does not wait for all of these to be read. Threads are drawn whole, and of linked texts
those around texts drawn at random, so that what pulls a text is there with it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from accord.data.project import Project
from accord.typing import BoolArray, IntArray, ObjectArray

__all__ = ["looked_at", "part_of"]

_MOST, _CHARACTERS, _FEWEST = 800, 500_000, 200  # texts, characters together, and texts however long they are
_AROUND = 40  # texts around one that is drawn, of linked ones


def looked_at(
    project: Project,
    ids: ObjectArray,
    lengths: Sequence[int],
    groups: ObjectArray,
    open_: BoolArray,
    rng: np.random.Generator,
    *,
    least: int = 0,
) -> IntArray | None:
    """Rows of the texts to look at, in order; ``None`` for all of them.

    Parameters
    ----------
    project : Project
    ids, groups : arrays of shape (n_texts,)
        Of the texts that can be asked about, and their threads.
    lengths : sequence of int
        Characters of each.
    open_ : bool array of shape (n_texts,)
        Which may be asked about.
    rng : numpy.random.Generator
    least : int
        How many texts there must be, however long they are.
    """
    fewest, most = max(_FEWEST, least), max(_MOST, least)
    size = np.asarray(lengths, dtype=np.int64)
    if len(ids) <= fewest or (len(ids) <= most and size.sum() <= _CHARACTERS):
        return None
    first = rng.permutation(np.flatnonzero(open_))
    together = _together(project, ids, groups)
    taken = np.zeros(len(ids), dtype=bool)
    n = characters = 0
    for row in first:
        if n >= most or (characters >= _CHARACTERS and n >= fewest):
            break
        if not taken[row]:
            block = together(row)
            block = block[~taken[block]]
            taken[block] = True
            n, characters = n + block.size, characters + int(size[block].sum())
    return None if taken.all() else np.flatnonzero(taken)


def part_of(project: Project, ids: ObjectArray) -> Project:
    """The project with some of its texts, their judgements and the links among them; of threads, whole ones."""
    names = pa.array(ids, pa.string())
    items = project.item_table
    kept = pc.is_in(items.column("item_id"), names)
    if project.kind == "threads":
        groups = pc.cast(items.column("group_id"), pa.string())
        kept = pc.is_in(groups, pc.unique(pc.filter(groups, kept)))
        names = pc.filter(items.column("item_id"), kept).combine_chunks()
    judged = _inside(project.judgement_table, "item_id", names)
    linked = pc.and_(*(_inside(project.link_table, end, names) for end in ("src_id", "dst_id")))
    return replace(
        project,
        item_table=items.filter(kept),
        judgement_table=project.judgement_table.filter(judged),
        link_table=project.link_table.filter(linked),
    )


def _inside(table: pa.Table, column: str, names: pa.Array) -> pa.ChunkedArray:
    return pc.is_in(pc.cast(table.column(column), pa.string()), names)


def _together(project: Project, ids: ObjectArray, groups: ObjectArray) -> Callable[[int], IntArray]:
    """The rows that are looked at with a row."""
    if project.kind == "threads":
        _, code = np.unique(groups.astype(str), return_inverse=True)
        order = np.argsort(code, kind="stable")
        bounds = np.concatenate([[0], np.cumsum(np.bincount(code))])
        return lambda row: order[bounds[code[row]] : bounds[code[row] + 1]]
    if project.kind == "links" and project.counts["links"]:
        names = pa.array(ids, pa.string())
        ends = [
            pc.fill_null(pc.index_in(pc.cast(project.link_table.column(end), pa.string()), names), -1).to_numpy()
            for end in ("src_id", "dst_id")
        ]
        known = (ends[0] >= 0) & (ends[1] >= 0)
        a, b = (end[known] for end in ends)
        ones = np.ones(a.size, dtype=np.int8)
        graph = sp.csr_array((ones, (a, b)), shape=(len(ids), len(ids)))
        return partial(_ball, sp.csr_array(graph + graph.T))
    return lambda row: np.array([row])


def _ball(graph: sp.csr_array, row: int) -> IntArray:
    """A row and those nearest to it in the graph, at most so many."""
    found = [int(row)]
    seen = set(found)
    for one in found:  # grows while it is gone through
        for near in graph.indices[graph.indptr[one] : graph.indptr[one + 1]].tolist():
            if len(found) < _AROUND and near not in seen:
                seen.add(near)
                found.append(near)
    return np.array(found, dtype=np.int64)
