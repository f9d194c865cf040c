"""Read people's files into a project: tables and other tools' exports, streaming, checked, all or nothing."""

import re
import shlex
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from accord.data.annotators import annotator_table, read_annotators
from accord.data.formats.own import Reading, Rules
from accord.data.formats.registry import Format, detect, format_of
from accord.data.project import LEARNT, Project, is_project, new_folder, write_manifest
from accord.data.reading.flattening import flattened, has_inner
from accord.data.reading.json_stream import records
from accord.data.reading.names import NO_JUDGEMENT
from accord.data.reading.nesting import is_nested, unnested
from accord.data.reading.problems import Problem, Problems
from accord.data.reading.profiles import Profile, plain_name
from accord.data.reading.reshaping import reshaped
from accord.data.reading.rows import Context
from accord.data.reading.schemas import Look, Matched, match
from accord.data.reading.sources import JSON_LINES, Source, open_source, parquet_rows, parquet_schema
from accord.data.reading.unpacking import Opened, open_files
from accord.data.reading.writing import write_lines
from accord.errors import InputError
from accord.typing import Progress
from accord.workflows.kinds import check_kind

__all__ = ["TABLES", "Imported", "import_files", "project_of_files", "project_of_tables"]

_ANNOTATORS = "annotators.parquet"
_LONG_LABEL = 40  # characters
_NESTED_ROWS = 50  # that are looked at to see whether records hold others
_JUDGEMENTS = ("pair", "label", "score", "span", "rank")
TABLES = "tables"  # the name of the format of plain tables


@dataclass(frozen=True)
class Imported:
    """What an import read, or would read."""

    kind: str
    folder: Path | None
    files: tuple[tuple[str, str, int], ...]  # path, the role it played, rows
    renamed: dict[str, str]  # the file's column → ours
    unread: tuple[str, ...]  # columns that were left out
    counts: dict[str, int]
    dropped: dict[str, int]  # rows by the rule they break
    examples: tuple[Problem, ...]
    form: str = TABLES
    conflicts: dict[str, int] = field(default_factory=dict)  # things one person judged again, alike or otherwise
    assumed: dict[str, int] = field(default_factory=dict)  # how things were taken that the files do not say
    lost: dict[str, int] = field(default_factory=dict)  # what has no place in a project
    looks: tuple[Look, ...] = ()  # how each column of plain tables was taken, and why; what stays unused first
    suggestion: str = ""  # the --map that would read a judgement, where none was read
    annotators: frozenset[str] = frozenset()  # who judged

    @property
    def n_judgements(self) -> int:
        """Number of judgements that were read."""
        return sum(n for what, n in self.counts.items() if what not in ("items", "links", "people", "judges"))


def import_files(
    paths: Sequence[str | Path],
    out: str | Path | None,
    *,
    kind: str | None = None,
    form: str | None = None,
    config: str | Path | None = None,
    utf16: bool = False,
    encoding: str | None = None,
    uses: Mapping[str, str] | None = None,
    rules: Rules | None = None,
    drop_bad: bool = False,
    texts_only: bool = True,
    annotators: str | Path | None = None,
    progress: Progress = lambda what, done, total: None,
) -> Imported:
    """Read files of any known format into a new project's folder; with ``out=None`` only look.

    Without ``form`` the format is found by looking at the files, and without ``kind`` the kind of judgement by what
    was read; both are said with their reason. A row that breaks a rule ends the import, and nothing is written; with
    ``drop_bad``, and when only looking, such rows are left out and counted. ``uses`` says what columns of plain tables
    are; it is kept with the project. Unless ``texts_only``, an import that reads no judgement is refused.
    ``annotators`` is a table that says who is a judge; a file of that name among ``paths`` is one too.
    """
    if kind is not None:
        check_kind(kind)
    if not paths:
        raise InputError("an import needs at least one file.")
    for path in paths:
        if is_project(Path(path)):
            raise InputError(f"an import reads files; {path} is a project already. Use it as it is, or name its files.")
    rules = rules or Rules()
    with tempfile.TemporaryDirectory(prefix="accord-open-") as work:
        opened = open_files([Path(path) for path in paths], Path(work), encoding=encoding)
        try:
            who = _who(opened, annotators)
            imported = _imported(
                opened, Path(work), out, kind, form, config, utf16, uses or {}, rules, drop_bad, texts_only, progress
            )
            if who is not None:
                imported = _with_annotators(imported, *who)
        except InputError as error:
            raise type(error)(opened.renamed(str(error))) from None
    return replace(
        imported,
        files=tuple((opened.renamed(path), role, n) for path, role, n in imported.files),
        examples=tuple(replace(problem, file=opened.renamed(problem.file)) for problem in imported.examples),
        looks=tuple(replace(look, file=opened.renamed(look.file)) for look in imported.looks),
        assumed={**dict.fromkeys(opened.notes, 1), **imported.assumed},
    )


