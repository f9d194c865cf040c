"""``accord simulate``: how fast each way of asking learns, replayed on a project."""

from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

from accord.cli.frame import (
    Json,
    NamedProject,
    Settings,
    check_page,
    command_app,
    kind_and_project,
    opened_project,
    print_json,
    print_table,
    progress_bars,
    records,
)
from accord.typing import Progress

app = command_app()


@app.command()
def simulate(
    words: NamedProject,
    report: Annotated[Path | None, typer.Option(help="Also write the curves as one HTML page.")] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="N,…",
            help="Fit the model after these numbers of answers alone, as in 50,100,200,400: fewer fits.",
        ),
    ] = None,
    ways: Annotated[
        str | None,
        typer.Option(metavar="WAY,…", help="The ways to compare with random questions, as in information,uncertainty."),
    ] = None,
    settings: Settings = None,
    json: Json = False,
) -> None:
    """Replay a project to see how fast each way of asking learns.

    The model is the one that "accord train" fits, with the settings that you give. Settings of the replay: n_labels
    (100), batch (10) and seeds (3). After the first replay the command says how long all of them will take.
    """
    from accord.fitting.settings import parse_settings
    from accord.workflows.report import simulation_report, write_report
    from accord.workflows.simulate import parse_numbers, parse_ways
    from accord.workflows.simulate import simulate as run

    kind, project = kind_and_project(words)
    check_page(report)
    opened = opened_project(project, kind)
    with progress_bars(hidden=json) as progress:
        found = run(
            opened,
            settings=parse_settings(settings or []),
            progress=progress if json else _telling(progress),
            strategies=parse_ways(ways),
            at=parse_numbers(at),
        )
    if report is not None:
        name = Path(project.removeprefix("example:")).stem
        write_report(simulation_report(opened, found, title=f"Ways of asking about {name}"), report)
    if json:
        saved = {name: found.needed(name) for name in dict.fromkeys(found.table["strategy"])}
        print_json({"kind": found.kind, "rows": records(found.table), "needed": saved, "sentences": found.sentences})
        return
    print_table(found.summary(), title=f"Ways of asking: {found.measured}")
    for sentence in found.sentences:
        typer.echo(sentence)
    if report is not None:
        typer.echo(f"The report is in {report}.")


def _telling(progress: Progress) -> Progress:
    """The same progress, which says after the first replay how long all of them will take."""
    start = monotonic()

    def report(what: str, done: int, total: int) -> None:
        progress(what, done, total)
        if done == 1 < total and what == "replaying":
            seconds = (monotonic() - start) * total
            time = f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:.0f} minutes"
            typer.echo(f"note: {total} replays take about {time}; --ways and --at make fewer fits.", err=True)

    return report
