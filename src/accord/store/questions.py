"""The queue of next questions: filled ahead, handed out under a lease.

Two people are not asked the same question at once. A lease that runs out gives the question back.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any

from sqlalchemy import (
    Connection,
    String,
    and_,
    bindparam,
    cast,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    true,
    update,
)

from accord.errors import InputError
from accord.store.judgements import effective
from accord.store.people import now
from accord.store.tables import items, judgements, questions

__all__ = [
    "Question",
    "append",
    "asked_about",
    "close",
    "count_open",
    "held",
    "hold",
    "holds_any",
    "lease",
    "least_judged",
    "refill",
]

_LEASE = timedelta(minutes=5)
_WINDOW, _ALL = 16, 1_000_000
_NOBODY: Mapping[str, Any] = {"asks": None, "meant_for": None, "person_propensity": None}
_FIRST = -1.0
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
    asks: str | None = None  # "label" where highlights are not asked for
    meant_for: int | None = None  # whose question it is, if anybody's
    person_propensity: float | None = None


def refill(connection: Connection, project_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """Replace the questions of a project that nobody holds.

    Each row has ``item``, ``other``, ``strategy``, ``propensity`` and ``model_version``, and may have ``asks``,
    ``meant_for`` and ``person_propensity``; the first row is asked first.
    """
    connection.execute(
        delete(questions).where(
            questions.c.project_id == project_id,
            or_(questions.c.leased_until.is_(None), questions.c.leased_until < now()),
        )
    )
    held = asked_about(connection, project_id)  # what somebody is asked now is not asked of another as well
    fresh = [row for row in rows if frozenset({row["item"], row["other"]} - {None}) not in held]
    if fresh:
        connection.execute(
            insert(questions),
            [
                {"project_id": project_id, "order_key": float(place), **_NOBODY, **row}
                for place, row in enumerate(fresh)
            ],
        )


def asked_about(connection: Connection, project_id: int) -> set[frozenset[int]]:
    """The texts of every question of a project's queue, those that people hold too."""
    rows = connection.execute(select(questions.c.item, questions.c.other).where(questions.c.project_id == project_id))
    return {frozenset({row.item, row.other} - {None}) for row in rows}


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
_asked, _undo = judgements.alias("asked"), judgements.alias("undo")


def _answered(question: Any) -> Any:
    """Whether the person has answered a question about the same texts, in either order.

    One search for each order: with both in one, the index would be walked through all that the person answered.
    """
    item, other = question.c.item, question.c.other
    undone = exists().where(
        _undo.c.project_id == _asked.c.project_id, _undo.c.undoes.is_not(None), _undo.c.undoes == _asked.c.request_id
    )
    theirs = and_(_asked.c.person_id == bindparam("person"), _asked.c.strategy.is_distinct_from("repeat"), ~undone)
    there = and_(_asked.c.item == item, _asked.c.other == other)
    back = and_(_asked.c.item == other, _asked.c.other == item)
    alone = and_(other.is_(None), _asked.c.item == item, _asked.c.other.is_(None))
    return or_(*(exists().where(theirs, same) for same in (there, back, alone)))


