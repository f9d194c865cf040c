"""Databases for tests: what uses the store runs on SQLite and on a real PostgreSQL server."""

import os
import shutil
import socket
import subprocess
import tempfile
import uuid
from contextlib import closing, suppress
from pathlib import Path

import psutil
import pytest
from sqlalchemy import create_engine, text

from accord.store.database import open_database
from requirements import missing


def _find_postgres():
    folders = [*os.environ.get("PATH", "").split(os.pathsep), *map(str, Path("/usr/lib/postgresql").glob("*/bin"))]
    for folder in folders:
        if (Path(folder) / "initdb").exists() and (Path(folder) / "pg_ctl").exists():
            return Path(folder)
    return None


class PostgresServer:
    """A PostgreSQL server of its own, listening on a socket in its own folder."""

    def __init__(self):
        binaries = _find_postgres()
        if binaries is None:
            missing("PostgreSQL is not installed (initdb and pg_ctl were not found).")
        self._binaries = binaries
        self._folder = Path(tempfile.mkdtemp(prefix="accord-pg-"))
        self._as_user = []
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            shutil.chown(self._folder, "nobody")
            self._as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        self._data = self._folder / "data"
        self._run("initdb", "-D", self._data, "-U", "accord", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
        self.url = f"postgresql+psycopg://accord@/postgres?host={self._folder}"

    def _run(self, program, *arguments):
        command = [*self._as_user, str(self._binaries / program), *map(str, arguments)]
        subprocess.run(command, check=True, cwd=self._folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start(self):
        options = f"-c listen_addresses='' -c unix_socket_directories={self._folder} -c max_connections=200"
        self._run("pg_ctl", "-D", self._data, "-w", "-l", self._folder / "log", "-o", options, "start")

    def kill(self):
        """Kill the server and all its processes at once, as a crash would."""
        pid = int((self._data / "postmaster.pid").read_text().splitlines()[0])
        processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(processes, timeout=10)

    def remove(self):
        subprocess.run(
            [*self._as_user, str(self._binaries / "pg_ctl"), "-D", str(self._data), "-m", "immediate", "stop"],
            check=False, cwd=self._folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        shutil.rmtree(self._folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_url():
    """The address of a PostgreSQL server that the whole test session shares."""
    server = PostgresServer()
    server.start()
    yield server.url
    server.remove()


@pytest.fixture
def own_postgres():
    """A PostgreSQL server for one test, which may kill it."""
    server = PostgresServer()
    server.start()
    yield server
    server.remove()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database_url(request, tmp_path):
    """The address of an empty database, of each kind in turn."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'studio.db'}"
        return
    url = request.getfixturevalue("postgres_url")
    server = create_engine(url, isolation_level="AUTOCOMMIT")
    name = f"t{uuid.uuid4().hex}"
    with server.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    yield url.replace("/postgres?", f"/{name}?")
    with server.connect() as connection:
        connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
    server.dispose()


@pytest.fixture
def database(database_url):
    """An open, empty database, of each kind in turn."""
    database = open_database(database_url)
    yield database
    database.close()


@pytest.fixture
def free_port():
    """A port on which nobody listens."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
