"""``accord rank``: the ranking of a project of pairs."""

from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from accord.cli.frame import Json, Settings, command_app, page_width, print_json, print_table, progress_bars, records
from accord.errors import InputError

if TYPE_CHECKING:
    from accord.workflows.rank import Learnt, Ranking

app = command_app()
_OTHER_COLUMNS = 82  # characters that the columns beside the text need


@app.command()
def rank(
    project: Annotated[str | None, typer.Argument(help="The project's folder, or a raw table of votes.")] = None,
    example: Annotated[str | None, typer.Option(help="Use an example that ships with Accord: arguments.")] = None,
    method: Annotated[str, typer.Option(help="auto, model, bradley_terry or judges.")] = "auto",
    anchor: Annotated[str | None, typer.Option(help="The text whose score is zero; else the group's mean is.")] = None,
    control: Annotated[
        str | None,
        typer.Option(help="Also rank as if texts were alike in these, such as length,markdown,position,meta.year."),
    ] = None,
    stop_when: Annotated[
        str | None, typer.Option(help="top=K: exit with 0 if the best K texts are settled, with 1 if they are not.")
    ] = None,
    sure: Annotated[float, typer.Option(help="The probability that --stop-when wants.")] = 0.95,
    report: Annotated[Path | None, typer.Option(help="Also write the ranking as one HTML page.")] = None,
    settings: Settings = None,
    json: Json = False,
) -> None:
    """Rank the texts of a project of pairs, with intervals and tiers."""
    from accord.fitting.settings import parse_settings
    from accord.workflows.projects import open_project
    from accord.workflows.rank import control as run_control
    from accord.workflows.rank import parse_top, stability_sentences
    from accord.workflows.rank import rank as run
    from accord.workflows.report import ranking_report, write_report

    if (project is None) == (example is None):
        raise InputError("name one project, or an example with --example NAME.")
    name = f"example:{example}" if project is None else project
    opened = open_project(name, kind="pairs")
    with progress_bars(hidden=json) as progress:
        rankings = run(
            opened,
            method=method,
            settings=parse_settings(settings or []),
            anchor=anchor,
            top=1 if stop_when is None else parse_top(stop_when),
            sure=sure,
            progress=progress,
        )
    state = rankings[0].stability
    beside = None if control is None else run_control(opened, [name.strip() for name in control.split(",")])
    if report is not None:
        title = f"Ranking of {Path(name.removeprefix('example:')).stem}"
        write_report(ranking_report(opened, rankings, title=title), report)
    if json:
        groups = [
            {
                "group": each.group,
                "notes": each.notes,
                "rows": records(each.table),
                "voters": records(each.voters),
            }
            for each in rankings
        ]
        stable = {name: value for name, value in asdict(state).items() if value != inf}
        learnt = rankings[0].learnt
        judged = {"judges": records(learnt.judges), "slopes": records(learnt.slopes)} if len(learnt.judges) else {}
        if beside is not None:
            judged |= {"controlled": records(beside.table), "coefficients": records(beside.coefficients)}
        print_json({"kind": "pairs", "groups": groups, **judged, "stability": stable, "report": report and str(report)})
    else:
        for each in rankings:
            _print(each)
        _print_judges(rankings[0].learnt)
        if beside is not None:
            print_table(
                beside.table, title=f"Ranking by Bradley–Terry with and without {control} taken out, in log odds"
            )
            print_table(beside.coefficients, title="What one unit more adds, in log odds, with 90 % intervals")
        for sentence in stability_sentences(state):
            typer.echo(sentence)
        if report is not None:
            typer.echo(f"The report is in {report}.")
    if stop_when is not None and not state.reached:
        raise typer.Exit(1)


def _print(ranking: "Ranking") -> None:
    from rich.table import Table
    from rich.text import Text

    title = f"{ranking.group or 'ranking'}: {len(ranking.table)} texts, {ranking.n_votes:,} votes"
    table = Table(title=title, title_justify="left", header_style="bold")
    for name in ("rank", "tier", "score", "90 % interval", "ranks", "wins", "best", "votes"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("text", no_wrap=True)
    room = max(page_width() - _OTHER_COLUMNS, 12)
    last = 1
    for row in records(ranking.table):
        if row["tier"] != last:
            table.add_section()
            last = row["tier"]
        text = " ".join(row["text"].split())
        said = text if text == row["item_id"] else f"{row['item_id']}: {text}"
        table.add_row(
            str(row["rank"]),
            str(row["tier"]),
            f"{row['score']:+.2f}",
            f"{row['low']:+.2f} … {row['high']:+.2f}",
            _range(row["rank_low"], row["rank_high"]),
            f"{row['wins']:.0f} %",
            f"{100 * row['p_best']:.0f} %",
            str(row["n_votes"]),
            Text(said if len(said) <= room else f"{said[: room - 1]}…"),
        )
    print_table(table)
    for note in ranking.notes:
        typer.echo(f"note: {note}", err=True)


def _print_judges(learnt: "Learnt") -> None:
    if len(learnt.judges):
        title = "Judges: the share of people's preference that each sees, and how far else it deviates on single texts"
        print_table(learnt.judges, title=title)
    for sentence in learnt.sentences:
        typer.echo(sentence)


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"
