"""Who scores harshly and who leniently: levels of annotators, learnt with the ordinal models.

Every annotator is a feature of the first stage, so large that levels are expected to be about one unit of log odds
apart. The L2 penalty draws the level of somebody who scored few texts towards that of an average scorer.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from accord.aspects.ordinal import OrdinalLogits, ordinal_probabilities
from accord.typing import FloatArray, IntArray, ObjectArray

__all__ = ["Scorers", "split_scorers", "with_scorers"]

_SPREAD = 1.0  # standard deviation of levels, in log odds
_MOST_SHOWN = 500  # texts on which levels are turned into ranks


@dataclass(frozen=True, eq=False)
class Scorers:
    """Levels of the people who scored."""

    names: list[str]
    aspects: list[str]
    n_texts: IntArray  # (n_scorers,)
    shifts: FloatArray  # (n_scorers, n_scores): added to the scores of the first stage
    levels: FloatArray  # (n_scorers, n_aspects): ranks above those of an average scorer

    def to_table(self) -> pd.DataFrame:
        """One row a person, most lenient first: annotator, n_texts, level, and the level of each aspect."""
        table = pd.DataFrame({"annotator": self.names, "n_texts": self.n_texts, "level": self.levels.mean(axis=1)})
        table[[f"level.{name}" for name in self.aspects]] = self.levels
        return table.sort_values("level", ascending=False, kind="stable", ignore_index=True)

    def shifts_of(self, names: ObjectArray) -> FloatArray:
        """Shifts of some people, shape (n, n_scores); 0 for those who are not known."""
        place = {name: code for code, name in enumerate(self.names)}
        padded = np.vstack([self.shifts, np.zeros(self.shifts.shape[1])])
        return np.asarray(padded[[place.get(str(name), -1) for name in names]])


def with_scorers(x: Any, who: IntArray, penalty: float) -> Any:
    """Features with a column for each scorer; ``who`` (n,) holds their codes, −1 where nobody is known."""
    rows = np.flatnonzero(who >= 0)
    size = np.full(len(rows), _SPREAD * np.sqrt(penalty))
    columns = sp.csr_array((size, (rows, who[rows])), shape=(len(who), int(who.max()) + 1))
    return sp.csr_array(sp.hstack([x, columns]))


def split_scorers(
    ranker: OrdinalLogits, x: Any, who: IntArray, names: ObjectArray, aspects: list[str], penalty: float
) -> tuple[OrdinalLogits, Scorers]:
    """The model of an average scorer, and what each scorer adds, from a model of :func:`with_scorers`."""
    n = int(who.max()) + 1
    shifts = _SPREAD * np.sqrt(penalty) * ranker.weights[-n:]
    # The average scorer is the mean over all rows, and not a person without a level.
    mean = np.bincount(who[who >= 0], minlength=n) @ shifts / max(1, len(who))
    average = replace(ranker, weights=np.ascontiguousarray(ranker.weights[:-n]), bias=ranker.bias + mean)
    shifts = shifts - mean
    shown = x[:: max(1, x.shape[0] // _MOST_SHOWN)]
    ranks = np.arange(1, ranker.mixing.shape[1] // len(aspects) + 2)
    usual = ordinal_probabilities(average, shown) @ ranks
    levels = [(ordinal_probabilities(average, shown, shift[None]) @ ranks - usual).mean(axis=0) for shift in shifts]
    people = [str(names[who == code][0]) for code in range(n)]
    return average, Scorers(people, list(aspects), np.bincount(who[who >= 0], minlength=n), shifts, np.array(levels))
