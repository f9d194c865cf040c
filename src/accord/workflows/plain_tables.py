"""What plain tables hold: which files are tables, what their columns are, which kind of judgement, and its scale."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from accord.data.formats.own import Rules
from accord.data.reading.flattening import flattened, has_inner
from accord.data.reading.json_stream import records
from accord.data.reading.names import NO_JUDGEMENT
from accord.data.reading.nesting import is_nested, unnested
from accord.data.reading.profiles import Profile, plain_name
from accord.data.reading.reshaping import reshaped
from accord.data.reading.schemas import CHOSEN, Matched, match
from accord.data.reading.sources import JSON_LINES, Source, open_source, parquet_rows, parquet_schema
from accord.data.reading.unpacking import Opened
from accord.data.reading.writing import write_lines
from accord.errors import InputError

__all__ = ["matched_tables", "suggested_use", "with_scale"]

_LONG_LABEL = 40  # characters
_NESTED_ROWS = 50  # that are looked at to see whether records hold others


def matched_tables(
    opened: Opened, work: Path, kind: str | None, uses: Mapping[str, str], reasons: list[str]
) -> tuple[list[Matched], str]:
    """The files in the roles that they play, and the kind of judgement; ``reasons`` gets why it is that one.

    Files that have to be written anew to be read as tables are written to the folder ``work``.
    """
    sources = [open_source(_as_lines(path, opened, work)) for path in opened.paths]
    sources = [_as_long(source, kind, uses, opened, work) for source in sources]
    return _matched(_tables(sources, kind, uses, opened), kind, uses, reasons)


def _as_lines(path: Path, opened: Opened, work: Path) -> Path:
    """JSON records, and tables with objects or lists in their cells, as lines that are read as a table."""
    suffix = path.suffix.lower()
    if suffix not in (".json", ".parquet", *JSON_LINES) or not path.is_file():
        return path
    try:
        first = list(islice(_records(path), _NESTED_ROWS))
        nested, inner = is_nested(first), has_inner(first)
    except InputError:
        if suffix != ".json":  # the reader of tables says what is wrong
            return path
        raise
    if suffix != ".json" and not inner:
        return path
    out = work / f"{len(opened.names)} {path.stem}.jsonl"
    name = opened.names.get(str(path), str(path))
    opened.names[str(out)] = name
    if nested:
        opened.notes.append(f"the records of {name} hold the answers to them; each text is read as a record of its own")
    write_lines(out, unnested(_records(path)) if nested else map(flattened, _records(path)))
    return out


def _records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a file of JSON or Parquet."""
    if path.suffix.lower() == ".parquet":
        if not any(pa.types.is_nested(field.type) for field in parquet_schema(path)):
            return
        yield from parquet_rows(path)
        return
    for _, record in records(path, dict[str, Any]):
        yield record


def _as_long(source: Source, kind: str | None, uses: Mapping[str, str], opened: Opened, work: Path) -> Source:
    """A table with a column a person, a comparison or a place in a ranking, as a table with a row each.

    Whoever says what one of these columns is, has the table as it is.
    """
    found = reshaped(source, kind)
    if found is None:
        return source
    folded = {plain_name(name) for name in source.columns if name not in found.columns}
    if any(plain_name(name) in folded for name in uses):
        return source
    out = work / f"{len(opened.names)} long {source.path.stem}.csv"
    opened.names[str(out)] = opened.names.get(str(source.path), str(source.path))
    opened.notes.append(found.note)
    found.write(source, out)
    return open_source(out)


def _tables(sources: Sequence[Source], kind: str | None, uses: Mapping[str, str], opened: Opened) -> list[Source]:
    """The files that are tables: a sheet of notes beside them is left out, and that is said."""
    kept, notes = [], []
    for source in sources:
        try:
            if source.path not in opened.sheets or any(
                profile.n_rows for profile in match(source, kind, uses).profiles.values()
            ):
                kept.append(source)
                continue
        except InputError:
            pass
        notes.append(
            f"the sheet {opened.names.get(str(source.path), source.path)} is not read: it has neither texts nor "
            f"judgements (its first row is {source.named})"
        )
    opened.notes += notes if kept else []
    return kept or list(sources)


def _matched(
    sources: Sequence[Source], kind: str | None, uses: Mapping[str, str], reasons: list[str]
) -> tuple[list[Matched], str]:
    """Plain tables in their roles; without a kind, the one whose judgements the tables hold."""
    uses = _completed(sources, uses)
    matched = [match(source, kind, uses) for source in sources]
    if kind is None:
        kind, reason = _kind_of_tables(matched)
        reasons.append(f"this is a project of {kind}, because {reason}; name the kind to say otherwise")
        matched = [match(file.source, kind, uses) for file in matched]
    reasons += [said for file in matched if (said := _several_labels(file))]
    if kind == "threads" and not any({"group_id", "reply_to", "value"} & set(file.columns) for file in matched):
        raise InputError(
            f"a comment belongs to a thread; {sources[0].path} has {sources[0].named}, and none of them names it. Say "
            "which column does with 'accord import --map COLUMN=group', or name another kind."
        )
    return matched, kind


def _several_labels(file: Matched) -> str:
    """What is said of labels such as ``food;service``, whose parts are labels too."""
    column = file.columns.get("value" if file.role.name == "labels" else "label", "")
    said = file.profiles[column].values if column in file.profiles else frozenset[str]()
    for label in sorted(said):
        parts = [part.strip() for part in re.split(r"[;|,]", label)]
        if len(parts) > 1 and said.intersection(parts):
            return f"a label such as {label!r} is one label of its own, not several"
    return ""


