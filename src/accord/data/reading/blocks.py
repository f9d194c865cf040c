"""Some rows of a file on their way into a project: their columns, the rules they must keep, and what is kept."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from accord.data.project import JUDGEMENTS, with_schema
from accord.data.reading.profiles import is_total
from accord.data.reading.schemas import Matched
from accord.data.reading.sources import LONGEST_CELL
from accord.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from accord.data.formats.own import Reading

__all__ = ["Block", "distinct", "numbers"]

# Columns that may hold numbers beside a judgement: the rule, and which numbers keep it.
_NUMBERS: dict[str, tuple[str, Callable[[FloatArray], BoolArray]]] = {
    "response_ms": (
        "response_ms must be a whole number of milliseconds",
        lambda x: (x >= 0) & (x < 2**53) & (x == np.floor(x)),
    ),
    "propensity": ("propensity must be a probability, from 0 to 1", lambda x: (x >= 0) & (x <= 1)),
    "weight": ("the weight of a vote must be a number of at least 0", lambda x: (x >= 0) & np.isfinite(x)),
}


@dataclass
class Block:
    """Some rows of a file, with our names for its columns and a mask of the rows that are still good."""

    matched: Matched
    rows: pa.RecordBatch
    row_numbers: IntArray  # (n,) the row of the file, from 1
    reading: "Reading"
    good: BoolArray = field(default_factory=lambda: np.empty(0, dtype=bool))

    def __post_init__(self) -> None:
        if not self.good.size:
            self.good = np.ones(self.rows.num_rows, dtype=bool)

    @property
    def n(self) -> int:
        return self.rows.num_rows

    @property
    def all(self) -> BoolArray:
        return np.ones(self.n, dtype=bool)

    @property
    def answered(self) -> BoolArray:
        """Rows with an answer: those whose status says that there is none may lack a value."""
        if not self.has("status"):
            return self.all
        status = self.decoded("status")
        done = pc.or_kleene(status.is_null(), pc.equal(status, "done"))
        return np.asarray(pc.fill_null(done, True).to_numpy(zero_copy_only=False))

    @property
    def rest(self) -> tuple[str, ...]:
        return self.matched.rest

    def only(self, rows: BoolArray) -> "Block":
        """The same block with other rows set aside; their problems were or will be counted elsewhere."""
        return Block(self.matched, self.rows, self.row_numbers, self.reading, rows.copy())

    def with_columns(self, **columns: pa.Array) -> "Block":
        """The same block with some of our columns replaced or added."""
        rows = self.rows
        for name, column in columns.items():
            rows = rows.append_column(f"\0{name}", column)  # no column of a file is called so
        matched = replace(self.matched, columns={**self.matched.columns, **{name: f"\0{name}" for name in columns}})
        return Block(matched, rows, self.row_numbers, self.reading, self.good)

    def has(self, name: str) -> bool:
        return name in self.matched.columns

    def name_of(self, name: str) -> str:
        return self.matched.columns[name].strip().lower()

    def raw(self, theirs: str) -> pa.Array:
        return self.rows.column(theirs)

    def column(self, name: str) -> pa.Array:
        if not self.has(name):
            return pa.nulls(self.n, pa.string())
        return self.raw(self.matched.columns[name])

    def decoded(self, name: str) -> pa.Array:
        column = self.column(name)
        return pc.cast(column, pa.string()) if pa.types.is_dictionary(column.type) else column

    def coded(self, name: str) -> pa.Array:
        column = self.column(name)
        return column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)

    def texts(self, name: str) -> list[str | None]:
        return self.decoded(name).to_pylist()

    def is_valid(self, name: str) -> BoolArray:
        return self.column(name).is_valid().to_numpy(zero_copy_only=False)

    def refuse(self, bad: BoolArray, rule: str, value: Callable[[int], str], cure: str) -> None:
        path = self.matched.source.path
        self.reading.problems.check(
            bad, self.good, file=str(path), numbers=self.row_numbers, rule=rule, value=value, cure=cure
        )

    def needs(self, name: str, what: str, *, of: BoolArray | None = None) -> None:
        missing = ~self.is_valid(name) if of is None else ~self.is_valid(name) & of
        self.refuse(
            missing,
            f"every row needs {what}",
            lambda row: "none",
            "Fill it in, or leave out such rows with 'accord import --drop-bad'.",
        )

    def leave_out_empty(self) -> None:
        """Leave out rows without anything in them, and those that sum up the others, and say so."""
        if not self.n:
            return
        filled = np.column_stack([column.is_valid().to_numpy(zero_copy_only=False) for column in self.rows.columns])
        empty: BoolArray = ~np.asarray(filled.any(axis=1))
        if empty.any():
            self.reading.assumed["rows without anything in them are left out"] += int(empty.sum())
        about = "text" if self.has("text") else "item_id" if self.has("item_id") else None
        if about is not None and self.matched.role.name in ("items", "scores", "labels", "marks"):
            # Few rows of a table lack the text: only these can be sums.
            blank = np.flatnonzero(~empty & ~self.is_valid(about))
            sums = [row for row in blank.tolist() if is_total([column[row].as_py() for column in self.rows.columns])]
            if sums:
                self.reading.assumed["rows that sum up the others (such as a total) are left out"] += len(sums)
                empty[sums] = True
        self.good &= ~empty

    def check_lengths(self) -> None:
        """Refuse rows with a cell that is too long, in whatever column."""
        for column in self.rows.columns:
            values = column.dictionary if pa.types.is_dictionary(column.type) else column
            if not pa.types.is_string(values.type):
                continue
            if (pc.max(pc.binary_length(values)).as_py() or 0) <= LONGEST_CELL:  # a character has a byte or more
                continue
            plain = pc.cast(column, pa.string())
            lengths = pc.fill_null(pc.utf8_length(plain), 0).to_numpy(zero_copy_only=False)
            self.refuse(
                lengths > LONGEST_CELL,
                f"a cell may have at most {LONGEST_CELL:,} characters",
                lambda row, lengths=lengths: f"{lengths[row]:,}",  # type: ignore[misc]  # bound in the loop
                "Shorten it, or close the quotation mark that was left open.",
            )

    def checknumbers(self, name: str) -> None:
        """Refuse what is not a number of the column's kind, instead of losing it."""
        rule, holds = _NUMBERS[name]
        values = numbers(self.column(name))
        self.refuse(
            self.is_valid(name) & ~holds(values),
            rule,
            lambda row: repr(self.texts(name)[row]),
            "Correct it or leave it empty.",
        )

    def write(self, kind: str, names: Mapping[str, str], given: BoolArray, **columns: pa.Array) -> None:
        """Append judgements whose columns are those of the file."""
        found = {ours: self.column(theirs) for ours, theirs in names.items() if self.has(theirs)}
        for name in _NUMBERS:
            if name in found:
                self.checknumbers(name)
        for name in ("start", "end", "response_ms", "propensity", "weight"):
            if name in found:
                parsed = pa.array(numbers(found[name]), pa.float64(), from_pandas=True)
                found[name] = pc.cast(parsed, JUDGEMENTS.field(name).type, safe=False)
        self.write_columns(kind, {**found, **columns}, given)

    def write_columns(self, kind: str, columns: Mapping[str, Any], given: BoolArray) -> None:
        """Append judgements of one kind."""
        reading = self.reading
        kinds = pa.DictionaryArray.from_arrays(pa.array(np.zeros(self.n, np.int32)), pa.array([kind]))
        table = with_schema({"kind": kinds, **columns}, JUDGEMENTS)
        keep = self.good & given
        reading.keep_judgements(kind, table if keep.all() else table.filter(pa.array(keep)))


def distinct(column: pa.ChunkedArray) -> list[str | None]:
    """The distinct values of a column of text; decoded first, which is far faster than to decode one by one."""
    values: list[str | None] = pc.cast(pc.unique(column), pa.string()).to_pylist()
    return values


def numbers(column: pa.Array) -> FloatArray:
    """Numbers, NaN where there is none or it is not one."""
    if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
        return np.asarray(pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False))
    array = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
    values = np.array([_number(value) for value in array.dictionary.to_pylist()] + [np.nan])
    return values[pc.fill_null(array.indices, len(values) - 1).to_numpy(zero_copy_only=False)]


def _number(value: str | None) -> float:
    try:
        return float(value) if value is not None else np.nan
    except ValueError:
        return np.nan
