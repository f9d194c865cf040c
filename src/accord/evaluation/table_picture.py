"""The rows of one table as a picture: dots with intervals, or lines where rows or metrics are sizes."""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from accord.errors import MissingDependencyError
from accord.evaluation.tables import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_table"]

_OURS, _PAPER = "#1f5fa8", "#c2571a"
_CROSS: Any = {"marker": "x", "linestyle": "none", "markersize": 6, "markeredgewidth": 1.6}
_MOST_PANELS, _MOST_ROWS = 3, 30
_DASHES = ("-", (0, (5, 2)), (0, (2, 1.5)), (0, (6, 1.5, 1.5, 1.5)))  # lines that coincide stay visible
_WIDE = 8.0  # sizes that differ by this factor are drawn on a logarithmic axis
_NOT_DRAWN = ("p", "r", "alpha", "passes", "gain", "cv_gain")  # parts of others, settings, differences


def draw_table(rows: Sequence[Row], path: str | Path) -> bool:
    """Draw the rows of one table into the SVG file ``path``; False if there is nothing that a picture would show.

    Our figures are dots with their 95 % intervals, the paper's are crosses. Rows such as ``gppl@100`` become lines.
    """
    try:
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D
    except ImportError:
        raise MissingDependencyError("pictures need matplotlib. Install accord-learn[plot].") from None
    rows = [row for row in rows if not row.row.startswith("majority")]  # far from all the others
    metrics = _metrics(rows)
    curves = all("@" in row.row for row in rows)
    names = list(dict.fromkeys(row.row for row in rows if row.metric in metrics))
    if not metrics or not (3 <= len(names) <= _MOST_ROWS or curves):
        return False
    height = 3.0 if curves else 0.9 + 0.24 * len(names)
    width = 4.2 * len(metrics) if curves else 2.6 * len(metrics) + 1.6
    figure = Figure(figsize=(width, height), layout="constrained")
    panels = figure.subplots(1, len(metrics), sharey=not curves, squeeze=False)[0]
    for axes, metric in zip(panels, metrics, strict=True):
        own = [row for row in rows if row.metric == metric]
        if curves:
            _lines(axes, own)
        else:
            _dots(axes, own, names)
        axes.set_title(metric, fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8.5)
    if not curves and any(row.paper is not None for row in rows):
        marks = [Line2D([], [], color=_OURS, marker="o", markersize=5), Line2D([], [], color=_PAPER, **_CROSS)]
        figure.legend(marks, ["ours, 95 %", "paper"], loc="outside upper right", ncols=2, frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None})
    return True


def _metrics(rows: Sequence[Row]) -> list[str]:
    """The metrics that most rows have, in the table's order; probabilities and settings are not drawn."""
    counts: dict[str, int] = {}
    for row in rows:
        if not row.metric.startswith("p_") and "@" not in row.metric and row.metric not in _NOT_DRAWN:
            counts[row.metric] = counts.get(row.metric, 0) + 1
    most = max(counts.values(), default=0)
    return [metric for metric, count in counts.items() if 2 * count > most and "/" not in metric][:_MOST_PANELS]


def _dots(axes: "Axes", rows: Sequence[Row], names: Sequence[str]) -> None:
    place = {name: len(names) - 1 - i for i, name in enumerate(names)}
    for row in rows:
        axes.plot([row.low, row.high], [place[row.row]] * 2, color=_OURS, linewidth=1.4)
        axes.plot(row.ours, place[row.row], "o", color=_OURS, markersize=5)
        if row.paper is not None:
            axes.plot(row.paper, place[row.row], color=_PAPER, **_CROSS)
    axes.set_yticks([place[name] for name in names], names)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.grid(axis="both", color="#e4e4e4", linewidth=0.7)
    axes.set_axisbelow(True)


def _lines(axes: "Axes", rows: Sequence[Row]) -> None:
    ticks = list(dict.fromkeys(row.row.rpartition("@")[2] for row in rows))
    numbers = all(tick.isdigit() for tick in ticks)
    for line, dashes in zip(dict.fromkeys(row.row.rpartition("@")[0] for row in rows), cycle(_DASHES), strict=False):
        own = [row for row in rows if row.row.rpartition("@")[0] == line]
        sizes = [row.row.rpartition("@")[2] for row in own]
        x = [float(size) if numbers else ticks.index(size) for size in sizes]
        (drawn,) = axes.plot(x, [row.ours for row in own], linestyle=dashes, marker="o", markersize=3.5, label=line)
        axes.fill_between(x, [row.low for row in own], [row.high for row in own], alpha=0.12)
        papers = [(at, row.paper) for at, row in zip(x, own, strict=True) if row.paper is not None]
        if papers:
            axes.plot(*zip(*papers, strict=True), "x", color=drawn.get_color(), markeredgewidth=1.6)
    if not numbers:
        axes.set_xticks(range(len(ticks)), ticks)
    elif 0 < _WIDE * min(map(float, ticks)) <= max(map(float, ticks)):
        axes.set_xscale("log")
        axes.set_xticks([float(tick) for tick in ticks], ticks)
        axes.minorticks_off()
    axes.grid(color="#e4e4e4", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize=8)
