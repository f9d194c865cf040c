"""Files as streams of blocks: CSV, TSV, JSONL and Parquet, every cell as text, with bounded memory."""

import codecs
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from accord.data.reading.separators import Dialect, dialect_of
from accord.data.reading.spreadsheets import read_back
from accord.errors import InputError, MissingDataError, did_you_mean

__all__ = [
    "JSON_LINES",
    "LONGEST_CELL",
    "Source",
    "as_text",
    "missing_file",
    "not_utf8",
    "open_source",
    "parquet_rows",
    "parquet_schema",
    "suffix_of",
]

LONGEST_CELL = 1_000_000  # characters; a longer one is a broken file more often than a text
_MOST_COLUMNS = 2_000
_MOST_BESIDE = 1_000  # files of a folder whose names are compared with a misspelt one
_BLOCK_BYTES = 16 << 20
_BLOCK_ROWS = 200_000
_NAMING_ROWS = 1000  # of JSONL, that are looked at for the names of the columns
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
_WORDS = "Save its text as .txt, one text a line, or as a table with a column of texts."
_CURES = {  # of files that people have and that are no tables
    **dict.fromkeys((".docx", ".doc", ".odt", ".rtf", ".pdf", ".html", ".htm", ".md", ".pages"), _WORDS),
    **dict.fromkeys((".sav", ".dta", ".sas7bdat", ".por"), "Export it from your statistics program as CSV."),
    **dict.fromkeys((".rds", ".rda", ".rdata"), "Write it in R with write.csv(x, 'x.csv', row.names = FALSE)."),
    **dict.fromkeys((".pkl", ".pickle", ".npy", ".npz"), "Write it in Python with frame.to_csv('x.csv', index=False)."),
    **dict.fromkeys((".db", ".sqlite", ".sqlite3", ".sql"), "Export the table that you need as CSV."),
    **dict.fromkeys((".feather", ".arrow"), "Write it as Parquet: frame.to_parquet('x.parquet')."),
    **dict.fromkeys((".tar", ".tgz", ".7z", ".rar", ".bz2", ".xz"), "Unpack it, or pack it as .zip or .gz."),
    ".numbers": "Export it from Numbers as CSV.",
    ".ann": "Give the folder that has the .txt file of the same name too.",
    ".accord": "It is a model: give it to accord predict or accord explain.",
}
CODED = pa.dictionary(pa.int32(), pa.string())


_USUAL = Dialect()


@dataclass(frozen=True)
class Source:
    """One file with named columns."""

    path: Path
    columns: tuple[str, ...]
    dialect: Dialect = _USUAL

    @property
    def named(self) -> str:
        """The names of the columns in one line, for a sentence."""
        return ", ".join(" ".join(name.split()) for name in self.columns) or "none"

    def blocks(self, columns: Sequence[str], *, coded: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
        """The rows in blocks with some of the columns as text, those in ``coded`` dictionary-encoded.

        Empty cells are missing.
        """
        wanted = list(columns)
        if suffix_of(self.path) in _SEPARATORS:
            return _csv_blocks(self.path, self.dialect, self.columns, wanted, coded)
        if suffix_of(self.path) in JSON_LINES:
            return _encoded(_json_blocks(self.path, self.columns, wanted), coded)
        return _encoded(_parquet_blocks(self.path, wanted), coded)


def open_source(path: str | Path) -> Source:
    """Look at a file's columns."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"a table is a file; {path} is a folder. Name the files in it.")
    if not path.is_file():
        raise missing_file(path)
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty; a table needs a line of column names and at least one row.")
    suffix = suffix_of(path)
    dialect = Dialect()
    if suffix in _SEPARATORS:
        dialect = dialect_of(path, _SEPARATORS[suffix])
        names = _csv_names(path, dialect)
    elif suffix in JSON_LINES:
        names = _json_names(path)
    elif suffix == ".parquet":
        names = _open_parquet(path).schema_arrow.names
    else:
        known = ", ".join((*_SEPARATORS, ".txt", ".xlsx", ".xls", ".ods", ".json", *JSON_LINES, ".parquet"))
        cure = _CURES.get(suffix, "Save it as one of them, such as CSV.")
        raise InputError(f"a table's name must end in {known}; got {path.name!r}. {cure}")
    if len(names) > _MOST_COLUMNS:
        raise InputError(f"a table has at most {_MOST_COLUMNS:,} columns; {path} has {len(names):,}. Leave some out.")
    repeated = sorted(name for name, n in Counter(names).items() if n > 1)
    if repeated:
        raise InputError(f"{path} has two columns called {repeated[0]!r}. Rename one of them.")
    return Source(path, tuple(names), dialect)


def missing_file(path: Path, what: str = "file") -> MissingDataError:
    """The error for a file that is not there, with the one beside it that was meant."""
    meant = ""
    if not path.parent.is_dir():
        meant = f" There is no folder {path.parent} either."
    else:
        with suppress(OSError):
            meant = did_you_mean(path.name, (entry.name for entry in islice(path.parent.iterdir(), _MOST_BESIDE)))
    return MissingDataError(f"there is no {what} {path}.{meant or ' Check its name and folder.'}")


def suffix_of(path: Path) -> str:
    """How a file's name ends, in small letters."""
    return path.suffix.lower()


def _csv_names(path: Path, dialect: Dialect) -> list[str]:
    reader = _open_csv(path, dialect, pa.csv.ConvertOptions())
    try:
        return list(reader.schema.names)
    except UnicodeDecodeError:
        raise not_utf8(path) from None


def _open_csv(path: Path, dialect: Dialect, convert: Any) -> Any:
    try:
        return pa.csv.open_csv(
            path,
            read_options=pa.csv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False),
            parse_options=pa.csv.ParseOptions(
                delimiter=dialect.separator, escape_char=dialect.escape or False, newlines_in_values=True
            ),
            convert_options=convert,
        )
    except pa.ArrowInvalid as error:
        raise _csv_error(path, error) from None


