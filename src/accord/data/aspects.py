"""Aspects: several scores for one text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd

from accord.data.columns import derived, float_column, frozen, id_column, look_up
from accord.data.documents import Items
from accord.data.tables import as_frame, require_columns
from accord.errors import InputError
from accord.typing import AnyArray, IntArray, ObjectArray

__all__ = ["AspectRatings", "whole_ranks"]


def whole_ranks(values: Any, aspects: Sequence[str] | ObjectArray, n_ranks: int) -> IntArray:
    """Ranks 1..n_ranks as integers, 0 where missing, shape (n, n_aspects); anything else is refused.

    Examples
    --------
    >>> whole_ranks([[5.0, 0.0]], ["food", "service"], 5).tolist()
    [[5, 0]]
    """
    values = np.asarray(values)
    bad = (values < 0) | (values > n_ranks) | (values != np.floor(values))
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        raise InputError(
            f"a rank must be a whole number in 1..{n_ranks}, or 0 if missing; row {row + 1} has "
            f"{values[row, column]:g} for {aspects[column]!r}. Correct it or set n_ranks."
        )
    return values.astype(np.int64)


@dataclass(frozen=True, eq=False)
class AspectRatings:
    """Ranks 1..k that texts give to each of m aspects; 0 stands for a missing rank.

    Parameters
    ----------
    items : Items
        The texts, or their features.
    aspects : array of shape (n_aspects,)
        Names of the aspects.
    ranks : int array of shape (n_items, n_aspects)
    n_ranks : int
        k, the highest rank.

    Examples
    --------
    >>> from accord import AspectRatings, Items
    >>> scores = {"item_id": ["r1", "r1", "r2"], "aspect": ["food", "service", "food"], "value": [5, 2, 3]}
    >>> ratings = AspectRatings.from_table(scores, Items(["r1", "r2"]))
    >>> ratings.aspects.tolist(), ratings.ranks.tolist()
    (['food', 'service'], [[5, 2], [3, 0]])
    """

    items: Items
    aspects: ObjectArray
    ranks: IntArray
    n_ranks: int = 5

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "aspects", frozen(np.asarray(self.aspects, dtype=object)))
        ranks = np.asarray(self.ranks)
        if not np.issubdtype(ranks.dtype, np.number):
            raise InputError(f"ranks must be numbers; they are {ranks.dtype}. Recode them.")
        shape = (self.items.n_items, len(self.aspects))
        if ranks.shape != shape:
            raise InputError(f"ranks must have shape (n_items, n_aspects) = {shape}; they have {ranks.shape}.")
        put(self, "ranks", frozen(whole_ranks(ranks, self.aspects, self.n_ranks)))

    @property
    def n_items(self) -> int:
        """Number of texts."""
        return self.items.n_items

    def subset(self, rows: AnyArray) -> "AspectRatings":
        """Some of the texts (positions or a mask).

        Parameters
        ----------
        rows : int array of positions, or bool array of shape (n_texts,)
            Which texts to keep.
        """
        return derived(self, items=self.items.subset(rows), ranks=self.ranks[rows])

    @classmethod
    def from_table(cls, table: Any, items: Items, *, n_ranks: int = 5) -> "AspectRatings":
        """Ratings of a long table with ``item_id``, ``aspect``, ``value``; several scores of one cell are refused.

        Parameters
        ----------
        table : table of pandas, polars or Arrow
        items : Items
            The texts; every ``item_id`` of the table must be one of them.
        n_ranks : int
            Ranks are 1 to this number.
        """
        frame = as_frame(table)
        require_columns(frame, ["item_id", "aspect", "value"], what="aspect scores")
        repeated = frame.duplicated(["item_id", "aspect"]).to_numpy()
        if repeated.any():
            row = int(np.argmax(repeated))
            cell = (frame["item_id"].iloc[row], frame["aspect"].iloc[row])
            raise InputError(f"a text has one score an aspect; row {row + 1} scores {cell} again. Drop one of them.")
        aspects = id_column(frame["aspect"].to_numpy(object), what="aspect")
        values = float_column(frame["value"].to_numpy(), n=len(frame), what="score", low=1.0, high=float(n_ranks))
        names = sorted(set(aspects))
        place = {name: i for i, name in enumerate(names)}
        ranks = np.zeros((items.n_items, len(names)))
        ranks[items.positions(frame["item_id"]), look_up(aspects, place)] = values
        return cls(items, np.array(names, dtype=object), cast(IntArray, ranks), n_ranks)

    def to_table(self) -> pd.DataFrame:
        """A long table with the columns that :meth:`from_table` reads; missing ranks are left out."""
        rows, columns = np.nonzero(self.ranks)
        return pd.DataFrame(
            {
                "item_id": self.items.ids[rows],
                "aspect": self.aspects[columns],
                "value": self.ranks[rows, columns].astype(np.int64),
            }
        )
