"""``accord evaluate``: how good a model is on somebody's own judgements."""

from pathlib import Path
from typing import Annotated

import typer

from accord.cli.frame import Json, KindArgument, Settings, command_app, print_json, print_table, progress_bars, records

app = command_app()


@app.command()
def evaluate(
    kind: KindArgument,
    project: Annotated[str, typer.Argument(help="The project's folder, example:NAME, or a raw table.")],
    report: Annotated[Path | None, typer.Option(help="Also write the figures as one HTML page.")] = None,
    settings: Settings = None,
    json: Json = False,
) -> None:
    """Say how good the model is on judgements that it has not seen, beside what people would pick instead."""
    from accord.fitting.settings import parse_settings
    from accord.workflows.evaluate import evaluate as run
    from accord.workflows.kinds import check_kind
    from accord.workflows.projects import open_project
    from accord.workflows.report import evaluation_report, write_report

    opened = open_project(project, kind=check_kind(kind))
    with progress_bars(hidden=json) as progress:
        found = run(opened, progress=progress, settings=parse_settings(settings or []))
    if report is not None:
        write_report(evaluation_report(opened, found, title=f"How good is it? {Path(project).stem}"), report)
    if json:
        tables = {name: records(getattr(found, name)) for name in ("table", "calibration", "curve")}
        about = {"kind": kind, "n_judgements": found.n_judgements, "n_groups": found.n_groups, "groups": found.groups}
        print_json({**about, **tables, "sentence": found.sentence})
        return
    typer.echo(found.sentence)
    table = found.table
    shown = table[["model"]].copy()
    shown["right"] = [_interval(*row) for row in zip(table["right"], table["low"], table["high"], strict=True)]
    shown["log loss"] = table["log_loss"]
    if "distance" in table:
        shown["distance"] = table["distance"]
    differences = zip(table["difference"], table["diff_low"], table["diff_high"], strict=True)
    shown["Accord is better by"] = ["", *[_interval(*row) for row in differences][1:]]
    print_table(shown)
    typer.echo(
        f"Each of {found.n_judgements:,} judgements was predicted by a model that saw none of its group "
        f"({found.n_groups:,} {found.groups}, five folds). In brackets: 95 % intervals, in points."
    )
    if len(found.calibration):
        print_table(found.calibration, title="What Accord said, and how often it was right")
    print_table(found.curve, title="Trained on fewer judgements")
    if report is not None:
        typer.echo(f"The report is in {report}.")


def _interval(value: float, low: float, high: float) -> str:
    return f"{100 * value:.1f} ({100 * low:.1f} … {100 * high:.1f})"
