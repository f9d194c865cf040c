"""``accord import``: tables and other tools' files into a project."""

import shlex
from math import inf
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
    uses: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="COLUMN=USE", help="What columns are, such as food=score:food,body=text."),
    ] = None,
    like: Annotated[
        Path | None, typer.Option("--like", help="A project whose kind, --map, labels and ranks are used again.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", help="How the letters of the files are coded, such as cp1251.")
    ] = None,
    annotators: Annotated[
        Path | None,
        typer.Option("--annotators", help="A table of who judged: annotator_id, kind (person or judge), family …"),
    ] = None,
    texts_only: Annotated[bool, typer.Option("--texts-only", help="Import texts that nobody has judged yet.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count and check; write nothing.")] = False,
    drop_bad: Annotated[bool, typer.Option("--drop-bad", help="Leave out rows that break a rule.")] = False,
    ranks: Annotated[
        int | None, typer.Option(min=2, max=100, help="The highest score of an aspect; else 5, or as the scores show.")
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(metavar="LOW..HIGH", help="The ends of a slider, such as 0..100; its places are read as ranks."),
    ] = None,
    labels: Annotated[str, typer.Option(help="The labels there are, with commas between; by default any.")] = "",
    json: Json = False,
) -> None:
    """Read tables or another tool's files into a project, all or nothing."""
    from accord.data.formats.own import Rules
    from accord.data.project import read_manifest
    from accord.data.reading.schemas import parse_uses
    from accord.workflows.import_ import import_files

    if out is None and not dry_run:
        raise InputError("say where the project goes with --out FOLDER, or only look with --dry-run.")
    kind, paths = _kind(files)
    before = {} if like is None else read_manifest(like)
    known = before.get("settings", {})
    named = tuple(label.strip() for label in labels.split(",") if label.strip()) or tuple(known.get("labels", ()))
    ends = _ends(scale) if scale else known.get("scale")
    rules = Rules(
        ranks or known.get("n_ranks", 5),
        named,
        given=bool(ranks or "n_ranks" in known),
        scale=None if ends is None else (ends[0], ends[1]),
    )
    with progress_bars(hidden=json) as progress:
        imported = import_files(
            paths,
            None if dry_run else out,
            kind=kind or before.get("kind"),
            form=form,
            config=config,
            utf16=utf16,
            encoding=encoding,
            uses={**known.get("map", {}), **parse_uses(uses or [])},
            rules=rules,
            drop_bad=drop_bad,
            texts_only=texts_only,
            annotators=annotators,
            progress=progress,
        )
    if json:
        shown = {
            "examples": [vars(problem) for problem in imported.examples],
            "looks": [vars(look) for look in imported.looks],
        }
        known = {name: value for name, value in vars(imported).items() if name != "annotators"}
        print_json({**known, **shown, "n_judgements": imported.n_judgements})
    else:
        _print(imported)
    if dry_run and imported.dropped and not drop_bad:
        n = sum(imported.dropped.values())
        broken = "1 row breaks" if n == 1 else f"{n:,} rows break"
        raise InputError(f"{broken} a rule, so the import would stop. Correct or leave out such rows with --drop-bad.")


def _kind(arguments: list[str]) -> tuple[str | None, list[str]]:
    """The kind, if the first argument is one, and the files."""
    first, *rest = arguments
    if first in KINDS or (rest and not Path(first).exists() and not Path(first).suffix):
        return first, rest
    return None, arguments


def _ends(scale: str) -> tuple[float, float]:
    """The two numbers of ``--scale``."""
    low, _, high = scale.partition("..")
    try:
        ends = float(low), float(high)
    except ValueError:
        ends = 0.0, 0.0
    if not -inf < ends[0] < ends[1] < inf:
        raise InputError(f"--scale needs two numbers, the lower one first, such as 0..100; got {scale!r}.")
    return ends


def _print(imported: "Imported") -> None:
    from rich.table import Table

    _print_columns(imported)
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
    for taken, n in imported.assumed.items():
        typer.echo(f"taken: {taken}" + (f" ({n:,})" if n > 1 else ""))
    for what, n in imported.lost.items():
        typer.echo(f"lost: {what} ({n:,})")
    for problem in imported.examples:
        typer.echo(f"dropped: {problem}")
    if imported.folder is not None:
        typer.echo(f"{imported.folder}: a project of {imported.kind}.")
        if imported.n_judgements:
            verb = "rank" if imported.kind == "pairs" else f"evaluate {imported.kind}"
            typer.echo(f"Next: accord {verb} {shlex.quote(str(imported.folder))}")


def _print_columns(imported: "Imported") -> None:
    """What stays unused, first and loudly; then each column, what it is taken for and why."""
    from rich.table import Table

    if not imported.n_judgements:
        typer.echo(
            f"NO JUDGEMENT WAS READ: {imported.counts['items']:,} texts, and nothing that people said about them."
            f"{imported.suggestion}"
        )
    unused = [look for look in imported.looks if not look.use]
    if unused:
        said = "what it is" if len(unused) == 1 else "what they are"
        typer.echo(f"NOT USED: {', '.join(repr(look.column) for look in unused)}. Say {said} with --map COLUMN=USE.")
    if imported.looks:
        table = Table(title="Columns", title_justify="left", header_style="bold")
        for name in ("column", "taken as", "because", "such as"):
            table.add_column(name, overflow="fold")
        for look in imported.looks:
            why = "of its name" if look.use and not look.why else look.why
            table.add_row(look.column, look.use or "NOT USED", why, " · ".join(look.samples))
        print_table(table)
