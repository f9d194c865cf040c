"""How many of the decided votes are predicted right."""

from typing import Any

import numpy as np

from accord.data.pairs import Comparisons
from accord.typing import BoolArray

__all__ = ["share_right"]


def share_right(left_is_better: BoolArray, X: Any, y: Any, sample_weight: Any = None) -> float:
    """The share of the decided votes that went to the side which is predicted; not a number where none is decided.

    Parameters
    ----------
    left_is_better : bool array of shape (n_votes,)
        Whether the left item is predicted to win.
    X, y, sample_weight
        As :meth:`accord.Comparisons.from_xy` takes them. Undecided votes count neither way.
    """
    votes = Comparisons.from_xy(X, y, sample_weight=sample_weight)
    weight = np.where(votes.value == 0.5, 0.0, 1.0 if votes.weight is None else votes.weight)
    right = left_is_better == (votes.value == 1.0)
    return float(np.average(right, weights=weight)) if weight.sum() > 0.0 else float("nan")
