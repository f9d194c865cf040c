"""``accord import``: tables and other tools' files into a project."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from accord.cli.frame import Json, command_app, print_json, print_table, progress_bars
from accord.errors import InputError
from accord.typing import KINDS

if TYPE_CHECKING:
    from accord.workflows.import_ import Imported

app = command_app()


@app.command("import")
def import_(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="[KIND] FILE...",
            help=f"The kind of judgement ({', '.join(KINDS)}), if the files do not tell; then files or folders.",
        ),
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The new project's folder.")] = None,
    form: Annotated[
        str | None, typer.Option("--format", "-f", help="Whose files these are; by default found by looking at them.")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", help="The tool's own description of the task, such as a label config."),
    ] = None,
    utf16: Annotated[
        bool, typer.Option("--utf16", help="Offsets that no quote can check are UTF-16 code units, as browsers count.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count and check; write nothing.")] = False,
    drop_bad: Annotated[bool, typer.Option("--drop-bad", help="Leave out rows that break a rule.")] = False,
    ranks: Annotated[int, typer.Option(min=2, max=100, help="The highest score of an aspect.")] = 5,
    labels: Annotated[str, typer.Option(help="The labels there are, with commas between; by default any.")] = "",
    json: Json = False,
) -> None:
    """Read tables or another tool's files into a project, all or nothing."""
    from accord.data.formats.own import Rules
    from accord.workflows.import_ import import_files

    if out is None and not dry_run:
        raise InputError("say where the project goes with --out FOLDER, or only look with --dry-run.")
    kind, paths = _kind(files)
    rules = Rules(ranks, tuple(label.strip() for label in labels.split(",") if label.strip()))
    with progress_bars(hidden=json) as progress:
        imported = import_files(
            paths,
            None if dry_run else out,
            kind=kind,
            form=form,
            config=config,
            utf16=utf16,
            rules=rules,
            drop_bad=drop_bad,
            progress=progress,
        )
    if json:
        print_json({**vars(imported), "examples": [vars(problem) for problem in imported.examples]})
    else:
        _print(imported)
    if dry_run and imported.dropped and not drop_bad:
        n = sum(imported.dropped.values())
        raise InputError(
            f"{n:,} rows break a rule, so the import would stop. Correct them, or leave them out with --drop-bad."
        )


def _kind(arguments: list[str]) -> tuple[str | None, list[str]]:
    """The kind, if the first argument is one, and the files."""
    first, *rest = arguments
    if first in KINDS or (rest and not Path(first).exists() and not Path(first).suffix):
        return first, rest
    return None, arguments


def _print(imported: "Imported") -> None:
    from rich.table import Table

    counts = Table(title=f"{imported.kind}: what was read", title_justify="left", header_style="bold")
    counts.add_column("what")
    counts.add_column("number", justify="right")
    for path, role, n in imported.files:
        counts.add_row(f"rows of {path} ({role})", f"{n:,}")
    counts.add_section()
    for name, n in imported.counts.items():
        counts.add_row(name, f"{n:,}")
    for name, n in imported.conflicts.items():
        if n:
            counts.add_row(f"{name} by the same person", f"{n:,}")
    for rule, n in imported.dropped.items():
        counts.add_row(f"dropped: {rule}", f"{n:,}")
    print_table(counts)
    for theirs, ours in imported.renamed.items():
        typer.echo(f"column {theirs!r} is read as {ours}")
    for name in imported.unread:
        typer.echo(f"column {name!r} is not read")
    for taken in imported.assumed:
        typer.echo(f"taken: {taken}")
    for what, n in imported.lost.items():
        typer.echo(f"lost: {what} ({n:,})")
    for problem in imported.examples:
        typer.echo(f"dropped: {problem}")
    if imported.folder is not None:
        typer.echo(f"{imported.folder}: a project of {imported.kind}.")
