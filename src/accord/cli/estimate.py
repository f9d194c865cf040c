"""``accord estimate``: figures about people's answers from few people and many judges."""

from dataclasses import asdict
from typing import Annotated

import typer

from accord.cli.frame import Json, command_app, print_json
from accord.errors import InputError

app = command_app()


@app.command()
def estimate(
    project: Annotated[str, typer.Argument(help="The project's folder, or example:NAME.")],
    share: Annotated[str | None, typer.Option(help="The label whose share of the texts is wanted.")] = None,
    mean: Annotated[str | None, typer.Option(help="The aspect whose mean score is wanted.")] = None,
    wins: Annotated[str | None, typer.Option(help="The text whose win rate is wanted.")] = None,
    ranks: Annotated[str | None, typer.Option(metavar="A,B", help="Two texts whose ranks are compared.")] = None,
    level: Annotated[float, typer.Option(help="Confidence of the interval.")] = 0.95,
    json: Json = False,
) -> None:
    """Estimate a share, a mean, a win rate or a difference of ranks, whatever the judges' biases are."""
    from accord.workflows.estimate import estimate as run
    from accord.workflows.projects import open_project

    two = None if ranks is None else tuple(name.strip() for name in ranks.split(","))
    if two is not None and len(two) != 2:
        raise InputError(f"--ranks names two texts with a comma between, such as a,b; got {ranks!r}.")
    figure = run(open_project(project), share=share, mean=mean, wins=wins, ranks=two and (two[0], two[1]), level=level)
    if json:
        found = asdict(figure.estimate)
        print_json({"what": figure.what, "level": level, **found, "gain": figure.estimate.gain, "notes": figure.notes})
    else:
        for sentence in figure.sentences:
            typer.echo(sentence)
