"""Read people's tables into a project: streaming, checked, all or nothing."""

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from accord.data.formats.own import Reading, Rules
from accord.data.formats.problems import Problem, Problems
from accord.data.formats.schemas import Matched, match
from accord.data.formats.sources import open_source
from accord.data.project import Project, new_folder, write_manifest
from accord.errors import InputError
from accord.typing import Progress
from accord.workflows.words import check_word

__all__ = ["Imported", "import_tables", "project_of_tables"]


@dataclass(frozen=True)
class Imported:
    """What an import read, or would read."""

    word: str
    folder: Path | None
    files: tuple[tuple[str, str, int], ...]  # path, the role it played, rows
    renamed: dict[str, str]  # the file's column → ours
    unread: tuple[str, ...]  # columns that were left out
    counts: dict[str, int]
    dropped: dict[str, int]  # rows by the rule they break
    examples: tuple[Problem, ...]


def import_tables(
    word: str,
    paths: Sequence[str | Path],
    out: str | Path | None,
    *,
    rules: Rules | None = None,
    drop_bad: bool = False,
    progress: Progress = lambda what, done, total: None,
) -> Imported:
    """Read tables into a new project's folder; with ``out=None`` only look.

    A row that breaks a rule ends the import, and nothing is written; with ``drop_bad``, and when only looking, such
    rows are left out and counted.
    """
    check_word(word)
    rules = rules or Rules()
    if not paths:
        raise InputError("an import needs at least one file.")
    files = [match(open_source(path), word) for path in paths]
    if out is None:
        return _read(word, files, None, rules, drop=True, progress=progress)
    folder = new_folder(out)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as work:
        part = Path(work) / "project"
        part.mkdir()
        imported = _read(word, files, part, rules, drop=drop_bad, progress=progress)
        shutil.move(part, folder)
    return Imported(**{**vars(imported), "folder": folder})


def project_of_tables(word: str, paths: Sequence[str | Path], *, rules: Rules | None = None) -> Project:
    """A project straight from tables, without keeping a folder."""
    with tempfile.TemporaryDirectory(prefix="accord-") as work:
        import_tables(word, paths, Path(work) / "project", rules=rules)
        return Project.load(Path(work) / "project")


def _read(
    word: str, files: Sequence[Matched], folder: Path | None, rules: Rules, *, drop: bool, progress: Progress
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
    if folder is not None and not items.num_rows:
        n = sum(problems.counts.values())
        raise InputError(f"an import needs a row that keeps the rules; all {n:,} break one. Look with --dry-run.")
    counts = {"items": items.num_rows, **reading.n_judgements, "links": reading.n_links, "people": len(reading.people)}
    if folder is not None:
        pq.write_table(items, folder / "items.parquet", compression="zstd")
        totals = {"items": items.num_rows, "judgements": sum(reading.n_judgements.values()), "links": reading.n_links}
        settings: dict[str, Any] = {"n_ranks": rules.n_ranks} if word == "aspects" else {}
        if rules.labels:
            settings["labels"] = list(rules.labels)
        source = ", ".join(Path(path).name for path, _, _ in rows)
        write_manifest(folder, word=word, counts=totals, settings=settings, source=source)
    return Imported(
        word,
        folder,
        tuple(rows),
        {theirs: ours for file in files for theirs, ours in file.renamed.items()},
        tuple(name for file in files if not file.role.keeps_rest for name in file.rest),
        counts,
        dict(problems.counts),
        tuple(problems.examples),
    )
