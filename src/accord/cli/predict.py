"""``accord predict``: apply a model to a project."""

from pathlib import Path
from typing import Annotated

import typer

from accord.cli.frame import Json, command_app, print_json, print_table, records

app = command_app()


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="A model that 'accord train' saved.")],
    project: Annotated[str, typer.Argument(help="The project's folder, example:NAME, or a raw table.")],
    out: Annotated[
        Path | None, typer.Option(help="Write a .csv, .tsv, .jsonl or .parquet instead of printing.")
    ] = None,
    json: Json = False,
) -> None:
    """Apply a model to a project."""
    from accord.store.models import load_model
    from accord.workflows.export import write_frame
    from accord.workflows.predict import predict as run
    from accord.workflows.projects import open_project

    saved = load_model(model)
    table = run(saved, open_project(project, word=saved.word))
    if out is not None:
        write_frame(table, out)
    if json:
        print_json({"word": saved.word, "rows": records(table)})
    elif out is None:
        print_table(table)
    else:
        typer.echo(f"{out}: {len(table):,} rows.")
