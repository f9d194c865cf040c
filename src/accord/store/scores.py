"""What the model last said of a project, and why it could not: derived, and replaced whole."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from accord.store.database import Database
from accord.store.people import now
from accord.store.tables import evaluations, failures, models, results, scores

__all__ = [
    "Failure",
    "Scores",
    "failed",
    "failures_of",
    "get_evaluation",
    "get_failure",
    "get_scores",
    "keep_model",
    "kept_model",
    "make_stale",
    "put_evaluation",
    "put_reasons",
    "put_scores",
    "result_rows",
    "results_of",
    "seen",
]

_BATCH = 2_000
_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(seconds=30), timedelta(hours=1)


@dataclass(frozen=True)
class Scores:
    """A fitted model's results; the rows of the texts are kept beside."""

    model_version: int
    n_judgements: int
    last_judgement: int
    fitted_at: datetime
    seconds: float
    result: Mapping[str, Any]

    @property
    def n_rows(self) -> int:
        """The number of texts that the results are about."""
        return int(self.result.get("n_rows", 0))


@dataclass(frozen=True)
class Failure:
    """Why the last fit failed, and when it is tried again."""

    n_failures: int
    failed_at: datetime
    retry_at: datetime
    sentence: str


def put_scores(
    database: Database,
    project_id: int,
    *,
    n_judgements: int,
    last_judgement: int,
    seconds: float,
    result: Mapping[str, Any],
    rows: Iterable[Mapping[str, Any]] = (),
) -> int:
    """Replace a project's results; returns the new model version.

    The rows are written a few at a time, so that nobody waits long for the database; they are seen once all are there.
    """
    version = 1 + (_version(database, project_id) or 0)
    _remove(database, project_id, keep=version - 1)  # of a fit that was cut off
    place = 0
    for part in _parts(rows):
        values = [
            {"project_id": project_id, "model_version": version, "place": place + i, "item": row.get("key"), "row": row}
            for i, row in enumerate(part)
        ]
        with database.write() as connection:
            connection.execute(insert(results), values)
        place += len(part)
    with database.write() as connection:
        connection.execute(delete(scores).where(scores.c.project_id == project_id))
        connection.execute(
            insert(scores).values(
                project_id=project_id, model_version=version, n_judgements=n_judgements, last_judgement=last_judgement,
                fitted_at=now(), seconds=seconds, result={**result, "n_rows": place},
            )
        )  # fmt: skip
        connection.execute(delete(failures).where(failures.c.project_id == project_id))
    _remove(database, project_id, keep=version)
    return version


def _parts(rows: Iterable[Mapping[str, Any]]) -> Iterator[Sequence[Mapping[str, Any]]]:
    source = iter(rows)
    while part := list(islice(source, _BATCH)):
        yield part


def _version(database: Database, project_id: int) -> int | None:
    with database.read() as connection:
        return connection.execute(select(scores.c.model_version).where(scores.c.project_id == project_id)).scalar()


def _remove(database: Database, project_id: int, *, keep: int) -> None:
    """Remove the rows of other versions, a few at a time."""
    old = (results.c.project_id == project_id, results.c.model_version != keep)
    first = select(results.c.model_version, results.c.place).where(*old).order_by(*results.primary_key).limit(1)
    while True:
        with database.write() as connection:
            row = connection.execute(first).first()
            if row is None:
                return
            here = (results.c.model_version == row.model_version, results.c.place < row.place + _BATCH)
            connection.execute(delete(results).where(*old, *here))


def get_scores(connection: Connection, project_id: int) -> Scores | None:
    """A project's newest results, or ``None`` before the first fit."""
    row = connection.execute(select(scores).where(scores.c.project_id == project_id)).first()
    if row is None:
        return None
    return Scores(row.model_version, row.n_judgements, row.last_judgement, row.fitted_at, row.seconds, row.result)


def _of_project(project_id: int) -> Any:
    current = select(scores.c.model_version).where(scores.c.project_id == project_id).scalar_subquery()
    return select(results.c.row).where(results.c.project_id == project_id, results.c.model_version == current)


