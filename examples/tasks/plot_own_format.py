"""
A format of one's own: read what nobody else writes
===================================================

A small survey program writes one line a vote: ``person: winner > loser``. A ``Format`` says how such a file is recognised and read. A package
that names it in the entry point ``accord.formats`` makes ``accord import`` and the studio read it like any other.
"""

import tempfile
from pathlib import Path

from accord.data.formats.registry import Format
from accord.data.reading.rows import Buffer

SURVEY = """\
ann: benches > kiosk
ann: kiosk > fence
ben: benches > fence
ben: benches > kiosk
cleo: fence > kiosk
cleo: benches > fence
dan: kiosk > benches
"""


def read(paths, context):
    """Yield the votes of each file; a line that is none is named with its number."""
    for path in paths:
        buffer = Buffer(path, context, source="survey")
        for row, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            person, _, vote = line.partition(": ")
            winner, _, loser = vote.partition(" > ")
            left, right = buffer.item(row, winner, winner), buffer.item(row, loser, loser)
            buffer.judgement(row, "pair", left, other_id=right, value="left", annotator_id=person)
            yield from buffer.ready()
        yield from buffer.rest()


FORMAT = Format(
    "survey",
    "votes of the survey program",
    lambda seen: "its name ends in .survey" if seen.path.suffix == ".survey" else None,
    read,
)

# %%
# In a package, ``pyproject.toml`` has these lines. Here, in one script, the format is put where the entry point would put it.
#
# .. code-block:: toml
#
#     [project.entry-points."accord.formats"]
#     survey = "my_package:FORMAT"

from unittest.mock import patch

from accord.workflows.import_ import import_files

folder = Path(tempfile.mkdtemp())
(folder / "park.survey").write_text(SURVEY, encoding="utf-8")


class Entry:
    """What an entry point is."""

    name = "survey"

    def load(self):
        return FORMAT


with patch("accord.data.formats.registry.entry_points", lambda *, group: [Entry()]):
    import_files([folder / "park.survey"], out=folder / "park")

# %%
# From here on it is a project of pairs like any other.

import matplotlib.pyplot as plt

from accord import BradleyTerryRanker, open_project

votes = open_project(folder / "park").comparisons()
table = BradleyTerryRanker().fit(*votes.xy()).rank()
print(table[["rank", "item_id", "score", "low", "high"]].round(2).to_string(index=False))

fig, ax = plt.subplots(figsize=(6, 2))
ax.errorbar(
    table["score"],
    table["item_id"],
    xerr=[table["score"] - table["low"], table["high"] - table["score"]],
    fmt="o",
    capsize=3,
)
ax.margins(y=0.2)
ax.invert_yaxis()
ax.set_xlabel("score with its 90 % interval")
