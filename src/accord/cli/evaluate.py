"""``accord evaluate``: how good a model is on a project's own judgements."""

from pathlib import Path
from typing import Annotated

import typer

from accord.cli.frame import (
    GuessedProject,
    Json,
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

app = command_app()


@app.command()
def evaluate(
    words: GuessedProject,
    folds: Annotated[int, typer.Option(min=2, help="How many parts are left out in turn.")] = 5,
    report: Annotated[Path | None, typer.Option(help="Also write the evaluation as one HTML page.")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="How many processes work at once; one a core unless said.")
    ] = None,
    settings: Settings = None,
    json: Json = False,
) -> None:
    """Say how good a model is on your own judgements, beside what you might pick instead."""
    from accord.fitting.settings import parse_settings
    from accord.scale.workers import Workers
    from accord.workflows.evaluate import evaluate as run
    from accord.workflows.report import evaluation_report, write_report

    check_page(report)
    kind, project = kind_and_project(words)
    opened = opened_project(project, kind)
    with progress_bars(hidden=json) as progress:
        found = run(
            opened,
            settings=parse_settings(settings or []),
            n_folds=folds,
            workers=Workers(workers or -1),
            progress=progress,
        )
    if report is not None:
        name = Path(project.removeprefix("example:")).stem
        write_report(evaluation_report(opened, found, title=f"How good is it on {name}?"), report)
    if json:
        parts = {name: records(getattr(found, name)) for name in ("rows", "gains", "curve", "calibration")}
        print_json(
            {"kind": found.kind, "n": found.n_judgements, "sentence": found.sentence, "notes": found.notes, **parts}
        )
        return
    typer.echo(found.sentence)
    wide = found.rows.assign(figure=[f"{r.value:.3f} [{r.low:.3f}, {r.high:.3f}]" for r in found.rows.itertuples()])
    table = wide.pivot(index="method", columns="metric", values="figure")
    metrics = list(dict.fromkeys(found.rows["metric"]))
    table = table.loc[list(dict.fromkeys(found.rows["method"])), metrics].reset_index()
    print_table(table, title=f"{folds} folds over {found.n_groups:,} {found.group}; in brackets 95 % intervals")
    for note in found.notes:
        typer.echo(f"note: {note}", err=True)
    if report is not None:
        typer.echo(f"The report is in {report}.")
