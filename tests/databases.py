"""Databases for tests: what uses the store runs on SQLite and on a real PostgreSQL server."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from sqlalchemy import text

from accord.store.database import open_database
from requirements import missing


def _find_postgres():
    for folder in [*os.environ.get("PATH", "").split(os.pathsep), *map(str, Path("/usr/lib/postgresql").glob("*/bin"))]:
        if (Path(folder) / "initdb").exists() and (Path(folder) / "pg_ctl").exists():
            return Path(folder)
    return None


@pytest.fixture(scope="session")
def postgres_url():
    """A PostgreSQL server of this test session, listening on a socket in its own folder."""
    binaries = _find_postgres()
    if binaries is None:
        missing("PostgreSQL is not installed (initdb and pg_ctl were not found).")
    folder = Path(tempfile.mkdtemp(prefix="accord-pg-"))
    as_user = []
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        shutil.chown(folder, "nobody")
        as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]

    def run(*command):
        subprocess.run([*as_user, *map(str, command)], check=True, capture_output=True, cwd=folder)

    data = folder / "data"
    run(binaries / "initdb", "-D", data, "-U", "accord", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c max_connections=200"
    run(binaries / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start")
    yield f"postgresql+psycopg://accord@/postgres?host={folder}"
    run(binaries / "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database_url(request, tmp_path):
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'studio.db'}"
        return
    url = request.getfixturevalue("postgres_url")
    server = open_server(url)
    name = f"t{os.getpid()}_{abs(hash(str(tmp_path))) % 10**12}"
    with server.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    yield url.replace("/postgres?", f"/{name}?")
    with server.connect() as connection:
        connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
    server.dispose()


def open_server(url):
    from sqlalchemy import create_engine

    return create_engine(url, isolation_level="AUTOCOMMIT")


@pytest.fixture
def database(database_url):
    database = open_database(database_url)
    yield database
    database.close()
