"""Read people's files into a project: tables and other tools' exports, streaming, checked, all or nothing."""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from accord.data.formats.own import Reading, Rules
from accord.data.formats.registry import Format, detect, format_of
from accord.data.project import LEARNT, Project, new_folder, write_manifest
from accord.data.reading.problems import Problem, Problems
from accord.data.reading.rows import Context
from accord.data.reading.schemas import Matched, match
from accord.data.reading.sources import open_source
from accord.errors import InputError
from accord.typing import KINDS, Progress
from accord.workflows.kinds import check_kind

__all__ = ["TABLES", "Imported", "import_files", "project_of_files", "project_of_tables"]

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


def import_files(
    paths: Sequence[str | Path],
    out: str | Path | None,
    *,
    kind: str | None = None,
    form: str | None = None,
    config: str | Path | None = None,
    utf16: bool = False,
    rules: Rules | None = None,
    drop_bad: bool = False,
    progress: Progress = lambda what, done, total: None,
) -> Imported:
    """Read files of any known format into a new project's folder; with ``out=None`` only look.

    Without ``form`` the format is found by looking at the files, and without ``kind`` the kind of judgement by what
    was read; both are said with their reason. A row that breaks a rule ends the import, and nothing is written; with
    ``drop_bad``, and when only looking, such rows are left out and counted.
    """
    if kind is not None:
        check_kind(kind)
    if not paths:
        raise InputError("an import needs at least one file.")
    places, rules = [Path(path) for path in paths], rules or Rules()
    found, reasons = _format(places, kind, form)
    config = Path(config) if config is not None else None
    if found is None:
        if utf16:
            raise InputError(
                "the offsets of plain tables are code points; --utf16 says otherwise. Leave it out, or name the tool "
                "that wrote the files with --format."
            )
        matched, kind = _matched(places, kind, reasons)

        def read(folder: Path | None, drop: bool) -> Imported:
            return _read_tables(kind or "", matched, folder, rules, drop=drop, progress=progress)

    else:
        chosen = found

        def read(folder: Path | None, drop: bool) -> Imported:
            context = Context(Problems(drop), config, utf16)
            return _read_format(chosen, places, kind, folder, rules, context, progress)

    imported = _all_or_nothing(read, out, drop_bad=drop_bad)
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
        return bool([match(open_source(path), kind) for path in paths])
    except InputError:
        return False


def _matched(paths: Sequence[Path], kind: str | None, reasons: list[str]) -> tuple[list[Matched], str]:
    """Plain tables in their roles; without a kind, the one whose judgements the tables hold."""
    sources = [open_source(path) for path in paths]
    if kind is not None:
        return [match(source, kind) for source in sources], kind
    for candidate in KINDS:
        try:
            matched = [match(source, candidate) for source in sources]
        except InputError:
            continue
        roles = {file.role.name for file in matched}
        if roles & {"votes", "scores", "spans", "links"}:
            role = next(name for name in ("votes", "scores", "spans", "links") if name in roles)
            reasons.append(f"these are tables of {candidate}, because one has {role}; name the kind to say otherwise")
            return matched, candidate
    raise InputError(
        f"what plain tables are about must be said; name one of {', '.join(KINDS)} before the files, or the format of "
        "another tool with --format."
    )


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
    kind: str, files: Sequence[Matched], folder: Path | None, rules: Rules, *, drop: bool, progress: Progress
) -> Imported:
    problems = Problems(drop)
    reading = Reading(folder, rules, problems, progress, closed=any(file.role.name == "items" for file in files))
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
    imported = _finished(kind, TABLES, reading, items, tuple(rows))
    return replace(
        imported,
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
        raise InputError(f"{', '.join(map(str, paths))} has no texts and no judgements.")
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
    return replace(imported, assumed=dict(context.assumed), lost=dict(context.lost))


def _finished(kind: str, form: str, reading: Reading, items: Any, files: tuple[tuple[str, str, int], ...]) -> Imported:
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
    )