def _who(opened: Opened, annotators: str | Path | None) -> tuple[Path, pa.Table] | None:
    """The table of annotators, given apart or among the files, from which it is taken out."""
    among = [path for path in opened.paths if path.stem.lower() == "annotators"]
    files = among if annotators is None else [Path(annotators), *among]
    if len(files) > 1:
        raise InputError(f"annotators stand in one table; there are {', '.join(map(str, files))}. Name one of them.")
    if not files:
        return None
    opened.paths[:] = [path for path in opened.paths if path not in among]
    if not opened.paths:
        raise InputError("an import needs a file of texts or judgements beside the annotators.")
    return files[0], read_annotators(files[0])


def _with_annotators(imported: Imported, path: Path, table: pa.Table) -> Imported:
    """Write the table of annotators beside the others, and say what was read; judges of the files themselves stay."""
    table, renamed = _as_written(table, imported.annotators)
    if imported.folder is not None:
        place = imported.folder / _ANNOTATORS
        if place.is_file():
            read = pq.read_table(place)
            others = pc.invert(pc.is_in(read["annotator_id"], value_set=table["annotator_id"].combine_chunks()))
            table = pa.concat_tables([table, read.filter(others)])
        pq.write_table(table, place, compression="zstd")
    judges = table.filter(pc.equal(table.column("kind"), "judge")).column("annotator_id").to_pylist()
    assumed = dict(imported.assumed) | dict.fromkeys(renamed, 1)
    strangers = set(table.column("annotator_id").to_pylist()) - imported.annotators
    if strangers:
        some = ", ".join(sorted(strangers)[:3])
        assumed[f"annotators who gave no judgement are kept: {some}{' …' if len(strangers) > 3 else ''}"] = len(
            strangers
        )
    files = (*imported.files, (str(path), "annotators", table.num_rows))
    return replace(imported, counts=_with_judges(imported, judges), assumed=assumed, files=files)


def _as_written(table: pa.Table, judged: frozenset[str]) -> tuple[pa.Table, list[str]]:
    """The table with names as the judgements write them where only the case of letters differs, and what changed."""
    names = table.column("annotator_id").to_pylist()
    free: dict[str, list[str]] = {}
    for name in sorted(judged - set(names)):
        free.setdefault(name.casefold(), []).append(name)
    meant = {name: free.get(name.casefold(), []) for name in names if name not in judged}
    # Two rows that mean the same name are told apart by nothing: then neither is taken for it.
    often = Counter(found[0] for found in meant.values() if len(found) == 1)
    known = {name: found[0] for name, found in meant.items() if len(found) == 1 and often[found[0]] == 1}
    if not known:
        return table, []
    column = pa.array([known.get(name, name) for name in names], table.schema.field("annotator_id").type)
    table = table.set_column(table.schema.get_field_index("annotator_id"), "annotator_id", column)
    return table, [f"{name!r} of the annotators is {other!r} of the judgements" for name, other in known.items()]


def _with_judges(imported: Imported, judges: Iterable[str]) -> dict[str, int]:
    """The counts of an import with people and judges apart."""
    named = set(judges)
    return {**imported.counts, "people": len(imported.annotators - named), "judges": len(named)}


def _imported(
    opened: Opened,
    work: Path,
    out: str | Path | None,
    kind: str | None,
    form: str | None,
    config: str | Path | None,
    utf16: bool,
    uses: Mapping[str, str],
    rules: Rules,
    drop_bad: bool,
    texts_only: bool,
    progress: Progress,
) -> Imported:
    asked = kind
    found, reasons = (None, []) if uses else _format(opened.paths, kind, form)
    config = Path(config) if config is not None else None
    if found is None:
        if utf16:
            raise InputError(
                "the offsets of plain tables are code points; --utf16 says otherwise. Leave it out, or name the tool "
                "that wrote the files with --format."
            )
        sources = [open_source(_as_lines(path, opened, work)) for path in opened.paths]
        sources = [_as_long(source, kind, uses, opened, work) for source in sources]
        matched, kind = _matched(_tables(sources, kind, uses, opened), kind, uses, reasons)
        rules = _scale(matched, rules, reasons)

        def read(folder: Path | None, drop: bool) -> Imported:
            return _read_tables(kind or "", matched, folder, rules, uses, drop=drop, progress=progress)

    else:
        chosen = found
        if rules.scale is not None:
            raise InputError(
                f"--scale is for plain tables; these are files of {chosen.name}, whose scores are read as they are. "
                "Leave it out, or read the files as tables with --format tables."
            )

        def read(folder: Path | None, drop: bool) -> Imported:
            context = Context(Problems(drop), config, utf16)
            return _read_format(chosen, opened.paths, kind, folder, rules, context, progress)

    other = "" if asked is None else f" Leave out the kind {asked}, and it is found by what is there."

    def checked(folder: Path | None, drop: bool) -> Imported:
        imported = read(folder, drop)
        learnt = set(LEARNT[imported.kind]) & {what for what, n in imported.counts.items() if n}
        if not texts_only and imported.n_judgements and not learnt and not imported.dropped and folder is not None:
            found = ", ".join(what for what, n in imported.counts.items() if n and what in _JUDGEMENTS)
            raise InputError(
                f"a project of {imported.kind} learns from {' and '.join(LEARNT[imported.kind])}; all that was read is "
                f"{found}. Leave out the kind, which is then found, or add --texts-only."
            )
        if not texts_only and not imported.n_judgements and not imported.dropped and folder is not None:
            raise InputError(
                f"no judgement was read: {imported.counts['items']:,} texts, and nothing that people said about them."
                f"{imported.suggestion}{other} To import the texts alone, add --texts-only."
            )
        return imported

    imported = _all_or_nothing(checked, out, drop_bad=drop_bad)
    return replace(imported, assumed={**dict.fromkeys(reasons, 1), **imported.assumed})


