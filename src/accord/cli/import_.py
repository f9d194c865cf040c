"""``accord import``: tables of texts and judgements into a project."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from accord.cli.frame import Json, WordArgument, command_app, print_json, print_table, progress_bars
from accord.errors import InputError

if TYPE_CHECKING:
    from accord.workflows.import_ import Imported

app = command_app()


@app.command("import")
def import_(
    word: WordArgument,
    files: Annotated[list[Path], typer.Argument(help="Tables as .csv, .tsv, .jsonl or .parquet.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The new project's folder.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count and check; write nothing.")] = False,
    drop_bad: Annotated[bool, typer.Option("--drop-bad", help="Leave out rows that break a rule.")] = False,
    ranks: Annotated[int, typer.Option(min=2, max=100, help="The highest score of an aspect.")] = 5,
    labels: Annotated[str, typer.Option(help="The labels there are, with commas between; by default any.")] = "",
    json: Json = False,
) -> None:
    """Read tables of texts and judgements into a project, all or nothing."""
    from accord.data.formats.own import Rules
    from accord.workflows.import_ import import_tables

    if out is None and not dry_run:
        raise InputError("say where the project goes with --out FOLDER, or only look with --dry-run.")
    rules = Rules(ranks, tuple(label.strip() for label in labels.split(",") if label.strip()))
    with progress_bars(hidden=json) as progress:
        imported = import_tables(
            word, files, None if dry_run else out, rules=rules, drop_bad=drop_bad, progress=progress
        )
    if json:
        print_json({**vars(imported), "examples": [vars(problem) for problem in imported.examples]})
    else:
        _print(imported)
    if dry_run and imported.dropped and not drop_bad:
        n = sum(imported.dropped.values())
        raise InputError(f"{n:,} rows break a rule, so the import would stop. Mend them or give --drop-bad.")


def _print(imported: "Imported") -> None:
    from rich.table import Table

    counts = Table(title=f"{imported.word}: what was read", title_justify="left", header_style="bold")
    counts.add_column("what")
    counts.add_column("number", justify="right")
    for path, role, n in imported.files:
        counts.add_row(f"rows of {path} ({role})", f"{n:,}")
    counts.add_section()
    for name, n in imported.counts.items():
        counts.add_row(name, f"{n:,}")
    for rule, n in imported.dropped.items():
        counts.add_row(f"dropped: {rule}", f"{n:,}")
    print_table(counts)
    for theirs, ours in imported.renamed.items():
        typer.echo(f"column {theirs!r} is read as {ours}")
    for name in imported.unread:
        typer.echo(f"column {name!r} is not read")
    for problem in imported.examples:
        typer.echo(f"dropped: {problem}")
    if imported.folder is not None:
        typer.echo(f"{imported.folder}: a project of {imported.word}.")
