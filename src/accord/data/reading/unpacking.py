"""People's files as files that the readers know: archives unpacked, spreadsheets and other encodings as UTF-8."""

import codecs
import csv
import gzip
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import Any

from accord.data.reading.profiles import score_of
from accord.data.reading.separators import SEPARATORS, Dialect, cells_of, dialect_of, encoding_of
from accord.data.reading.sources import as_text, not_utf8
from accord.data.reading.wrapping import as_lines, has_spans, unwrapped
from accord.errors import InputError

__all__ = ["READABLE", "Opened", "open_files"]

_SHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_TABLES = (".csv", ".tsv", ".tab", ".txt")
READABLE = (
    *_TABLES,
    ".jsonl",
    ".ndjson",
    ".json",
    ".parquet",
    ".xml",
    ".gz",
    ".zip",
    *_SHEETS,
)  # what a file may end in
_MOST_UNPACKED = 8 << 30  # bytes, of one import
_MOST_IN_SHEETS = 1 << 30
_CHUNK = 1 << 20
_LONGEST_NAME = 60  # characters, of a column in a second line of names
_BODY_ROWS = 30  # below it, that are looked at
_HEADER_ROWS = 20  # of a sheet, among which the line of column names is looked for
# [05.03.24, 10:00:00] Anna: Good morning; 05/03/2024, 10:00 - Anna: Good morning
_MESSAGE = re.compile(
    r"\u200e?\[?(?P<time>\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? \d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp]\.?[Mm]\.?)?)\]?(?: -)? "
    r"(?P<author>[^:\n]{1,60}): (?P<text>.*\n?)"
)
_ABOUT = re.compile(r"(readme|licen[cs]e|changelog)\b[^/]{0,20}\.(txt|md|json|html)\Z", re.IGNORECASE)
_HIDDEN = re.compile(r"(^|/)(\.[^/]|__MACOSX/|~\$|not-exported\.txt$)")
_BROKEN = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError)


@dataclass
class Opened:
    """Files that the readers know, how each is called by the person who gave it, and what was done to it."""

    paths: list[Path] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)  # path → as it was given
    notes: list[str] = field(default_factory=list)
    sheets: set[Path] = field(default_factory=set)  # those of a spreadsheet that has several
    n_bytes: int = 0

    def renamed(self, sentence: str) -> str:
        """A sentence that names files as people do."""
        for path, name in sorted(self.names.items(), key=lambda entry: -len(entry[0])):
            sentence = sentence.replace(path, name)
        return sentence


def open_files(paths: Sequence[Path], work: Path, *, encoding: str | None = None) -> Opened:
    """Open people's files; what has to be rewritten goes into the folder ``work``."""
    opened = Opened()
    for place, path in enumerate(paths):
        folder = work / str(place)
        for file, name in _unpacked(path, str(path), folder, opened):
            _open(file, name, folder, opened, encoding)
    return opened


def _unpacked(path: Path, name: str, folder: Path, opened: Opened) -> Iterator[tuple[Path, str]]:
    """The files in an archive, or the file itself."""
    suffix = path.suffix.lower()
    if not path.is_file() or suffix not in (".gz", ".zip"):
        yield path, name
        return
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if suffix == ".gz":
            inside = folder / path.stem
            with gzip.open(path) as packed, inside.open("wb") as out:
                _copy(packed, out, opened)
            yield inside, name
            return
        with zipfile.ZipFile(path) as archive:
            members = [entry for entry in archive.infolist() if not entry.is_dir()]
            members = [entry for entry in members if not _HIDDEN.search(entry.filename)]
            for member in members:
                parts = [part for part in re.split(r"[/\\]", member.filename) if part.strip(". ")]
                inside = folder.joinpath(*parts)
                inside.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as packed, inside.open("wb") as out:
                    _copy(packed, out, opened)
    except _BROKEN as error:
        raise InputError(f"{name} cannot be unpacked: {str(error).rstrip('.')}. Pack it again.") from None
    root = folder
    while len(entries := sorted(root.iterdir())) == 1 and entries[0].is_dir():
        root = entries[0]
    if not entries:
        raise InputError(f"{name} is an archive without files. Pack it again.")
    tool = any(entry.name.startswith("utterances.json") or entry.suffix == ".ann" for entry in entries)
    if tool or any(entry.is_dir() for entry in entries):
        yield root, name
        return
    tables = [entry for entry in entries if entry.suffix.lower() in READABLE and not _ABOUT.match(entry.name)]
    beside = [entry.name for entry in entries if entry not in tables] if tables else []
    if beside:
        opened.notes.append(f"of {name}, what is no table is not read: {', '.join(beside)}")
    for entry in tables or entries:
        yield from _unpacked(entry, f"{name}/{entry.name}", folder / f"in {entry.name}", opened)


