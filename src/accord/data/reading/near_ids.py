"""Ids that two files write in two ways: 1 and 1.0 (pandas), 007 and 7 (spreadsheets), A1 and a1."""

import re
from collections.abc import Iterable, Mapping

__all__ = ["WHOLE_NUMBER", "NearIds"]

# A whole number that a program made a decimal of.
WHOLE_NUMBER = re.compile(r"\A(-?\d+)\.0+\Z")


class NearIds:
    """The ids of the items, by what stays of each without zeros, capitals and spaces that programs add or take away.

    Examples
    --------
    >>> near = NearIds(["1", "007", "Ann"])
    >>> [near.of(name) for name in ("1.0", "7", "ann ", "8")]
    ['1', '007', 'Ann', None]
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._known: Mapping[str, str] = {_bare(name): name for name in known}

    def of(self, name: str) -> str | None:
        """The id that is written almost so; ``None`` if there is none."""
        return self._known.get(_bare(name))


def _bare(name: str) -> str:
    whole = WHOLE_NUMBER.sub(r"\1", name.strip().casefold())
    return whole.lstrip("0") or "0" if whole.isdigit() else whole
