"""Opening the database: SQLite in one file, or PostgreSQL for teams, always brought up to the newest schema."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

import msgspec
from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    NoSuchModuleError,
    OperationalError,
)

from accord.errors import InputError, MissingDependencyError

__all__ = [
    "Connection",
    "Database",
    "DatabaseGoneError",
    "UnstorableError",
    "open_database",
    "wait_until_open",
]

# What callers of the store name: that the database does not answer, and that it cannot hold a value.
DatabaseGoneError = OperationalError
UnstorableError = DataError

# PostgreSQL runs one migration at a time under this advisory lock.
_MIGRATION_LOCK = 7_305_812


class Database:
    """An engine with the kinds of transaction that the store uses.

    SQLite has one writer. A writing transaction takes the write lock when it starts (``BEGIN IMMEDIATE``), so that it
    waits for its turn instead of failing half-way.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.is_sqlite = engine.dialect.name == "sqlite"

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection to read from."""
        with self.engine.connect() as connection:
            yield connection
            connection.commit()  # after a rollback the driver would forget the statements it has prepared

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A connection that sees the database as it is now, for as long as it is read."""
        with self.engine.connect() as connection:
            if not self.is_sqlite:  # a read of SQLite is one by itself
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction: all of it is kept when the block ends well, none of it otherwise."""
        with self.engine.connect() as connection:
            connection = connection.execution_options(accord_begin="BEGIN IMMEDIATE")
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def _on_sqlite_connect(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions are begun by the event below
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    # An acknowledged judgement survives a crash of the machine too, not only of the process.
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA busy_timeout=15000")
    cursor.close()


def _on_postgres_connect(connection: Any, _record: Any) -> None:
    # The statements are small and always the same; planning them anew each time costs more than running them.
    connection.autocommit = True
    connection.execute("SET plan_cache_mode = force_generic_plan")
    connection.autocommit = False


def _on_sqlite_begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("accord_begin", "BEGIN"))


def open_database(url: str, *, pool_size: int = 20, upgrade: bool = True) -> Database:
    """Open a database, creating or upgrading its tables.

    Parameters
    ----------
    url : str
        ``sqlite:///file.db`` or ``postgresql+psycopg://user@host/name``.
    pool_size : int
        Most connections held open.
    upgrade : bool
        Bring the tables up to date; without it they must be.

    Returns
    -------
    Database
    """
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise InputError(
            f"a database is named by a URL such as sqlite:///studio.db; {url!r} is not one. Give sqlite:///FILE or "
            "postgresql+psycopg://USER@HOST/NAME."
        ) from error
    if parsed.get_backend_name() == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise InputError(
            f"the studio's database is a file, so that it outlives the process; {url!r} names none. Give sqlite:///FILE."
        )
    if parsed.get_backend_name() not in {"sqlite", "postgresql"}:
        raise InputError(
            f"the database must be SQLite or PostgreSQL; {parsed.get_backend_name()!r} is neither. Give sqlite:///FILE "
            "or postgresql+psycopg://USER@HOST/NAME."
        )
    options: dict[str, Any] = {
        "pool_size": pool_size,
        "max_overflow": 10,
        "pool_timeout": 60,
        "pool_use_lifo": True,  # the connection used last has its statements prepared
        "json_serializer": lambda value: msgspec.json.encode(value).decode(),
        "json_deserializer": msgspec.json.decode,
    }
    try:
        if parsed.get_backend_name() == "sqlite":
            engine = create_engine(parsed, **options)
            event.listen(engine, "connect", _on_sqlite_connect)
            event.listen(engine, "begin", _on_sqlite_begin)
        else:
            engine = create_engine(parsed, pool_pre_ping=True, **options)
            event.listen(engine, "connect", _on_postgres_connect)
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise MissingDependencyError(
            f"PostgreSQL needs the psycopg driver ({error}). Install accord-learn[postgres] and use postgresql+psycopg://…"
        ) from error
    database = Database(engine)
    shown = parsed.render_as_string(hide_password=True)
    try:
        if upgrade:
            _upgrade(database)
    except DBAPIError as error:
        database.close()
        reason = str(error.orig).strip().splitlines()[0]
        raise InputError(
            f"the database {shown} cannot be opened: {reason}. Check the address, the file and the rights."
        ) from error
    except CommandError as error:
        database.close()
        raise InputError(
            f"the database {shown} was made by a newer version of Accord ({str(error).rstrip('.').lower()}). "
            "Install that version, or give another database."
        ) from error
    return database


def _upgrade(database: Database) -> None:
    config = Config()
    config.set_main_option("script_location", str(files("accord.store") / "migrations"))
    with database.write() as connection:
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def wait_until_open(url: str, *, seconds: float) -> Database:
    """Open a database that may still be starting, trying for some seconds."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return open_database(url)
        except InputError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
