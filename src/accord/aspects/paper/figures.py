"""Figures 2 and 3 of [SB07] as pictures, drawn from the rows of the experiments."""

from collections.abc import Sequence
from pathlib import Path

from accord.errors import MissingDependencyError
from accord.evaluation.tables import Row

__all__ = ["draw_figures"]

_TITLES = {
    "figure_2": ("training round", "ranking loss", "Ranking loss by training round"),
    "figure_3": ("most confident texts, %", "accuracy, %", "Accuracy of the agreement model by confidence"),
}


def draw_figures(rows: Sequence[Row], folder: str | Path) -> list[Path]:
    """Draw one SVG a figure and data set into ``folder``; bands are 95 % intervals over splits."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError("pictures need matplotlib. Install accord-learn[plot].") from None
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for table in dict.fromkeys(row.table for row in rows if row.table.split("/")[0] in _TITLES):
        name, data = table.split("/")
        across, up, title = _TITLES[name]
        figure = Figure(figsize=(6, 4), layout="constrained")
        axes = figure.add_subplot()
        own = [row for row in rows if row.table == table]
        for line in dict.fromkeys(row.row for row in own):
            points = [row for row in own if row.row == line]
            place = [float(row.metric.split("@")[1].rstrip("%")) for row in points]
            axes.plot(place, [row.ours for row in points], marker="o", markersize=3, label=line)
            axes.fill_between(place, [row.low for row in points], [row.high for row in points], alpha=0.15)
        axes.set(xlabel=across, ylabel=up, title=f"{title} ({data})")
        axes.legend(frameon=False)
        path = folder / f"aspects-{name.replace('_', '-')}-{data}.svg"
        figure.savefig(path, metadata={"Date": None})
        drawn.append(path)
    return drawn
