"""Read people's files into a project: tables and other tools' exports, streaming, checked, all or nothing."""

import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from accord.data.annotators import annotator_table, read_annotators
from accord.data.formats.own import Reading, Rules
from accord.data.formats.registry import Format, detect, format_of, glimpse
from accord.data.labels import doubted_labels
from accord.data.project import LEARNT, Project, is_project, new_folder, write_manifest
from accord.data.reading.problems import Problem, Problems
from accord.data.reading.rows import Context
from accord.data.reading.schemas import Look, Matched, match
from accord.data.reading.sources import open_source
from accord.data.reading.unpacking import Opened, open_files
from accord.errors import InputError
from accord.typing import Progress
from accord.workflows.kinds import check_kind
from accord.workflows.plain_tables import matched_tables, suggested_use, with_scale

__all__ = ["TABLES", "Imported", "import_files", "project_of_files", "project_of_tables"]

_ANNOTATORS = "annotators.parquet"
# How language models are called; Claude without more is a person's name too.
_PROGRAM = re.compile(
    r"(?<![a-z])(?:(?:chat)?gpt|llama|gemini|gemma|mi[sx]tral|qwen|deepseek|llm"
    r"|claude[ _-]?(?:\d|opus|sonnet|haiku|instant))"
)
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
            elif not imported.counts.get("judges"):
                imported = replace(imported, assumed={**imported.assumed, **_like_programs(imported.annotators)})
        except InputError as error:
            raise type(error)(opened.renamed(str(error))) from None
    return replace(
        imported,
        files=tuple((opened.renamed(path), role, n) for path, role, n in imported.files),
        examples=tuple(replace(problem, file=opened.renamed(problem.file)) for problem in imported.examples),
        looks=tuple(replace(look, file=opened.renamed(look.file)) for look in imported.looks),
        assumed={**dict.fromkeys(opened.notes, 1), **imported.assumed},
        lost={opened.renamed(what): n for what, n in imported.lost.items()},
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


def _like_programs(names: Iterable[str]) -> dict[str, int]:
    """What is said of annotators who are called as language models are, and count as people."""
    found = sorted(name for name in names if _PROGRAM.search(name.casefold()))
    if not found:
        return {}
    some = ", ".join(map(repr, found[:3])) + (" …" if len(found) > 3 else "")
    one = len(found) == 1
    said = (
        f"{some} {'counts' if one else 'count'} as people do; if {'it is a program' if one else 'they are programs'}, "
        f"say so with --annotators FILE, a table of annotator_id,kind with a row such as {found[0]},judge"
    )
    return {said: 1}


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
        matched, kind = matched_tables(opened, work, kind, uses, reasons)
        rules = with_scale(matched, rules, reasons)

        def read(folder: Path | None, drop: bool) -> Imported:
            return _read_tables(kind or "", matched, folder, rules, uses, opened.names, drop=drop, progress=progress)

    else:
        chosen = found
        if rules.scale is not None:
            raise InputError(
                f"--scale is for plain tables; these are files of {chosen.name}, whose scores are read as they are. "
                "Leave it out, or read the files as tables with --format tables."
            )

        def read(folder: Path | None, drop: bool) -> Imported:
            context = Context(Problems(drop), config, utf16)
            return _read_format(chosen, opened.paths, kind, folder, rules, context, opened.names, progress)

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
    if seen is None or (seen[0].tabular and (_are_tables(paths, kind) if kind else _beside_texts(seen[0], paths))):
        return None, []
    return seen[0], [seen[1]]


def _beside_texts(form: Format, paths: Sequence[Path]) -> bool:
    """Whether tables of texts that this format has no place for stand beside its files, so that all are tables."""
    others = [path for path in paths if form.detect(glimpse(path)) is None and not _reads(form, path)]
    try:
        return bool(others) and all(match(open_source(path), None).role.name == "items" for path in others)
    except InputError:
        return False


def _reads(form: Format, path: Path) -> bool:
    try:
        return form.read is not None and next(form.read([path], Context(Problems(True))), None) is not None
    except InputError:
        return False


def _are_tables(paths: Sequence[Path], kind: str) -> bool:
    try:
        matched = [match(open_source(path), kind) for path in paths]
    except InputError:
        return False
    return any(file.judged for file in matched)


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
    names: Mapping[str, str],
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
    imported = _finished(kind, TABLES, reading, items, tuple(rows), names, uses)
    return replace(
        imported,
        assumed=dict(reading.assumed),
        lost=dict(reading.lost),
        looks=tuple(look for file in files for look in file.looks()),
        suggestion=suggested_use(kind, files),
        renamed={theirs: ours for file in files for theirs, ours in file.renamed.items()},
        unread=tuple(name for file in files if not file.role.keeps_rest for name in file.rest),
    )


def _read_format(
    form: Format,
    paths: Sequence[Path],
    kind: str | None,
    folder: Path | None,
    rules: Rules,
    context: Context,
    names: Mapping[str, str],
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
    read = [Path(name) for name in last]
    silent = [path for path in paths if not any(path == one or path in one.parents for one in read)]
    if silent and read:
        named = ", ".join(map(str, silent))
        context.lost[f"files of which nothing was read, because {form.title} writes no such file: {named}"] += len(
            silent
        )
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
    imported = _finished(kind, form.name, reading, items, files, names)
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
    names: Mapping[str, str],
    uses: Mapping[str, str] | None = None,
) -> Imported:
    """Write what remains of the project, and say what was read; ``names`` are those of files that were rewritten."""
    doubt = doubted_labels(reading.labels)
    if doubt:
        reading.assumed[f"{doubt}; write them alike in the table if they mean the same"] = 1
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
        source = ", ".join(Path(names.get(path, path)).name for path, _, _ in files)
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
