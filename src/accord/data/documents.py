"""Documents: the texts that people judge, with what is known of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from accord.data.columns import check_finite, frozen, look_up, positions, read_only, text_column, unique_ids
from accord.data.tables import as_frame, optional_column, require_columns
from accord.errors import InputError
from accord.typing import AnyArray, IntArray, ObjectArray

__all__ = ["Items"]


@dataclass(frozen=True, eq=False)
class Items:
    """The things that are judged: ids, and optionally texts, features, groups and authors.

    Not array-like on purpose (no length, no shape, no indexing): scikit-learn passes it whole to every fold instead of
    slicing it.

    Parameters
    ----------
    ids : array of shape (n_items,)
        Unique ids; stored as strings.
    texts : array of shape (n_items,), optional
    features : array or sparse matrix of shape (n_items, n_features), optional
        Not copied; everything else is.
    feature_groups : mapping of name to slice, optional
        Which columns of ``features`` belong to which named group.
    groups : array of shape (n_items,), optional
        The topic, thread or debate of each item.
    authors : array of shape (n_items,), optional
    meta : mapping of name to array of shape (n_items,), optional
        Anything else that is known of each item; carried along, never interpreted.

    Examples
    --------
    >>> from accord import Items
    >>> items = Items(["a", "b"], texts=["Close the street.", "Keep it open."], groups=["street", "street"])
    >>> items.n_items, items.positions(["b"]).tolist()
    (2, [1])
    >>> Items.from_table({"item_id": ["a"], "text": ["Close it."], "year": [2024]}).to_table()
      item_id       text  year
    0       a  Close it.  2024
    """

    ids: ObjectArray
    texts: ObjectArray | None = None
    features: Any = None
    feature_groups: Mapping[str, slice] | None = None
    groups: ObjectArray | None = None
    authors: ObjectArray | None = None
    meta: Mapping[str, AnyArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "ids", unique_ids(self.ids, what="item"))
        n = len(self.ids)
        if self.texts is not None:
            put(self, "texts", text_column(self.texts, n=n, what="item text"))
        for name in ("groups", "authors"):
            values = getattr(self, name)
            if values is not None:
                column = np.asarray(values, dtype=object)
                if len(column) != n:
                    raise InputError(
                        f"{name} must have one entry an item; there are {n} items and {len(column)} entries."
                    )
                put(self, name, frozen(column))
        if self.features is not None:
            features = self.features if sp.issparse(self.features) else np.asarray(self.features)
            if features.ndim != 2 or features.shape[0] != n:
                raise InputError(
                    f"features must have shape (n_items, n_features) = ({n}, …); they have {features.shape}."
                )
            if features.dtype.kind in "fiub":
                check_finite(features, ids=self.ids)
            put(self, "features", features if sp.issparse(features) else read_only(features))
        for name, column in self.meta.items():
            if len(column) != n:
                raise InputError(f"meta column {name!r} must have {n} entries, one an item; it has {len(column)}.")
        put(self, "meta", {name: frozen(np.asarray(column)) for name, column in self.meta.items()})

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.ids.size

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.ids)}

    def positions(self, ids: Any, *, what: str = "item") -> IntArray:
        """Positions of ``ids`` among the items, shape (n,); an unknown id is an error that names its row.

        Parameters
        ----------
        ids : sequence of shape (n,)
        what : str
            What the error calls an id that is not known.
        """
        return positions(ids, self._places, what=what, where="items")

    def places(self, ids: Any) -> IntArray:
        """Positions of ``ids`` among the items, shape (n,), −1 where an id is not known.

        Parameters
        ----------
        ids : sequence of shape (n,)
        """
        return look_up(ids, self._places)

    def __contains__(self, item_id: object) -> bool:
        return item_id in self._places

    def subset(self, rows: AnyArray) -> "Items":
        """The items at some positions (or under a mask), in that order.

        Parameters
        ----------
        rows : int array of positions, or bool array of shape (n_items,)
            Which items to keep.
        """
        rows = np.arange(self.n_items)[rows]

        def take(column: Any) -> Any:
            return None if column is None else column[rows]

        return Items(
            ids=self.ids[rows],
            texts=take(self.texts),
            features=take(self.features),
            feature_groups=self.feature_groups,
            groups=take(self.groups),
            authors=take(self.authors),
            meta={name: column[rows] for name, column in self.meta.items()},
        )

    def with_features(self, features: Any, groups: Mapping[str, slice] | None = None) -> "Items":
        """The same items with other features.

        Parameters
        ----------
        features : array or sparse matrix of shape (n_items, n_features)
            One row an item, in their order.
        groups : mapping of name to slice, optional
            Named groups of columns; a ranker gives each a kernel of its own. By default all columns are one group.
        """
        return Items(self.ids, self.texts, features, groups, self.groups, self.authors, self.meta)

    @classmethod
    def from_table(cls, table: Any) -> "Items":
        """Items of a table with ``item_id`` and optionally ``text``, ``group_id``, ``author_id``; the rest is meta.

        A missing text becomes an empty one.

        Parameters
        ----------
        table : table of pandas, polars or Arrow
        """
        frame = as_frame(table)
        require_columns(frame, ["item_id"], what="items")
        own = {"item_id", "text", "group_id", "author_id"}
        return cls(
            ids=frame["item_id"].to_numpy(dtype=object),
            texts=frame["text"].fillna("").to_numpy(dtype=object) if "text" in frame else None,
            groups=optional_column(frame, "group_id"),
            authors=optional_column(frame, "author_id"),
            meta={str(name): frame[name].to_numpy() for name in frame.columns if name not in own},
        )

    def to_table(self) -> pd.DataFrame:
        """A table with the columns that :meth:`from_table` reads (features are left out)."""
        columns: dict[str, Any] = {"item_id": self.ids}
        for name, column in (("text", self.texts), ("group_id", self.groups), ("author_id", self.authors)):
            if column is not None:
                columns[name] = column
        return pd.DataFrame({**columns, **self.meta})
