"""Times in the forms that people and tools write, as ISO 8601."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

__all__ = ["iso_times"]

_NUMERIC = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:[,T ]+(\d{1,2}:\d{2}(?::\d{2})?)\s*([AaPp][Mm])?)?")
_EPOCH = re.compile(r"(\d{10})(\d{3})?(?:\.\d+)?")
_WRITTEN = (
    "%b %d, %Y",
    "%B %d, %Y",
    "%d %b %Y",
    "%d %B %Y",
    "%a %b %d %H:%M:%S %z %Y",
    "%b %d, %Y %I:%M %p",
    "%Y/%m/%d %H:%M:%S",
)
_GOOGLE = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2}) (\d{1,2}):(\d{2}):(\d{2})(?: ([AP]M))?.*")


def iso_times(cells: Sequence[str | None]) -> tuple[list[str | None], int]:
    """Times of one column as ISO 8601, and how many could be read two ways and stay as they are.

    Which of 03/04 is the month is seen from the other dates of the column.

    Examples
    --------
    >>> iso_times(["31/12/2024 14:05", "01/02/2025"])
    (['2024-12-31T14:05:00', '2025-02-01T00:00:00'], 0)
    >>> iso_times(["1700000000"])
    (['2023-11-14T22:13:20+00:00'], 0)
    """
    numeric = [_NUMERIC.fullmatch(cell.strip()) if cell else None for cell in cells]
    day_first = any(found and int(found[1]) > 12 for found in numeric) or any(
        found and found[2] == "." for found in numeric
    )
    month_first = any(found and int(found[3]) > 12 for found in numeric) or any(found and found[6] for found in numeric)
    out: list[str | None] = []
    unclear = 0
    for cell, found in zip(cells, numeric, strict=True):
        if found is not None and day_first != month_first:
            day, month = (found[1], found[3]) if day_first else (found[3], found[1])
            out.append(_moment(found[4], month, day, found[5], found[6]) or cell)
        elif found is not None:
            unclear += 1
            out.append(cell)
        else:
            out.append(None if cell is None else _other(cell.strip()))
    return out, unclear


def _moment(year: str, month: str, day: str, clock: str | None, half: str | None) -> str | None:
    hour, minute, second = (int(part) for part in ((clock or "0:00") + ":00").split(":")[:3])
    if half is not None:
        hour = hour % 12 + (12 if half.lower() == "pm" else 0)
    try:
        return datetime(int(year), int(month), int(day), hour, minute, second).isoformat()
    except ValueError:
        return None


def _other(cell: str) -> str:
    if found := _EPOCH.fullmatch(cell):
        return datetime.fromtimestamp(int(found[1]), UTC).isoformat()
    if found := _GOOGLE.fullmatch(cell):
        year, month, day, hour, minute, second, half = found.groups()
        return _moment(year, month, day, f"{hour}:{minute}:{second}", half) or cell
    for form in _WRITTEN:
        try:
            return datetime.strptime(cell, form).isoformat()
        except ValueError:
            continue
    return cell
