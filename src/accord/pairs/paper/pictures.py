"""Figures 3, 4, 5 and 7 of [SG18] as pictures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from accord.data.corpora import convarg
from accord.errors import MissingDependencyError
from accord.evaluation.tables import Row
from accord.pairs.paper.toy import GRAPHS, simulate_graph

__all__ = ["draw_active_learning", "draw_scaling", "draw_toy_graphs"]

_SCALING = {
    "items": ("exact", "number of items"),
    "items_svi": ("100 points, mini-batches", "number of items"),
    "points": ("all items", "number of inducing points"),
    "features": ("500 points, product kernel", "number of features"),
}
_COLOURS = {"transfer": "#3a9d5d", "gppl": "#2a6fbb", "uncertainty": "#8a8f98", "random": "#c8553d"}
_NAMES = {"transfer": "information that carries over", "gppl": "information (BALD)"}


def _figure(width: float, height: float) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError("pictures need matplotlib. Install accord-learn[plot].") from None
    return Figure(figsize=(width, height), layout="constrained")


def draw_toy_graphs(path: str | Path, *, n_repeats: int = 25) -> Path:
    """Scores and probabilities that four small graphs of votes lead to; the file's ending says the format.

    Top: our scores with one standard deviation, and PageRank. Below: the probability that the item of the column beats
    that of the row, by our ranker and by a support vector machine on both texts' features.
    """
    corpus = convarg.load()
    figure = _figure(11, 8)
    axes = figure.subplots(3, len(GRAPHS))
    image = None
    for column, name in enumerate(GRAPHS):
        found = simulate_graph(corpus, name, n_repeats=n_repeats)
        place = np.arange(found.scores.size)
        top = axes[0, column]
        top.bar(place - 0.2, found.scores, 0.4, yerr=found.spreads, color="#2a6fbb", label="score")
        top.bar(place + 0.2, np.log(found.pagerank * place.size), 0.4, color="#c8553d", label="log PageRank × n")
        top.axhline(0.0, color="black", lw=0.6)
        top.set(title=name, xticks=place, xlabel="item", ylim=(-1.8, 1.8))
        for row, matrix in ((1, found.probabilities), (2, found.svm)):
            image = axes[row, column].imshow(matrix.T, vmin=0.0, vmax=1.0, cmap="RdBu")
            axes[row, column].set(xticks=place, yticks=place, xlabel="item")
    axes[0, 0].legend(frameon=False, fontsize=8, loc="lower left")
    axes[1, 0].set_ylabel("GP: P(column beats row)")
    axes[2, 0].set_ylabel("SVM: P(column beats row)")
    figure.colorbar(image, ax=axes[1:, :], shrink=0.6)
    figure.savefig(path, metadata={"Date": None})
    return Path(path)


def draw_scaling(rows: Sequence[Row], path: str | Path) -> Path:
    """Time and accuracy against the numbers of items, inducing points and features, from the rows of ``scaling``."""
    figure = _figure(11, 6)
    columns = list(dict.fromkeys(label for _, label in _SCALING.values()))
    axes = figure.subplots(2, len(columns))
    for curve, (line, label) in _SCALING.items():
        for place, metric in enumerate(("seconds", "accuracy")):
            points = _curve(rows, "scaling", curve, metric)
            axis = axes[place, columns.index(label)]
            axis.plot(*zip(*((n, row.ours) for n, row in points), strict=True), marker="o", markersize=3, label=line)
            axis.set(xlabel=label, ylabel="CPU seconds" if metric == "seconds" else metric)
            axis.set_xscale("log" if curve == "features" else "linear")
            axis.legend(frameon=False, fontsize=8)
            if metric == "seconds":
                axis.set_ylim(bottom=0.0)
    figure.savefig(path, metadata={"Date": None})
    return Path(path)


def draw_active_learning(rows: Sequence[Row], path: str | Path) -> Path:
    """Accuracy by number of votes asked for; bands are 95 % intervals over folds."""
    figure = _figure(6, 4)
    axis = figure.add_subplot()
    for strategy, colour in _COLOURS.items():
        points = _curve(rows, "active", strategy, "accuracy")
        place = [n for n, _ in points]
        axis.plot(
            place, [row.ours for _, row in points], marker="o", color=colour, label=_NAMES.get(strategy, strategy)
        )
        axis.fill_between(place, [r.low for _, r in points], [r.high for _, r in points], color=colour, alpha=0.1)
    axis.set(xlabel="votes asked for", ylabel="accuracy on the fold left out")
    axis.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})
    return Path(path)


def _curve(rows: Sequence[Row], table: str, name: str, metric: str) -> list[tuple[int, Row]]:
    found = [row for row in rows if row.table == table and row.metric == metric and row.row.split("@")[0] == name]
    return sorted(((int(row.row.split("@")[1]), row) for row in found), key=lambda point: point[0])