def project_of_files(paths: Sequence[str | Path], **settings: Any) -> Project:
    """A project straight from files of any known format, without keeping a folder; see :func:`import_files`."""
    with tempfile.TemporaryDirectory(prefix="accord-") as work:
        import_files(paths, Path(work) / "project", **settings)
        return Project.load(Path(work) / "project")


def project_of_tables(kind: str, paths: Sequence[str | Path], *, rules: Rules | None = None) -> Project:
    """A project straight from plain tables, without keeping a folder."""
    return project_of_files(paths, kind=kind, form=TABLES, rules=rules)


def _all_or_nothing(
    read: Callable[[Path | None, bool], Imported], out: str | Path | None, *, drop_bad: bool
) -> Imported:
    if out is None:
        return read(None, True)
    folder = new_folder(out)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as work:
        part = Path(work) / "project"
        part.mkdir()
        imported = read(part, drop_bad)
        shutil.move(part, folder)
    return replace(imported, folder=folder)


# -- which format, which kind ------------------------------------------------------------------------------------


def _format(paths: Sequence[Path], kind: str | None, form: str | None) -> tuple[Format | None, list[str]]:
    """The format of the files, ``None`` for plain tables, and why."""
    if form == TABLES:
        return None, []
    if form is not None:
        found = format_of(form)
        if found.read is None:
            raise InputError(f"{found.title} can be written, not read; read its Parquet files as tables.")
        return found, []
    seen = detect(paths)
    if seen is None or (kind is not None and seen[0].tabular and _are_tables(paths, kind)):
        return None, []
    return seen[0], [seen[1]]


def _are_tables(paths: Sequence[Path], kind: str) -> bool:
    try:
        matched = [match(open_source(path), kind) for path in paths]
    except InputError:
        return False
    return any(file.judged for file in matched)


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
            "which column does with --map COLUMN=group, or import another kind."
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


def _scale(matched: Sequence[Matched], rules: Rules, reasons: list[str]) -> Rules:
    """How far the scale of the scores goes, if nobody said it and wide tables show it."""
    seen = [
        [score + file.from_zero for score in file.profiles[name].scores] for file in matched for name in file.scores
    ]
    above = {score for scores in seen for score in scores if score > rules.n_ranks}
    if rules.given or rules.scale is not None or len(above) < 2:  # one is a slip more often than a scale
        return rules
    n_ranks = next((scale for scale in (7, 10, 11) if max(above) <= scale), rules.n_ranks)
    reasons.append(f"the scores go from 1 to {n_ranks}; say otherwise with --ranks")
    return replace(rules, n_ranks=n_ranks)


def _kind(reading: Reading, grouped: bool) -> tuple[str, str]:
    """The kind of judgement that was read, and why."""
    read = reading.n_judgements
    for form, kind in (("pair", "pairs"), ("span", "rationales"), ("score", "aspects")):
        if read.get(form):
            return kind, f"there are judgements of kind {form}"
    if reading.n_links:
        return "links", "there are links"
    if grouped:
        return "threads", "the texts are grouped"
    return "rationales", "there are texts and labels only"


# -- reading -----------------------------------------------------------------------------------------------------


