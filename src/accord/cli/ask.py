"""``accord ask``: which questions are worth asking next."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from accord.cli.frame import (
    Json,
    NamedProject,
    command_app,
    kind_and_project,
    opened_project,
    print_json,
    print_table,
    progress_bars,
    records,
    shortened,
    texts_of,
)
from accord.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from accord.data.project import Project

app = command_app()
_SIDE = 50  # characters of a text that has no name


@app.command()
def ask(
    words: NamedProject,
    n: Annotated[int, typer.Option("-n", "--number", help="How many questions.")] = 10,
    model: Annotated[Path | None, typer.Option("--model", "-m", help="A saved model; else one is trained.")] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            help="information (what is told about the other texts), accuracy (how many other labels are put right), "
            "uncertainty, coverage or random; of pairs: bald, uncertainty or transfer (information about other groups)."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the draws of texts.")] = 0,
    cost: Annotated[
        str | None,
        typer.Option(
            metavar="QUESTION=TIME,…",
            help="How long a question takes, as in label=5s,highlight=20s; else it is measured from the answers. "
            "Questions that are named are chosen among, by information per second.",
        ),
    ] = None,
    questions: Annotated[
        str | None,
        typer.Option(
            metavar="QUESTION,…",
            help="The questions among which is chosen: label, highlight (rationales), scores, score (aspects).",
        ),
    ] = None,
    who: Annotated[
        bool,
        typer.Option("--who", help="Also say whom to ask: who answers best, was not asked before and is not busy."),
    ] = False,
    rest: Annotated[
        bool,
        typer.Option("--rest", help="Also say how good the model is on the rest, and what more answers add (16 fits)."),
    ] = False,
    json: Json = False,
) -> None:
    """Say which questions are worth asking next."""
    from accord.store.models import load_model
    from accord.workflows.ask import ask as run
    from accord.workflows.costs import costs_of, parse_costs
    from accord.workflows.stopping import estimate_rest
    from accord.workflows.who import with_people

    saved = None if model is None else load_model(model)
    kind, project = kind_and_project(words)
    opened = opened_project(project, kind or (None if saved is None else saved.kind))
    times = None if cost is None else parse_costs(cost, opened.kind)
    named = None if questions is None else [part.strip() for part in questions.split(",") if part.strip()]
    if named == []:
        raise InputError(f"--questions names what may be asked, as in label,highlight; got {questions!r}.")
    with progress_bars(hidden=json) as progress:
        table = run(saved, opened, n=n, strategy=strategy, seed=seed, cost=times, questions=named, progress=progress)
        table = with_people(table, opened, seed=seed) if who else table
        found, notes = estimate_rest(saved, opened, seed=seed, progress=progress) if rest else (None, [])
    if json:
        left = {} if found is None else {"rest": {**asdict(found), "sentence": found.sentence, "notes": notes}}
        seconds = {name: asdict(one) for name, one in costs_of(opened, times).items()}
        print_json({"kind": opened.kind, "rows": records(table), "costs": seconds, **left})
        return
    print_table(_readable(table, opened), title="Ask next")
    if "gain" in table and table["gain"].notna().any():
        told = "; p_left: the probability that the left text wins" if "p_left" in table else ""
        typer.echo(f"gain: {_gain(table)}{told}.")
    if opened.kind == "pairs" and "gain" not in table:
        typer.echo("strategy: no vote is known yet, so each text is met first, and the texts of a group are connected.")
    if who:
        typer.echo("who: to whom the question goes; of 100 questions 15 go to anybody, so that nobody is left out.")
    asked = set(table["question"]) if "question" in table else {"vote"}
    if "aspect" in table and table.loc[table["question"] == "scores", "aspect"].notna().any():
        typer.echo("aspect: the one that would tell most if one alone were scored; 'scores' asks for all of them.")
    for name, one in costs_of(opened, times).items():
        if name in asked:
            typer.echo(one.sentence)
    for sentence in [] if found is None else [found.sentence, *notes]:
        typer.echo(sentence)


def _gain(table: "pd.DataFrame") -> str:
    """What the column of gains holds, in words."""
    ways = set(table["strategy"]) if "strategy" in table else set()
    if "accuracy" in ways:
        return "how many labels of other texts an answer is expected to put right"
    if "uncertainty" in ways:
        return "how unsure the model is of the answer, in nats"
    if "information" in ways and not ({"score", "scores"} & set(table["question"])):
        return "how much an answer is expected to tell about the other texts, in nats"
    return "how much an answer is expected to tell"


def _readable(table: "pd.DataFrame", opened: "Project") -> "pd.DataFrame":
    """The questions with texts in the place of ids that Accord made, which say nothing to people."""
    from accord.data.reading.rows import is_made

    sides = [name for name in ("left", "right") if name in table]
    if sides:
        texts = texts_of(opened)
        words = {name: shortened(str(texts.get(name, name)), _SIDE) for side in sides for name in table[side]}
        return table.assign(
            **{side: [words[name] if is_made(name) else name for name in table[side]] for side in sides}
        )
    shown = table if table["gain"].notna().any() else table.drop(columns="gain")
    if not any(is_made(name) for name in table["item_id"]):
        return shown
    shown = shown.copy()
    shown.insert(1, "text", table["item_id"].map(texts_of(opened)))
    if opened.kind == "threads":  # one comment may stand in several threads
        threads = opened.frames()["items"].set_index("item_id")["group_id"].astype(object)
        shown.insert(0, "group_id", table["item_id"].map(threads))
    return shown.drop(columns="item_id") if all(is_made(name) for name in table["item_id"]) else shown
