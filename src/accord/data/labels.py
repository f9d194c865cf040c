"""Labels as people write them."""

import unicodedata
import warnings
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from accord.errors import InputError
from accord.typing import AnyArray, IntArray

__all__ = ["coded_labels", "doubted_labels", "warn_of_alike"]

_SHOWN = 3


def coded_labels(labels: AnyArray) -> tuple[AnyArray, IntArray]:
    """The labels that occur, sorted, and the place of each among them; those that have no order are refused.

    Parameters
    ----------
    labels : array of shape (n,)
        None of them is missing.

    Examples
    --------
    >>> classes, codes = coded_labels(np.array(["no", "yes", "no"]))
    >>> classes.tolist(), codes.tolist()
    (['no', 'yes'], [0, 1, 0])
    """
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
        raise InputError(f"labels must be of one kind; they are of {kinds}. Write all of them as text.") from None
    return classes, codes


def doubted_labels(labels: Iterable[Any]) -> str:
    """What is to be doubted about labels, some of which differ only in case, spaces or width; empty if none do.

    Nothing is merged, because two such labels may mean different things.

    Examples
    --------
    >>> doubted_labels(["No", "no", "Yes", "NO "])
    "labels that differ only in case, spaces or width are different labels: 'NO ', 'No' and 'no'"
    >>> doubted_labels(["no", "yes"])
    ''
    """
    forms: dict[str, set[str]] = defaultdict(set)
    for label in labels:
        if isinstance(label, str):
            forms[" ".join(unicodedata.normalize("NFKC", label).casefold().split())].add(str(label))
    alike = [sorted(found) for _, found in sorted(forms.items()) if len(found) > 1]
    if not alike:
        return ""
    told = "; ".join(f"{', '.join(map(repr, found[:-1]))} and {found[-1]!r}" for found in alike[:_SHOWN])
    more = f"; and {len(alike) - _SHOWN} more" if len(alike) > _SHOWN else ""
    return f"labels that differ only in case, spaces or width are different labels: {told}{more}"


def warn_of_alike(labels: Iterable[Any], *, stacklevel: int = 3) -> None:
    """Warn where labels differ only in case, spaces or width; by default at the caller of ``fit``.

    Parameters
    ----------
    labels : iterable
        The labels that occur.
    stacklevel : int
        As in :func:`warnings.warn`, counted from here.
    """
    doubt = doubted_labels(labels)
    if doubt:
        warnings.warn(f"{doubt}. Write them alike if they mean the same.", UserWarning, stacklevel=stacklevel)