def _take(condition: Any) -> Any:
    """Lease the first questions that fulfil a condition and that the person has not answered.

    Only the first ``window`` that fulfil the condition are looked at: whether each was answered is the expensive check.
    """
    first = (
        select(questions.c.id, questions.c.item, questions.c.other, questions.c.strategy, questions.c.order_key)
        .where(_OF_PROJECT, condition)
        .order_by(questions.c.order_key)
        .limit(bindparam("window"))
        .with_for_update(skip_locked=True, of=questions)
        .subquery("first")
    )
    wanted = (
        select(first.c.id)
        .where(or_(first.c.strategy == "repeat", ~_answered(first)))
        .order_by(first.c.order_key)
        .limit(bindparam("most"))
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
_TAKE_OWN = _take(and_(_FREE, questions.c.meant_for == bindparam("person")))
_TAKE_ANYBODYS = _take(and_(_FREE, questions.c.meant_for.is_(None)))
_FIND = select(*_COLUMNS, questions.c.leased_by).where(_OF_PROJECT, questions.c.id == bindparam("question"))
_CLOSE = delete(questions).where(_OF_PROJECT, questions.c.id == bindparam("question"))


def lease(
    connection: Connection,
    project_id: int,
    person_id: int,
    *,
    limit: int = 1,
    life: timedelta = _LEASE,
    is_shared_out: bool = False,
) -> list[Question]:
    """Take the next questions for a person; those that the person has answered already are passed over.

    Questions that the person holds come first, so that reloading a page shows the same ones. Where questions are meant
    for people (``is_shared_out``), the person's own follow, then those meant for nobody, and then those of others: a
    question is always found while there is one.
    """
    moment = now()
    values = {"project": project_id, "person": person_id, "moment": moment, "until": moment + life}
    taken: list[Question] = []
    meant = ((_TAKE_OWN, _ALL), (_TAKE_ANYBODYS, limit + _WINDOW)) if is_shared_out else ()
    for statement, window in ((_TAKE_HELD, _ALL), *meant, (_TAKE_FREE, limit + _WINDOW), (_TAKE_FREE, _ALL)):
        if len(taken) < limit:
            rows = connection.execute(statement, {**values, "window": window, "most": limit - len(taken)}).all()
            taken += [Question(*row[:-1]) for row in sorted(rows, key=lambda row: row.order_key)]
    return taken


def least_judged(
    connection: Connection, project_id: int, person_id: int, *, limit: int, overlap: int | None = None
) -> list[int]:
    """The texts that the fewest people judged, and not the person; a thread's comments follow each other.

    With ``overlap`` those that as many people have judged are left out.
    """
    who = func.coalesce(judgements.c.annotator_id, cast(judgements.c.person_id, String))
    counts = (
        select(judgements.c.item, func.count(who.distinct()).label("n"))
        .where(judgements.c.project_id == project_id, judgements.c.kind.in_(("label", "score", "skip")))
        .group_by(judgements.c.item)
        .subquery()
    )
    done = effective(project_id, judgements.c.item).order_by(None).where(judgements.c.person_id == person_id)
    enough = func.coalesce(counts.c.n, 0) < overlap if overlap else true()
    rows = connection.execute(
        select(items.c.id)
        .outerjoin(counts, counts.c.item == items.c.id)
        .where(enough)
        .where(items.c.project_id == project_id, items.c.id.not_in(done.where(judgements.c.item.is_not(None))))
        .order_by(func.coalesce(counts.c.n, 0), items.c.position)
        .limit(limit)
    )
    return list(rows.scalars())


def hold(
    connection: Connection, project_id: int, person_id: int, row: Mapping[str, Any], *, first: bool = False
) -> int:
    """Put a question that was drawn for one person into the queue, already leased to that person; returns its key.

    With ``first`` it is the person's next one, before others that the person holds.
    """
    key = connection.execute(
        insert(questions).values(
            project_id=project_id,
            order_key=_FIRST if first else _LAST,
            leased_by=person_id,
            leased_until=now() + _LEASE,
            **row,
        )
    ).inserted_primary_key
    assert key is not None
    return int(key[0])


def held(connection: Connection, project_id: int, person_id: int, item: int, other: int | None) -> int | None:
    """The key of a question about some texts that a person holds, or ``None``."""
    same = (questions.c.item == item, questions.c.other.is_not_distinct_from(other))
    theirs = (questions.c.project_id == project_id, questions.c.leased_by == person_id)
    return connection.execute(select(questions.c.id).where(*theirs, *same).limit(1)).scalar()


def append(connection: Connection, project_id: int, rows: Sequence[Mapping[str, Any]], *, first: bool = False) -> None:
    """Put questions that were drawn without a model behind the queue (or before it); rows as in :func:`refill`."""
    if rows:
        place = {"project_id": project_id, "order_key": _FIRST if first else _LAST}
        connection.execute(insert(questions), [{**place, **row} for row in rows])


def holds_any(connection: Connection, project_id: int, person_id: int) -> bool:
    """Whether a person holds a question of a project now."""
    theirs = (questions.c.project_id == project_id, questions.c.leased_by == person_id)
    return (
        connection.execute(select(questions.c.id).where(*theirs, questions.c.leased_until > now()).limit(1)).first()
        is not None
    )


def close(
    connection: Connection, project_id: int, question_id: int, person_id: int, about: Collection[int]
) -> Question | None:
    """Take a question that a person answered out of the queue; returns it.

    An answer about other texts is refused. ``None`` where the question is gone, or somebody else holds it by now: the
    answer is good, but nothing is known of how it came to be asked.
    """
    named = {"project": project_id, "question": question_id}
    row = connection.execute(_FIND, named).first()
    if row is None:
        return None
    if {row.item, row.other} - {None} != set(about):
        raise InputError("an answer is about the texts of its question; this one is about others. Reload the page.")
    if row.leased_by != person_id:
        return None
    connection.execute(_CLOSE, named)
    return Question(*row[:-1])
