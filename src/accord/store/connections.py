"""Connections: a secret address a project, by which another program asks for suggestions and sends annotations.

Only the hash of the secret is stored. A connected project keeps its newest model beside it, so that suggestions need
no fitting; a project that nobody asks keeps none.
"""

import secrets
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from accord.data.project import Project
from accord.store.judgements import Judgement, append, effective
from accord.store.models import SavedModel, load_model, save_model
from accord.store.people import hash_token, now
from accord.store.tables import connections, judgements, scores

__all__ = [
    "ForeignAnswer",
    "connect",
    "disconnect",
    "get_model",
    "keep_model",
    "model_version",
    "pack_model",
    "project_of_token",
    "replace_answer",
    "unpack_model",
    "wants_model",
]

# A model that was given with a file is not replaced by the project's own.
_FROM_FILE = "file-"


@dataclass(frozen=True)
class ForeignAnswer:
    """An answer that another program keeps: its name there, when it was last changed, and a digest of what it says."""

    name: str
    changed_at: datetime | None
    digest: str

    @property
    def moment(self) -> str:
        """When it was changed, as a text that sorts."""
        return f"{0 if self.changed_at is None else max(0, int(self.changed_at.timestamp() * 1e6)):014x}"

    @property
    def request_id(self) -> str:
        """The name of this version of the answer among the judgements."""
        return f"{self.name}-{self.moment}-{self.digest}"


def connect(connection: Connection, project_id: int, *, created_by: int | None) -> str:
    """Open a project to another program; returns the secret. An earlier one stops working."""
    token = secrets.token_urlsafe(32)
    disconnect(connection, project_id)
    connection.execute(
        insert(connections).values(
            project_id=project_id, token_hash=hash_token(token), created_by=created_by, created_at=now()
        )
    )
    # Models of unconnected projects are not kept: let the worker look at this one again.
    connection.execute(update(scores).where(scores.c.project_id == project_id).values(last_judgement=-1))
    return token


def disconnect(connection: Connection, project_id: int) -> bool:
    """Close a project again; returns whether it was open."""
    return connection.execute(delete(connections).where(connections.c.project_id == project_id)).rowcount > 0


def project_of_token(connection: Connection, token: str) -> int | None:
    """The project that a secret opens, or ``None``."""
    return connection.execute(
        select(connections.c.project_id).where(connections.c.token_hash == hash_token(token))
    ).scalar()


def wants_model(connection: Connection, project_id: int) -> bool:
    """Whether a project is connected and serves its own model."""
    row = connection.execute(select(connections.c.model_version).where(connections.c.project_id == project_id)).first()
    return row is not None and not (row.model_version or "").startswith(_FROM_FILE)


def keep_model(
    connection: Connection, project_id: int, packed: bytes, *, version: str, from_file: bool = False
) -> None:
    """Store the model that a connected project is served with."""
    if from_file or wants_model(connection, project_id):
        name = f"{_FROM_FILE if from_file else ''}{version}"
        connection.execute(
            update(connections)
            .where(connections.c.project_id == project_id)
            .values(model_version=name[:60], model=packed)
        )


def model_version(connection: Connection, project_id: int) -> str | None:
    """The version of the model that a project is served with, or ``None`` before there is one."""
    return connection.execute(
        select(connections.c.model_version).where(connections.c.project_id == project_id)
    ).scalar()


def get_model(connection: Connection, project_id: int) -> SavedModel | None:
    """The model that a project is served with, or ``None`` before there is one."""
    packed = connection.execute(select(connections.c.model).where(connections.c.project_id == project_id)).scalar()
    return None if packed is None else unpack_model(packed)


def pack_model(model: Any, project: Project) -> bytes:
    """A fitted model as the bytes of a model file."""
    with tempfile.TemporaryDirectory(prefix="accord-model-") as folder:
        return save_model(model, Path(folder) / "model.accord", kind=project.kind, project=project).read_bytes()


def unpack_model(packed: bytes) -> SavedModel:
    """The model in the bytes of a model file."""
    with tempfile.TemporaryDirectory(prefix="accord-model-") as folder:
        path = Path(folder) / "model.accord"
        path.write_bytes(packed)
        return load_model(path)


def replace_answer(
    connection: Connection, project_id: int, answer: ForeignAnswer, rows: Sequence[Judgement] | None
) -> tuple[int, int]:
    """Make an answer what it is in the other program now; returns the number of rows added and taken back.

    ``rows`` of ``None`` says that it was deleted. An answer that comes again changes nothing, nor does one that is
    older than what is stored, nor anything that comes after the deletion.
    """
    stored = set(
        connection.execute(
            select(judgements.c.request_id).where(
                judgements.c.project_id == project_id,
                judgements.c.request_id.startswith(f"{answer.name}-", autoescape=True),
            )
        ).scalars()
    )
    request = f"{answer.name}-deleted" if rows is None else answer.request_id
    newest = max((name.split("-")[-2] for name in stored if not name.endswith("-deleted")), default="")
    if f"{answer.name}-deleted" in stored or request in stored or (rows is not None and answer.moment < newest):
        return 0, 0
    standing = set(
        connection.execute(
            effective(project_id, judgements.c.request_id).where(judgements.c.request_id.in_(stored))
        ).scalars()
    )
    undone = [
        Judgement(request, "undo", status="undo", undoes=old, part=-1 - place)
        for place, old in enumerate(sorted(standing))
    ]
    if rows is None and not undone:  # so that a late message does not bring it back
        undone = [Judgement(request, "undo", status="undo", part=-1)]
    append(connection, project_id, undone)
    return append(connection, project_id, rows or ()), len(standing)