def _completed(sources: Sequence[Source], uses: Mapping[str, str]) -> dict[str, str]:
    """The columns that people name, by the whole names that they have in the files."""
    columns = [name for source in sources for name in source.columns]
    complete = {}
    for written, use in uses.items():
        alike = [name for name in columns if name == written] or [
            name for name in columns if plain_name(name) == plain_name(written)
        ]
        alike = alike or [name for name in columns if name.lower().startswith(written.lower())]
        if len(set(alike)) != 1:
            close = get_close_matches(written, columns, 1)
            meant = f" Did you mean {close[0]!r}?" if close else ""
            what = "several columns begin so" if alike else "there is none"
            named = ", ".join(dict.fromkeys(" ".join(name.split()) for name in columns))
            raise InputError(f"--map names a column of the files; for {written!r} {what} (they have {named}).{meant}")
        complete[alike[0]] = use
    return complete


def _kind_of_tables(matched: Sequence[Matched]) -> tuple[str, str]:
    """The kind of judgement that tables hold, and why."""
    roles = {file.role.name for file in matched}
    columns = {name for file in matched for name in file.columns}
    if "votes" in roles:
        return "pairs", "there are votes"
    if roles & {"spans", "quotes"} or "quote" in columns:
        return "rationales", "words are highlighted"
    if "scores" in roles or any(file.scores for file in matched):
        aspects = ", ".join(dict.fromkeys(name for file in matched for name in file.scores.values()))
        return "aspects", f"there are scores{f' ({aspects})' if aspects else ''}"
    answers = [file for file in matched if file.grid]
    if answers and all(file.profiles[name].scores for file in answers for name in file.grid):
        return "aspects", "the form asks for scores"
    if "links" in roles:
        return "links", "there are links"
    if "group_id" in columns and any(_is_grouped(file) for file in matched):
        return "threads", "the texts are grouped"
    if "reply_to" in columns:
        return "links", "the texts answer each other"
    if "label" in columns or "labels" in roles or answers:
        return "rationales", "there are texts and labels only"
    could = [file.profiles[name] for file in matched for name in file.could]
    if could and all(profile.is_percent for profile in could):
        return "aspects", "there are percentages, which may be scores"
    if could:
        return "rationales", "there are texts and what may be labels"
    return "pairs", "there are texts only, which can be compared"


def _is_grouped(file: Matched) -> bool:
    """Whether a table names the thread of each text, and a thread has more than one."""
    column = file.columns.get("group_id", "")
    return column in file.profiles and file.profiles[column].n_distinct < file.profiles[column].n


def with_scale(matched: Sequence[Matched], rules: Rules, reasons: list[str]) -> Rules:
    """How far the scale of the scores goes, if nobody said it and wide tables show it, and whose a slider's is."""
    if rules.scale is not None:
        return _with_unscaled(matched, rules, reasons)
    seen = [
        [score + file.from_zero for score in file.profiles[name].scores] for file in matched for name in file.scores
    ]
    above = {score for scores in seen for score in scores if score > rules.n_ranks}
    if rules.given or len(above) < 2:  # one is a slip more often than a scale
        return rules
    n_ranks = next((scale for scale in (7, 10, 11) if max(above) <= scale), rules.n_ranks)
    reasons.append(f"the scores go from 1 to {n_ranks}; say otherwise with --ranks")
    return replace(rules, n_ranks=n_ranks)


def _with_unscaled(matched: Sequence[Matched], rules: Rules, reasons: list[str]) -> Rules:
    """Columns that nobody named and that hold ranks stay ranks beside one that was named and goes above them."""
    scores = {name: file.profiles[name] for file in matched for name in file.scores}
    named = {name for file in matched for name in file.scores if file.reasons.get(name) == CHOSEN}
    above = [name for name in sorted(named) if not scores[name].scores or scores[name].scores[-1] > rules.n_ranks]
    ranks = sorted(
        name
        for name, profile in scores.items()
        if name not in named and profile.is_score and profile.scores[-1] <= rules.n_ranks
    )
    if not above or not ranks:
        return rules
    reasons.append(
        f"the slider is {', '.join(above)}; {', '.join(ranks)} hold whole numbers from 1 to at most {rules.n_ranks}, "
        "which stay as they are (name them in --map too if they are sliders)"
    )
    return replace(rules, unscaled=frozenset(ranks))


def suggested_use(kind: str, files: Sequence[Matched]) -> str:
    """Which column to map, where no judgement was found."""
    use = {"aspects": "score", "pairs": "winner"}.get(kind, "label")
    could = [name for file in files for name in file.could]
    # What has few different values is a judgement more often than what has many.
    rest = [name for file in files for name in file.rest if not NO_JUDGEMENT.search(plain_name(name))]
    few = sorted(name for file in files for name in rest if name in file.rest and file.profiles[name].is_label)
    short = sorted(name for file in files for name in rest if name in file.rest and _may_be_labels(file.profiles[name]))
    columns = could or few or short
    if not columns or kind == "pairs":
        return ""
    what = "may hold it" if could else "are unused"
    option = f"--map {shlex.quote(f'{columns[0]}={use}')}"
    numbers = next((file.profiles[columns[0]].scores for file in files if columns[0] in file.profiles), ())
    if kind == "aspects" and numbers and numbers[0] >= 0 and 10 < numbers[-1] <= 100:
        option += ", with --scale 0..100 if they are sliders from 0 to 100"
    return f" The columns {', '.join(columns)} {what}: say which, such as {option}."


def _may_be_labels(profile: Profile) -> bool:
    """Whether a column has different short values, though many of them."""
    return profile.n_distinct > 1 and profile.length <= _LONG_LABEL
