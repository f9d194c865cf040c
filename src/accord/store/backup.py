"""Backup and restore: every row of every table in one file, the same for SQLite and PostgreSQL.

A backup is read in one transaction, so that it is consistent while people answer. It is a zip file of one text file a
table, one JSON array a line, and it is restored into a database that is empty.
"""

import base64
import json
import zipfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, DateTime, LargeBinary, Table, func, insert, select, text

from accord.errors import InputError
from accord.store.database import Database
from accord.store.tables import metadata, people, projects, secrets

__all__ = ["back_up", "restore"]

_FORMAT = "accord-backup-1"
_BATCH = 2_000
_LONGEST_LINE = 64 * 2**20


def back_up(database: Database, path: Path) -> dict[str, int]:
    """Write all rows to a new file; returns how many each table has. People may answer meanwhile."""
    if path.exists():
        raise InputError(f"a backup is written to a new file; {path} is there already. Give another name.")
    part = path.with_name(path.name + ".part")
    counts = {}
    try:
        with database.snapshot() as connection, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            version = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
            archive.writestr("accord.json", json.dumps({"format": _FORMAT, "schema": version}))
            for table in metadata.sorted_tables:
                with archive.open(f"{table.name}.jsonl", "w", force_zip64=True) as out:
                    out.write(json.dumps([column.name for column in table.c]).encode() + b"\n")
                    counts[table.name] = 0
                    for rows in _rows(connection, table):
                        out.write(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
                        counts[table.name] += len(rows)
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)
    return counts


def _rows(connection: Connection, table: Table) -> Iterator[list[list[Any]]]:
    order = list(table.primary_key.columns)
    result = connection.execution_options(yield_per=_BATCH).execute(select(table).order_by(*order))
    for part in result.partitions():
        yield [[_plain(value) for value in row] for row in part]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def restore(database: Database, path: Path) -> dict[str, int]:
    """Put the rows of a backup into an empty database, all or nothing; returns how many each table has."""
    try:
        archive = zipfile.ZipFile(path)
        about = json.loads(archive.read("accord.json"))
    except (OSError, zipfile.BadZipFile, KeyError, ValueError) as error:
        raise InputError(f"a backup is a file that --backup wrote; {path} is not one: {error}.") from None
    with archive, database.write() as connection:
        version = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
        if about.get("format") != _FORMAT or about.get("schema") != version:
            raise InputError(
                f"a backup is restored by the version of Accord that wrote it (schema {version}); this one has schema "
                f"{about.get('schema')!r}. Install that version, restore, then upgrade."
            )
        for table in (people, projects):
            if connection.execute(select(func.count()).select_from(table)).scalar_one():
                raise InputError(
                    f"a backup is restored into an empty database; this one has {table.name}. Give another."
                )
        connection.execute(secrets.delete())  # drawn when the database was first opened
        counts = {table.name: _fill(connection, table, archive) for table in metadata.sorted_tables}
        if not database.is_sqlite:
            for table in metadata.sorted_tables:
                if "id" in table.c:
                    connection.execute(_NEXT_KEY.bindparams(name=table.name, last=_last(connection, table)))
    return counts


_NEXT_KEY = text("SELECT setval(pg_get_serial_sequence(:name, 'id'), :last)")


def _last(connection: Connection, table: Table) -> int:
    return int(connection.execute(select(func.coalesce(func.max(table.c.id), 0) + 1)).scalar_one())


def _fill(connection: Connection, table: Table, archive: zipfile.ZipFile) -> int:
    with archive.open(f"{table.name}.jsonl") as lines:
        names = json.loads(lines.readline(_LONGEST_LINE))
        if set(names) != {column.name for column in table.c}:
            raise InputError(f"the backup's table {table.name} has other columns than this version of Accord.")
        readers = [_READERS.get(type(table.c[name].type), _same) for name in names]
        count, batch = 0, []
        while line := lines.readline(_LONGEST_LINE):
            values = msgspec.json.decode(line)
            batch.append(
                dict(zip(names, (read(value) for read, value in zip(readers, values, strict=True)), strict=True))
            )
            count += 1
            if len(batch) == _BATCH:
                _insert(connection, table, batch)
                batch = []
        _insert(connection, table, batch)
    return count


def _insert(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def _same(value: Any) -> Any:
    return value


def _moment(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)


def _bytes(value: str | None) -> bytes | None:
    return None if value is None else base64.b64decode(value)


_READERS: dict[type, Any] = {DateTime: _moment, LargeBinary: _bytes}