def _copy(packed: Any, out: Any, opened: Opened) -> None:
    while chunk := packed.read(_CHUNK):
        opened.n_bytes += len(chunk)
        if opened.n_bytes > _MOST_UNPACKED:
            raise InputError(
                f"archives have at most {_MOST_UNPACKED:,} bytes when unpacked; these have more. Split them."
            )
        out.write(chunk)


def _open(path: Path, name: str, folder: Path, opened: Opened, encoding: str | None) -> None:
    suffix = path.suffix.lower()
    made: list[tuple[Path, str]] = [(path, name)]
    if path.is_file() and path.stat().st_size:
        if suffix in _SHEETS:
            made = list(_sheets(path, name, folder, opened))
        elif suffix in _TABLES:
            try:
                made = [(_table(path, name, folder, opened, encoding), name)]
            except UnicodeDecodeError:  # what its first bytes say of its encoding does not hold for the others
                raise not_utf8(path) from None
        elif suffix == ".json":
            made = list(unwrapped(path, name, folder, opened.notes))
        elif suffix == ".parquet" and has_spans(path):
            made = [(as_lines(path, folder), name)]
    for file, shown in made:
        opened.paths.append(file)
        if str(file) != shown:
            opened.names[str(file)] = shown


# -- text files --------------------------------------------------------------------------------------------------


def _table(path: Path, name: str, folder: Path, opened: Opened, encoding: str | None) -> Path:
    """A table with separators, or a list of texts, as a UTF-8 file that has one line of column names."""
    found = encoding or encoding_of(path)
    suffix = path.suffix.lower()
    usual = "\t" if suffix in (".tsv", ".tab") else ","
    utf8 = path
    if found not in ("utf-8", "utf-8-sig"):
        utf8 = _transcoded(path, name, folder, found)
        if encoding is None:
            opened.notes.append(
                f"{name} is read as {_ENCODINGS.get(found, found)}; name another encoding with --encoding"
            )
    dialect = dialect_of(utf8, usual)
    if suffix == ".txt" and not _is_tabular(utf8, dialect):
        chat = _is_chat(utf8)
        what = "a chat, with who wrote each text and when" if chat else "a list of texts, one a line"
        opened.notes.append(f"{name} is read as {what}")
        return _chat(utf8, folder) if chat else _texts(utf8, folder)
    with utf8.open(encoding="utf-8-sig", newline="") as file:
        first = [file.readline() for _ in range(3)]
    if first[0].startswith("#FORMAT=WebAnno"):  # words below each other, which a reader of its own knows
        return utf8
    if first[0].lower().startswith("sep=") or first[0].startswith('"sep='):
        return _rewritten(utf8, folder, Dialect(first[0].strip().strip('"')[4:5] or "\t"), skip=1)
    head = cells_of("".join(first), dialect, 3)
    if len(head) == 3 and any('"ImportId"' in cell for cell in head[2]):
        opened.notes.append(f"{name} has the three header lines of Qualtrics; the first names the columns")
        return _rewritten(utf8, folder, dialect, drop=(1, 2), names=_with_parts(head[0], head[1]))
    if head and {"respondent id", "collector id"} <= {cell.strip().lower() for cell in head[0]} and len(head) > 1:
        opened.notes.append(f"{name} has the two header lines of SurveyMonkey; both name the columns")
        return _rewritten(utf8, folder, dialect, drop=(1,), names=_joined_names(head[0], head[1]))
    names = _names_in_two_rows(*head)
    if names is not None:
        opened.notes.append(f"the column names of {name} stand in two lines; both are read")
        return _rewritten(utf8, folder, dialect, drop=(1,), names=names)
    skip, dialect = _preamble(utf8, dialect)
    if skip:
        opened.notes.append(f"the column names of {name} stand in line {skip + 1}; what is above them is not read")
        (folder / "below").mkdir(parents=True, exist_ok=True)
        return _rewritten(utf8, folder / "below", dialect, skip=skip)
    if dialect.separator != usual and suffix != ".txt":
        opened.notes.append(f"the cells of {name} are separated by {dialect.named}")
    names = _all_named(_first_row(utf8, dialect), name, opened)
    if suffix == ".txt" or names is not None:
        return _rewritten(utf8, folder, dialect, names=names)
    return utf8


