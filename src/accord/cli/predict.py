"""``accord predict``: apply a model to a project, or to a Parquet file of any size."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from accord.cli.frame import (
    OTHER_MODEL,
    Json,
    Scheduler,
    WorkerCount,
    command_app,
    opened_project,
    print_json,
    print_table,
    progress_bars,
    records,
    texts_of,
    workers_of,
)

if TYPE_CHECKING:
    import pandas as pd

    from accord.data.project import Project

app = command_app()


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="A model that 'accord train' saved.")],
    project: Annotated[
        str, typer.Argument(help="The project's folder, example:NAME, a raw table, or with OUTPUT a Parquet file.")
    ],
    output: Annotated[
        Path | None, typer.Argument(help="Read the Parquet file in blocks, and write this one; see also --workers.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write a .csv, .tsv, .jsonl, .parquet, .xlsx or .html instead of printing.")
    ] = None,
    links: Annotated[Path | None, typer.Option(help="With OUTPUT, of a model of links: their Parquet file.")] = None,
    workers: WorkerCount = None,
    scheduler: Scheduler = None,
    json: Json = False,
) -> None:
    """Apply a model to a project, or to a Parquet file of any size."""
    if output is not None:
        _in_blocks(model, project, output, links, workers, scheduler, json)
        return
    from accord.data.replacing import check_place
    from accord.errors import InputError
    from accord.store.models import load_model
    from accord.workflows.export import FORMATS, write_frame
    from accord.workflows.predict import predict as run
    from accord.workflows.report import predictions_report, write_report
    from accord.workflows.trained_on import notes_on

    if links is not None or workers is not None or scheduler is not None:
        raise InputError("--links, --workers and --scheduler are for Parquet files; name the OUTPUT after the input.")
    if out is not None:
        check_place(out, endings=(*(f".{name}" for name in FORMATS), ".html"))
    saved = load_model(model)
    opened = opened_project(project, saved.kind, cure=OTHER_MODEL, unanswered=True)
    table = run(saved, opened)
    notes = notes_on(saved, opened, table)
    if out is not None and out.suffix.lower() == ".html":
        write_report(predictions_report(opened, table, title=f"Predictions of {model.stem}"), out)
    elif out is not None:
        write_frame(_with_texts(table, opened), out)
    for note in notes:
        typer.echo(f"note: {note}.", err=True)
    if json:
        print_json({"kind": saved.kind, "rows": records(table), "notes": notes})
    elif out is None:
        _print(table, opened)
    else:
        typer.echo(f"{out}: {len(table):,} rows.")


def _print(table: "pd.DataFrame", opened: "Project") -> None:
    """What the model says, with the texts; judgements that people gave are counted."""
    from accord.data.reading.rows import is_made

    shown = table
    if "given" in shown and not shown["given"].all():
        shown = shown[~shown["given"].astype(bool)].drop(columns="given")
    if "item_id" in shown:
        shown = shown.assign(text=shown["item_id"].map(texts_of(opened)))
        if all(is_made(name) for name in shown["item_id"]):
            shown = shown.drop(columns="item_id")
    elif "left" in shown:
        texts = texts_of(opened)
        for side in ("left", "right"):
            shown = shown.assign(**{side: [texts.get(name, "") if is_made(name) else name for name in shown[side]]})
    print_table(shown)
    if len(shown) < len(table):
        typer.echo(f"Not shown: {len(table) - len(shown):,} that people judged. See all with --out FILE or --json.")


def _with_texts(table: "pd.DataFrame", opened: "Project") -> "pd.DataFrame":
    """The same rows, with the text beside each id where Accord made an id: it is in no file of the user."""
    from accord.data.reading.rows import is_made

    named = {"item_id": "text", "left": "left_text", "right": "right_text"}
    named = {ids: text for ids, text in named.items() if ids in table}
    if not any(is_made(name) for ids in named for name in table[ids].unique()):
        return table
    wide = table.copy()
    for ids, text in named.items():
        wide.insert(list(wide.columns).index(ids) + 1, text, table[ids].map(texts_of(opened)))
    return wide


def _in_blocks(
    model: Path, source: str, output: Path, links: Path | None, n_workers: int | None, scheduler: str | None, json: bool
) -> None:
    import time

    from accord.workflows.predict_parquet import predict_parquet

    start = time.perf_counter()
    with progress_bars(hidden=json) as progress:
        done = predict_parquet(
            model, source, output, links=links, workers=workers_of(n_workers, scheduler), progress=progress
        )
    seconds = time.perf_counter() - start
    if json:
        print_json(
            {
                "kind": done.kind,
                "output": str(output),
                "n_rows": done.n_rows,
                "n_blocks": done.n_blocks,
                "n_resumed": done.n_resumed,
                "seconds": round(seconds, 3),
            }
        )
        return
    resumed = f", {done.n_resumed:,} of them by an earlier run" if done.n_resumed else ""
    typer.echo(f"{output}: {done.n_rows:,} rows in {done.n_blocks:,} blocks{resumed}, {seconds:.1f} s.")
