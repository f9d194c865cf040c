"""A picture of one debate: who cites whom, who agrees, and which side each speaker is on."""

from pathlib import Path

import numpy as np

from accord.data.corpora import convote
from accord.errors import InputError, MissingDependencyError
from accord.features.links import linked_pairs

__all__ = ["draw_debate"]

SIDES = {"Y": "#2a6fbb", "N": "#c8553d"}


def draw_debate(path: str | Path, *, debate: str) -> Path:
    """Draw the citations of one debate of the corpus; the file's ending says the format.

    The two sides stand in two columns, in the order of the corpus. A line inside a side is drawn grey, one between the
    sides in black; its width grows with the number of citations. Ringed speakers are neither cited nor citing.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError(
            "pictures need matplotlib, which is not installed. Install accord[plot]."
        ) from None
    items, labels, links = convote.load().graph()
    inside = np.asarray(items.groups) == debate
    if not inside.any():
        names = ", ".join(sorted(set(np.asarray(items.groups))))
        raise InputError(f"the debate must be one of the corpus's; {debate!r} is not among {names}.")
    ids, sides = items.ids[inside], labels[inside]
    _, source, target = links.among(ids)
    pairs = linked_pairs(source, target, n_texts=len(ids))
    counts = np.bincount(pairs.pair_of_link, minlength=pairs.n_pairs)
    place = np.zeros((len(ids), 2))
    for column, side in enumerate(SIDES):
        rows = np.flatnonzero(sides == side)
        height = np.linspace(1.0, 0.0, len(rows)) if len(rows) > 1 else np.array([0.5])
        # Speakers stand at different depths, so that no line runs through another speaker.
        outward = 0.45 * (np.arange(len(rows)) * 0.618 % 1.0) * (1 if column else -1)
        place[rows] = np.column_stack([column + outward, height])
    figure = Figure(figsize=(7, 7), layout="constrained")
    axes = figure.add_subplot()
    for (i, j), count in zip(pairs.ends, counts, strict=True):
        same = sides[i] == sides[j]
        axes.plot(*place[[i, j]].T, color="#9aa0a6" if same else "black", lw=0.6 + 0.5 * np.log2(count), zorder=1)
    for side, colour in SIDES.items():
        for linked in (True, False):
            rows = (sides == side) & (pairs.connected == linked)
            x, y = place[rows].T
            axes.scatter(
                x,
                y,
                s=46,
                zorder=2,
                edgecolors=colour,
                facecolors=colour if linked else "white",
                linewidths=1.5,
            )
    share = np.mean(sides[pairs.ends[:, 0]] == sides[pairs.ends[:, 1]]) if pairs.n_pairs else 1.0
    axes.set_title(
        f"Debate {debate}: {len(ids)} speakers, {pairs.n_pairs} cited pairs, {100 * share:.0f} % on the same side\n"
        "left: voted for (blue); right: voted against (red)",
        fontsize=10,
    )
    axes.set_axis_off()
    figure.savefig(path)
    return Path(path)
