"""Pairs: votes that say which of two items is better."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd

from accord.data.columns import (
    annotator_columns,
    annotator_ids,
    as_column,
    codes_of,
    derived,
    float_column,
    frozen,
    index_column,
    numbers,
)
from accord.data.documents import Items
from accord.data.tables import as_frame, is_table, require_columns
from accord.errors import InputError
from accord.typing import AnyArray, FloatArray, IntArray, ObjectArray

__all__ = ["Comparisons", "pair_frame", "shown_sides"]


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Votes between items, as columns; ten million take 170 MB.

    Parameters
    ----------
    items : Items
    left, right : int array of shape (n_votes,)
        Positions in ``items``.
    value : float array of shape (n_votes,)
        1 where left won, 0 where right won, ½ where the voter could not decide.
    annotator : int array of shape (n_votes,), optional
        Positions in ``annotators``; −1 where the voter is not known.
    annotators : array of shape (n_annotators,), optional
        Ids of the voters.
    weight : float array of shape (n_votes,), optional
        How many votes each row stands for.
    shown : int array of shape (n_votes,), optional
        1 where the left item was shown on the left of the screen, −1 where the right item was, 0 where that is not
        known. Which item a table calls left says nothing about the screen.

    Examples
    --------
    >>> from accord import Comparisons
    >>> votes = Comparisons.from_table({"left": ["tea", "tea"], "right": ["coffee", "water"], "value": [1, 0.5]})
    >>> votes.n_votes, votes.items.ids.tolist()
    (2, ['coffee', 'tea', 'water'])
    >>> X, y = votes.xy()
    >>> y.tolist()
    [1.0, 0.5]
    """

    items: Items
    left: IntArray
    right: IntArray
    value: FloatArray
    annotator: IntArray | None = None
    annotators: ObjectArray | None = None
    weight: FloatArray | None = None
    shown: IntArray | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        n, size = len(self.left), self.items.n_items
        put(self, "left", index_column(self.left, n=n, size=size, what="left item"))
        put(self, "right", index_column(self.right, n=n, size=size, what="right item"))
        value = self.value if isinstance(self.value, np.ndarray) else np.asarray(self.value)
        if value.dtype != np.float32:
            value = numbers(value, what="vote").astype(np.float32)
        if len(value) != n:
            raise InputError(f"every vote needs a value; there are {n} votes and {len(value)} values.")
        bad = (value != 0.0) & (value != 0.5) & (value != 1.0)
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(
                f"a vote must be 1 (left), 0 (right) or 0.5 (undecided); row {row + 1} is {value[row]:g}. "
                "Recode it or drop the row."
            )
        put(self, "value", frozen(value))
        same = self.left == self.right
        if same.any():
            row = int(np.argmax(same))
            raise InputError(
                f"a vote compares two different items; row {row + 1} compares {self.items.ids[self.left[row]]!r} "
                "with itself. Drop the row."
            )
        annotator, annotators = annotator_columns(self.annotator, self.annotators, n=n)
        put(self, "annotator", annotator)
        put(self, "annotators", annotators)
        if self.weight is not None:
            weight = float_column(self.weight, n=n, what="weight", low=0.0)
            put(self, "weight", frozen(weight.astype(np.float32)))
        if self.shown is not None:
            shown = np.asarray(self.shown)
            if shown.shape != (n,) or not np.isin(shown, (-1, 0, 1)).all():
                raise InputError(f"every vote needs one shown side, 1, -1 or 0; there are {n} votes.")
            put(self, "shown", frozen(shown.astype(np.int8)))

    @property
    def n_votes(self) -> int:
        """Number of votes."""
        return self.left.size

    @property
    def groups(self) -> ObjectArray:
        """The group (topic) of each vote's left item, shape (n_votes,)."""
        if self.items.groups is None:
            raise InputError("votes have groups only where their items have; give the items a group_id.")
        return self.items.groups[self.left]

    def subset(self, rows: AnyArray) -> "Comparisons":
        """Some of the votes (positions or a mask); the items stay.

        Parameters
        ----------
        rows : int array of positions, or bool array of shape (n_votes,)
            Which votes to keep.
        """
        names = ("left", "right", "value", "annotator", "weight", "shown")
        columns = {name: getattr(self, name) for name in names}
        return derived(self, **{name: None if column is None else column[rows] for name, column in columns.items()})

    def followed_by(self, more: "Comparisons") -> "Comparisons":
        """These votes and then ``more``, which must be about the same items.

        Parameters
        ----------
        more : Comparisons
            Further votes.
        """
        annotator = annotators = weight = shown = None
        if self.annotators is not None or more.annotators is not None:
            ids = [
                np.full(part.n_votes, None, dtype=object)
                if part.annotator is None or part.annotators is None
                else annotator_ids(part.annotator, part.annotators)
                for part in (self, more)
            ]
            annotator, annotators = codes_of(np.concatenate(ids))
        if self.weight is not None or more.weight is not None:
            weights = [np.ones(p.n_votes, np.float32) if p.weight is None else p.weight for p in (self, more)]
            weight = np.concatenate(weights)
        if self.shown is not None or more.shown is not None:
            sides = [np.zeros(p.n_votes, np.int8) if p.shown is None else p.shown for p in (self, more)]
            shown = np.concatenate(sides)
        return Comparisons(
            self.items,
            np.concatenate([self.left, more.left]),
            np.concatenate([self.right, more.right]),
            np.concatenate([self.value, more.value]),
            annotator,
            annotators,
            weight,
            shown,
        )

    def xy(self) -> tuple[pd.DataFrame, FloatArray]:
        """``X`` with the ids ``left`` and ``right``, and ``y``: what :class:`~accord.PreferenceRanker` fits."""
        ids = self.items.ids
        return pd.DataFrame({"left": ids[self.left], "right": ids[self.right]}), self.value.astype(np.float64)

    @classmethod
    def from_xy(
        cls,
        X: Any,
        y: Any,
        items: Items | None = None,
        *,
        annotator: Any = None,
        sample_weight: Any = None,
        shown_left: Any = None,
    ) -> "Comparisons":
        """Votes as estimators take them: ``X`` with the ids ``left`` and ``right``, ``y`` the values.

        ``shown_left`` names the item that was shown on the left of each pair.

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_votes, 2)
            Ids of the two items.
        y : array of shape (n_votes,)
            1 where left won, 0 where right won, ½ where undecided.
        items : Items, optional
            The texts that were compared; by default the ids that occur, sorted.
        annotator : array of shape (n_votes,), optional
            Who voted.
        sample_weight : array of shape (n_votes,), optional
            How many votes each row stands for.
        shown_left : array of shape (n_votes,), optional
            The id of the item that was shown on the left; ``None`` where that is not known.
        """
        frame = pair_frame(X)
        n = len(frame)
        frame = frame.assign(value=_one_a_row(y, n, what="value"))
        if annotator is not None:
            frame["annotator_id"] = _one_a_row(annotator, n, what="annotator")
        if sample_weight is not None:
            frame["weight"] = _one_a_row(sample_weight, n, what="sample weight")
        if shown_left is not None:
            frame["shown_left_id"] = _one_a_row(shown_left, n, what="item shown on the left")
        return cls.from_table(frame, items)

    @classmethod
    def from_table(cls, table: Any, items: Items | None = None) -> "Comparisons":
        """Votes of a table with ``left``, ``right``, ``value`` and maybe ``annotator_id, weight, shown_left_id``.

        Without ``items`` the items are the ids that occur, sorted.

        Parameters
        ----------
        table : table of pandas, polars or Arrow
        items : Items, optional
            The texts that were compared.
        """
        frame = as_frame(table)
        require_columns(frame, ["left", "right", "value"], what="votes")
        if items is None:
            items = Items(np.array(_ids_of(frame["left"], frame["right"]), dtype=object))
        annotator = annotators = None
        if "annotator_id" in frame:
            annotator, annotators = codes_of(frame["annotator_id"])
        return cls(
            items,
            items.positions(frame["left"], what="left item"),
            items.positions(frame["right"], what="right item"),
            cast(FloatArray, frame["value"].to_numpy()),
            annotator,
            annotators,
            cast(FloatArray, frame["weight"].to_numpy()) if "weight" in frame else None,
            shown_sides(frame["shown_left_id"], frame["left"], frame["right"]) if "shown_left_id" in frame else None,
        )

    def to_table(self) -> pd.DataFrame:
        """A table with the columns that :meth:`from_table` reads."""
        columns: dict[str, Any] = {
            "left": self.items.ids[self.left],
            "right": self.items.ids[self.right],
            "value": self.value,
        }
        if self.annotator is not None and self.annotators is not None:
            columns["annotator_id"] = annotator_ids(self.annotator, self.annotators)
        if self.weight is not None:
            columns["weight"] = self.weight
        if self.shown is not None:
            left, right = columns["left"], columns["right"]
            columns["shown_left_id"] = np.where(self.shown == 1, left, np.where(self.shown == -1, right, None))
        return pd.DataFrame(columns)


