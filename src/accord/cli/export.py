"""``accord export``: a project's tables as files that other programs read."""

from pathlib import Path
from typing import Annotated

import typer

from accord.cli.frame import Json, command_app, print_json

app = command_app()


@app.command()
def export(
    project: Annotated[str, typer.Argument(help="The project's folder, or example:NAME.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write to.")],
    form: Annotated[str, typer.Option("--format", "-f", help="csv, tsv, jsonl or parquet.")] = "csv",
    json: Json = False,
) -> None:
    """Write a project's tables as CSV, TSV, JSONL or Parquet."""
    from accord.workflows.export import export as run
    from accord.workflows.projects import open_project

    written = run(open_project(project), out, form=form)
    if json:
        print_json({"folder": str(out), "files": written})
    else:
        for name, rows in written.items():
            typer.echo(f"{out / name}: {rows:,} rows")
