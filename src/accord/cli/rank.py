"""``accord rank``: the ranking of a project of pairs."""

from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accord.cli.frame import (
    Json,
    Settings,
    check_page,
    command_app,
    opened_project,
    page_width,
    print_json,
    print_table,
    progress_bars,
    records,
    shortened,
)
from accord.errors import InputError

if TYPE_CHECKING:
    from accord.data.project import Project
    from accord.workflows.rank import Learnt, Ranking

app = command_app()
_OTHER_COLUMNS = 82  # characters that the columns beside the text need


@app.command()
def rank(
    project: Annotated[
        str | None, typer.Argument(help="The folder of a project of pairs or threads, or a raw table of votes.")
    ] = None,
    example: Annotated[str | None, typer.Option(help="Use an example that ships with Accord: arguments.")] = None,
    label: Annotated[
        str | None, typer.Option(metavar="LABEL", help="Of threads: the label that the best comment of a question has.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option("--model", "-m", help="Of threads: a saved model; else one is trained.")
    ] = None,
    method: Annotated[str, typer.Option(help="auto, model, bradley_terry or judges.")] = "auto",
    anchor: Annotated[str | None, typer.Option(help="The text whose score is zero; else the group's mean is.")] = None,
    control: Annotated[
        str | None,
        typer.Option(help="Also rank as if texts were alike in these, such as length,markdown,position,meta.year."),
    ] = None,
    personal: Annotated[
        bool,
        typer.Option("--personal", help="Show who prefers what: tastes, groups of voters, pairs they differ about."),
    ] = False,
    person: Annotated[str | None, typer.Option(help="With --personal: the ranking of this person.")] = None,
    stop_when: Annotated[
        str | None, typer.Option(help="top=K: exit with 0 if the best K texts are settled, with 1 if they are not.")
    ] = None,
    sure: Annotated[float, typer.Option(help="The probability that --stop-when wants.")] = 0.95,
    report: Annotated[Path | None, typer.Option(help="Also write the ranking as one HTML page.")] = None,
    settings: Settings = None,
    json: Json = False,
) -> None:
    """Rank the texts of a project of pairs, with intervals and tiers, or find the best comment of each question."""
    from accord.fitting.settings import parse_settings
    from accord.workflows.rank import control as run_control
    from accord.workflows.rank import parse_top, stability_sentences
    from accord.workflows.rank import rank as run
    from accord.workflows.report import ranking_report, write_report

    if (project is None) == (example is None):
        raise InputError("name one project, or an example with --example NAME.")
    name = f"example:{example}" if project is None else project
    threads = label is not None or model is not None
    check_page(report)
    opened = opened_project(name, ("threads" if threads else "pairs") if Path(name).is_file() else None)
    if opened.kind == "threads" or threads:
        if stop_when is not None or report is not None or anchor is not None or method != "auto":
            raise InputError("--stop-when, --report, --anchor and --method are for pairs; this project is of threads.")
        _best_comments(opened, label, model, parse_settings(settings or []), json)
        return
    if personal or person is not None:
        if stop_when is not None or report is not None or anchor is not None or method != "auto" or control is not None:
            raise InputError(
                "--personal stands alone: leave --stop-when, --report, --anchor, --method and --control out."
            )
        _personal(opened, person, parse_settings(settings or []), json)
        return
    beside = None if control is None else run_control(opened, [name.strip() for name in control.split(",")])
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
            one = ["group"] if beside.table["group"].isna().all() else []
            print_table(beside.table.drop(columns=one), title=beside.title)
            title = "What one unit more adds, in log odds, with 90 % intervals"
            print_table(beside.coefficients.drop(columns=one), title=title)
        for sentence in stability_sentences(state, len(rankings)):
            typer.echo(sentence)
        if report is not None:
            typer.echo(f"The report is in {report}.")
    if stop_when is not None and not state.reached:
        raise typer.Exit(1)


def _personal(opened: "Project", person: str | None, settings: Any, json: bool) -> None:
    """Who prefers what."""
    from accord.workflows.personal import personal

    with progress_bars(hidden=json) as progress:
        found = personal(opened, person=person, settings=settings, progress=progress)
    if json:
        tables = {name: records(getattr(found, name)) for name in ("groups", "voters", "disagreements")}
        ranking = None if found.ranking is None else records(found.ranking)
        print_json({"kind": "pairs", "n_tastes": found.n_tastes, **tables, "person": person, "ranking": ranking})
        return
    if found.ranking is not None:
        columns = [name for name in ("group", "rank", "consensus_rank", "score", "low", "high", "item_id", "text")
                   if name in found.ranking and not found.ranking[name].isna().all()]  # fmt: skip
        print_table(found.ranking[columns], title=f"What {person} prefers, with 90 % intervals")
    if found.n_tastes:
        print_table(
            found.groups, title="Groups of taste, and the texts that each likes more and less than all voters do"
        )
        print_table(found.voters, title="Voters, those who depart most from the consensus first")
        print_table(found.disagreements, title="Pairs that voters differ about most: probability of a vote for left")
    for sentence in found.sentences:
        typer.echo(sentence)


def _best_comments(opened: "Project", label: str | None, model: Path | None, settings: Any, json: bool) -> None:
    """The best comment of each question."""
    from rich.table import Table
    from rich.text import Text

    from accord.store.models import load_model
    from accord.workflows.rank import best_comments

    saved = None if model is None else load_model(model)
    with progress_bars(hidden=json) as progress:
        table = best_comments(opened, label=label, saved=saved, settings=settings, progress=progress)
    chosen = table.attrs["label"]
    if json:
        print_json({"kind": "threads", "label": chosen, "rows": records(table)})
        return
    best = table[table["rank"] == 1]
    which = "the question" if len(best) == 1 else f"each of {len(best):,} questions"
    shown = Table(
        title=f"The best comment of {which}: the likeliest to be {chosen!r}",
        title_justify="left",
        header_style="bold",
    )
    room = page_width()
    for column in ("question", "best comment"):
        shown.add_column(column, overflow="fold", ratio=2 if column == "question" else 3)
    shown.add_column(chosen, justify="right", no_wrap=True)
    for row in records(best):
        asked = row["question"] or row["group_id"]
        sure = "given" if row["given"] else f"{100 * row['probability']:.0f} %"
        shown.add_row(Text(shortened(asked, room // 2)), Text(shortened(row["text"] or row["item_id"], room)), sure)
    print_table(shown)


def _print(ranking: "Ranking") -> None:
    from rich.table import Table
    from rich.text import Text

    from accord.data.reading.rows import is_made
    from accord.workflows.rank import percent

    own = "n_people" in ranking.table  # where judges vote too
    n_people = int(ranking.table["n_people"].sum()) // 2 if own else 0  # a vote is of two texts
    of_people = f", {n_people:,} of them by people" if own else ""
    votes = f"{ranking.n_votes:,} vote{'' if ranking.n_votes == 1 else 's'}{of_people}"
    title = f"{ranking.group or 'ranking'}: {len(ranking.table):,} texts, {votes}"
    table = Table(title=title, title_justify="left", header_style="bold")
    for name in ("rank", "tier", "score", "90 % interval", "ranks", "wins", "best", "votes", *(["people's"] * own)):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("text", no_wrap=True)
    room = max(page_width() - _OTHER_COLUMNS - 11 * own, 12)
    last = 1
    for row in records(ranking.table):
        if row["tier"] != last:
            table.add_section()
            last = row["tier"]
        text = " ".join(row["text"].split())
        said = text if text == row["item_id"] or is_made(row["item_id"]) else f"{row['item_id']}: {text}"
        table.add_row(
            str(row["rank"]),
            str(row["tier"]),
            f"{row['score']:+.2f}",
            f"{row['low']:+.2f} … {row['high']:+.2f}",
            _range(row["rank_low"], row["rank_high"]),
            f"{row['wins']:.0f} %",
            percent(row["p_best"]),
            str(row["n_votes"]),
            *([str(row["n_people"])] if own else []),
            Text(shortened(said, room)),
        )
    print_table(table)
    for note in ranking.notes:
        typer.echo(f"note: {note}", err=True)


def _print_judges(learnt: "Learnt") -> None:
    if len(learnt.judges):
        title = "Judges: the share of people's preference that each sees, and how far else it deviates on single texts"
        print_table(learnt.judges, title=title)
    for sentence in (*learnt.careless, *learnt.sentences):
        typer.echo(sentence)


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"
