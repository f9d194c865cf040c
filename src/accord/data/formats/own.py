"""Accord's own tables from files: checked row by row, in a stream, all or nothing.

Texts are read whole; judgements go block by block from the file to the project's Parquet table, so that ten million
votes need little memory.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from accord.data.formats.conflicts import Conflicts
from accord.data.formats.problems import Problems
from accord.data.formats.rows import Buffer, Context, Rows
from accord.data.formats.schemas import Matched, Role
from accord.data.formats.sources import LONGEST_CELL, Source
from accord.data.project import ITEMS, JUDGEMENTS, LINKS, with_schema
from accord.typing import BoolArray, FloatArray, IntArray, Progress

__all__ = ["Reading", "Rules"]

_LEFT = ("1", "1.0", "left", "a", "a1", "model_a", "first", "l")
_RIGHT = ("0", "0.0", "right", "b", "a2", "model_b", "second", "r")
_TIE = ("0.5", ".5", "tie", "equal", "undecided", "draw", "both_bad", "both bad", "tie (bothbad)", "½")
_VOTES = {**dict.fromkeys(_LEFT, "1"), **dict.fromkeys(_RIGHT, "0"), **dict.fromkeys(_TIE, "0.5")}
_KINDS = ("pair", "label", "score", "span", "rank")


@dataclass(frozen=True)
class Rules:
    """What the tables do not say themselves."""

    n_ranks: int = 5
    labels: tuple[str, ...] = ()  # empty: any label


@dataclass
class Reading:
    """One import on its way: what is known of the items, and where the judgements go."""

    folder: Path | None  # None: only look
    rules: Rules
    problems: Problems
    progress: Progress
    closed: bool = False  # whether a table of items was given, so that an id not in it is wrong
    places: dict[str, int] = field(default_factory=dict)  # item id → position
    texts: dict[str, str] = field(default_factory=dict)
    items: list[pa.Table] = field(default_factory=list)
    n_judgements: dict[str, int] = field(default_factory=dict)  # by kind
    n_links: int = 0
    people: set[str] = field(default_factory=set)
    conflicts: Conflicts = field(default_factory=Conflicts)
    rankings: dict[str, tuple[Any, list[tuple[float, str]]]] = field(default_factory=dict)
    writers: dict[str, Any] = field(default_factory=dict)

    # -- the tables ----------------------------------------------------------------------------------------------

    def read(self, matched: Matched) -> int:
        """Read one file in its role; returns the number of its rows."""
        role = matched.role
        wanted = [*matched.columns.values(), *(matched.rest if role.keeps_rest else ())]
        coded = [
            matched.columns[name]
            for name in ("item_id", "other_id", "value", "annotator_id")
            if name in matched.columns
        ]
        row = 1
        for block in matched.source.blocks(wanted, coded=() if role.name == "items" else coded):
            if block.num_rows:
                self._step(role.name)(_Block(matched, block, np.arange(row, row + block.num_rows), self))
                row += block.num_rows
                self.progress(f"reading {matched.source.path.name}", row - 1, 0)
        return row - 1

    def take(self, rows: Rows) -> None:
        """Take rows that another tool's reader gives; once it gives texts, an id that has none is wrong."""
        names = rows.batch.schema.names
        known = {"items": ITEMS.names, "judgements": JUDGEMENTS.names, "links": LINKS.names}[rows.table]
        role = Role(rows.table, (), keeps_rest=rows.table == "items")
        rest = tuple(name for name in names if name not in known)
        matched = Matched(Source(rows.file, tuple(names)), role, {name: name for name in names if name in known}, rest)
        self.closed = self.closed or rows.table == "items"
        self._step(rows.table)(_Block(matched, rows.batch, rows.numbers, self))

    def _step(self, name: str) -> "Callable[[_Block], None]":
        steps: dict[str, Callable[[_Block], None]] = {
            "items": self._items,
            "votes": self._votes,
            "scores": self._scores,
            "spans": self._spans,
            "labels": self._labels,
            "links": self._links,
            "judgements": self._judgements,
        }
        return steps[name]

    def _items(self, block: "_Block") -> None:
        ids = block.texts("item_id")
        block.check_length("text")
        block.needs("item_id", "an id")
        self._new_ids(block, ids)
        questions = self._questions(block)
        rest = {name if name.startswith("meta.") else f"meta.{name}": name for name in block.rest}
        columns = {name: block.column(name) for name in ITEMS.names}
        meta = {ours: block.raw(theirs) for ours, theirs in rest.items() if not theirs.startswith("score.")}
        if block.has("category"):
            meta["meta.category"] = block.column("category")
        self._keep_items(with_schema({**columns, **meta}, ITEMS).filter(pa.array(block.good)), questions)
        if block.has("label"):
            given = block.is_valid("label")
            self._check_labels(block, "label", given)
            block.write("label", {"item_id": "item_id", "value": "label", "annotator_id": "annotator_id"}, given)
        for name in block.rest:
            if name.startswith("score."):
                given = ~block.raw(name).is_null().to_numpy(zero_copy_only=False)
                self._check_scores(block, block.raw(name), given)
                block.write_columns(
                    "score",
                    {"item_id": block.column("item_id"), "aspect": [name[6:]] * block.n, "value": block.raw(name)},
                    given,
                )

    def _new_ids(self, block: "_Block", ids: Sequence[str | None]) -> None:
        repeated = np.zeros(block.n, dtype=bool)
        texts = block.texts("text")
        for row, name in enumerate(ids):
            if name is None:
                continue
            if name in self.places:
                repeated[row] = True
            else:
                self.places[name] = len(self.places)
                self.texts[name] = texts[row] or ""
        block.refuse(repeated, "item ids must be unique", lambda row: f"{ids[row]!r} again", "Rename one or drop it.")

    def _questions(self, block: "_Block") -> pa.Table | None:
        """The questions that stand beside the comments, as items of their own."""
        if not block.has("question"):
            return None
        columns = {name: block.texts(name) for name in ("group_id", "question", "asker_id", "category")}
        rows = [
            (group, *rest)
            for good, group, *rest in zip(block.good, *columns.values(), strict=True)
            if good and group is not None and rest[0] is not None
        ]
        fresh = {row[0]: row for row in rows if row[0] not in self.places}
        for name, question, *_ in fresh.values():
            self.places[name], self.texts[name] = len(self.places), question
        if not fresh:
            return None
        ids, texts, askers, categories = (list(column) for column in zip(*fresh.values(), strict=True))
        meta = {"meta.category": pa.array(categories, pa.string())} if block.has("category") else {}
        return with_schema(
            {"item_id": ids, "text": texts, "group_id": ids, "author_id": pa.array(askers, pa.string()), **meta}, ITEMS
        )

    def _keep_items(self, table: pa.Table, questions: pa.Table | None) -> None:
        self.items += [table] if questions is None else [questions, table]

    def _votes(self, block: "_Block") -> None:
        block.needs("item_id", "a left id")
        block.needs("other_id", "a right id")
        left, right = block.decoded("item_id"), block.decoded("other_id")
        same = pc.fill_null(pc.equal(left, right), False).to_numpy(zero_copy_only=False)
        block.refuse(same, "a vote compares two different items", lambda row: f"{left[row]} twice", "Drop the row.")
        self._known(block, "item_id")
        self._known(block, "other_id")
        value = self._vote_values(block, left, right)
        names = {name: name for name in JUDGEMENTS.names if name not in ("kind", "value")}
        block.write("pair", names, block.all, value=value)

    def _vote_values(self, block: "_Block", left: pa.Array, right: pa.Array) -> pa.Array:
        said = block.coded("value")
        codes = [_VOTES.get(str(name).strip().lower()) for name in said.dictionary.to_pylist()]
        value = pc.take(pa.array(codes, pa.string()), said.indices)
        if block.has("value") and block.name_of("value") in ("label", "winner"):  # there the winner's id may stand too
            plain, none = block.decoded("value"), pa.scalar(None, pa.string())
            named = pc.if_else(pc.equal(plain, left), "1", pc.if_else(pc.equal(plain, right), "0", none))
            if block.name_of("value") == "label":
                clash = pc.fill_null(pc.not_equal(value, named), False).to_numpy(zero_copy_only=False)
                block.refuse(
                    clash,
                    "a vote must be clear",
                    lambda row: f"the label {plain[row].as_py()!r}, the name of one side and the id of the other",
                    "Call the column winner if it holds ids, or value if it holds 1, 0 and 0.5.",
                )
            value = pc.coalesce(named, value)
        block.refuse(
            value.is_null().to_numpy(zero_copy_only=False) & block.answered,
            "a vote must be 1 or left, 0 or right, 0.5 or tie",
            lambda row: repr(said[row].as_py()),
            "Recode it or drop the row.",
        )
        return pc.dictionary_encode(value)

    def _scores(self, block: "_Block") -> None:
        block.needs("item_id", "an id")
        block.needs("aspect", "an aspect")
        self._known(block, "item_id")
        self._check_scores(block, block.column("value"), block.answered)
        names = {name: name for name in JUDGEMENTS.names if name != "kind"}
        block.write("score", names, block.all)

    def _check_scores(self, block: "_Block", column: pa.Array, given: BoolArray) -> None:
        values = _numbers(column)
        highest = self.rules.n_ranks
        wrong = given & ~((values >= 1) & (values <= highest) & (values == np.floor(values)))
        block.refuse(
            wrong,
            f"a score must be a whole number in 1..{highest}",
            lambda row: repr(column[row].as_py()),
            "Correct it, or say how many ranks there are with --ranks.",
        )

    def _labels(self, block: "_Block") -> None:
        block.needs("item_id", "an id")
        block.needs("value", "a label", of=block.answered)
        self._known(block, "item_id")
        self._check_labels(block, "value", block.answered)
        block.write("label", {name: name for name in JUDGEMENTS.names if name != "kind"}, block.all)

    def _check_labels(self, block: "_Block", name: str, given: BoolArray) -> None:
        if not self.rules.labels:
            return
        column = block.decoded(name)
        inside = pc.is_in(column, value_set=pa.array(self.rules.labels)).to_numpy(zero_copy_only=False)
        block.refuse(
            given & ~inside,
            f"a label must be one of {', '.join(self.rules.labels)}",
            lambda row: repr(column[row].as_py()),
            "Correct it, or name it with --labels.",
        )

    def _spans(self, block: "_Block") -> None:
        block.needs("item_id", "an id")
        self._known(block, "item_id")
        start, end = _numbers(block.column("start")), _numbers(block.column("end"))
        ids = block.texts("item_id")
        lengths = np.array([len(self.texts.get(name or "", "")) for name in ids])
        nothing = np.isnan(start) & np.isnan(end) & ~block.is_valid("start") & ~block.is_valid("end")
        inside = (start >= 0) & (start < end) & (end <= lengths) & (start == np.floor(start)) & (end == np.floor(end))
        block.refuse(
            ~inside & ~nothing,
            "a span must lie inside its text, 0 <= start < end <= length",
            lambda row: (
                f"[{block.texts('start')[row]}, {block.texts('end')[row]}) in {ids[row]!r}, which has "
                f"{lengths[row]} characters"
            ),
            "Correct the offsets (characters, from 0) or drop the row.",
        )
        if block.has("quote"):
            self._check_quotes(block, ids, start, end)
        names = {name: name for name in JUDGEMENTS.names if name != "kind"}
        block.write("span", names, block.all)

    def _check_quotes(self, block: "_Block", ids: Sequence[str | None], start: FloatArray, end: FloatArray) -> None:
        quotes = block.texts("quote")
        wrong = np.zeros(block.n, dtype=bool)
        for row in np.flatnonzero(block.good & block.is_valid("quote") & ~np.isnan(start)).tolist():
            wrong[row] = self.texts[ids[row] or ""][int(start[row]) : int(end[row])] != quotes[row]
        block.refuse(
            wrong,
            "a span's quote must be its text",
            lambda row: (
                f"{(quotes[row] or '')[:40]!r} where the text of {ids[row]!r} has "
                f"{self.texts[ids[row] or ''][int(start[row]) : int(end[row])][:40]!r}"
            ),
            "Correct the offsets or the quote.",
        )

    def _links(self, block: "_Block") -> None:
        for name in ("src_id", "dst_id"):
            block.needs(name, "two ends")
            self._known(block, name)
        source, target = block.decoded("src_id"), block.decoded("dst_id")
        same = pc.fill_null(pc.equal(source, target), False).to_numpy(zero_copy_only=False)
        block.refuse(same, "a link joins two different texts", lambda row: f"{source[row]} twice", "Drop the row.")
        if block.has("weight"):
            weight = _numbers(block.column("weight"))
            block.refuse(
                block.is_valid("weight") & ~(weight >= 0),
                "a link's weight must be a number of at least 0",
                lambda row: repr(block.texts("weight")[row]),
                "Correct it or leave it empty.",
            )
        columns = {name: block.column(name) for name in LINKS.names if block.has(name)}
        if block.has("weight"):
            columns["weight"] = pa.array(_numbers(block.column("weight")), pa.float64(), from_pandas=True)
        table = with_schema(columns, LINKS).filter(pa.array(block.good))
        self.n_links += table.num_rows
        self.put("links", table)

    def _judgements(self, block: "_Block") -> None:
        """A table that Accord wrote itself."""
        kinds = block.texts("kind")
        block.refuse(
            np.array([kind not in _KINDS for kind in kinds]),
            f"the kind must be one of {', '.join(_KINDS)}",
            lambda row: repr(kinds[row]),
            "Correct it.",
        )
        for kind, step in (
            ("pair", self._votes),
            ("score", self._scores),
            ("label", self._labels),
            ("span", self._spans),
            ("rank", self._ranks),
        ):
            rows = block.good & np.array([each == kind for each in kinds])
            if rows.any():
                step(block.only(rows))

    def _ranks(self, block: "_Block") -> None:
        """Places in rankings: rows that share a judgement_id are one ranking, place 1 the best, equal places ties."""
        block.needs("item_id", "an id")
        block.needs("judgement_id", "the id of its ranking")
        self._known(block, "item_id")
        places = _numbers(block.column("value"))
        block.refuse(
            ~(places >= 1),
            "a place in a ranking must be a number of at least 1",
            lambda row: repr(block.texts("value")[row]),
            "Correct it.",
        )
        names = ("judgement_id", "item_id", "annotator_id", "created_at", "source")
        columns = [block.texts(name) for name in names]
        for row in np.flatnonzero(block.good).tolist():
            ranking, item, *rest = (column[row] for column in columns)
            key = (str(block.matched.source.path), int(block.numbers[row]), str(ranking), *rest)
            known = self.rankings.setdefault(str(ranking), (key, []))
            known[1].append((float(places[row]), str(item)))

    def _rank_pairs(self) -> None:
        """The comparisons that the rankings imply."""
        buffers: dict[str, Buffer] = {}
        for (file, row, name, person, created_at, source), placed in self.rankings.values():
            tiers: dict[float, list[str]] = {}
            for place, item in sorted(placed):
                tiers.setdefault(place, []).append(item)
            buffer = buffers.setdefault(file, Buffer(Path(file), Context(self.problems), source="ranking"))
            cells = {"annotator_id": person, "created_at": created_at}
            if source:
                cells["source"] = source
            buffer.ranking(row, list(tiers.values()), name=name, ties=True, **cells)
        self.rankings.clear()
        for buffer in buffers.values():
            for rows in buffer.rest():
                self.take(rows)

    # -- what they share -----------------------------------------------------------------------------------------

    def _known(self, block: "_Block", name: str) -> None:
        """Refuse ids that the items do not have; without a table of items every id is new and fine."""
        column = block.coded(name)
        distinct = column.dictionary.to_pylist()
        if not self.closed:
            for value in distinct:
                if value is not None and value not in self.places:
                    self.places[value] = len(self.places)
            return
        known = np.array([value in self.places for value in distinct] + [True], dtype=bool)
        codes = pc.fill_null(column.indices, len(distinct)).to_numpy(zero_copy_only=False)
        block.refuse(
            ~known[codes],
            "every judged text must be among the items",
            lambda row: f"the unknown id {column[row].as_py()!r}",
            "Add it to the items or drop the row.",
        )

    def put(self, table: str, rows: pa.Table) -> None:
        """Append rows to one of the project's tables."""
        if self.folder is None or not rows.num_rows:
            return
        if table not in self.writers:
            self.writers[table] = pq.ParquetWriter(self.folder / f"{table}.parquet", rows.schema, compression="zstd")
        self.writers[table].write_table(rows)

    def finish(self) -> pa.Table:
        """Close the tables; returns the items."""
        self._rank_pairs()
        empty = {"judgements": JUDGEMENTS, "links": LINKS}
        for name, schema in empty.items():
            if name in self.writers:
                self.writers.pop(name).close()
            elif self.folder is not None:
                pq.write_table(schema.empty_table(), self.folder / f"{name}.parquet")
        if self.closed and self.items:
            return pa.concat_tables(self.items, promote_options="permissive").unify_dictionaries()
        return with_schema({"item_id": sorted(self.places)}, ITEMS)

    def abandon(self) -> None:
        """Close what is open, after a failure."""
        for writer in self.writers.values():
            writer.close()
        self.writers.clear()


