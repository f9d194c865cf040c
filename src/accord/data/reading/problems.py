"""Rows that break a rule: refused at the first, or dropped and counted."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from accord.errors import InputError
from accord.typing import BoolArray, IntArray

__all__ = ["Problem", "Problems"]

_LONGEST_SHOWN = 200  # characters of a value
_KEPT_EXAMPLES = 20


@dataclass(frozen=True)
class Problem:
    """One row that breaks a rule."""

    file: str
    row: int  # from 1, without the line of column names
    rule: str
    value: str
    cure: str

    def __str__(self) -> str:
        value = self.value if len(self.value) <= _LONGEST_SHOWN else f"{self.value[:_LONGEST_SHOWN]}…"
        return f"{self.rule}; row {self.row:,} of {self.file} has {value}. {self.cure}"


@dataclass
class Problems:
    """Collects the rows that break rules; unless ``drop`` is set the first one ends the import."""

    drop: bool
    counts: Counter[str] = field(default_factory=Counter)  # rows by rule
    examples: list[Problem] = field(default_factory=list)

    def check(
        self,
        bad: BoolArray,
        good: BoolArray,
        *,
        file: str,
        numbers: IntArray,
        rule: str,
        value: Callable[[int], str],
        cure: str,
    ) -> None:
        """Take the bad rows of a block out of ``good`` (changed in place); a row counts for its first rule only."""
        bad = bad & good
        if not bad.any():
            return
        rows = np.flatnonzero(bad)
        problem = [Problem(file, int(numbers[row]), rule, value(int(row)), cure) for row in rows[:_KEPT_EXAMPLES]]
        if not self.drop:
            raise InputError(str(problem[0]))
        self.counts[rule] += len(rows)
        self.examples += problem[: _KEPT_EXAMPLES - len(self.examples)]
        good[rows] = False

    def add(self, file: str, row: int, rule: str, value: str, cure: str) -> None:
        """One bad row that a reader leaves out."""
        problem = Problem(file, row, rule, value, cure)
        if not self.drop:
            raise InputError(str(problem))
        self.counts[rule] += 1
        if len(self.examples) < _KEPT_EXAMPLES:
            self.examples.append(problem)