def _csv_blocks(
    path: Path, dialect: Dialect, names: Sequence[str], wanted: Sequence[str], coded: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    convert = pa.csv.ConvertOptions(
        column_types={name: CODED if name in coded else pa.string() for name in names},
        include_columns=list(dict.fromkeys([*wanted, names[-1]])),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
        auto_dict_encode=False,
    )
    last = None
    try:
        for block in _open_csv(path, dialect, convert):
            last = block if block.num_rows else last
            yield read_back(block.select(list(wanted)))
    except pa.ArrowInvalid as error:
        raise _csv_error(path, error) from None
    if last is not None:
        _check_last_quote(path, last.column(names[-1])[-1].as_py())


def _check_last_quote(path: Path, cell: str | None) -> None:
    """Refuse a quotation mark that is still open at the end: Arrow takes all that follows it for one cell.

    A last cell with more than one line was quoted, so that the file has to end with the mark that closes it.
    """
    if cell is None or not {"\n", "\r"} & set(cell):
        return
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - 16, 0))
        closed = file.read().rstrip(b"\r\n").endswith(b'"')
    if not closed:
        raise InputError(
            f"a quotation mark that opens a cell must be closed; {path} ends inside the cell that begins with "
            f"{cell[:20]!r}. Close it."
        )


def _csv_error(path: Path, error: Exception) -> InputError:
    """What Arrow says about a broken file, as rule, place and cure."""
    said = str(error)
    if "UTF8" in said or "UTF-8" in said:
        return not_utf8(path)
    if "Empty CSV" in said:
        return InputError(f"a table needs a line of column names and at least one row; {path} has no rows.")
    if "straddling" in said:
        return InputError(
            f"a cell of {path} may have at most {LONGEST_CELL:,} characters; one row has more than {_BLOCK_BYTES:,} "
            "bytes. Shorten it, or close the quotation mark that was left open."
        )
    if "Expected" in said and "columns" in said:
        # "CSV parse error: Row #4: Expected 3 columns, got 2: the row itself"; Arrow counts the header
        row, _, rest = said.partition("Row #")[2].partition(":")
        counts = rest.split(":")[0].strip().lower()
        where = f"row {int(row) - 1:,} of " if row.isdigit() else "a row of "
        return InputError(
            f"every row must have as many cells as there are columns; {where}{path}: {counts}. Correct it."
        )
    return InputError(f"{path} is not readable as a table: {said.splitlines()[0].rstrip('.')}.")


def not_utf8(path: Path) -> InputError:
    """The error for a file that is not UTF-8, with the line."""
    decoder, line = codecs.getincrementaldecoder("utf-8")(), 1
    with path.open("rb") as file:
        for raw in file:
            try:
                decoder.decode(raw)
            except UnicodeDecodeError:
                break
            line += 1
    return InputError(f"a table must be UTF-8; line {line:,} of {path} is not. Convert the file to UTF-8.")