def _preamble(path: Path, dialect: Dialect) -> tuple[int, Dialect]:
    """How many lines stand above the column names, such as the title of a report, and how cells are separated below.

    The lines above have fewer cells with something in them than the names, and those below mostly as many.
    """
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        lines = list(islice(file, _HEADER_ROWS + _BODY_ROWS))
    first = next((row for line in lines if (row := next(iter(cells_of(line, dialect, 1)), []))), [])
    if sum(bool(cell.strip()) for cell in first) > 1:
        return 0, dialect
    found: list[tuple[int, int, Dialect]] = []
    for separator in dict.fromkeys((dialect.separator, *SEPARATORS)):
        own = Dialect(separator, dialect.escape)
        rows = [next(iter(cells_of(line, own, 1)), []) for line in lines]
        for place, row in enumerate(rows[:_HEADER_ROWS]):
            named = [cell for cell in row if cell.strip()]
            below = [other for other in rows[place + 1 :] if any(other)]
            whole = sum(len(other) == len(row) for other in below) >= 0.8 * len(below)
            words = all(score_of(cell) is None and len(cell) <= _LONGEST_NAME for cell in named)
            if len(row) > 1 and len(named) == len(row) and len(below) > 1 and whole and words:
                above = [sum(bool(cell.strip()) for cell in other) for other in rows[:place]]
                if (
                    place
                    and any(above)
                    and max(above) < min(len(row), 3)
                    and not any('"' in line for line in lines[:place])
                ):
                    found.append((len(row), place, own))
                break
    n, place, own = max(found, key=lambda entry: entry[0], default=(0, 0, dialect))
    return (place, own) if n else (0, dialect)


def _first_row(path: Path, dialect: Dialect) -> list[str]:
    """The column names of a table, which may have more than one line."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            return next(csv.reader(file, delimiter=dialect.separator, escapechar=dialect.escape), [])
        except csv.Error:  # the streaming reader says what is wrong
            return []


def _all_named(names: Sequence[str], name: str, opened: Opened) -> list[str] | None:
    """Column names of which none is empty and no two are equal; ``None`` if they are so already."""
    found: list[str] = []
    for place, own in enumerate(names, start=1):
        called, n = own if own.strip() else f"column {place}", 1
        while called in found:
            n += 1
            called = f"{own.strip() or f'column {place}'} ({n})"
        if n > 1 and own.strip():
            opened.notes.append(f"two columns of {name} are called {own!r}; a later one is read as {called!r}")
        found.append(called)
    return None if found == list(names) else found


_ENCODINGS = {
    "cp1252": "Windows-1252",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "utf-32": "UTF-32",
}


def _transcoded(path: Path, name: str, folder: Path, encoding: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / f"utf-8 {path.name}"
    try:
        codecs.lookup(encoding)
        with path.open(encoding=encoding, newline="") as read, out.open("w", encoding="utf-8", newline="") as write:
            shutil.copyfileobj(read, write, _CHUNK)
    except LookupError:
        raise InputError(f"there is no encoding {encoding!r}. Use a name such as utf-8, cp1252 or shift_jis.") from None
    except UnicodeError as error:
        raise InputError(f"{name} is not {encoding}: {error}. Name another encoding with --encoding.") from None
    return out


def _is_tabular(path: Path, dialect: Dialect) -> bool:
    """Whether a text file is a table: every line has the same number of cells, two or more, in short first cells."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        rows = cells_of(file.read(_CHUNK), dialect, 200)
    if not (len(rows) > 1 and len(rows[0]) > 1 and len({len(row) for row in rows}) == 1):
        return False
    # Sentences with commas: a space after each, and a full stop at the end of what would be the names.
    prose = all(cell.startswith(" ") for cell in rows[0][1:]) or rows[0][-1].rstrip().endswith((".", "!"))
    return not (prose and dialect.separator == ",")


