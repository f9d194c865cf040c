"""A picture of one debate: who cites whom, who is on which side, and what a model trained on the others says."""

from pathlib import Path

import numpy as np

from accord.data.corpora import convote
from accord.errors import InputError, MissingDependencyError
from accord.links.paper.conditions import paper_data
from accord.links.paper.folds import default_row
from accord.typing import FloatArray, IntArray

__all__ = ["draw_debate"]

FOR, AGAINST = "#2a6fbb", "#c8553d"


def draw_debate(path: str | Path, *, debate: str = "052") -> Path:
    """Draw the citations of one debate of the corpus; the file's ending says the format.

    Who voted for the bill stands on the left, who voted against it on the right, in the order of the corpus. A line
    inside a side is grey, one between the sides black; its width grows with the number of citations. The colour of a
    speaker is the belief of the default model, trained on the other debates; a black ring marks where it is wrong.
    """
    try:
        from matplotlib.colors import LinearSegmentedColormap
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError(
            "pictures need matplotlib, which is not installed. Install accord-learn[plot]."
        ) from None
    condition = paper_data(convote.load())
    inside = condition.debates == debate
    if not inside.any():
        names = ", ".join(sorted(set(condition.debates)))
        raise InputError(f"the debate must be one of the corpus's; {debate!r} is not among {names}.")
    rows = np.flatnonzero(inside)
    others = np.flatnonzero(~inside)
    model = default_row().fit(y=condition.labels[others], **condition.rows(condition.stance, others))
    belief = model.predict_proba(**condition.rows(condition.stance, rows))[:, 1]
    votes = (condition.labels[rows] == "Y").astype(np.int64)
    wrong = (belief >= 0.5) != (votes == 1)
    position = np.full(len(inside), -1)
    position[rows] = np.arange(len(rows))
    here = inside[condition.pairs.ends].all(axis=1)
    ends = position[condition.pairs.ends[here]]
    counts = np.bincount(condition.pairs.pair_of_link, minlength=condition.pairs.n_pairs)[here]
    place = _places(votes)
    figure = Figure(figsize=(7, 7), layout="constrained")
    axes = figure.add_subplot()
    for (i, j), count in zip(ends, counts, strict=True):
        colour = "#9aa0a6" if votes[i] == votes[j] else "black"
        axes.plot(*place[[i, j]].T, color=colour, lw=0.6 + 0.5 * np.log2(count), zorder=1)
    colours = LinearSegmentedColormap.from_list("sides", [AGAINST, "#f4f1ea", FOR])
    edges = np.where(wrong, "black", np.where(votes == 1, FOR, AGAINST))
    drawn = axes.scatter(
        place[:, 0],
        place[:, 1],
        c=belief,
        cmap=colours,
        vmin=0.0,
        vmax=1.0,
        s=64,
        zorder=2,
        edgecolors=edges,
        linewidths=1.4,
    )
    figure.colorbar(drawn, ax=axes, orientation="horizontal", shrink=0.5, label="belief that the speaker votes for")
    same = np.mean(votes[ends[:, 0]] == votes[ends[:, 1]]) if len(ends) else 1.0
    axes.set_title(
        f"Debate {debate}: {len(rows)} speakers, {len(ends)} cited pairs, {100 * same:.0f} % on the same side\n"
        f"left: voted for; right: voted against; ringed in black: the model is wrong ({wrong.sum()})",
        fontsize=10,
    )
    axes.set_axis_off()
    figure.savefig(path)
    return Path(path)


def _places(votes: IntArray) -> FloatArray:
    """One column a side. Speakers stand at different depths, so that no line runs through another speaker."""
    place = np.zeros((len(votes), 2))
    for column, side in enumerate((1, 0)):
        rows = np.flatnonzero(votes == side)
        height = np.linspace(1.0, 0.0, len(rows)) if len(rows) > 1 else np.full(len(rows), 0.5)
        outward = 0.45 * (np.arange(len(rows)) * 0.618 % 1.0) * (1 if column else -1)
        place[rows] = np.column_stack([column + outward, height])
    return place
