"""The queue of next questions: filled ahead, handed out under a lease.

Two people are not asked the same question at once. A lease that runs out gives the question back.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, delete, exists, func, insert, or_, select, update

from accord.store.people import now
from accord.store.tables import judgements, questions

__all__ = ["Question", "close", "count_open", "hold", "lease", "refill"]

_LEASE = timedelta(minutes=5)
_LAST = 1e12  # behind every queue: rows that come and go would else lie before the ones that are looked for


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


# Statements are built once: building them costs more than running them.
_OF_PROJECT = questions.c.project_id == bindparam("project")
_FREE = or_(questions.c.leased_until.is_(None), questions.c.leased_until < bindparam("moment"))
_asked = judgements.alias("asked")


def _answered(item: Any, other: Any) -> Any:
    """Whether the person has answered a question about these two texts, named in this order."""
    return exists().where(
        _asked.c.person_id == bindparam("person"),
        _asked.c.item == item,
        _asked.c.other.is_not_distinct_from(other),
        _asked.c.strategy.is_distinct_from("repeat"),
    )


def _take(condition: Any) -> Any:
    """Lease the first questions that fulfil a condition and that the person has not answered."""
    answered = or_(_answered(questions.c.item, questions.c.other), _answered(questions.c.other, questions.c.item))
    wanted = (
        select(questions.c.id)
        .where(_OF_PROJECT, condition, or_(questions.c.strategy == "repeat", ~answered))
        .order_by(questions.c.order_key)
        .limit(bindparam("most"))
        .with_for_update(skip_locked=True, of=questions)
    )
    return (
        update(questions)
        .where(questions.c.id.in_(wanted))
        .values(leased_by=bindparam("person"), leased_until=bindparam("until"))
        .returning(*_COLUMNS, questions.c.order_key)
    )


_COLUMNS = tuple(questions.c[field.name] for field in fields(Question))
_TAKE_HELD = _take(questions.c.leased_by == bindparam("person"))
_TAKE_FREE = _take(_FREE)
_CLOSE = delete(questions).where(_OF_PROJECT, questions.c.id == bindparam("question")).returning(*_COLUMNS)


def lease(
    connection: Connection, project_id: int, person_id: int, *, limit: int = 1, life: timedelta = _LEASE
) -> list[Question]:
    """Take the next questions for a person; those that the person has answered already are passed over.

    Questions that the person holds come first, so that reloading a page shows the same ones.
    """
    moment = now()
    values = {"project": project_id, "person": person_id, "moment": moment, "until": moment + life}
    taken: list[Question] = []
    for statement in (_TAKE_HELD, _TAKE_FREE):
        if len(taken) < limit:
            rows = connection.execute(statement, {**values, "most": limit - len(taken)}).all()
            taken += [Question(*row[:-1]) for row in sorted(rows, key=lambda row: row.order_key)]
    return taken


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
            order_key=_LAST, leased_by=person_id, leased_until=now() + life,
        )
    ).inserted_primary_key  # fmt: skip
    assert key is not None
    return int(key[0])


def close(connection: Connection, project_id: int, question_id: int) -> Question | None:
    """Take an answered question out of the queue; returns it, or ``None`` if it was gone."""
    row = connection.execute(_CLOSE, {"project": project_id, "question": question_id}).first()
    return None if row is None else Question(*row)
