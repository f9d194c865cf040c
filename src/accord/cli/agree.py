"""``accord agree``: how much people agree, beyond chance."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from accord.cli.frame import Json, command_app, opened_project, print_json, print_table, records

if TYPE_CHECKING:
    import pandas as pd

    from accord.workflows.agree import JudgeAgreement
    from accord.workflows.judged import Judged

app = command_app()


@app.command()
def agree(
    project: Annotated[str, typer.Argument(help="The project's folder, example:NAME, or a raw table.")],
    pairs: Annotated[bool, typer.Option("--pairs", help="Show Cohen's kappa of every pair of people too.")] = False,
    json: Json = False,
) -> None:
    """Say how much people agree, beyond chance, with 95 % intervals."""
    from accord.workflows.agree import agree as run
    from accord.workflows.agree import agree_judges
    from accord.workflows.agree_spans import judged_highlights
    from accord.workflows.judged import judge_names, judged, judged_votes, people_only

    opened = opened_project(project, None)
    found, of_judges, votes = run(opened), judged(opened), judged_votes(opened)
    marks = judged_highlights(opened, judge_names(opened))
    steady = {one.what: one for one in agree_judges(opened)}
    if json:
        parts = ("measures", "labels", "people", "pairs")
        about = [
            {"what": one.what, "level": one.level, **{name: records(getattr(one, name)) for name in parts}}
            for one in found
        ]
        measured = [
            {"what": one.what, "used": one.used, "n_added": one.n_added, "gain": one.gain,
             "judges": records(one.judges), "confusion": records(one.confusion)}
            for one in of_judges
        ]  # fmt: skip
        measured += [] if votes is None else [{"what": "votes", "judges": records(votes)}]
        measured += [] if marks is None else [{"what": "highlights", "judges": records(marks)}]
        for entry in measured:
            if entry["what"] in steady:
                beside = steady[entry["what"]]
                entry |= {"steadiness": records(beside.judges), "pairs": records(beside.pairs)}
        print_json({"kind": opened.kind, "agreement": about, **({"judges": measured} if measured else {})})
        return
    judges_alone = bool(judge_names(opened)) and not len(people_only(opened, may_be_none=True).answered())
    if judges_alone:
        typer.echo("No person answered: these are figures of judges among themselves.")
    one_of, several = ("judge", "judges") if judges_alone else ("person", "people")
    for one in found:
        if not one.n_shared:
            typer.echo(f"{one.what}: nobody judged what another {one_of} judged, so that agreement is not known.")
            continue
        shown = _shown(one.measures, "measure", "value", "low", "high", "n")
        is_marked = one.what == "highlights"
        asked = "texts that two or more {} read" if is_marked else "questions that two or more {} answered"
        typer.echo(f"{one.what}: {one.n_shared:,} {asked.format(several)}")
        print_table(shown.rename(columns={"n": "texts" if is_marked else "questions"}))
        if len(one.labels) > (0 if is_marked else 2):
            labels = _shown(one.labels, "label", "value", "low", "high", "n")
            said = "α" if is_marked else "α against the others"
            print_table(labels.rename(columns={"value": said, "n": "marks" if is_marked else "answers"}))
        renamed = {"person": one_of, **({"as most others": "α with the others"} if is_marked else {})}
        print_table(_people(one.people).rename(columns=renamed))
        if pairs and len(one.pairs):
            print_table(
                _shown(one.pairs, "first", "second", "value", "low", "high", "n").rename(columns={"value": "κ"})
            )
    if votes is not None:
        _print_against("votes", votes, steady.get("votes"))
    for judges in of_judges:
        _print_judges(judges, steady.get(judges.what))
    if marks is not None:
        _print_against("highlights", marks, None)
    for beside in steady.values() if pairs else ():
        if len(beside.pairs):
            rows = _shown(beside.pairs, "first", "second", "value", "low", "high", "n").rename(columns={"value": "κ"})
            print_table(rows, title=f"{beside.what}: Cohen's κ of judges with people and with each other")
    if not (any(one.n_shared for one in found) or of_judges or votes is not None or marks is not None):
        return
    typer.echo(
        "1 is full agreement and 0 that of chance. In brackets: 95 % intervals, unless it is said otherwise. 'As most "
        "others' is the share of a "
        "person's answers that most others gave too; 'same again' of those given twice that were the same; 'late less "
        "early' is how much 'as most others', of a judge 'as most people', changed from the first half of the answers "
        "to the second."
    )


def _print_judges(one: "Judged", steady: "JudgeAgreement | None") -> None:
    """How judges answer what people answer too, with 90 % intervals."""
    _print_against(one.what, one.judges, steady)
    if one.what == "labels":
        cells = _shown(one.confusion, "annotator", "people", "says", "probability", "low", "high", "n")
        cells["n"] = one.confusion["n"].round(1)
        print_table(cells.rename(columns={"annotator": "judge", "people": "where people say"}), title="What judges say")
    if one.used:
        said = f"{one.n_added:,} answers of judges are sure enough to be learnt from, on texts that no person answered."
    else:
        said = (
            "It is not sure that they tell more about people's answers than chance would: nothing is learnt from them."
        )
    typer.echo(said)


def _print_against(what: str, judges: "pd.DataFrame", steady: "JudgeAgreement | None") -> None:
    is_marked = what == "highlights"
    rows = _shown(judges, "annotator", "agreement", "low", "high", "n_shared")
    names = ("α with people", "shared texts") if is_marked else ("as most people", "shared answers")
    rows = rows.rename(columns={"annotator": "judge", "agreement": names[0], "n_shared": names[1]})
    for name, said in (("marked", "marks of a text"), ("people_marked", "people mark")):
        if name in judges:
            rows[said] = ["–" if share != share else f"{100 * share:.0f} %" for share in judges[name]]
    for name, said in (("bias", "above people"), ("scale", "width of scale")):
        if name in judges:
            columns = (judges[column] for column in (name, f"{name}_low", f"{name}_high"))
            rows[said] = [_figure(*row) for row in zip(*columns, strict=True)]
    print_table(rows, title=f"{what}: judges against people, with {95 if is_marked else 90} % intervals")
    beside = None if steady is None else _people(steady.judges).drop(columns="as most others", errors="ignore")
    if beside is not None and beside.shape[1] > 2:
        print_table(beside.rename(columns={"person": "judge"}), title=f"{what}: how steady judges are")


def _shown(table: "pd.DataFrame", *names: str) -> "pd.DataFrame":
    """A table with its figure and interval in one column."""
    *first, value, low, high, n = names
    rows = table[list(first)].copy()
    rows[value] = [_figure(*row) for row in zip(table[value], table[low], table[high], strict=True)]
    rows[n] = table[n]
    return rows


def _people(people: "pd.DataFrame") -> "pd.DataFrame":
    import pandas as pd

    rows: dict[str, Any] = {"person": people["annotator_id"], "answers": people["n_answers"]}
    for name, value, low, high in (
        ("as most others", "agreement", "low", "high"),
        ("same again", "same_again", "again_low", "again_high"),
        ("late less early", "drift", "drift_low", "drift_high"),
    ):
        if value in people and people[value].notna().any():
            rows[name] = [_figure(*row) for row in zip(people[value], people[low], people[high], strict=True)]
    return pd.DataFrame(rows)


def _figure(value: float, low: float, high: float) -> str:
    if value != value:
        return "–"
    return f"{value:.2f} [not known]" if low != low else f"{value:.2f} [{low:.2f}, {high:.2f}]"
