"""``accord ask``: which questions are worth asking next."""

from pathlib import Path
from typing import Annotated

import typer

from accord.cli.frame import Json, command_app, opened_project, print_json, print_table, progress_bars, records

app = command_app()


@app.command()
def ask(
    project: Annotated[str, typer.Argument(help="The project's folder, example:NAME, or a raw table.")],
    n: Annotated[int, typer.Option("-n", "--number", help="How many questions.")] = 10,
    model: Annotated[Path | None, typer.Option("--model", "-m", help="A saved model; else one is trained.")] = None,
    strategy: Annotated[
        str | None, typer.Option(help="Of pairs: bald, uncertainty or transfer (information about other groups).")
    ] = None,
    json: Json = False,
) -> None:
    """Say which questions are worth asking next."""
    from accord.store.models import load_model
    from accord.workflows.ask import ask as run

    saved = None if model is None else load_model(model)
    opened = opened_project(project, "pairs" if saved is None else saved.kind)
    with progress_bars(hidden=json) as progress:
        table = run(saved, opened, n=n, strategy=strategy, progress=progress)
    if json:
        print_json({"kind": opened.kind, "rows": records(table)})
    else:
        print_table(table, title="Ask next")