def shown_sides(shown_left: Any, left: Any, right: Any) -> IntArray:
    """1 where the item shown on the left is ``left``, −1 where it is ``right``, 0 where it is missing.

    Any other item is refused.
    """
    shown = pd.Series(np.asarray(shown_left, dtype=object))
    known = (shown.notna() & (shown != "")).to_numpy()
    name = shown.astype(str).to_numpy()
    is_left = known & (name == np.asarray(left, dtype=object).astype(str))
    is_right = known & (name == np.asarray(right, dtype=object).astype(str))
    strange = known & ~is_left & ~is_right
    if strange.any():
        row = int(np.argmax(strange))
        raise InputError(
            f"the item shown on the left must be one of the pair's two; row {row + 1} names {name[row]!r}. "
            "Correct it or leave it empty."
        )
    return is_left.astype(np.int8) - is_right.astype(np.int8)


def pair_frame(X: Any) -> pd.DataFrame:
    """The ids ``left`` and ``right`` of a table or an array with two columns.

    Examples
    --------
    >>> pair_frame([("tea", "coffee")])
      left   right
    0  tea  coffee
    """
    if is_table(X) or isinstance(X, dict) or (isinstance(X, list | tuple) and len(X) and isinstance(X[0], dict)):
        frame = as_frame(X)
        require_columns(frame, ["left", "right"], what="pairs")
        return frame[["left", "right"]].reset_index(drop=True)
    for row, pair in enumerate(X):
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise InputError(
                f"X must have two columns, the ids of the left and of the right item; row {row + 1} is {pair!r}. "
                "Write a single pair as [(left, right)]."
            )
    pairs = np.empty((len(X), 2), dtype=object)
    pairs[:] = [tuple(pair) for pair in X] if len(X) else np.empty((0, 2))
    return pd.DataFrame(pairs, columns=["left", "right"])


def _one_a_row(values: Any, n: int, *, what: str) -> AnyArray:
    column = as_column(values)
    if column.shape != (n,):
        raise InputError(f"every pair needs one {what}; there are {n} pairs and the shape is {column.shape}.")
    return column


def _ids_of(left: "pd.Series[Any]", right: "pd.Series[Any]") -> list[str]:
    """The ids that occur, sorted; a missing one is refused with its row."""
    ids: set[str] = set()
    for side, column in (("left", left), ("right", right)):
        absent = (column.isna() | (column == "").fillna(False)).to_numpy(bool)
        if absent.any():
            raise InputError(
                f"every vote needs a {side} item; row {int(np.argmax(absent)) + 1} has none. "
                "Fill it in or drop the row."
            )
        ids |= {str(name) for name in column.unique()}
    return sorted(ids)