def _read_tables(
    kind: str,
    files: Sequence[Matched],
    folder: Path | None,
    rules: Rules,
    uses: Mapping[str, str],
    *,
    drop: bool,
    progress: Progress,
) -> Imported:
    problems = Problems(drop)
    closed = any(file.role.name == "items" for file in files)
    reading = Reading(folder, rules, problems, progress, closed=closed, kind=kind)
    rows = []
    try:
        # Texts first: judgements are checked against them.
        for file in sorted(files, key=lambda file: file.role.name != "items"):
            n = reading.read(file)
            if n == 0:
                raise InputError(f"{file.source.path} has column names but no rows.")
            rows.append((str(file.source.path), file.role.name, n))
        items = reading.finish()
    finally:
        reading.abandon()
    imported = _finished(kind, TABLES, reading, items, tuple(rows), uses)
    return replace(
        imported,
        assumed=dict(reading.assumed),
        lost=dict(reading.lost),
        looks=tuple(look for file in files for look in file.looks()),
        suggestion=_suggestion(kind, files),
        renamed={theirs: ours for file in files for theirs, ours in file.renamed.items()},
        unread=tuple(name for file in files if not file.role.keeps_rest for name in file.rest),
    )


def _suggestion(kind: str, files: Sequence[Matched]) -> str:
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


def _read_format(
    form: Format,
    paths: Sequence[Path],
    kind: str | None,
    folder: Path | None,
    rules: Rules,
    context: Context,
    progress: Progress,
) -> Imported:
    assert form.read is not None  # checked where the format was chosen
    reading = Reading(folder, rules, context.problems, progress)
    last: dict[str, int] = {}
    try:
        for rows in form.read(paths, context):
            if len(rows.numbers):
                reading.take(rows)
                last[str(rows.file)] = max(last.get(str(rows.file), 0), int(rows.numbers[-1]))
                progress(f"reading {rows.file.name}", last[str(rows.file)], 0)
        items = reading.finish()
    finally:
        reading.abandon()
    if not items.num_rows and not reading.n_judgements and not context.problems.counts:
        lost = "".join(f"; {what} ({n:,})" for what, n in context.lost.items())
        raise InputError(f"{', '.join(map(str, paths))} has no texts and no judgements{lost}.")
    if kind is None:
        grouped = items.column("group_id").null_count < items.num_rows
        kind, reason = _kind(reading, grouped)
        if items.num_rows:
            context.assumed[f"this is a project of {kind}, because {reason}; name the kind to say otherwise"] += 1
    elif reading.n_judgements and not set(LEARNT[kind]) & set(reading.n_judgements):
        kinds = ", ".join(reading.n_judgements)
        context.assumed[
            f"a project of {kind} learns from {' and '.join(LEARNT[kind])}; all that was read is {kinds}"
        ] += 1
    files = tuple((path, form.name, n) for path, n in last.items())
    imported = _finished(kind, form.name, reading, items, files)
    if context.judges:
        columns = {"annotator_id": list(context.judges), "kind": ["judge"] * len(context.judges)}
        columns |= {name: [about[name] for about in context.judges.values()] for name in ("family", "model")}
        if folder is not None:
            pq.write_table(annotator_table(columns), folder / _ANNOTATORS, compression="zstd")
        imported = replace(imported, counts=_with_judges(imported, context.judges))
    return replace(imported, assumed={**reading.assumed, **context.assumed}, lost=dict(context.lost))


def _finished(
    kind: str,
    form: str,
    reading: Reading,
    items: Any,
    files: tuple[tuple[str, str, int], ...],
    uses: Mapping[str, str] | None = None,
) -> Imported:
    """Write what remains of the project, and say what was read."""
    if reading.folder is not None and not items.num_rows:
        n = sum(reading.problems.counts.values())
        raise InputError(f"an import needs a row that keeps the rules; all {n:,} break one. Look with --dry-run.")
    if reading.folder is not None:
        pq.write_table(items, reading.folder / "items.parquet", compression="zstd")
        totals = {"items": items.num_rows, "judgements": sum(reading.n_judgements.values()), "links": reading.n_links}
        settings: dict[str, Any] = {"n_ranks": reading.rules.n_ranks} if kind == "aspects" else {}
        if reading.rules.labels:
            settings["labels"] = list(reading.rules.labels)
        if reading.rules.scale is not None:
            settings["scale"] = list(reading.rules.scale)
        if uses:
            settings["map"] = dict(uses)
        source = ", ".join(Path(path).name for path, _, _ in files)
        write_manifest(reading.folder, kind=kind, counts=totals, settings=settings, source=source)
    counts = {"items": items.num_rows, **reading.n_judgements, "links": reading.n_links, "people": len(reading.people)}
    problems = reading.problems
    return Imported(
        kind,
        reading.folder,
        files,
        {},
        (),
        counts,
        dict(problems.counts),
        tuple(problems.examples),
        form=form,
        conflicts=reading.conflicts.count(),
        annotators=frozenset(reading.people),
    )
