"""What a shown pair looks like beside what it says: position, length, lists, markdown, own family, any number.

Each covariate is a number of a text, and a vote has the difference of its two texts; the position is a number of the
pair. All change sign when the two texts are exchanged.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from accord.data.columns import numbers
from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.errors import InputError
from accord.typing import FloatArray

__all__ = [
    "COVARIATES",
    "Covariates",
    "author_families",
    "covariates_of",
    "known_covariates",
    "text_numbers",
    "told_apart",
]

_LARGEST = 1e100  # whose square is a number

_LISTED = re.compile(r"^[ \t]{0,9}(?:[-*+•]|\d{1,3}[.)])[ \t]", re.MULTILINE)
_MARKS = (
    re.compile(r"^#{1,6}[ \t]", re.MULTILINE),
    re.compile(r"(?:\*\*|__)(?=\S)[^*_\n]{1,200}(?:\*\*|__)"),
    re.compile(r"`[^`\n]{1,200}`"),
    re.compile(r"^```", re.MULTILINE),
    re.compile(r"^\|.{1,500}\|[ \t]*$", re.MULTILINE),
)
# Name: what more of it is called in a sentence, and for how much more of it the slope is.
COVARIATES: Mapping[str, tuple[str, str]] = {
    "position": ("the text shown on the left", "against the right"),
    "length": ("the longer text", "for twice the length"),
    "lists": ("the text with more list items", "for twice as many"),
    "markdown": ("the text with more markdown", "for twice as much"),
    "family": ("texts of its own family", "against others"),
}


def text_numbers(items: Items, name: str) -> FloatArray:
    """A covariate of every text, shape (n_items,).

    ``length`` is the logarithm to the base 2 of the number of characters; ``lists`` and ``markdown`` that of one more
    than the number of list items and of other marks (headings, bold words, code, rows of tables). ``meta.x`` is the
    column x of the texts as it is.
    """
    if name.startswith("meta."):
        column = items.meta.get(name, items.meta.get(name.removeprefix("meta.")))
        if column is None:
            known = ", ".join(key if key.startswith("meta.") else f"meta.{key}" for key in items.meta) or "none"
            raise InputError(f"there is no column {name!r} of the texts to control for; there are: {known}.")
        found = pd.to_numeric(pd.Series(column), errors="coerce").to_numpy(np.float64)
        usable = np.abs(found) < _LARGEST  # False of NaN
        if not usable.all():
            row = int(np.argmin(usable))
            missing = pd.isna(column[row])
            value = repr(column[row]) if isinstance(column[row], str) else str(column[row])
            others = f", as of {int((~usable).sum()) - 1:,} others," if (~usable).sum() > 1 else ""
            raise InputError(
                f"a covariate is a number of every text, below {_LARGEST:g}; {name} of {items.ids[row]!r}{others} is "
                f"{'missing' if missing else value}. {'Fill it in' if missing else 'Correct it'}, or leave {name} out."
            )
        return found
    if items.texts is None:
        raise InputError(f"the covariate {name!r} is read off the texts; these votes come without them. Import them.")
    if name == "length":
        return np.log2([max(len(text), 1) for text in items.texts])
    if name == "lists":
        return np.log2([1 + len(_LISTED.findall(text)) for text in items.texts])
    if name == "markdown":
        return np.log2([1 + sum(len(mark.findall(text)) for mark in _MARKS) for text in items.texts])
    known = ", ".join(COVARIATES)
    raise InputError(f"a covariate is one of {known} or meta.COLUMN; got {name!r}.")


@dataclass(frozen=True, eq=False)
class Covariates:
    """Stated covariates of votes."""

    names: tuple[str, ...]
    values: FloatArray  # (n_votes, n_covariates)

    def beside(self, context: Mapping[str, Any]) -> "Covariates":
        """These covariates and more, each a number of every vote."""
        columns = [numbers(values, what=f"covariate {name!r}") for name, values in context.items()]
        for name, column in zip(context, columns, strict=True):
            if column.shape != (len(self.values),) or not np.isfinite(column).all():
                raise InputError(
                    f"the covariate {name!r} needs one number a vote; there are {len(self.values):,} votes."
                )
        return Covariates((*self.names, *context), np.column_stack([self.values, *columns]))

    @property
    def units(self) -> FloatArray:
        """Root mean square of each column, 1 where it is zero, shape (n_covariates,)."""
        root = np.sqrt(np.mean(self.values**2, axis=0)) if len(self.values) else np.ones(len(self.names))
        return np.where(root > 0, root, 1.0)


def known_covariates(votes: Comparisons, families: Mapping[str, str]) -> tuple[str, ...]:
    """The covariates that can be told of these votes, ``meta.*`` left out, and that differ inside some pair."""
    able = []
    if votes.shown is not None and votes.shown.any():
        able.append("position")
    if votes.items.texts is not None:
        able += ["length", "lists", "markdown"]
    if families and author_families(votes.items, families) is not None:
        able.append("family")
    found = covariates_of(votes, able, families)
    return tuple(name for name, column in zip(found.names, found.values.T, strict=True) if np.any(column != 0.0))


def told_apart(covariates: Covariates) -> Covariates:
    """The covariates, refused if one of them never differs between the two texts of a vote."""
    for name, column in zip(covariates.names, covariates.values.T, strict=True):
        if not np.any(column != 0.0):
            raise InputError(
                f"a covariate has to differ between texts; {name!r} is the same in both texts of every vote, so that "
                "nothing can be learnt of it. Leave it out."
            )
    return covariates


def covariates_of(votes: Comparisons, names: Sequence[str], families: Mapping[str, str] | None = None) -> Covariates:
    """The covariates of each vote: left minus right.

    Parameters
    ----------
    votes : Comparisons
    names : sequence of str
        ``position``, ``length``, ``lists``, ``markdown``, ``family`` or ``meta.COLUMN``.
    families : mapping of str to str, optional
        The family of each judge, for ``family``: 1 for a text that the judge's own family wrote, which is the text's
        ``author_id`` or ``meta.family``.
    """
    repeated = [name for place, name in enumerate(names) if name in names[:place]]
    if repeated:
        raise InputError(f"a covariate is named once; {repeated[0]!r} is named twice.")
    columns = [_column(votes, name, families or {}) for name in names]
    values = np.stack(columns, axis=1) if columns else np.zeros((votes.n_votes, 0))
    return Covariates(tuple(names), values)


def _column(votes: Comparisons, name: str, families: Mapping[str, str]) -> FloatArray:
    if name == "position":
        if votes.shown is None:
            raise InputError("the position of a text is a covariate where votes say which was shown on the left.")
        return votes.shown.astype(np.float64)
    if name == "family":
        authors = author_families(votes.items, families)
        if authors is None or votes.annotator is None or votes.annotators is None:
            raise InputError("own family is a covariate where texts have an author_id or meta.family of a judge.")
        own = np.array([families.get(voter, "") for voter in votes.annotators] + [""], dtype=object)[votes.annotator]
        return ((authors[votes.left] == own).astype(np.float64) - (authors[votes.right] == own)) * (own != "")
    found = text_numbers(votes.items, name)
    return np.asarray(found[votes.left] - found[votes.right])


def author_families(items: Items, families: Mapping[str, str]) -> np.ndarray[tuple[int], np.dtype[np.object_]] | None:
    """The family that wrote each text, if that is known of some text."""
    known = set(families.values())
    for column in (items.meta.get("meta.family"), items.meta.get("family"), items.authors):
        if column is not None and known & {str(name) for name in column if name is not None}:
            return np.array([None if name is None else str(name) for name in column], dtype=object)
    return None
