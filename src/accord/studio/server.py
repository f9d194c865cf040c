"""Starting the studio: database, first owner, demonstration, worker and web server."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from accord.errors import InputError
from accord.store import connections, people, projects
from accord.store.backup import back_up, restore
from accord.store.database import Database, open_database
from accord.store.models import load_model
from accord.studio import limited
from accord.studio.app import create_app
from accord.studio.logs import start_log
from accord.studio.protocol import BoundedProtocol
from accord.workflows.exchange import remove_unfinished, store_project
from accord.workflows.import_ import project_of_files
from accord.workflows.projects import EXAMPLES, open_example

__all__ = [
    "Address",
    "add_project",
    "back_up_to",
    "connect_label_studio",
    "default_database",
    "prepare",
    "restore_from",
    "serve",
]


# Example: the project's name, the question people see, and guidelines.
_DEMONSTRATION = {
    "arguments": (
        "Arguments",
        "Which argument is more convincing?",
        "Judge the argument, not whether you agree. A good argument gives a reason and says why it matters.",
    ),
    "cafe-threads": (
        "Café: questions and comments",
        "Does each comment help the person who asked?",
        "Good answers the question or helps to. Bad does not, however friendly it is.",
    ),
    "cafe-reviews": ("Café: reviews", "How does this review score the café?", "Score what the text says. 1 is worst."),
    "cafe-statements": ("Café: statements", "Which side does this statement take?", ""),
    "cafe-notes": ("Café: notes", "Is this note praise or complaint, and which words made you decide?", ""),
}


@dataclass(frozen=True)
class Address:
    """Where the studio listens, and the link that the first person opens (``None`` once there is an owner)."""

    url: str
    first_link: str | None
    label_studio: str | None = None  # the address of the project that was asked for


def default_database(*, demo: bool = False) -> str:
    """The embedded database in the user's data folder."""
    from platformdirs import user_data_path

    folder = user_data_path("accord")
    folder.mkdir(parents=True, exist_ok=True)
    return f"sqlite:///{folder / ('demo.db' if demo else 'studio.db')}"


def prepare(database: Database, *, demo: bool) -> str | None:
    """Make the demonstration's projects and, where nobody has an account, a one-time link for the first owner."""
    remove_unfinished(database)
    with database.read() as connection:
        is_empty = not projects.all_projects(connection)
    if demo and is_empty:
        for name in reversed(EXAMPLES):  # the newest project is listed first
            title, question, guidelines = _DEMONSTRATION.get(name, (name, "", ""))
            store_project(
                database,
                open_example(name),
                name=title,
                question=question,
                guidelines=guidelines,
                created_by=None,
                settings={"open": True},  # guests vote a little, then look at the ranking
            )
    with database.write() as connection:
        if people.count_people(connection):
            return None
        return people.create_invite(connection, project_id=None, role="owner", created_by=None)


def back_up_to(database_url: str, path: Path) -> dict[str, int]:
    """Write all of a database to a file, also while a studio runs on it; returns the rows of each table."""
    database = open_database(database_url)
    try:
        return back_up(database, path)
    finally:
        database.close()


def restore_from(database_url: str, path: Path) -> dict[str, int]:
    """Fill an empty database from a backup; returns the rows of each table."""
    database = open_database(database_url)
    try:
        return restore(database, path)
    finally:
        database.close()


def add_project(database_url: str, paths: Sequence[Path], *, question: str) -> str:
    """Make a project of people's files, with a question about its texts; gives its name."""
    project = project_of_files(paths)
    name = paths[0].stem.replace("_", " ")
    database = open_database(database_url)
    try:
        store_project(database, project, name=name, question=question, created_by=None)
    finally:
        database.close()
    return name


def connect_label_studio(database: Database, name: str, *, model: Path | None = None) -> str:
    """Open a project, given by its number or name, to Label Studio; returns the path of the secret address.

    With a model file that model makes the suggestions, whatever the project's own says.
    """
    with database.write() as connection:
        found = [entry for entry in projects.all_projects(connection) if name in (str(entry.id), entry.name)]
        if len(found) != 1:
            raise InputError(
                f"--label-studio names one project by its number or name; {len(found)} are called {name!r}. "
                "The number is part of the address of its pages."
            )
        (project,) = found
        token = connections.connect(connection, project.id, created_by=None)
        if model is not None:
            saved = load_model(model)
            if saved.kind != project.kind:
                raise InputError(f"a model of {saved.kind} cannot serve a project of {project.kind}. Give another one.")
            connections.keep_model(
                connection, project.id, model.read_bytes(), version=saved.fingerprint, from_file=True
            )
        return f"/api/label-studio/{project.id}/{token}"


def serve(
    database_url: str,
    *,
    host: str,
    port: int,
    demo: bool,
    announce: Callable[[Address], None],
    secure_cookies: bool = False,
    hosts: Sequence[str] = (),
    label_studio: str | None = None,
    label_studio_model: Path | None = None,
    log: str | None = None,
    worker: bool = True,
) -> None:
    """Run the studio until it is stopped; ``log`` names a file for a line of JSON a request (``-``: stderr).

    Several may run on one PostgreSQL database; one of them has the ``worker``.
    """
    import uvicorn

    database = open_database(database_url)
    token = prepare(database, demo=demo)
    backend = None
    if label_studio is not None:
        backend = connect_label_studio(database, label_studio, model=label_studio_model)
    url = f"{'https' if secure_cookies else 'http'}://{host}:{port}"
    limited.prepare()
    # Threads give way to each other after 0.1 ms, so that no request waits long for another one's Python code.
    sys.setswitchinterval(0.0001)
    start_log(log)
    app = create_app(database, demo=demo, secure_cookies=secure_cookies, hosts=(host, *hosts))
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            host=host,
            port=port,
            http=BoundedProtocol,
            log_level="warning",
            access_log=False,
            timeout_keep_alive=75,
        )
    )
    stop = threading.Event()
    keeper = threading.Thread(target=_keep_worker, args=(database_url, stop), name="accord-worker-keeper", daemon=True)
    if worker:
        keeper.start()
    announce(
        Address(url, None if token is None else f"{url}/join/{token}", None if backend is None else f"{url}{backend}")
    )
    try:
        server.run()
    except SystemExit as error:
        raise InputError(f"the address {host}:{port} cannot be used; is another program there? Try --port.") from error
    finally:
        stop.set()
        if worker:
            keeper.join(timeout=5.0)
        database.close()


def _keep_worker(url: str, stop: threading.Event) -> None:
    """Keep one worker process alive; one that dies is started again, ever more slowly."""
    pause = 1.0
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    # The address goes by the environment: it may hold a password, and anybody can read a command line.
    environment = {**os.environ, **one_thread, "ACCORD_DATABASE": url, "ACCORD_STUDIO": str(os.getpid())}
    while not stop.is_set():
        started = time.monotonic()
        command = [sys.executable, "-m", "accord.studio.worker"]
        process = subprocess.Popen(command, env=environment, cwd=Path.cwd())
        while process.poll() is None and not stop.wait(0.5):
            pass
        if stop.is_set():
            process.terminate()
            process.wait(timeout=5.0)
            return
        pause = 1.0 if time.monotonic() - started > 60.0 else min(60.0, 2.0 * pause)
        stop.wait(pause)
