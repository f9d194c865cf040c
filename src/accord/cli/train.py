"""``accord train``: fit a model on a project and save it."""

from pathlib import Path
from typing import Annotated

import typer

from accord.cli.frame import (
    GuessedProject,
    Json,
    Scheduler,
    Settings,
    WorkerCount,
    command_app,
    kind_and_project,
    opened_project,
    print_json,
    progress_bars,
    workers_of,
)

app = command_app()


@app.command()
def train(
    words: GuessedProject,
    model: Annotated[Path, typer.Option("--model", "-m", help="Where to save the model.")],
    settings: Settings = None,
    vectors: Annotated[
        str | None,
        typer.Option(
            metavar="ENCODER",
            help="Vectors of texts beside their words: a file of word vectors, the folder of a saved model, "
            "model2vec:NAME or sentence-transformers:NAME. Not for pairs.",
        ),
    ] = None,
    workers: WorkerCount = None,
    scheduler: Scheduler = None,
    json: Json = False,
) -> None:
    """Train a model on a project and save it."""
    from accord.errors import InputError
    from accord.fitting.settings import parse_settings
    from accord.workflows.judged import learnt_from
    from accord.workflows.train import train as run

    kind, project = kind_and_project(words)
    opened = opened_project(project, kind)
    if opened.kind == "pairs" and vectors is not None:
        raise InputError(
            f"--vectors is for threads, aspects, links and rationales; {project} holds pairs. "
            "Give vectors of pairs from Python, as a matrix: Items.with_features."
        )
    with progress_bars(hidden=json) as progress:
        saved = run(
            opened,
            model,
            settings={**({} if vectors is None else {"vectors": vectors}), **parse_settings(settings or [])},
            progress=progress,
            workers=workers_of(workers, scheduler),
        )
    if json:
        print_json(
            {
                "model": str(model),
                "kind": saved.kind,
                "version": saved.version,
                "fingerprint": saved.fingerprint,
                "counts": opened.counts,
                "settings": saved.settings,
            }
        )
    else:
        typer.echo(f"{model}: a model of {saved.kind}, trained on {learnt_from(opened)}.")