def _texts(path: Path, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / f"{path.stem}.csv"
    with path.open(encoding="utf-8-sig") as read, out.open("w", encoding="utf-8", newline="") as write:
        rows = csv.writer(write)
        rows.writerow(["text"])
        for line in read:
            if line.strip():
                rows.writerow([line.strip()])
    return out


def _is_chat(path: Path) -> bool:
    """Whether most of the first lines of a text file say when they were written, and by whom."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        lines = [line for line in islice(file, 200) if line.strip()]
    return len(lines) > 1 and sum(_MESSAGE.match(line) is not None for line in lines) >= 0.5 * len(lines)


def _chat(path: Path, folder: Path) -> Path:
    """The messages of a chat; a line that does not begin one goes on with the message above it."""
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / f"{path.stem}.csv"
    messages: list[list[str]] = []
    with path.open(encoding="utf-8-sig") as read:
        for line in read:
            found = _MESSAGE.match(line)
            if found is not None:
                messages.append([found["time"], found["author"], found["text"]])
            elif messages:
                messages[-1][2] += line
            elif line.strip():
                messages.append(["", "", line])
    with out.open("w", encoding="utf-8", newline="") as write:
        rows = csv.writer(write)
        rows.writerow(["timestamp", "author", "text"])
        rows.writerows([when, author, text.strip()] for when, author, text in messages)
    return out


def _rewritten(
    path: Path,
    folder: Path,
    dialect: Dialect,
    *,
    skip: int = 0,
    drop: Sequence[int] = (),
    names: list[str] | None = None,
) -> Path:
    """The same table with commas, without some lines, and with other column names if they are given."""
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / f"{path.stem}.csv"
    if out == path:
        out = folder / f"plain {path.stem}.csv"
    csv.field_size_limit(1 << 27)
    with path.open(encoding="utf-8-sig", newline="") as read, out.open("w", encoding="utf-8", newline="") as write:
        for _ in range(skip):
            read.readline()
        rows = csv.writer(write)
        for place, row in enumerate(csv.reader(read, delimiter=dialect.separator, escapechar=dialect.escape)):
            if place == 0 and names is not None:
                rows.writerow(names)
            elif place not in drop:
                rows.writerow(row)
    return out


def _with_parts(codes: list[str], questions: list[str]) -> list[str]:
    """The codes of questions, with the part that is asked about behind those that have several.

    Examples
    --------
    >>> _with_parts(["Q1", "Q2_1"], ["Your visit?", "Please rate: - Food"])
    ['Q1', 'Q2_1: Food']
    """
    parts = [question.rpartition(" - ")[2].strip() if " - " in question else "" for question in questions]
    return [
        f"{code}: {part}" if part and re.search(r"\d_\d+\Z", code) and len(part) <= _LONGEST_NAME else code
        for code, part in zip(codes, [*parts, *[""] * len(codes)], strict=False)
    ]


def _joined_names(first: list[str], second: list[str]) -> list[str]:
    """Questions and their parts as column names: ``question [part]``."""
    names, question = [], ""
    for one, two in zip(first, [*second, *[""] * len(first)], strict=False):
        question = one.strip() or question
        part = two.strip()
        names.append(question if part in ("", "Response", "Open-Ended Response") else f"{question} [{part}]")
    return names


def _names_in_two_rows(*rows: Sequence[str]) -> list[str] | None:
    """Column names of which the first line has a heading over several columns: ``heading: name``; else ``None``.

    The second line names every column that the first leaves empty, in words, and the third has numbers there.

    Examples
    --------
    >>> _names_in_two_rows(["Review", "Guide", ""], ["", "kind", "clear"], ["A fine day.", "4", "5"])
    ['Review', 'Guide: kind', 'Guide: clear']
    """
    if len(rows) < 3:
        return None
    first, second, third = ([cell.strip() for cell in row] for row in rows)
    if not len(first) == len(second) == len(third) or not first[0] or all(first):
        return None
    named = [place for place, cell in enumerate(second) if cell]
    if not all(one or two for one, two in zip(first, second, strict=True)):
        return None
    if any(score_of(second[place]) is not None or len(second[place]) > _LONGEST_NAME for place in named):
        return None
    if any(score_of(third[place]) is None for place in named):
        return None
    names, heading = [], ""
    for one, two in zip(first, second, strict=True):
        heading = one or heading
        names.append(f"{heading}: {two}" if two else heading)
    return names if len(set(names)) == len(names) else None


# -- spreadsheets ------------------------------------------------------------------------------------------------


def _sheets(path: Path, name: str, folder: Path, opened: Opened) -> Iterator[tuple[Path, str]]:
    """Every sheet that holds something, as a table."""
    from python_calamine import CalamineError, CalamineWorkbook

    folder.mkdir(parents=True, exist_ok=True)
    _check_size(path, name)
    try:
        book = CalamineWorkbook.from_path(str(path))
        sheets = {
            title: _merged(book.get_sheet_by_name(title), f"{name} [{title}]", opened) for title in book.sheet_names
        }
    except (CalamineError, OSError, ValueError) as error:
        raise InputError(f"{name} is not readable as a spreadsheet: {error}. Save it again, or as CSV.") from None
    filled = {title: rows for title, rows in sheets.items() if any(any(map(_cell, row)) for row in rows)}
    if not filled:
        raise InputError(f"{name} has no cells with something in them.")
    for place, (title, rows) in enumerate(filled.items()):
        out = folder / f"{place}.csv"
        _write_sheet(rows, out, f"{name} [{title}]" if len(filled) > 1 else name, opened)
        if len(filled) > 1:
            opened.sheets.add(out)
        yield out, f"{name} [{title}]" if len(filled) > 1 else name


def _merged(sheet: Any, name: str, opened: Opened) -> list[list[Any]]:
    """The cells of a sheet; below the names, each part of a merged cell holds what the whole does."""
    rows: list[list[Any]] = sheet.to_python()
    top, left = sheet.start or (0, 0)  # what is empty above and beside is not in the rows
    n_filled = 0
    for (first, begin), (last, end) in getattr(sheet, "merged_cell_ranges", None) or ():
        if last == first or first - top < 0 or last - top >= len(rows):  # side by side: names, which are joined
            continue
        value = rows[first - top][begin - left]
        for row in rows[first - top : last - top + 1]:
            row[begin - left : end - left + 1] = [value] * (end - begin + 1)
        n_filled += 1
    if n_filled:
        opened.notes.append(f"each row of a merged cell of {name} has its value ({n_filled:,} merged cells)")
    return rows


def _check_size(path: Path, name: str) -> None:
    """Refuse a spreadsheet that is far larger inside than it looks: it is read whole."""
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > _MOST_IN_SHEETS:
        raise InputError(
            f"a spreadsheet has at most {_MOST_IN_SHEETS:,} bytes when unpacked; {name} says {size:,}. Save it as CSV."
        )


def _write_sheet(rows: list[list[Any]], out: Path, name: str, opened: Opened) -> None:
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [sum(map(bool, row)) for row in cells[:_HEADER_ROWS]]
    head = next(place for place, width in enumerate(widths) if width >= 0.6 * max(widths))
    if any(widths[:head]):
        opened.notes.append(f"the column names of {name} stand in line {head + 1}; what is above them is not read")
    used = [place for place in range(len(cells[head])) if any(row[place] for row in cells[head:])]
    names = _names_in_two_rows(*([row[place] for place in used] for row in (cells[head : head + 3])))
    if names is not None:
        opened.notes.append(f"the column names of {name} stand in two lines; both are read")
    with out.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        own = names or [cells[head][place].strip() or f"column {place + 1}" for place in used]
        table.writerow(_all_named(own, name, opened) or own)
        for row in cells[head + (1 if names is None else 2) :]:
            if any(row):
                table.writerow([row[place] for place in used])


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return as_text(value) or ""
