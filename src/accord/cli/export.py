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
    form: Annotated[
        str, typer.Option("--format", "-f", help="csv, tsv, jsonl, parquet, soft-labels, or another tool's name.")
    ] = "csv",
    json: Json = False,
) -> None:
    """Write a project's tables as CSV, TSV, JSONL or Parquet, or as another tool reads them."""
    from accord.workflows.export import export_as
    from accord.workflows.projects import open_project

    exported = export_as(open_project(project), out, form=form)
    if json:
        print_json({"folder": str(out), "files": exported.files, "lost": exported.lost})
    else:
        for name, rows in exported.files.items():
            typer.echo(f"{out / name}: {rows:,} rows")
        for what, n in exported.lost.items():
            typer.echo(f"lost: {what} ({n:,})")
