"""Votes of people and of judges with known biases."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.typing import FloatArray
from synthetic.words import numbered

__all__ = ["JudgedProblem", "judged_votes"]


@dataclass(frozen=True, eq=False)
class JudgedProblem:
    """Votes and the truth behind them.

    People see d = quality(left) − quality(right) + ε, a judge share·d + length·(x(left) − x(right)) + position + ε,
    where x is an independent number of each text, ``meta.x``, and the first text is shown on the left.
    """

    votes: Comparisons
    judges: pd.DataFrame
    quality: FloatArray  # (n_items,)
    covariate: FloatArray  # (n_items,)


def judged_votes(
    n_items: int = 40,
    n_people: int = 300,
    n_judged: int = 3000,
    *,
    n_voters: int = 6,
    n_judges: int = 2,
    share: float = 0.5,
    length: float = 1.0,
    position: float = 0.0,
    noise: float = float(np.sqrt(2.0)),
    tie_width: float = 0.0,
    random_state: int = 0,
) -> JudgedProblem:
    """Votes between random pairs: ``n_people`` by ``n_voters`` people, ``n_judged`` by ``n_judges`` judges.

    Parameters
    ----------
    share, length, position : float
        What judges see; see :class:`JudgedProblem`.
    noise : float
        Standard deviation of ε; √2 is that of the model.
    tie_width : float
        A difference below this is a tie.
    """
    rng = np.random.default_rng(random_state)
    quality, covariate = rng.standard_normal(n_items), rng.standard_normal(n_items)
    n = n_people + n_judged
    left = rng.integers(0, n_items, n)
    right = (left + 1 + rng.integers(0, n_items - 1, n)) % n_items
    by_judge = np.arange(n) >= n_people
    voter = np.where(by_judge, n_voters + rng.integers(0, n_judges, n), rng.integers(0, n_voters, n))
    seen = quality[left] - quality[right]
    judged = share * seen + length * (covariate[left] - covariate[right]) + position
    seen = np.where(by_judge, judged, seen) + noise * rng.standard_normal(n)
    value = np.where(np.abs(seen) < tie_width, 0.5, (seen > 0).astype(np.float64))
    judges = [f"judge-{k + 1}" for k in range(n_judges)]
    names = np.array([*numbered("person", n_voters), *judges], dtype=object)
    items = Items(numbered("text", n_items), meta={"x": covariate})
    votes = Comparisons(items, left, right, value, voter, names, shown=np.ones(n, dtype=np.int8))
    return JudgedProblem(votes, pd.DataFrame({"annotator_id": judges, "family": judges}), quality, covariate)
