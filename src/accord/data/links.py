"""Links: citations, replies and mentions between texts, with the words around them."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd

from accord.data.columns import derived, exact_ids, float_column, frozen, id_column, look_up, numbers, text_column
from accord.data.tables import as_frame, optional_column, require_columns
from accord.errors import InputError
from accord.typing import AnyArray, FloatArray, IntArray, ObjectArray

__all__ = ["Links", "opening_words"]

# People say at the beginning of a reply whether they agree; what comes later is about the matter.
OPENING = 60


@dataclass(frozen=True, eq=False)
class Links:
    """Directed links between texts, by id, so that they stay right when the rows of X are sliced.

    Not array-like on purpose: scikit-learn passes it whole to every fold, and :meth:`among` keeps the links whose two
    ends are present.

    Parameters
    ----------
    source, target : array of shape (n_links,)
        Ids of the texts. A link of a text to itself is refused.
    kinds : array of shape (n_links,), optional
        What the link is: a citation, a reply.
    weights : float array of shape (n_links,), optional
        What each link counts beside the others; a link of weight 0 is no link.
    contexts : array of shape (n_links,), optional
        The words around the link.

    Examples
    --------
    >>> from accord import Links
    >>> links = Links(["b", "c"], ["a", "z"], contexts=["as Ann said", ""])
    >>> inside, source, target = links.among(["a", "b", "c"])
    >>> inside.n_links, source.tolist(), target.tolist()
    (1, [1], [0])
    """

    source: ObjectArray
    target: ObjectArray
    kinds: ObjectArray | None = None
    weights: FloatArray | None = None
    contexts: ObjectArray | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "source", id_column(self.source, what="link source"))
        put(self, "target", id_column(self.target, what="link target"))
        n = len(self.source)
        if len(self.target) != n:
            raise InputError(f"every link has two ends; there are {n} sources and {len(self.target)} targets.")
        same = self.source == self.target
        if same.any():
            row = int(np.argmax(same))
            raise InputError(
                f"a link joins two different texts; row {row + 1} links {self.source[row]!r} to itself. Drop it."
            )
        if self.weights is not None:
            put(self, "weights", float_column(self.weights, n=n, what="link weight", low=0.0))
        for name in ("kinds", "contexts"):
            values = getattr(self, name)
            if values is not None:
                column = np.asarray(values, dtype=object)
                if len(column) != n:
                    raise InputError(
                        f"{name} must have one entry a link; there are {n} links and {len(column)} entries."
                    )
                put(self, name, frozen(column))
        if self.contexts is not None:
            text_column(self.contexts, n=n, what="context")

    @property
    def n_links(self) -> int:
        """Number of links."""
        return self.source.size

    def subset(self, rows: AnyArray) -> "Links":
        """Some of the links (positions or a mask).

        Parameters
        ----------
        rows : int array of positions, or bool array of shape (n_links,)
            Which links to keep.
        """

        columns = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return derived(self, **{name: None if column is None else column[rows] for name, column in columns.items()})

    def among(self, ids: Any) -> tuple["Links", IntArray, IntArray]:
        """The links whose two ends are among ``ids``, and the positions of those ends.

        Parameters
        ----------
        ids : sequence of shape (n_texts,)
            Ids of texts.

        Returns
        -------
        links : Links
        source, target : int array of shape (n_links kept,)
            Positions in ``ids``.
        """
        known = {str(name): place for place, name in enumerate(ids)}
        source, target = look_up(self.source, known), look_up(self.target, known)
        inside = (source >= 0) & (target >= 0)
        return self.subset(inside), source[inside], target[inside]

    @classmethod
    def from_table(cls, table: Any) -> "Links":
        """Links of a table with ``src_id``, ``dst_id`` and optionally ``kind``, ``weight``, ``context``.

        A link without a weight weighs 1, as all do in a table without weights.

        Parameters
        ----------
        table : table of pandas, polars or Arrow
        """
        frame = as_frame(table)
        require_columns(frame, ["src_id", "dst_id"], what="links")
        return cls(
            frame["src_id"].to_numpy(object),
            frame["dst_id"].to_numpy(object),
            optional_column(frame, "kind"),
            numbers(frame["weight"].fillna(1.0), what="link weight") if "weight" in frame else None,
            frame["context"].fillna("").to_numpy(object) if "context" in frame else None,
        )

    @classmethod
    def from_replies(cls, table: Any) -> "Links":
        """A link from every text to the one that it answers, with the first words of the reply as its context.

        Replies to texts that are not in the table make no link.

        Parameters
        ----------
        table : table of pandas, polars or Arrow
            With ``item_id``, ``reply_to`` (missing where a text answers none) and optionally ``text``.

        Examples
        --------
        >>> import pandas as pd
        >>> from accord import Links
        >>> said = ["Build it here.", "I agree, and soon."]
        >>> links = Links.from_replies(pd.DataFrame({"item_id": ["a", "b"], "text": said, "reply_to": [None, "a"]}))
        >>> links.to_table().iloc[0].tolist()
        ['b', 'a', 'reply', 'I agree, and soon.']
        """
        frame = as_frame(table)
        require_columns(frame, ["item_id", "reply_to"], what="replies")
        ids, parents = frame["item_id"].astype(str), frame["reply_to"]
        exact_ids(frame["item_id"], what="text")
        exact_ids(parents, what="text that is answered")
        whole = pd.api.types.is_integer_dtype(frame["item_id"]) and pd.api.types.is_float_dtype(parents)
        if whole and (parents.dropna() % 1 == 0).all():  # pandas makes 1.0 of 1 beside a missing value
            parents = parents.astype("Int64")
        parents = parents.astype(object)
        kept = parents.notna() & parents.astype(str).isin(set(ids)) & (parents.astype(str) != ids)
        contexts = None
        if "text" in frame:
            contexts = np.array([opening_words(text) for text in frame.loc[kept, "text"].fillna("")], dtype=object)
        kinds = np.full(int(kept.sum()), "reply", dtype=object)
        return cls(ids[kept].to_numpy(object), parents[kept].astype(str).to_numpy(object), kinds, None, contexts)

    def to_table(self) -> pd.DataFrame:
        """A table with the columns that :meth:`from_table` reads."""
        columns: dict[str, Any] = {"src_id": self.source, "dst_id": self.target}
        for name, values in (("kind", self.kinds), ("weight", self.weights), ("context", self.contexts)):
            if values is not None:
                columns[name] = values
        return pd.DataFrame(columns)


def opening_words(text: str) -> str:
    """The first words of a reply, without the lines that quote another text.

    Examples
    --------
    >>> from accord.data.links import opening_words
    >>> opening_words("> Build it here.\\nI agree.")
    'I agree.'
    """
    said = " ".join(" ".join(line for line in text.splitlines() if not line.lstrip().startswith(">")).split())
    if len(said) <= OPENING:
        return said
    return said[: said.rfind(" ", 0, OPENING + 1)] if " " in said[:OPENING] else said[:OPENING]