def result_rows(connection: Connection, project_id: int, *, offset: int = 0, limit: int = 100) -> list[dict[str, Any]]:
    """Some rows of a project's newest results, in their order."""
    window = results.c.place.between(offset, offset + limit - 1)
    return list(connection.execute(_of_project(project_id).where(window).order_by(results.c.place)).scalars())


def results_of(connection: Connection, project_id: int, keys: Iterable[int]) -> dict[int, dict[str, Any]]:
    """What the newest results say of some texts, by key."""
    rows = connection.execute(_of_project(project_id).where(results.c.item.in_(list(keys)))).scalars()
    return {row["key"]: row for row in rows}


def put_reasons(connection: Connection, project_id: int, key: int, version: int, found: Mapping[str, Any]) -> None:
    """Add reasons to what a version of the results says of a text; nothing happens where there is a newer one."""
    here = (
        results.c.project_id == project_id,
        results.c.model_version == version,
        results.c.item == key,
    )
    row = connection.execute(select(results.c.row).where(*here)).scalar()
    if row is not None:
        connection.execute(update(results).where(*here).values(row={**row, **found}))


def keep_model(connection: Connection, project_id: int, packed: bytes | None, *, version: int) -> None:
    """Keep the model that the newest results come from; none where it is ``None``."""
    connection.execute(delete(models).where(models.c.project_id == project_id))
    if packed is not None:
        connection.execute(insert(models).values(project_id=project_id, model_version=version, model=packed))


def kept_model(connection: Connection, project_id: int) -> tuple[int, bytes] | None:
    """The model that is kept of a project and its version."""
    row = connection.execute(select(models).where(models.c.project_id == project_id)).first()
    return None if row is None else (row.model_version, row.model)


def put_evaluation(connection: Connection, project_id: int, result: Mapping[str, Any]) -> datetime:
    """Keep how good the model is; returns the moment that is noted."""
    moment = now()
    connection.execute(delete(evaluations).where(evaluations.c.project_id == project_id))
    connection.execute(insert(evaluations).values(project_id=project_id, evaluated_at=moment, result=dict(result)))
    return moment


def get_evaluation(connection: Connection, project_id: int) -> tuple[datetime, dict[str, Any]] | None:
    """How good the model was when it was last evaluated, and when that was."""
    row = connection.execute(select(evaluations).where(evaluations.c.project_id == project_id)).first()
    return None if row is None else (_utc(row.evaluated_at), row.result)


def seen(connection: Connection) -> dict[int, int]:
    """The newest judgement that each project's results have seen."""
    rows = connection.execute(select(scores.c.project_id, scores.c.last_judgement))
    return {row.project_id: row.last_judgement for row in rows}


def make_stale(connection: Connection, project_id: int) -> None:
    """Say that a project has changed, so that its model is fitted again though nobody has answered."""
    connection.execute(update(scores).where(scores.c.project_id == project_id).values(last_judgement=-1))
    connection.execute(delete(failures).where(failures.c.project_id == project_id))


def failed(connection: Connection, project_id: int, sentence: str) -> Failure:
    """Note that a fit failed; the next is tried after a pause that doubles each time."""
    before = get_failure(connection, project_id)
    n = 1 + (before.n_failures if before else 0)
    failure = Failure(n, now(), now() + min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(n - 1, 20)), sentence[:2000])
    connection.execute(delete(failures).where(failures.c.project_id == project_id))
    connection.execute(insert(failures).values(project_id=project_id, **vars(failure)))
    return failure


def get_failure(connection: Connection, project_id: int) -> Failure | None:
    """Why the last fit of a project failed; ``None`` where it did not."""
    return _failures(connection, failures.c.project_id == project_id).get(project_id)


def failures_of(connection: Connection) -> dict[int, Failure]:
    """The projects whose last fit failed."""
    return _failures(connection)


def _failures(connection: Connection, *conditions: Any) -> dict[int, Failure]:
    rows = connection.execute(select(failures).where(*conditions))
    return {
        row.project_id: Failure(row.n_failures, _utc(row.failed_at), _utc(row.retry_at), row.sentence) for row in rows
    }


def _utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)  # SQLite keeps no time zone
