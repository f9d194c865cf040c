"""``accord simulate``: how fast each way of asking learns, replayed on a project."""

from typing import Annotated

import typer

from accord.cli.frame import Json, Settings, command_app, print_json, print_table, progress_bars, records

app = command_app()


@app.command()
def simulate(
    project: Annotated[str, typer.Argument(help="The project's folder, example:NAME, or a raw table of votes.")],
    settings: Settings = None,
    json: Json = False,
) -> None:
    """Replay a project to see how fast each way of asking learns."""
    from accord.fitting.settings import parse_settings
    from accord.workflows.ask import simulate as run
    from accord.workflows.projects import open_project

    opened = open_project(project, kind="pairs")
    with progress_bars(hidden=json) as progress:
        table = run(opened, settings=parse_settings(settings or []), progress=progress)
    if json:
        print_json({"kind": opened.kind, "rows": records(table)})
    else:
        print_table(table, title="Ways of asking")
