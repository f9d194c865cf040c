"""``accord studio``: the web page where people judge."""

from pathlib import Path
from typing import Annotated

import typer

from accord.cli.frame import command_app
from accord.errors import InputError, MissingDependencyError

app = command_app()


@app.command()
def studio(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", help="Texts to make a project of, if --ask asks.")
    ] = None,
    ask: Annotated[
        str | None, typer.Option("--ask", metavar="QUESTION", help="The question about the texts: which is clearer?")
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(help="sqlite:///FILE or postgresql+psycopg://USER@HOST/NAME; by default a file of your own."),
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Start with the example projects and guests' accounts.")] = False,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8765,
    https: Annotated[bool, typer.Option("--https", help="Behind an HTTPS proxy: cookies over HTTPS only.")] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name by which the studio is reached, such as that of an HTTPS proxy."),
    ] = None,
    worker: Annotated[
        bool, typer.Option("--worker/--no-worker", help="Fit models beside; of several on one database one does.")
    ] = True,
    backup: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write everything to a file and stop; a studio may run meanwhile."),
    ] = None,
    restore: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Fill an empty database from a backup, and stop.")
    ] = None,
    log: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a line of JSON for each request to a file; - is stderr.")
    ] = None,
    label_studio: Annotated[
        str | None,
        typer.Option(metavar="PROJECT", help="Make a new secret address of a project, as a model for Label Studio."),
    ] = None,
    label_studio_model: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A model of 'accord train' to suggest with, in place of the project's own."),
    ] = None,
) -> None:
    """Open the web page where people judge."""
    try:
        from accord.studio.server import Address, add_project, default_database, serve
    except ModuleNotFoundError as error:
        raise MissingDependencyError(f"the studio needs {error.name}. Install accord-learn[studio].") from error

    if label_studio_model is not None and label_studio is None:
        raise InputError("--label-studio-model needs the project that it serves. Give --label-studio PROJECT too.")

    if bool(files) != (ask is not None):
        raise InputError('texts and a question belong together: accord studio texts.txt --ask "Which is clearer?".')
    url = default_database(demo=demo) if database is None else database
    if backup is not None or restore is not None:
        from accord.studio.server import back_up_to, restore_from

        if backup is not None and restore is not None:
            raise InputError("--backup reads a database and --restore fills one; give one of them.")
        done = back_up_to(url, backup) if backup is not None else restore_from(url, restore or Path())
        rows = sum(done.values())
        typer.echo(
            f"{rows:,} rows of {len(done)} tables {'written to' if backup else 'restored from'} {backup or restore}."
        )
        return
    if files and ask is not None:
        typer.echo(f"{add_project(url, files, question=ask)} is a new project.")

    def announce(address: Address) -> None:
        typer.echo(f"Accord studio: {address.url}")
        if address.first_link is not None:
            typer.echo(f"First owner, once: {address.first_link}")
        if address.label_studio is not None:
            typer.echo(f"For Label Studio, secret: {address.label_studio}")
        typer.echo("Stop with Ctrl-C.")

    serve(
        url,
        host=host,
        port=port,
        demo=demo,
        announce=announce,
        secure_cookies=https,
        hosts=allow_host or (),
        label_studio=label_studio,
        label_studio_model=label_studio_model,
        log=log,
        worker=worker,
    )
