"""``accord report``: a project's report as one HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from accord.cli.frame import Json, check_page, command_app, opened_project, print_json, progress_bars

app = command_app()


@app.command()
def report(
    project: Annotated[str, typer.Argument(help="The project's folder, example:NAME, or a raw table.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write.")] = Path("accord-report.html"),
    title: Annotated[str | None, typer.Option(help="The page's title.")] = None,
    json: Json = False,
) -> None:
    """Write a project's report as one HTML page: the ranking of pairs, or what a project of another kind holds."""
    from accord.workflows.rank import rank
    from accord.workflows.report import project_report, ranking_report, write_report

    check_page(out)
    opened = opened_project(project, None)
    name = title or project.removeprefix("example:").rstrip("/").rpartition("/")[2]
    with progress_bars(hidden=json) as progress:
        if opened.kind == "pairs" and opened.counts["judgements"]:
            page = ranking_report(opened, rank(opened, progress=progress), title=name)
        else:
            page = project_report(opened, title=name)
    write_report(page, out)
    if json:
        print_json({"report": str(out), "kind": opened.kind, "counts": opened.counts})
    else:
        typer.echo(f"The report is in {out}.")
