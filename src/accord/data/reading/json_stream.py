"""JSON files as streams of records: arrays of any length and lines, checked against a type, one record at a time."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from accord.data.reading.sources import JSON_LINES, missing_file, not_utf8, open_source, suffix_of
from accord.errors import InputError

__all__ = ["decode", "records", "rows_of", "whole"]

_CHUNK = 4 << 20  # characters
_LARGEST_RECORD = 256 << 20
_SPACE = " \t\r\n"
T = TypeVar("T")


def records(path: Path, kind: type[T]) -> Iterator[tuple[int, T]]:
    """The records of a JSON array or of JSON lines, with their numbers from 1."""
    pieces = _pieces(path)
    decoder = msgspec.json.Decoder(kind)
    for row, piece in enumerate(pieces, start=1):
        yield row, _checked(decoder, piece, f"row {row:,} of {path}")


def rows_of(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a table or of JSON records as dictionaries, with their numbers from 1."""
    if suffix_of(path) in (".json", *JSON_LINES):
        yield from records(path, dict[str, Any])
        return
    source, row = open_source(path), 0
    for block in source.blocks(source.columns):
        for cells in block.to_pylist():
            row += 1
            yield row, cells


def whole(path: Path, kind: type[T]) -> T:
    """A file that is one JSON value."""
    if not path.is_file():
        raise missing_file(path)
    size = path.stat().st_size
    if size > _LARGEST_RECORD:
        raise InputError(
            f"one JSON value may have at most {_LARGEST_RECORD:,} bytes; {path} has {size:,}. Write it as JSON lines."
        )
    return _checked(msgspec.json.Decoder(kind), path.read_bytes(), str(path))


def decode(text: str, kind: type[T], where: str) -> T:
    """A JSON value in a cell."""
    return _checked(msgspec.json.Decoder(kind), text, where)


def _checked(decoder: "msgspec.json.Decoder[T]", piece: str | bytes, where: str) -> T:
    try:
        return decoder.decode(piece)
    except RecursionError:
        raise InputError(f"JSON may not be nested more than a few hundred deep; {where} is. Flatten it.") from None
    except msgspec.ValidationError as error:
        raise InputError(f"a record must have the shape of its format; {where}: {_said(error)}. Correct it.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"a record must be JSON; {where}: {_said(error)}. Correct it.") from None


def _said(error: Exception) -> str:
    said = " ".join(str(error).split()).rstrip(".")
    return said[:1].lower() + said[1:]


def _pieces(path: Path) -> Iterator[str]:
    """The text of each record, whatever white space, commas or line ends stand between them."""
    if not path.is_file():
        raise missing_file(path)
    scan = json.JSONDecoder().raw_decode
    text, place, row, in_array, ended = "", 0, 1, False, False
    with path.open(encoding="utf-8-sig", newline="") as file:
        started = False
        while True:
            place = _skip(text, place, _SPACE + ("," if started else ""))
            if place < len(text) and not started:
                started = True
                if text[place] == "[":
                    in_array, place = True, place + 1
                    continue
            if place < len(text) and in_array and text[place] == "]":
                rest = text[place + 1 :] + _more(file, path)
                if rest.strip():
                    raise InputError(f"nothing may follow the end of the list in {path}. Cut it off.")
                return
            if place < len(text):
                found = _scan(scan, text, place, f"row {row:,} of {path}", ended=ended)
                # A number at the very end of what was read may go on.
                if found is not None and (found < len(text) or ended):
                    yield text[place:found]
                    place, row = found, row + 1
                    continue
            if ended:
                if in_array:
                    raise InputError(f"a JSON list must be closed; {path} ends inside row {row:,}. Write it again.")
                return
            if len(text) - place > _LARGEST_RECORD:
                raise InputError(
                    f"a record has at most {_LARGEST_RECORD:,} characters; row {row:,} of {path} has more. Split it."
                )
            # Read at least as much again as is waiting, so that a long record is scanned few times.
            more = _more(file, path, max(_CHUNK, len(text) - place))
            ended = not more
            text, place = text[place:] + more, 0


def _skip(text: str, place: int, characters: str) -> int:
    while place < len(text) and text[place] in characters:
        place += 1
    return place


def _more(file: Any, path: Path, size: int = _CHUNK) -> str:
    try:
        return str(file.read(size))
    except UnicodeDecodeError:
        raise not_utf8(path) from None


def _scan(scan: Any, text: str, place: int, where: str, *, ended: bool) -> int | None:
    """Where the value that starts at a place ends; ``None`` if it may go on in what was not read yet."""
    try:
        return int(scan(text, place)[1])
    except RecursionError:
        raise InputError(f"JSON may not be nested more than a few hundred deep; {where} is. Flatten it.") from None
    except ValueError as error:
        at = getattr(error, "pos", place)
        unfinished = "Unterminated string" in str(error) or at >= len(text) - 16
        if unfinished and not ended:
            return None
        raise InputError(f"a record must be JSON; {where}: {_said(error)}. Correct it.") from None