def _json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Row numbers from 1 and objects."""
    decoder = msgspec.json.Decoder(dict[str, Any])
    row = 0
    with path.open("rb") as file:
        for line, raw in enumerate(file):
            if line == 0:
                raw = raw.removeprefix(codecs.BOM_UTF8)
            if not raw.strip():
                continue
            row += 1
            try:
                yield row, decoder.decode(raw)
            except msgspec.ValidationError:
                raise InputError(f"every line must be a JSON object; row {row:,} of {path} is not.") from None
            except RecursionError:
                raise InputError(
                    f"JSON may not be nested more than a few hundred deep; row {row:,} of {path} is. Flatten it."
                ) from None
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                if "UTF-8" in str(error) or "utf-8" in str(error):
                    raise not_utf8(path) from None
                raise InputError(f"every line must be JSON; row {row:,} of {path}: {error}. Correct it.") from None


def _json_names(path: Path) -> list[str]:
    """All names in the first rows: later rows may leave some out, not bring new ones."""
    names: dict[str, None] = {}
    for row, record in _json_lines(path):
        names.update(dict.fromkeys(record))
        if row >= _NAMING_ROWS:
            break
    return list(names)


def _json_blocks(path: Path, known: Sequence[str], wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
    columns: dict[str, list[str | None]] = {name: [] for name in wanted}
    row, names = 0, frozenset(known)
    for row, record in _json_lines(path):
        if not names.issuperset(record):
            raise InputError(
                f"all columns must be named in the first {_NAMING_ROWS:,} rows; row {row:,} of {path} brings "
                f"{next(name for name in record if name not in names)!r}. Give it to an earlier row too, as null."
            )
        for name, cells in columns.items():
            cells.append(as_text(record.get(name)))
        if row % _BLOCK_ROWS == 0:
            yield _batch(columns)
            columns = {name: [] for name in wanted}
    if row % _BLOCK_ROWS or row == 0:
        yield _batch(columns)


def _batch(columns: dict[str, list[str | None]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({name: pa.array(cells, pa.string()) for name, cells in columns.items()})


def as_text(value: Any) -> str | None:
    """A value as the text of a cell; an empty one is missing.

    Examples
    --------
    >>> as_text(3.0), as_text(""), as_text(["a"])
    ('3', None, '["a"]')
    """
    if value is None or value == "" or value != value:  # NaN is how data frames write a missing number
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return msgspec.json.encode(value).decode() if isinstance(value, list | dict | bool) else str(value)


def _open_parquet(path: Path) -> Any:
    with _as_parquet(path):
        return pq.ParquetFile(path)


@contextmanager
def _as_parquet(path: Path) -> Iterator[None]:
    """Turn what Arrow says about a broken file into a sentence."""
    try:
        yield
    except MemoryError:  # which Arrow's own is too
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        said = " ".join(str(error).split())[:200].rstrip(".")
        raise InputError(f"{path} is not readable as Parquet: {said}. Write it again.") from None


def parquet_schema(path: Path) -> pa.Schema:
    """The columns of a Parquet file and their types."""
    return _open_parquet(path).schema_arrow


def parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file as they are, with lists and objects."""
    with _as_parquet(path):
        for batch in _open_parquet(path).iter_batches(_NAMING_ROWS):
            yield from batch.to_pylist()


def _parquet_blocks(path: Path, wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
    with _as_parquet(path):
        for batch in _open_parquet(path).iter_batches(_BLOCK_ROWS, columns=list(wanted)):
            columns = [_text_array(path, name, batch.column(name)) for name in wanted]
            yield pa.RecordBatch.from_arrays(columns, list(wanted))


def _text_array(path: Path, name: str, column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if pa.types.is_floating(column.type) or pa.types.is_nested(column.type):
        return pa.array([as_text(value) for value in column.to_pylist()], pa.string())
    try:
        text = pc.cast(column, pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"a column must hold text or numbers; {name!r} of {path} is {column.type}. Convert it to text."
        ) from None
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)


def _encoded(blocks: Iterator[pa.RecordBatch], coded: Sequence[str]) -> Iterator[pa.RecordBatch]:
    for block in blocks:
        arrays = [
            pc.dictionary_encode(column) if name in coded else column
            for name, column in zip(block.schema.names, block.columns, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(arrays, names=block.schema.names)