@dataclass
class _Block:
    """Some rows of a file, with our names for its columns and a mask of the rows that are still good."""

    matched: Matched
    rows: pa.RecordBatch
    numbers: IntArray  # (n,) the row of the file, from 1
    reading: Reading
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

    def only(self, rows: BoolArray) -> "_Block":
        """The same block with other rows set aside; their problems were or will be counted elsewhere."""
        return _Block(self.matched, self.rows, self.numbers, self.reading, rows.copy())

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
            bad, self.good, file=str(path), numbers=self.numbers, rule=rule, value=value, cure=cure
        )

    def needs(self, name: str, what: str, *, of: BoolArray | None = None) -> None:
        missing = ~self.is_valid(name) if of is None else ~self.is_valid(name) & of
        self.refuse(missing, f"every row needs {what}", lambda row: "none", "Fill it in or drop the row.")

    def check_length(self, name: str) -> None:
        lengths = pc.fill_null(pc.utf8_length(self.decoded(name)), 0).to_numpy(zero_copy_only=False)
        self.refuse(
            lengths > LONGEST_CELL,
            f"a cell may have at most {LONGEST_CELL:,} characters",
            lambda row: f"{lengths[row]:,}",
            "Shorten it, or close the quotation mark that was left open.",
        )

    def write(self, kind: str, names: Mapping[str, str], given: BoolArray, **columns: pa.Array) -> None:
        """Append judgements whose columns are those of the file."""
        found = {ours: self.column(theirs) for ours, theirs in names.items() if self.has(theirs)}
        for name in ("start", "end", "response_ms", "propensity"):
            if name in found:
                numbers = pa.array(_numbers(found[name]), pa.float64(), from_pandas=True)
                found[name] = pc.cast(numbers, JUDGEMENTS.field(name).type, safe=False)
        self.write_columns(kind, {**found, **columns}, given)

    def write_columns(self, kind: str, columns: Mapping[str, Any], given: BoolArray) -> None:
        """Append judgements of one kind."""
        reading = self.reading
        kinds = pa.DictionaryArray.from_arrays(pa.array(np.zeros(self.n, np.int32)), pa.array([kind]))
        table = with_schema({"kind": kinds, **columns}, JUDGEMENTS)
        keep = self.good & given
        if not keep.all():
            table = table.filter(pa.array(keep))
        if "annotator_id" in columns:
            reading.people.update(name for name in self.coded("annotator_id").dictionary.to_pylist() if name)
        reading.n_judgements[kind] = reading.n_judgements.get(kind, 0) + table.num_rows
        reading.conflicts.add(table)
        reading.put("judgements", table)


def _numbers(column: pa.Array) -> FloatArray:
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
