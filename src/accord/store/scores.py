"""What the model last said of a project; derived, and replaced whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from accord.store.people import now
from accord.store.tables import scores

__all__ = ["Scores", "get_scores", "put_scores", "seen"]


@dataclass(frozen=True)
class Scores:
    """A fitted model's results: what the pages show."""

    model_version: int
    n_judgements: int
    last_judgement: int
    fitted_at: datetime
    seconds: float
    result: Mapping[str, Any]


def put_scores(
    connection: Connection,
    project_id: int,
    *,
    n_judgements: int,
    last_judgement: int,
    seconds: float,
    result: Mapping[str, Any],
) -> int:
    """Replace a project's results; returns the new model version."""
    old = connection.execute(select(scores.c.model_version).where(scores.c.project_id == project_id)).scalar()
    version = (old or 0) + 1
    connection.execute(delete(scores).where(scores.c.project_id == project_id))
    connection.execute(
        insert(scores).values(
            project_id=project_id, model_version=version, n_judgements=n_judgements, last_judgement=last_judgement,
            fitted_at=now(), seconds=seconds, result=dict(result),
        )
    )  # fmt: skip
    return version


def get_scores(connection: Connection, project_id: int) -> Scores | None:
    """A project's newest results, or ``None`` before the first fit."""
    row = connection.execute(select(scores).where(scores.c.project_id == project_id)).first()
    if row is None:
        return None
    return Scores(row.model_version, row.n_judgements, row.last_judgement, row.fitted_at, row.seconds, row.result)


def seen(connection: Connection) -> dict[int, int]:
    """The newest judgement that each project's results have seen."""
    rows = connection.execute(select(scores.c.project_id, scores.c.last_judgement))
    return {row.project_id: row.last_judgement for row in rows}
