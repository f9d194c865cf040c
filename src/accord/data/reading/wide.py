"""Rows that say several things at once: texts beside their votes, quotes beside their texts, a form's answers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from accord.data.project import ITEMS, JUDGEMENTS, with_schema
from accord.data.reading.blocks import Block
from accord.data.reading.profiles import percent_of, score_of
from accord.data.reading.quotes import find_quotes
from accord.data.reading.rows import text_id

if TYPE_CHECKING:
    from accord.data.formats.own import Reading

__all__ = ["read_answers", "read_quotes", "scores_as_numbers", "with_made_ids", "with_sides_as_items"]

_LONGEST_ID = 40  # characters of what stands in brackets that are an id as they are


def scores_as_numbers(
    column: pa.Array, words: Mapping[str, float], n_ranks: int, *, scale: tuple[float, float] | None = None
) -> pa.Array:
    """Scores in words and signs ("4 - good", "★★★", "agree") as numbers; what is no score stays as it is.

    Percentages are places between the lowest and the highest of the ``n_ranks`` ranks, and so is every score if
    ``scale`` says what is read as the lowest and as the highest.
    """
    coded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
    numbers = []
    for cell in coded.dictionary.to_pylist():
        score, share = score_of(cell, words), percent_of(cell)
        if share is None and score is not None and scale is not None:
            share = (score - scale[0]) / (scale[1] - scale[0])
        if share is not None:
            score = 1.0 + share * (n_ranks - 1)
        numbers.append(cell if score is None else f"{score:g}")
    return pc.take(pa.array(numbers, pa.string()), coded.indices)


def with_made_ids(block: Block) -> Block:
    """The rows of a table of texts that has no ids: a text is known by its words, and equal texts are one."""
    if block.has("item_id"):
        return block
    block.needs("text", "a text")
    beside = [name for name in ("group_id", "author_id") if block.has(name)]
    rows = zip(*(block.texts(name) for name in (*beside, "text")), strict=True)
    ids = [None if row[-1] is None else text_id("\0".join((cell or "").strip() for cell in row)) for row in rows]
    known = " and ".join(["its words", *({"group_id": "its thread", "author_id": "who wrote it"}[n] for n in beside)])
    block.reading.assumed[f"the texts have no ids; each is known by {known}"] = 1
    return block.with_columns(item_id=pa.array(ids, pa.string()))


def with_sides_as_items(reading: "Reading", block: Block) -> Block:
    """Votes between texts as votes between their ids; the texts become items."""
    sides = {"item_id": block.texts("item_id"), "other_id": block.texts("other_id")}

    def named(text: str) -> str:
        """The id of a text: a short one names itself, unless a table of texts brought it."""
        made = text_id(text)
        return made if made in reading.places or len(text) > _LONGEST_ID else text

    ids = {side: [None if text is None else named(text.strip()) for text in texts] for side, texts in sides.items()}
    fresh: dict[str, str] = {}
    for side, names in ids.items():
        for name, text in zip(names, sides[side], strict=True):
            if name is not None and name not in reading.places:
                fresh[name] = (text or "").strip()
                reading.places[name] = len(reading.places)
                reading.texts[name] = fresh[name]
    if fresh:
        reading.items.append(with_schema({"item_id": list(fresh), "text": list(fresh.values())}, ITEMS))
    reading.assumed["the votes compare texts; each is known by its words"] = 1
    # The winner may be named by its words.
    said = [
        "1" if answer == one else "0" if answer == two else answer
        for answer, one, two in zip(block.texts("value"), *sides.values(), strict=True)
    ]
    columns = {side: pa.array(names, pa.string()) for side, names in ids.items()}
    return block.with_columns(**columns, value=pa.array(said, pa.string()))


def read_quotes(reading: "Reading", block: Block) -> None:
    """Highlights that are given by their words alone, each found in its text."""
    ids, quotes = block.texts("item_id"), block.texts("quote")
    given = block.is_valid("quote")
    found: list[tuple[int, int, int]] = []
    wrong: dict[int, str] = {}
    for row in np.flatnonzero(block.good & given).tolist():
        spans = find_quotes(reading.texts.get(ids[row] or "", ""), quotes[row] or "")
        if isinstance(spans, str):
            wrong[row] = spans
        else:
            found += [(row, start, end) for start, end in spans]
    bad = np.zeros(block.n, dtype=bool)
    bad[list(wrong)] = True
    block.refuse(
        bad,
        "a quote must stand once in its text",
        lambda row: f"for {ids[row]!r}: {wrong[row]}",
        "Quote more of the words around it, or give start and end.",
    )
    if not found:
        return
    rows = np.array([row for row, _, _ in found])
    columns: dict[str, object] = {
        "kind": ["span"] * len(rows),
        "start": pa.array([start for _, start, _ in found], pa.int32()),
        "end": pa.array([end for _, _, end in found], pa.int32()),
        "quote": [reading.texts[ids[row] or ""][start:end] for row, start, end in found],
    }
    for name in ("item_id", "annotator_id", "created_at", "source"):
        if block.has(name):
            columns[name] = pc.take(block.decoded(name), pa.array(rows))
    if block.has("value"):
        columns["value"] = pc.take(block.decoded("value"), pa.array(rows))
    reading.keep_judgements("span", with_schema(columns, JUDGEMENTS))


def read_answers(reading: "Reading", block: Block) -> None:
    """The answers of a form: one row a person, and one column a text (or what stands for it, in brackets)."""
    matched = block.matched
    scored = reading.kind == "aspects"
    if not block.has("annotator_id"):
        people = pa.array([f"row {number}" for number in block.row_numbers], pa.string())
        block = block.with_columns(annotator_id=people)
        reading.assumed["the form does not name people; each of its rows is one person"] = 1
    for name, part in matched.grid.items():
        item = part if len(part) <= _LONGEST_ID else text_id(part)
        if item not in reading.places:
            reading.places[item], reading.texts[item] = len(reading.places), part
            reading.items.append(with_schema({"item_id": [item], "text": [part]}, ITEMS))
        said = answers = block.raw(name)
        if scored:
            answers = scores_as_numbers(said, matched.words_of(name), reading.rules.n_ranks, scale=reading.rules.scale)
        given = answers.is_valid().to_numpy(zero_copy_only=False)
        if scored:
            reading.check_scores(block, answers, given, said=said)
        columns = {"item_id": [item] * block.n, "annotator_id": block.column("annotator_id"), "value": answers}
        if scored:
            columns["aspect"] = [name.rpartition("[")[0].strip()] * block.n
        block.write_columns("score" if scored else "label", columns, given)
