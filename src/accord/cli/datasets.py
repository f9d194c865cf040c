"""``accord datasets``: the public corpora, how to get them, and whether they are whole."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from accord.cli.frame import Json, command_app, print_json, print_table, progress_bars
from accord.errors import MissingDataError

app = command_app()

Root = Annotated[
    Path | None, typer.Option("--root", help="The folder that holds the corpora; by default ACCORD_DATA names it.")
]


@app.callback(invoke_without_command=True)
def datasets(context: typer.Context, root: Root = None, json: Json = False) -> None:
    """List the public corpora: where each is looked for, how to get it, its licence and citation."""
    if context.invoked_subcommand is not None:
        return
    from accord.workflows.datasets import list_datasets

    listed = list_datasets(root)
    if json:
        print_json({"datasets": [asdict(entry) for entry in listed]})
        return
    for entry in listed:
        typer.echo(f"{entry.name} ({entry.kind}): {entry.title}")
        typer.echo(
            f"  {'found at' if entry.found else 'not found; looked at'}: {entry.found or ', '.join(entry.places)}"
        )
        typer.echo(f"  get it from: {entry.source}")
        typer.echo(f"  licence: {entry.licence}")
        typer.echo(f"  cite: {entry.citation}")
    if any(entry.found is None for entry in listed):
        typer.echo("Set ACCORD_DATA to the folder that holds the folders named above, or pass --root.")


@app.command()
def check(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="The corpora; all by default.")] = None,
    root: Root = None,
    json: Json = False,
) -> None:
    """Check that the corpora are there, that the files are the known ones, and that they are counted right."""
    import pandas as pd

    from accord.workflows.datasets import check_datasets

    with progress_bars(hidden=json) as progress:
        reports = check_datasets(names or (), root, progress=progress)
    if json:
        print_json(
            {
                "datasets": [
                    {
                        "name": report.name,
                        "ok": report.ok,
                        "folder": None if report.folder is None else str(report.folder),
                        "counts": {
                            what: {"found": found, "published": n} for what, (found, n) in report.counts.items()
                        },
                        "problems": list(report.problems),
                    }
                    for report in reports
                ]
            }
        )
    else:
        rows = [
            {
                "corpus": report.name,
                "state": "whole" if report.ok else "missing" if report.folder is None else "damaged",
                "counts right": f"{sum(found == n for found, n in report.counts.values())} of {len(report.counts)}",
                "found": ", ".join(f"{found:,} {what}" for what, (found, _) in report.counts.items() if found) or "–",
            }
            for report in reports
        ]
        print_table(pd.DataFrame(rows))
    bad = [report for report in reports if not report.ok]
    if bad:
        first = bad[0]
        others = f" ({len(bad)} of {len(reports)} corpora are not whole: {', '.join(report.name for report in bad)})"
        raise MissingDataError(f"{first.name}: {first.problems[0]}{others}")
