"""Rows of the papers' tables: the paper's figure, ours, and how sure ours is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from scipy.stats import t as student

from accord.errors import InputError
from accord.typing import AnyArray, Progress

__all__ = ["Paper", "Reproduce", "Row", "mean_row"]


@dataclass(frozen=True)
class Row:
    """One figure of one table.

    ``low`` and ``high`` bound a 95 % interval over ``n`` folds, splits or seeds; ``paper`` is ``None`` where the paper
    has no such figure.
    """

    table: str
    row: str
    metric: str
    paper: float | None
    ours: float
    low: float
    high: float
    n: int


class Reproduce(Protocol):
    """Run the experiments of a paper."""

    def __call__(self, *, quick: bool, progress: Progress, workers: int = 1) -> list[Row]:
        """The rows of its tables; ``quick`` takes less of the data and the cheap rows."""


@dataclass(frozen=True)
class Paper:
    """The tables of one paper, and the curves that are drawn of them, if any."""

    reproduce: Reproduce
    draw_figures: Callable[[Sequence[Row], str | Path], list[Path]] | None = None


def mean_row(
    table: str, row: str, metric: str, values: Sequence[float] | AnyArray, *, paper: float | None = None
) -> Row:
    """A row whose figure is the mean of ``values``, one a fold, split or seed, with its 95 % t interval.

    One value has no spread to estimate an interval from; its interval is the value itself.
    """
    values = np.asarray(values, dtype=np.float64)
    n = values.size
    if n == 0 or not np.isfinite(values).all():
        raise InputError(f"a row needs finite values; {table}/{row}/{metric} has {values.tolist()}.")
    mean = float(values.mean())
    half = float(student.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n)) if n > 1 else 0.0
    return Row(table, row, metric, paper, mean, mean - half, mean + half, n)
