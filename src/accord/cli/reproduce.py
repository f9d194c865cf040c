"""``accord reproduce``: a paper's tables, with its own figures beside ours."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from accord.cli.frame import Json, KindArgument, Scheduler, command_app, print_json, print_table, progress_bars
from accord.errors import InputError

if TYPE_CHECKING:
    from accord.workflows.reproduce import Reproduction

app = command_app()


@app.command()
def reproduce(
    kind: KindArgument,
    quick: Annotated[bool, typer.Option("--quick", help="A smaller run that ends within two minutes.")] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="How many processes work at once; one a core unless said.")
    ] = None,
    scheduler: Scheduler = None,
    results: Annotated[
        Path | None,
        typer.Option(help="Also write the tables and their pictures (these need matplotlib) as a Markdown page."),
    ] = None,
    json: Json = False,
) -> None:
    """Rebuild a paper's tables beside its own figures (needs the corpora: see 'accord datasets')."""
    from accord.evaluation.resume import kept_until_used
    from accord.workflows.reproduce import reproduce as run

    if results is not None and (results.is_dir() or results.parent.is_file()):
        taken = results if results.is_dir() else results.parent
        what = "a folder" if results.is_dir() else "a file"
        raise InputError(f"--results names a page, such as results/{kind}.md; {str(taken)!r} is {what}.")
    with kept_until_used():
        with progress_bars(hidden=json) as progress:
            result = run(kind, quick=quick, progress=progress, workers=workers, scheduler=scheduler)
        if results is not None:
            result.write(results)
        if json:
            print_json(result.to_json())
        else:
            _print(result)


def _print(result: "Reproduction") -> None:
    from rich.table import Table

    from accord.workflows.reproduce import row_cells

    for name, rows in result.tables():
        table = Table(title=f"{result.kind}: {name}", title_justify="left", header_style="bold")
        for column in ("row", "metric"):
            table.add_column(column)
        for column in ("paper", "ours", "95 % interval", "n"):
            table.add_column(column, justify="right")
        for row in rows:
            table.add_row(*row_cells(row))
        print_table(table)
    typer.echo(f"{result.seconds:.1f} s{' (quick)' if result.quick else ''}")
