"""A picture of one thread: what speaks for each comment by itself, and how the comments pull each other."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from accord.errors import MissingDependencyError
from accord.typing import FloatArray

__all__ = ["draw_thread"]

_FOR, _AGAINST = "#2b6cb0", "#c05621"


def draw_thread(reasons: pd.DataFrame, probability: FloatArray, path: str | Path, *, title: str = "") -> Path:
    """Draw one thread as SVG, PNG or PDF, by the ending of ``path``.

    Parameters
    ----------
    reasons : DataFrame
        What :meth:`ThreadClassifier.explain` says of the whole thread.
    probability : array of shape (n_comments,)
        Of a good answer, in the order of the thread.
    path : path
    title : str
    """
    figure_of = _matplotlib()
    names = list(dict.fromkeys(reasons["item_id"]))
    place = {name: k for k, name in enumerate(names)}
    evidence = reasons[reasons["kind"] == "evidence"].groupby("item_id")["effect"].sum().reindex(names).to_numpy()
    pulls = reasons[reasons["kind"] == "pull"]
    figure, (bars, arcs) = figure_of(
        1, 2, figsize=(8, 1.2 + 0.36 * len(names)), sharey=True, gridspec_kw={"width_ratios": [1, 1.4], "wspace": 0.35}
    )
    rows = np.arange(len(names))
    bars.barh(rows, evidence, color=[_FOR if e > 0 else _AGAINST for e in evidence], height=0.6)
    bars.axvline(0.0, color="0.6", linewidth=0.8)
    bars.set(xlabel="evidence of the comment itself (log-odds)", yticks=rows, yticklabels=names)
    bars.invert_yaxis()
    largest = max(float(pulls["effect"].abs().max()), 1e-9) if len(pulls) else 1.0
    for _, pull in pulls.iterrows():
        a, b = place[pull["reason"]], place[pull["item_id"]]
        strength = abs(pull["effect"]) / largest
        arcs.annotate(
            "",
            xy=(0.0, b),
            xytext=(0.0, a),
            arrowprops={
                "arrowstyle": "->",
                "connectionstyle": "arc3,rad=0.5",  # later comments are pulled on one side, earlier ones on the other
                "color": _FOR if pull["effect"] > 0 else _AGAINST,
                "alpha": 0.15 + 0.75 * strength,
                "linewidth": 0.4 + 1.8 * strength,
            },
        )
    arcs.scatter(
        np.zeros(len(rows)), rows, c=probability, cmap="RdYlBu", vmin=0, vmax=1, s=90, zorder=3, edgecolor="0.3"
    )
    for row, p in zip(rows, probability, strict=True):
        arcs.text(-0.8, row, f"{p:.2f}", va="center", ha="right", fontsize=8)
    arcs.set(xlim=(-1, 1), xticks=[], xlabel="P(good) and the pulls between comments")
    for axis in (bars, arcs):
        for side in ("top", "right", "left"):
            axis.spines[side].set_visible(False)
    figure.suptitle(title, fontsize=11)
    path = Path(path)
    figure.savefig(path, bbox_inches="tight")
    return path


def _matplotlib() -> Any:
    try:
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError("pictures need matplotlib. Install accord-learn[plot].") from None

    def subplots(*shape: int, figsize: tuple[float, float], **settings: Any) -> Any:
        figure = Figure(figsize=figsize)
        FigureCanvasSVG(figure)
        return figure, figure.subplots(*shape, **settings)

    return subplots
