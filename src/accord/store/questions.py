"""The queue of next questions: filled ahead, handed out under a lease.

Two people are not asked the same question at once. A lease that runs out gives the question back.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, delete, exists, func, insert, or_, select, update

from accord.store.people import now
from accord.store.tables import judgements, questions

__all__ = ["Question", "close", "count_open", "hold", "lease", "refill"]

_LEASE = timedelta(minutes=5)


@dataclass(frozen=True)
class Question:
    """A question to ask: about one text, or about two."""

    id: int
    item: int
    other: int | None
    strategy: str
    propensity: float | None
    model_version: int  # 0 where no model had a say


def refill(connection: Connection, project_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """Replace the questions of a project that nobody holds.

    Each row has ``item``, ``other``, ``strategy``, ``propensity`` and ``model_version``; the first row is asked first.
    """
    connection.execute(
        delete(questions).where(
            questions.c.project_id == project_id,
            or_(questions.c.leased_until.is_(None), questions.c.leased_until < now()),
        )
    )
    if rows:
        connection.execute(
            insert(questions),
            [{"project_id": project_id, "order_key": float(place), **row} for place, row in enumerate(rows)],
        )


def count_open(connection: Connection, project_ids: Iterable[int]) -> dict[int, int]:
    """How many questions each project has ready."""
    rows = connection.execute(
        select(questions.c.project_id, func.count())
        .where(
            questions.c.project_id.in_(list(project_ids)),
            or_(questions.c.leased_until.is_(None), questions.c.leased_until < now()),
        )
        .group_by(questions.c.project_id)
    )
    return {row[0]: row[1] for row in rows}


def lease(
    connection: Connection, project_id: int, person_id: int, *, limit: int = 1, life: timedelta = _LEASE
) -> list[Question]:
    """Take the next questions for a person; those that the person has answered already are passed over.

    Questions that the person holds come first, so that reloading a page shows the same ones.
    """
    moment = now()
    # Never NULL, because the two databases sort NULL to different ends.
    mine = questions.c.leased_by.is_not_distinct_from(person_id)
    free = or_(questions.c.leased_until.is_(None), questions.c.leased_until < moment)
    answered = or_(
        _answered(person_id, questions.c.item, questions.c.other),
        _answered(person_id, questions.c.other, questions.c.item),
    )
    query = (
        select(questions)
        .where(questions.c.project_id == project_id, or_(mine, free), or_(questions.c.strategy == "repeat", ~answered))
        .order_by(mine.desc(), questions.c.order_key)
        .limit(limit)
        .with_for_update(skip_locked=True, of=questions)
    )
    rows = connection.execute(query).all()
    if rows:
        connection.execute(
            update(questions)
            .where(questions.c.id.in_([row.id for row in rows]))
            .values(leased_by=person_id, leased_until=moment + life)
        )
    return [Question(row.id, row.item, row.other, row.strategy, row.propensity, row.model_version) for row in rows]


def _answered(person_id: int, item: Any, other: Any) -> Any:
    """Whether the person has answered a question about these two texts, named in this order."""
    asked = judgements.alias()
    return exists().where(
        asked.c.person_id == person_id,
        asked.c.item == item,
        asked.c.other.is_not_distinct_from(other),
        asked.c.strategy.is_distinct_from("repeat"),
    )


def hold(
    connection: Connection,
    project_id: int,
    person_id: int,
    *,
    item: int,
    other: int | None,
    strategy: str,
    propensity: float | None,
    life: timedelta = _LEASE,
) -> int:
    """Put a question that was drawn for one person into the queue, already leased to that person."""
    key = connection.execute(
        insert(questions).values(
            project_id=project_id, item=item, other=other, strategy=strategy, propensity=propensity, model_version=0,
            order_key=0.0, leased_by=person_id, leased_until=now() + life,
        )
    ).inserted_primary_key  # fmt: skip
    assert key is not None
    return int(key[0])


def close(connection: Connection, project_id: int, question_id: int) -> Question | None:
    """Take an answered question out of the queue; returns it, or ``None`` if it was gone."""
    row = connection.execute(
        select(questions).where(questions.c.project_id == project_id, questions.c.id == question_id)
    ).first()
    if row is None:
        return None
    connection.execute(delete(questions).where(questions.c.id == question_id))
    return Question(row.id, row.item, row.other, row.strategy, row.propensity, row.model_version)
