"""JSON files that wrap their records in an object, and other records that are read as JSON lines."""

import codecs
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from accord.data.reading.sources import parquet_rows, parquet_schema
from accord.data.reading.writing import write_lines

__all__ = ["as_lines", "has_spans", "unwrapped"]

_LARGEST = 256 << 20  # bytes, of a file that is read whole
_LONGEST_LINE = 16 << 20
# Lists of records that an export has beside what it says about itself.
_RECORDS = ("items", "data", "rows", "records", "results", "reviews", "comments", "texts", "documents")
_CHAT = ("messages",)
_JUDGED = ("votes", "comparisons", "judgements", "judgments", "labels", "links", "annotators")


def unwrapped(path: Path, name: str, folder: Path, notes: list[str]) -> Iterator[tuple[Path, str]]:
    """The lists of records that a JSON object holds, each as a file; any other file as it is."""
    with path.open("rb") as file:
        line = file.readline(_LONGEST_LINE).removeprefix(codecs.BOM_UTF8)
        lines = line.lstrip()[:1] == b"{" and _is_record(line) and bool(file.readline(_LONGEST_LINE).strip())
    if lines:
        notes.append(f"{name} has a JSON record in each line")
        yield _called(path, folder / f"{path.stem}.jsonl"), name
        return
    value = _object(path)
    lists = {
        key: entry for key, entry in value.items() if isinstance(entry, list) and entry and isinstance(entry[0], dict)
    }
    key = next((key for key in _RECORDS if key in lists), None)
    key = key or next((key for key in _CHAT if key in lists and {"channel", "type", "name"} & set(value)), None)
    if key is None and len(lists) == 1 and not any(isinstance(entry, dict) for entry in value.values()):
        (key,) = lists
    if key is None:
        yield path, name
        return
    judged = [other for other in _JUDGED if other in lists and other != key]
    notes.append(f"{name} wraps its records; those under {' and '.join(map(repr, (key, *judged)))} are read")
    others = [other for other in lists if other not in (key, *judged)]
    if others:
        notes.append(f"of {name}, the lists under {', '.join(map(repr, others))} are not read")
    for one in (key, *judged):
        entries = lists[one]
        if one in _CHAT and any(entry.get("type") == "service" for entry in entries):
            n = len(entries)
            entries = [entry for entry in entries if entry.get("type") != "service"]
            notes.append(f"messages of the service itself, such as who joined, are left out ({n - len(entries):,})")
        out = folder / (f"{path.stem} {one}.json" if judged else path.name)
        folder.mkdir(parents=True, exist_ok=True)
        out.write_bytes(msgspec.json.encode(entries))
        yield out, f"{name} [{one}]" if judged else name


def _is_record(line: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(line), dict)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False


def _called(path: Path, name: Path) -> Path:
    """The same file under another name."""
    name.parent.mkdir(parents=True, exist_ok=True)
    try:
        name.symlink_to(path.resolve())
    except OSError:  # where links are not allowed
        shutil.copyfile(path, name)
    return name


def _object(path: Path) -> dict[str, Any]:
    """The object that a file is; an empty one if it is something else."""
    if path.stat().st_size > _LARGEST:
        return {}
    content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    if content[:200].lstrip()[:1] != b"{":
        return {}
    try:
        value = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return {}
    return value if isinstance(value, dict) else {}


def has_spans(path: Path) -> bool:
    """Whether a Parquet file has a column of lists of spans, each with a start and an end."""
    kinds = [field.type for field in parquet_schema(path)]
    inner = [kind.value_type for kind in kinds if pa.types.is_list(kind) or pa.types.is_large_list(kind)]
    return any(
        pa.types.is_struct(kind) and kind.get_field_index("start") >= 0 and kind.get_field_index("end") >= 0
        for kind in inner
    )


def as_lines(path: Path, folder: Path) -> Path:
    """A Parquet file as JSON lines, lists and objects as they are."""
    out = folder / f"{path.stem}.jsonl"
    write_lines(out, parquet_rows(path))
    return out
