"""Accord's own tables from files: checked row by row, in a stream, all or nothing.

Texts are read whole; judgements go block by block from the file to the project's Parquet table, so that ten million
votes need little memory.
"""

import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from accord.data.project import ITEMS, JUDGED, JUDGEMENTS, LINKS, with_schema
from accord.data.reading.blocks import Block, distinct, numbers
from accord.data.reading.conflicts import Conflicts
from accord.data.reading.html import holds_html, plain_text
from accord.data.reading.missing import without_missing
from accord.data.reading.moments import iso_times
from accord.data.reading.near_ids import NearIds
from accord.data.reading.problems import Problems
from accord.data.reading.replies import links_of_replies, questions_with_labels, threads_of_replies
from accord.data.reading.roles import WINS, Role
from accord.data.reading.rows import Buffer, Context, Rows
from accord.data.reading.schemas import Matched
from accord.data.reading.sources import Source
from accord.data.reading.votes import TIED, answer_of, is_graded
from accord.data.reading.wide import (
    read_answers,
    read_quotes,
    scores_as_numbers,
    with_made_ids,
    with_sides_as_items,
)
from accord.typing import BoolArray, FloatArray, Progress

__all__ = ["Reading", "Rules"]


@dataclass(frozen=True)
class Rules:
    """What the tables do not say themselves."""

    n_ranks: int = 5
    labels: tuple[str, ...] = ()  # empty: any label
    given: bool = False  # whether a person said how many ranks there are
    scale: tuple[float, float] | None = None  # the ends of a slider, which are read as the lowest and highest rank
    unscaled: frozenset[str] = frozenset()  # columns of scores that are ranks already, beside those of sliders

    def scale_of(self, column: str) -> tuple[float, float] | None:
        """The ends of the slider that a column holds the places of; ``None`` if it holds ranks."""
        return None if column in self.unscaled else self.scale


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
    labels: set[str | None] = field(default_factory=set)  # that occur
    labelled: set[str] = field(default_factory=set)  # the ids of texts that have one
    conflicts: Conflicts = field(default_factory=Conflicts)
    rankings: dict[str, tuple[Any, list[tuple[float, str]]]] = field(default_factory=dict)
    writers: dict[str, Any] = field(default_factory=dict)
    kind: str | None = None  # of plain tables; other tools' files are read without it
    assumed: Counter[str] = field(default_factory=Counter)  # how things were taken that the files do not say
    lost: Counter[str] = field(default_factory=Counter)  # what has no place in a project
    _near: tuple[int, NearIds] | None = None  # how many items there were, and their ids

    # -- the tables ----------------------------------------------------------------------------------------------

    def read(self, matched: Matched) -> int:
        """Read one file in its role; returns the number of its rows."""
        role = matched.role
        wanted = [*matched.columns.values(), *matched.scores, *matched.grid, *(matched.rest if role.keeps_rest else ())]
        coded = [
            matched.columns[name]
            for name in ("item_id", "other_id", "value", "annotator_id")
            if name in matched.columns
        ]
        row = 1
        for block in matched.source.blocks(wanted, coded=() if role.name == "items" else coded):
            if block.num_rows:
                block = without_missing(matched, block, self.assumed)
                rows = Block(matched, block, np.arange(row, row + block.num_rows), self)
                rows.leave_out_empty()
                rows.check_lengths()
                if rows.has("created_at"):
                    rows = rows.with_columns(created_at=pa.array(iso_times(rows.texts("created_at"))[0], pa.string()))
                self._step(role.name)(rows)
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
        block = Block(matched, rows.batch, rows.numbers, self)
        block.check_lengths()
        self._step(rows.table)(block)

    def _step(self, name: str) -> Callable[[Block], None]:
        steps: dict[str, Callable[[Block], None]] = {
            "items": self._items,
            "votes": self._votes,
            "scores": self._scores,
            "marks": self._scores,
            "spans": self._spans,
            "quotes": self._quotes,
            "answers": lambda block: read_answers(self, block),
            "labels": self._labels,
            "links": self._links,
            "judgements": self._judgements,
        }
        return steps[name]

    def _items(self, block: Block) -> None:
        block = with_made_ids(self._without_html(block))
        ids = block.texts("item_id")
        matched = block.matched
        scored = {name: self._numbers(block, name) for name in matched.scores}
        # Every rule first: a row that is left out leaves nothing behind, neither its id nor some of its scores.
        block.needs("item_id", "an id")
        if block.has("label"):
            self._check_labels(block, "label", block.is_valid("label"))
        for name, column in scored.items():
            given = block.good & column.is_valid().to_numpy(zero_copy_only=False)
            self.check_scores(block, column, given, said=block.raw(name), name=name)
        self._check_questions(block, ids)
        fresh = self._new_ids(block, ids)
        questions = self._questions(block)
        rest = {name if name.startswith("meta.") else f"meta.{name}": name for name in block.rest}
        columns = {name: block.column(name) for name in ITEMS.names}
        if self.kind is not None and block.has("timestamp"):
            times, unclear = iso_times(block.texts("timestamp"))
            columns["timestamp"] = pa.array(times, pa.string())
            if unclear:
                self.assumed["dates that can be read two ways, such as 03/04/2024, are kept as they are"] += unclear
        meta = {ours: block.raw(theirs) for ours, theirs in rest.items()}
        if block.has("category"):
            meta["meta.category"] = block.column("category")
        self._keep_items(with_schema({**columns, **meta}, ITEMS).filter(pa.array(block.good & fresh)), questions)
        if block.has("label"):
            names = {"item_id": "item_id", "value": "label", "annotator_id": "annotator_id"}
            block.write("label", names, block.is_valid("label"))
        for name, column in scored.items():
            about = {"item_id": block.column("item_id")}
            if self.kind != "pairs":
                about["aspect"] = [block.matched.scores[name]] * block.n
            if block.has("annotator_id"):
                about["annotator_id"] = block.column("annotator_id")
            given = column.is_valid().to_numpy(zero_copy_only=False)
            block.write_columns("score", {**about, "value": column}, given)
        if block.has("quote"):
            read_quotes(self, block)

    def _without_html(self, block: Block) -> Block:
        """Texts that are HTML by their words, where somebody said that they are; elsewhere it is only said."""
        if self.kind is None or not block.has("text"):
            return block
        texts = block.texts("text")
        if block.matched.html:
            return block.with_columns(text=pa.array([text and plain_text(text) for text in texts], pa.string()))
        marked = sum(text is not None and holds_html(text) for text in texts)
        if marked:
            name = block.name_of("text")
            self.assumed[
                f"marks of HTML stay in the texts, where models read them as words; --map {name}=html removes them"
            ] += marked
        return block

    def _new_ids(self, block: Block, ids: Sequence[str | None]) -> BoolArray:
        """Which rows bring a new text; a row may judge one that is there, but not give its id to another."""
        repeated, fresh = np.zeros(block.n, dtype=bool), np.ones(block.n, dtype=bool)
        texts = block.texts("text")
        for row, name in enumerate(ids):
            if name is None or not block.good[row]:
                continue
            if name in self.places:
                repeated[row] = self.kind is None or self.texts.get(name, "").strip() != (texts[row] or "").strip()
                fresh[row] = False
            else:
                self.places[name] = len(self.places)
                self.texts[name] = texts[row] or ""
        again = int((~fresh & ~repeated & block.good).sum())
        if again:
            self.assumed["rows that repeat a text add their judgements to it"] += again
        cure = "Rename one or drop it."
        if self.kind is not None and repeated.any():
            theirs = shlex.quote(f"{block.name_of('item_id')}=group")
            cure += f" If it is no id of the text but of what the text belongs to, add --map {theirs}."
        block.refuse(repeated, "item ids must be unique", lambda row: f"{ids[row]!r} again", cure)
        return fresh

    def _check_questions(self, block: Block, ids: Sequence[str | None]) -> None:
        """Refuse a second question of a thread, and a thread whose id is that of another text."""
        if not block.has("question"):
            return
        groups, questions = block.texts("group_id"), block.texts("question")
        here = {name: text or "" for name, text in zip(ids, block.texts("text"), strict=True) if name is not None}
        asked: dict[str, str] = {}
        wrong = np.zeros(block.n, dtype=bool)
        for row, (group, question) in enumerate(zip(groups, questions, strict=True)):
            if block.good[row] and group is not None and question is not None:
                known = self.texts.get(group, here.get(group))
                wrong[row] = (asked.setdefault(group, question) if known is None else known) != question
        block.refuse(
            wrong,
            "a thread has one question",
            lambda row: f"{(questions[row] or '')[:40]!r} in {groups[row]!r}, which stands for another text too",
            "Correct the question or the thread's id.",
        )

    def _questions(self, block: Block) -> pa.Table | None:
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

    def _votes(self, block: Block) -> None:
        won = block.matched.role is WINS
        if block.matched.texts_compared:
            block = with_sides_as_items(self, block)
        block.needs("item_id", "a left id")
        block.needs("other_id", "a right id")
        left, right = block.decoded("item_id"), block.decoded("other_id")
        same = pc.fill_null(pc.equal(left, right), False).to_numpy(zero_copy_only=False)
        block.refuse(same, "a vote compares two different items", lambda row: f"{left[row]} twice", "Drop the row.")
        self._known(block, "item_id")
        self._known(block, "other_id")
        value = self._won_or_tied(block) if won else self._vote_values(block, left, right)
        names = {name: name for name in JUDGEMENTS.names if name not in ("kind", "value")}
        block.write("pair", names, block.all, value=value)

    def _won_or_tied(self, block: Block) -> pa.Array:
        """1 for the winner, 0.5 where a column says that there is none."""
        said = [(word or "").strip().lower() for word in block.texts("tie")]
        value = [TIED.get(word) for word in said]
        block.refuse(
            np.array([one is None for one in value], dtype=bool),
            "a tie must be yes or no",
            lambda row: repr(said[row]),
            "Recode it or drop the row.",
        )
        return pa.array(value, pa.string())

    def _vote_values(self, block: Block, left: pa.Array, right: pa.Array) -> pa.Array:
        said = block.coded("value")
        words = [str(name).strip().lower() for name in said.dictionary.to_pylist()]
        codes = [block.matched.votes.get(word) or answer_of(word) for word in words]
        graded = pc.take(pa.array([is_graded(word) for word in words], pa.bool_()), said.indices)
        n_graded = pc.sum(graded).as_py() or 0
        if n_graded:
            self.lost["how much better a text is, is not kept: each answer is one vote"] += n_graded
        value = pc.take(pa.array(codes, pa.string()), said.indices)
        if block.has("value") and block.name_of("value") != "value":  # there the winner's id may stand too
            plain, none = block.decoded("value"), pa.scalar(None, pa.string())
            named = pc.if_else(pc.equal(plain, left), "1", pc.if_else(pc.equal(plain, right), "0", none))
            if block.name_of("value") != "winner":
                clash = pc.fill_null(pc.not_equal(value, named), False).to_numpy(zero_copy_only=False)
                block.refuse(
                    clash,
                    "a vote must be clear",
                    lambda row: f"the answer {plain[row].as_py()!r}, the name of one side and the id of the other",
                    "Call the column winner if it holds ids, or value if it holds 1, 0 and 0.5.",
                )
            value = pc.coalesce(named, value)
        block.refuse(
            value.is_null().to_numpy(zero_copy_only=False) & block.answered,
            "a vote must be 1 or left, 0 or right, 0.5 or tie",
            lambda row: "none" if said[row].as_py() is None else repr(said[row].as_py()),
            "Write 1 where the left text won, 0 where the right one did and 0.5 where neither did, or drop the row.",
        )
        return pc.dictionary_encode(value)

    def _scores(self, block: Block) -> None:
        block.needs("item_id", "an id")
        if self.kind != "pairs":  # there a score stands beside the votes, without an aspect
            block.needs("aspect", "an aspect")
        self._known(block, "item_id")
        if block.has("text"):
            self._texts_beside(block)
        name = block.matched.columns["value"]
        value = self._numbers(block, name)
        self.check_scores(block, value, block.answered, said=block.raw(name))
        names = {name: name for name in JUDGEMENTS.names if name not in ("kind", "value")}
        block.write("score", names, block.all, value=value)

    def _numbers(self, block: Block, name: str) -> pa.Array:
        """The scores of a column as numbers."""
        n_ranks, matched = self.rules.n_ranks, block.matched
        if name in matched.profiles and matched.profiles[name].is_percent:
            self.assumed[f"percentages are read as scores: 0 % is 1 and 100 % is {n_ranks}"] = 1
        scale = self.rules.scale_of(name)
        if scale is not None:
            low, high = scale
            self.assumed[
                f"{low:g} is read as rank 1, {high:g} as rank {n_ranks}, and what is between as the nearest rank"
            ] = 1
        elif matched.from_zero:
            self.assumed["the scores begin at 0, which is read as rank 1, 1 as rank 2, and so on"] = 1
            scale = (0.0, n_ranks - 1.0)
        return scores_as_numbers(block.raw(name), matched.words_of(name), n_ranks, scale=scale)

    def _texts_beside(self, block: Block) -> None:
        """The texts that stand beside each of their scores."""
        fresh = self._new_ids(block, block.texts("item_id")) & block.good
        columns = {name: block.decoded(name) for name in ("item_id", "text")}
        self._keep_items(with_schema(columns, ITEMS).filter(pa.array(fresh)), None)

    def check_scores(self, block: Block, column: pa.Array, given: BoolArray, *, said: pa.Array, name: str = "") -> None:
        """Refuse rows whose score is no rank; ``said`` are the scores as they stand in the file's column ``name``."""
        values = numbers(column)
        if self.kind == "pairs":
            wrong = given & ~np.isfinite(values)
            cell = lambda row: repr(column[row].as_py())  # noqa: E731
            block.refuse(wrong, "a score beside votes must be a finite number", cell, "Correct it or drop the row.")
            return
        highest, scale = self.rules.n_ranks, self.rules.scale_of(name)
        wrong = given & ~((values >= 1) & (values <= highest))
        between = int((given & ~wrong & (values != np.floor(values))).sum())
        if between and scale is None:
            self.assumed["scores between two ranks, such as 4.5, count as the nearest, halves as the upper"] += between
        rule = f"1..{highest}" if scale is None else f"{scale[0]:g}..{scale[1]:g}"
        block.refuse(
            wrong,
            f"a score must be a number in {rule}",
            lambda row: repr(said[row].as_py()),
            "Correct it, or say how far the scale goes: --ranks 10 if from 1 to 10, --scale 0..100 for a slider, whose "
            f"places are read as {highest} ranks.",
        )

    def _labels(self, block: Block) -> None:
        block.needs("item_id", "an id")
        block.needs("value", "a label", of=block.answered)
        self._known(block, "item_id")
        self._check_labels(block, "value", block.answered)
        block.write("label", {name: name for name in JUDGEMENTS.names if name != "kind"}, block.all)

    def _check_labels(self, block: Block, name: str, given: BoolArray) -> None:
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

    def _spans(self, block: Block) -> None:
        block.needs("item_id", "an id")
        self._known(block, "item_id")
        start, end = numbers(block.column("start")), numbers(block.column("end"))
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

    def _quotes(self, block: Block) -> None:
        block.needs("item_id", "an id")
        self._known(block, "item_id")
        read_quotes(self, block)

    def _check_quotes(self, block: Block, ids: Sequence[str | None], start: FloatArray, end: FloatArray) -> None:
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

    def _links(self, block: Block) -> None:
        for name in ("src_id", "dst_id"):
            block.needs(name, "two ends")
            self._known(block, name)
        source, target = block.decoded("src_id"), block.decoded("dst_id")
        same = pc.fill_null(pc.equal(source, target), False).to_numpy(zero_copy_only=False)
        block.refuse(same, "a link joins two different texts", lambda row: f"{source[row]} twice", "Drop the row.")
        if block.has("weight"):
            weight = numbers(block.column("weight"))
            block.refuse(
                block.is_valid("weight") & ~(weight >= 0),
                "a link's weight must be a number of at least 0",
                lambda row: repr(block.texts("weight")[row]),
                "Correct it or leave it empty.",
            )
        columns = {name: block.column(name) for name in LINKS.names if block.has(name)}
        if block.has("weight"):
            columns["weight"] = pa.array(numbers(block.column("weight")), pa.float64(), from_pandas=True)
        table = with_schema(columns, LINKS).filter(pa.array(block.good))
        self.n_links += table.num_rows
        self.put("links", table)

    def _judgements(self, block: Block) -> None:
        """A table that Accord wrote itself."""
        kinds = block.decoded("kind")
        known = pc.is_in(kinds, value_set=pa.array(JUDGED)).to_numpy(zero_copy_only=False)
        block.refuse(
            ~known,
            f"the kind must be one of {', '.join(JUDGED)}",
            lambda row: repr(kinds[row].as_py()),
            "Correct it.",
        )
        for kind, step in (
            ("pair", self._votes),
            ("score", self._scores),
            ("label", self._labels),
            ("span", self._spans),
            ("rank", self._ranks),
        ):
            rows = block.good & pc.fill_null(pc.equal(kinds, kind), False).to_numpy(zero_copy_only=False)
            if rows.any():
                step(block.only(rows))

    def _ranks(self, block: Block) -> None:
        """Places in rankings: rows that share a judgement_id are one ranking, place 1 the best, equal places ties."""
        block.needs("item_id", "an id")
        block.needs("judgement_id", "the id of its ranking")
        self._known(block, "item_id")
        places = numbers(block.column("value"))
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
            key = (str(block.matched.source.path), int(block.row_numbers[row]), str(ranking), *rest)
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

    def _known(self, block: Block, name: str) -> None:
        """Refuse ids that the items do not have; without a table of items every id is new and fine."""
        if not self.closed:
            return
        column = block.coded(name)
        distinct = column.dictionary.to_pylist()
        known = np.array([value in self.places for value in distinct] + [True], dtype=bool)
        if known.all():
            return
        near = self._near_ids()
        alike = [None if there else near.of(value) for value, there in zip(distinct, known[:-1], strict=True)] + [None]
        codes = pc.fill_null(column.indices, len(distinct)).to_numpy(zero_copy_only=False)
        rule = "every judged text must be among the items"
        block.refuse(
            np.array([value is not None for value in alike], dtype=bool)[codes],
            rule,
            lambda row: f"the unknown id {column[row].as_py()!r}; the items have {alike[codes[row]]!r}",
            "Write ids alike in all files (programs make 1.0 of 1 beside an empty cell, and 7 of 007).",
        )
        block.refuse(
            ~known[codes],
            rule,
            lambda row: f"the unknown id {column[row].as_py()!r}",
            "Add it to the items or drop the row.",
        )

    def _near_ids(self) -> NearIds:
        """The ids of the items as they may be written elsewhere; made once for all blocks that ask."""
        if self._near is None or self._near[0] != len(self.places):
            self._near = (len(self.places), NearIds(self.places))
        return self._near[1]

    def _meet(self, rows: pa.Table, *names: str) -> None:
        """Without a table of items, the texts are those that the rows which are kept name."""
        if self.closed:
            return
        for name in names:
            for value in distinct(rows.column(name)):
                if value is not None:
                    self.places.setdefault(value, len(self.places))

    def keep_judgements(self, kind: str, table: pa.Table) -> None:
        """Append judgements of one kind, and count them."""
        self.people.update(name for name in distinct(table.column("annotator_id")) if name)
        if kind == "label":
            self.labels.update(distinct(table.column("value")))
            self.labelled.update(name for name in distinct(table.column("item_id")) if name)
        self.n_judgements[kind] = self.n_judgements.get(kind, 0) + table.num_rows
        self.conflicts.add(table)
        self.put("judgements", table)

    def put(self, table: str, rows: pa.Table) -> None:
        """Append rows to one of the project's tables."""
        self._meet(rows, *(("src_id", "dst_id") if table == "links" else ("item_id", "other_id")))
        if self.folder is None or not rows.num_rows:
            return
        if table not in self.writers:
            self.writers[table] = pq.ParquetWriter(self.folder / f"{table}.parquet", rows.schema, compression="zstd")
        self.writers[table].write_table(rows)

    def finish(self) -> pa.Table:
        """Close the tables; returns the items."""
        self._rank_pairs()
        items = self._all_items()
        if self.kind == "links" and items.column("reply_to").null_count < items.num_rows:
            replies = links_of_replies(items, self.places, self.lost)
            self.n_links += replies.num_rows
            self.put("links", replies)
        elif self.kind == "threads":
            items = threads_of_replies(items, self.places, self.assumed)
            questions_with_labels(items, self.labelled, self.lost)
        empty = {"judgements": JUDGEMENTS, "links": LINKS}
        for name, schema in empty.items():
            if name in self.writers:
                self.writers.pop(name).close()
            elif self.folder is not None:
                pq.write_table(schema.empty_table(), self.folder / f"{name}.parquet")
        return items

    def _all_items(self) -> pa.Table:
        if self.items:
            known = {name for table in self.items for name in table.column("item_id").to_pylist()}
            if not self.closed and len(known) < len(self.places):
                self.items.append(with_schema({"item_id": [name for name in self.places if name not in known]}, ITEMS))
            return pa.concat_tables(self.items, promote_options="permissive").unify_dictionaries()
        return with_schema({"item_id": sorted(self.places)}, ITEMS)

    def abandon(self) -> None:
        """Close what is open, after a failure."""
        for writer in self.writers.values():
            writer.close()
        self.writers.clear()
