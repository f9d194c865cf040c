"""What a reader gives: rows of the project's own tables, each with the place in the file that it came from."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from accord.data.reading.problems import Problems
from accord.data.reading.rankings import LONGEST_RANKING, comparisons_of
from accord.data.reading.sources import as_text
from accord.typing import IntArray

__all__ = ["Buffer", "Context", "Rows", "is_made", "text_id"]

_BUFFERED = 20_000  # rows before they are passed on
_BUFFERED_CHARACTERS = 8_000_000


@dataclass(frozen=True)
class Rows:
    """Some rows of one of the tables ``items``, ``judgements`` and ``links``, every cell as text."""

    table: str
    file: Path
    numbers: IntArray  # (n_rows,) the row of the file, from 1
    batch: pa.RecordBatch


@dataclass
class Context:
    """What a reader is told, and what it has to say besides its rows."""

    problems: Problems = field(default_factory=lambda: Problems(drop=False))
    config: Path | None = None  # the tool's own description of the task
    utf16: bool = False  # whether offsets that nothing can check are UTF-16 code units
    assumed: Counter[str] = field(default_factory=Counter)  # how things were taken
    lost: Counter[str] = field(default_factory=Counter)  # what has no place in a project
    seen: dict[str, int] = field(default_factory=dict)  # item id → hash of its text
    judges: dict[str, dict[str, Any]] = field(default_factory=dict)  # annotators that are programs: family, model

    def refuse(self, file: Path, row: int, rule: str, value: str, cure: str) -> None:
        """Leave a row out: ends the import unless bad rows are dropped."""
        self.problems.add(str(file), row, rule, value, cure)


def text_id(text: str) -> str:
    """The id of a text whose tool gives it none: equal texts are one item.

    Examples
    --------
    >>> text_id("Close the street.") == text_id("Close the street.")
    True
    """
    return "text-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def is_made(name: str) -> bool:
    """Whether an id is one of :func:`text_id`, which says nothing to people."""
    return re.fullmatch(r"text-[0-9a-f]{16}", name) is not None


class Buffer:
    """Collects rows and passes them on in blocks: items before the judgements about them."""

    def __init__(self, file: Path, context: Context, *, source: str) -> None:
        self.file, self.context, self.source = file, context, source
        self._rows: dict[str, list[tuple[int, dict[str, Any]]]] = {"items": [], "judgements": [], "links": []}
        self._size = 0
        self._misnamed: set[tuple[int, Any]] = set()  # rows and ids that stand for another text there

    def item(
        self, row: int, item_id: Any, text: str | None, *, meta: Mapping[str, Any] | None = None, **cells: Any
    ) -> str:
        """Add a text; the same one again is passed over, another text of the same id is refused. Gives the id."""
        name, content = as_text(item_id) or "", text or ""
        if name in self.context.seen:
            if self.context.seen[name] != hash(content):
                self.context.refuse(
                    self.file, row, "an id stands for one text", f"another text for {name!r}", "Rename one of them."
                )
                self._misnamed.add((row, name))
            return name
        self.context.seen[name] = hash(content)
        extra = {f"meta.{key}": value for key, value in (meta or {}).items()}
        self._add("items", row, {"item_id": name, "text": content, **cells, **extra}, len(content))
        return name

    def judgement(self, row: int, kind: str, item_id: Any, **cells: Any) -> None:
        """Add a judgement, unless it is about a text that was refused."""
        if self._misnamed and not self._misnamed.isdisjoint(((row, item_id), (row, cells.get("other_id")))):
            return
        self._add("judgements", row, {"kind": kind, "item_id": item_id, "source": self.source, **cells}, 0)

    def ranking(self, row: int, tiers: Sequence[Sequence[str]], *, name: str, ties: bool = False, **cells: Any) -> None:
        """Add the comparisons that a ranking implies, the best tier first."""
        n = sum(map(len, tiers))
        if n > LONGEST_RANKING:
            self.context.refuse(
                self.file, row, f"a ranking has at most {LONGEST_RANKING} texts", f"{n}", "Split it into shorter ones."
            )
            return
        if len({item for tier in tiers for item in tier}) < n:
            self.context.refuse(self.file, row, "a ranking names each text once", "one twice", "Correct the ranking.")
            return
        pairs = comparisons_of(tiers, ties=ties)
        for place, (better, worse, value) in enumerate(pairs, start=1):
            self.judgement(row, "pair", better, other_id=worse, value=value, judgement_id=f"{name}/{place}", **cells)
        if len(pairs) > 1:
            self.context.assumed["a ranking is read as the comparisons it implies"] += 1

    def link(self, row: int, src_id: Any, dst_id: Any, **cells: Any) -> None:
        """Add a link."""
        self._add("links", row, {"src_id": src_id, "dst_id": dst_id, **cells}, 0)

    def refuse(self, row: int, rule: str, value: str, cure: str) -> None:
        """Leave a row out."""
        self.context.refuse(self.file, row, rule, value, cure)

    def ready(self) -> Iterator[Rows]:
        """What has been collected, if it is enough for a block."""
        if self._size >= _BUFFERED_CHARACTERS or sum(map(len, self._rows.values())) >= _BUFFERED:
            yield from self.rest()

    def rest(self) -> Iterator[Rows]:
        """All that has been collected."""
        for table, rows in self._rows.items():
            if rows:
                names = list(dict.fromkeys(name for _, cells in rows for name in cells))
                columns = {
                    name: pa.array([as_text(cells.get(name)) for _, cells in rows], pa.string()) for name in names
                }
                numbers = np.array([number for number, _ in rows], dtype=np.int64)
                yield Rows(table, self.file, numbers, pa.RecordBatch.from_pydict(columns))
                rows.clear()
        self._size = 0

    def _add(self, table: str, row: int, cells: dict[str, Any], size: int) -> None:
        self._rows[table].append((row, cells))
        self._size += size
