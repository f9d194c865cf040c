"""Conflicts: the same person judging the same thing again, alike or otherwise."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from accord.typing import AnyArray

__all__ = ["Conflicts"]

_STEP = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying loses nothing


@dataclass
class Conflicts:
    """Counts repeated judgements by 64-bit hashes, sixteen bytes a judgement."""

    things: list[AnyArray] = field(default_factory=list)  # hash of person, kind, aspect and texts
    answers: list[AnyArray] = field(default_factory=list)

    def add(self, table: pa.Table) -> None:
        """Add judgements; spans (a text may have many) and those without a person or an answer are passed over."""
        person, value = table.column("annotator_id"), table.column("value")
        counts = pc.and_(pc.and_(person.is_valid(), value.is_valid()), pc.is_null(table.column("start")))
        status = table.column("status")
        if status.null_count < len(status):
            counts = pc.and_(counts, pc.fill_null(pc.equal(pc.cast(status, pa.string()), "done"), True))
        if not pc.any(counts).as_py():
            return
        rows = table.select(["kind", "aspect", "annotator_id", "item_id", "other_id", "value"]).filter(counts)
        item, other = _hashes(rows.column("item_id")), _hashes(rows.column("other_id"))
        thing = np.minimum(item, other) * _STEP + np.maximum(item, other)
        for name in ("kind", "aspect", "annotator_id"):
            thing = thing * _STEP + _hashes(rows.column(name))
        answer = _hashes(rows.column("value"))
        # A vote for the first of two texts is the same as one against it when they stand the other way round.
        one, zero = (np.uint64(pd.util.hash_array(np.array([vote], dtype=object))[0]) for vote in ("1", "0"))
        turned = (item > other) & (other > 0)
        answer = np.where(turned & (answer == one), zero, np.where(turned & (answer == zero), one, answer))
        self.things.append(thing)
        self.answers.append(answer)

    def count(self) -> dict[str, int]:
        """How many things a person judged more than once, always alike and otherwise."""
        if not self.things:
            return {"repeated": 0, "contradicted": 0}
        things, answers = np.concatenate(self.things), np.concatenate(self.answers)
        order = np.argsort(things, kind="stable")
        things, answers = things[order], answers[order]
        starts = np.flatnonzero(np.concatenate([[True], things[1:] != things[:-1]]))
        sizes = np.diff(np.append(starts, len(things)))
        alike = np.minimum.reduceat(answers, starts) == np.maximum.reduceat(answers, starts)
        return {"repeated": int(((sizes > 1) & alike).sum()), "contradicted": int((~alike).sum())}


def _hashes(column: pa.ChunkedArray) -> AnyArray:
    """One hash a row, 0 where nothing stands."""
    parts = []
    for chunk in column.chunks:
        coded = chunk if pa.types.is_dictionary(chunk.type) else pc.dictionary_encode(chunk)
        names = np.array([name or "" for name in coded.dictionary.to_pylist()], dtype=object)
        known = pd.util.hash_array(names) if len(names) else np.empty(0, dtype=np.uint64)
        hashes = np.append(known, np.uint64(0))
        parts.append(hashes[pc.fill_null(coded.indices, len(names)).to_numpy(zero_copy_only=False)])
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.uint64)
