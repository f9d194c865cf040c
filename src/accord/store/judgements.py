"""Judgements: appended, never changed.

An answer is one or more rows with one ``request_id`` that the browser chose. Sending it again stores nothing new and
is acknowledged as before, so a vote whose acknowledgement got lost can safely be sent again. An undo is a row that
names the request it takes back.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, String, and_, bindparam, cast, exists, func, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from accord.errors import InputError
from accord.store.people import now
from accord.store.tables import items, judgements, people, questions

__all__ = [
    "Judgement",
    "Wanted",
    "answers_after",
    "append",
    "choices_used",
    "count_answers",
    "count_of",
    "effective",
    "export_rows",
    "history",
    "is_stored",
    "labels_of",
    "last_of",
    "n_people",
    "newest",
    "of_text",
    "pairs_of",
    "rows_after",
    "settled_questions",
    "standing_of",
    "stored_rows",
    "undo",
    "unlabelled_thread",
    "votes_per_item",
    "wanted_thread",
]

_BATCH = 2_000
_AHEAD = 32  # questions of the queue among whose threads somebody's next one is chosen
# Statements that every answer needs are built once: building them costs more than running them.
_APPEND: Mapping[str, Any] = {
    name: insert(judgements)
    .on_conflict_do_nothing(index_elements=["project_id", "request_id", "part"])
    .returning(judgements.c.id)
    for name, insert in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
}


@dataclass(frozen=True)
class Judgement:
    """One row of an answer. ``item``, ``other`` and ``shown_left`` are keys of stored texts."""

    request_id: str
    kind: str  # one of accord.data.project.JUDGED, skip or undo
    item: int | None = None
    other: int | None = None
    aspect: str | None = None
    value: float | None = None
    label: str | None = None
    start: int | None = None
    end: int | None = None
    quote: str | None = None
    person_id: int | None = None
    annotator_id: str | None = None
    shown_left: int | None = None
    created_at: datetime | None = None
    response_ms: int | None = None
    status: str = "done"  # done | skipped | not mentioned | undo
    skip_reason: str | None = None
    strategy: str | None = None
    propensity: float | None = None
    model_version: int | None = None
    source: str = "studio"
    undoes: str | None = None
    part: int = 0
    person_propensity: float | None = None


_COLUMNS = tuple(field.name for field in fields(Judgement))


_REQUEST = (
    select(judgements)
    .where(judgements.c.project_id == bindparam("project"), judgements.c.request_id == bindparam("request"))
    .order_by(judgements.c.part)
)
# When an answer was sent and how its question was chosen are not part of what it says.
_NOT_CONTENT = {
    "request_id", "quote", "annotator_id", "created_at", "response_ms", "strategy", "propensity", "model_version",
    "source", "person_propensity",
}  # fmt: skip


def stored_rows(connection: Connection, project_id: int, request_id: str) -> list[Any]:
    """The rows of an answer, in their order."""
    return list(connection.execute(_REQUEST, {"project": project_id, "request": request_id}))


def is_stored(connection: Connection, project_id: int, rows: Sequence[Judgement]) -> bool:
    """Whether an answer is stored already; another answer under its ``request_id`` is refused."""
    found = stored_rows(connection, project_id, rows[0].request_id)
    if found and [_content(row) for row in found] != [_content(row) for row in rows]:
        raise InputError(
            f"a request_id names one answer; {rows[0].request_id!r} is stored with another one. Send a new request_id."
        )
    return bool(found)


def _content(row: Any) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in _COLUMNS if name not in _NOT_CONTENT)


def append(connection: Connection, project_id: int, rows: Sequence[Judgement]) -> int:
    """Append rows; rows whose ``request_id`` is stored already are left alone. Returns the number of new rows."""
    moment = now()
    values = [{**vars(row), "project_id": project_id, "created_at": row.created_at or moment} for row in rows]
    statement = _APPEND[connection.dialect.name]
    if len(values) == 1:
        return len(connection.execute(statement, values[0]).all())
    return sum(len(connection.execute(statement, chunk).all()) for chunk in _chunks(values))


def _chunks(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(values), _BATCH):
        yield values[start : start + _BATCH]


_taken_back = judgements.alias("taken_back")
# A judgement counts if it is not an undo and was not undone.
_COUNTS = and_(
    judgements.c.kind != "undo",
    ~exists().where(
        _taken_back.c.project_id == judgements.c.project_id,
        _taken_back.c.undoes.is_not(None),  # so that the index of the few is used
        _taken_back.c.undoes == judgements.c.request_id,
    ),
)


def standing_of(connection: Connection, project_id: int, person_id: int, item: int) -> str | None:
    """The request of the person's newest answer about one text alone that was not undone, or ``None``."""
    query = effective(project_id, judgements.c.request_id).order_by(None).order_by(judgements.c.id.desc()).limit(1)
    theirs = (judgements.c.person_id == person_id, judgements.c.item == item, judgements.c.other.is_(None))
    by_owner = judgements.c.source == "adjudication"  # settles a disagreement, and is changed there
    return connection.execute(query.where(*theirs, judgements.c.part == 0, ~by_owner)).scalar()


@dataclass(frozen=True)
class Wanted:
    """Which answers are listed: one person's, chosen in one way, between two moments, before a row; undone ones too."""

    person_id: int | None = None
    strategy: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: int | None = None
    undone: bool = False


def n_people(connection: Connection, project_id: int, item: int, other: int | None) -> int:
    """How many people have answered a question about some texts, in either order; a skip is no answer."""
    there = and_(judgements.c.item == item, judgements.c.other.is_not_distinct_from(other))
    back = and_(judgements.c.item == other, judgements.c.other == item)
    answered = judgements.c.kind.in_(("pair", "label", "score"))
    query = effective(project_id, func.coalesce(judgements.c.annotator_id, cast(judgements.c.person_id, String)))
    people_ = query.order_by(None).where(or_(there, back), answered, judgements.c.source != "adjudication").distinct()
    return len(connection.execute(people_).all())


def settled_questions(
    connection: Connection, project_id: int, keys: Iterable[int]
) -> set[tuple[frozenset[int], str | None]]:
    """The questions about some texts that owners have settled: the texts, and the aspect if there is one."""
    columns = (judgements.c.item, judgements.c.other, judgements.c.aspect)
    query = effective(project_id, *columns).where(
        judgements.c.source == "adjudication",
        or_(judgements.c.item.in_(list(keys)), judgements.c.other.in_(list(keys))),
    )
    return {(frozenset({row.item, row.other} - {None}), row.aspect) for row in connection.execute(query)}


def history(connection: Connection, project_id: int, wanted: Wanted, *, limit: int) -> list[list[Any]]:
    """Answers, newest first, each as its rows with the name of its person and whether it was undone."""
    is_undone = exists().where(
        _taken_back.c.project_id == judgements.c.project_id,
        _taken_back.c.undoes.is_not(None),
        _taken_back.c.undoes == judgements.c.request_id,
    )
    query = select(judgements.c.request_id).where(
        judgements.c.project_id == project_id, judgements.c.part == 0, judgements.c.kind != "undo"
    )
    if not wanted.undone:
        query = query.where(~is_undone)
    if wanted.person_id is not None:
        query = query.where(judgements.c.person_id == wanted.person_id)
    if wanted.strategy:
        query = query.where(judgements.c.strategy == wanted.strategy)
    if wanted.since is not None:
        query = query.where(judgements.c.created_at >= wanted.since)
    if wanted.until is not None:
        query = query.where(judgements.c.created_at < wanted.until)
    if wanted.before is not None:
        query = query.where(judgements.c.id < wanted.before)
    names = list(connection.execute(query.order_by(judgements.c.id.desc()).limit(limit)).scalars())
    parts: dict[str, list[Any]] = {name: [] for name in names}
    columns = select(judgements, people.c.name.label("person_name"), is_undone.label("is_undone"))
    found = columns.outerjoin(people, people.c.id == judgements.c.person_id).order_by(judgements.c.part)
    for row in connection.execute(
        found.where(judgements.c.project_id == project_id, judgements.c.request_id.in_(names))
    ):
        parts[row.request_id].append(row)
    return list(parts.values())


def undo(connection: Connection, project_id: int, person_id: int, *, request_id: str, undoes: str) -> None:
    """Take back an answer of the same person; the answer stays stored and no longer counts."""
    theirs = connection.execute(
        select(judgements.c.id)
        .where(
            judgements.c.project_id == project_id,
            judgements.c.request_id == undoes,
            judgements.c.person_id == person_id,
            judgements.c.kind != "undo",
        )
        .limit(1)
    ).first()
    if theirs is None:
        raise InputError("people can undo their own answers; this one is not theirs, or is not known. Reload the page.")
    append(
        connection,
        project_id,
        [Judgement(request_id=request_id, kind="undo", status="undo", person_id=person_id, undoes=undoes)],
    )


def effective(project_id: int, *columns: Any) -> Select[Any]:
    """A query for the judgements of a project that were not undone, in the order in which they came."""
    return (
        select(*(columns or (judgements,)))
        .where(judgements.c.project_id == project_id, _COUNTS)
        .order_by(judgements.c.id)
    )


def last_of(connection: Connection, project_id: int, person_id: int, *, limit: int = 1) -> list[Any]:
    """The newest answers of a person that were not undone, newest first, the first row of each."""
    query = effective(project_id).order_by(None).order_by(judgements.c.id.desc())
    return list(
        connection.execute(
            query.where(
                judgements.c.person_id == person_id, judgements.c.part == 0, judgements.c.source != "adjudication"
            ).limit(limit)
        )
    )


_LABELLED = judgements.c.kind.in_(("label", "skip"))


def labels_of(connection: Connection, project_id: int, person_id: int, keys: Iterable[int]) -> dict[int, str | None]:
    """The labels that a person gave to some texts, by the key of the text; ``None`` where they could not decide."""
    query = effective(project_id, judgements.c.item, judgements.c.label).where(judgements.c.item.in_(list(keys)))
    theirs = (judgements.c.person_id == person_id, judgements.c.other.is_(None), _LABELLED)
    by_owner = judgements.c.source == "adjudication"  # settles what people said, and is no answer of one's own
    return {row.item: row.label for row in connection.execute(query.where(*theirs, ~by_owner))}


def _left(project_id: int, person_id: int, overlap: int | None) -> Select[Any]:
    """A query for the threads of the comments that are left for a person, one row a comment.

    With ``overlap`` a comment that as many people have labelled is not left. The text that is named like its thread is
    the question.
    """
    about = and_(judgements.c.item == items.c.id, judgements.c.other.is_(None), _LABELLED, _COUNTS)
    given = exists().where(about, judgements.c.person_id == person_id)
    comments = (items.c.project_id == project_id, items.c.group_id.is_not(None), items.c.item_id != items.c.group_id)
    query = select(items.c.group_id).where(*comments, ~given)
    if not overlap:
        return query
    who = func.coalesce(judgements.c.annotator_id, cast(judgements.c.person_id, String))
    people_ = select(func.count(who.distinct())).where(about, judgements.c.source != "adjudication")
    return query.where(people_.correlate(items).scalar_subquery() < overlap)


def unlabelled_thread(
    connection: Connection, project_id: int, person_id: int, *, after: int, overlap: int | None = None
) -> str | None:
    """The first thread behind a place of the texts, or else from the start, with a comment left for the person."""
    first = _left(project_id, person_id, overlap).order_by(items.c.position).limit(1)
    behind = connection.execute(first.where(items.c.position > after)).scalar()
    return behind if behind is not None else connection.execute(first).scalar()


def wanted_thread(connection: Connection, project_id: int, person_id: int, *, overlap: int | None = None) -> str | None:
    """The thread to label next: the one that is begun, or else one of the first that the queue of questions asks about.

    People take different ones, so that those who come together do not all label the same thread. ``None`` where the
    queue names none that is left and it does not matter how many people label a thread.
    """
    left = _left(project_id, person_id, overlap)
    begun = last_of(connection, project_id, person_id)
    if begun and begun[0].item is not None:
        group = select(items.c.group_id).where(items.c.id == begun[0].item).scalar_subquery()
        found = connection.execute(left.where(items.c.group_id == group.correlate(None)).limit(1)).scalar()
        if found is not None:
            return str(found)
    queued = left.join(questions, questions.c.item == items.c.id).where(questions.c.project_id == project_id)
    first = connection.execute(queued.order_by(questions.c.order_key, questions.c.id).limit(_AHEAD)).scalars()
    names = list(dict.fromkeys(first))
    if overlap and not names:  # nothing is queued yet
        names = list(dict.fromkeys(connection.execute(left.order_by(items.c.position).limit(_AHEAD)).scalars()))
    return names[person_id % len(names)] if names else None


def choices_used(connection: Connection, project_id: int) -> dict[str, Any]:
    """The labels, the aspects and the highest score that stored answers of a project use, undone ones too."""
    here = judgements.c.project_id == project_id
    labels = select(judgements.c.label).where(here, judgements.c.label.is_not(None)).distinct()
    aspects = select(judgements.c.aspect).where(here, judgements.c.kind == "score").distinct()
    highest = select(func.max(judgements.c.value)).where(here, judgements.c.kind == "score")
    return {
        "labels": sorted(connection.execute(labels).scalars()),
        "aspects": sorted(name for name in connection.execute(aspects).scalars() if name is not None),
        "highest": int(connection.execute(highest).scalar() or 0),
    }


def of_text(
    connection: Connection, project_id: int, key: int, *, person_id: int | None = None, limit: int = 500
) -> list[Any]:
    """The judgements about a text that were not undone (all, or one person's), each with the name of its person."""
    query = effective(project_id, judgements, people.c.name.label("person_name"))
    query = query.outerjoin(people, people.c.id == judgements.c.person_id)
    if person_id is not None:
        query = query.where(judgements.c.person_id == person_id)
    return list(connection.execute(query.where(or_(judgements.c.item == key, judgements.c.other == key)).limit(limit)))


_COUNT_OF = select(func.count()).where(
    judgements.c.project_id == bindparam("project"),
    judgements.c.person_id == bindparam("person"),
    judgements.c.part == 0,
    judgements.c.source != "adjudication",
    _COUNTS,
)


def count_of(connection: Connection, project_id: int, person_id: int) -> int:
    """The number of answers of a person that were not undone; settling a disagreement is none."""
    return connection.execute(_COUNT_OF, {"project": project_id, "person": person_id}).scalar_one()


def count_answers(connection: Connection, project_ids: Sequence[int]) -> dict[int, int]:
    """The number of answers in some projects that were not undone; an answer of several rows counts once."""
    query = select(judgements.c.project_id, func.count()).where(judgements.c.part == 0, _COUNTS)
    rows = connection.execute(query.where(judgements.c.project_id.in_(project_ids)).group_by(judgements.c.project_id))
    found = {row[0]: row[1] for row in rows}
    return {key: found.get(key, 0) for key in project_ids}


_PAIRS_OF = select(judgements.c.item, judgements.c.other).where(
    judgements.c.project_id == bindparam("project"),
    judgements.c.person_id == bindparam("person"),
    judgements.c.other.is_not(None),
    _COUNTS,
)


def pairs_of(connection: Connection, project_id: int, person_id: int) -> set[frozenset[int]]:
    """The pairs of texts that a person has answered; undone answers do not count."""
    rows = connection.execute(_PAIRS_OF, {"project": project_id, "person": person_id})
    return {frozenset((row.item, row.other)) for row in rows}


def votes_per_item(connection: Connection, project_id: int) -> dict[int, int]:
    """The number of judgements about each text that were not undone, by key."""
    counts: dict[int, int] = {}
    for column in (judgements.c.item, judgements.c.other):
        query = (
            select(column, func.count())
            .where(judgements.c.project_id == project_id, _COUNTS, column.is_not(None), judgements.c.status == "done")
            .group_by(column)
        )
        for key, count in connection.execute(query):
            counts[key] = counts.get(key, 0) + count
    return counts


def export_rows(connection: Connection, project_id: int, *, standing: bool = True) -> Iterator[Mapping[str, Any]]:
    """Judgements as rows of the project's own ``judgements`` table, with the ids that people gave.

    With ``standing=False`` every stored row comes, undone ones and undos too.
    """
    item, other, left = items.alias("item_"), items.alias("other_"), items.alias("left_")
    query = (
        select(
            *(judgements.c[name] for name in _COLUMNS if name not in {"item", "other", "shown_left"}),
            judgements.c.id.label("judgement_id"),
            item.c.item_id.label("item_id"),
            other.c.item_id.label("other_id"),
            left.c.item_id.label("shown_left_id"),
            people.c.name.label("person_name"),
        )
        .select_from(judgements)
        .outerjoin(item, item.c.id == judgements.c.item)
        .outerjoin(other, other.c.id == judgements.c.other)
        .outerjoin(left, left.c.id == judgements.c.shown_left)
        .outerjoin(people, people.c.id == judgements.c.person_id)
        .where(judgements.c.project_id == project_id)
        .order_by(judgements.c.id)
    )
    if standing:
        query = query.where(_COUNTS)
    result = connection.execution_options(yield_per=_BATCH).execute(query)
    for row in result.mappings():
        yield {**row, "annotator_id": row["annotator_id"] or row["person_name"]}


def rows_after(connection: Connection, project_id: int, last: int) -> int:
    """How many rows were appended after the row with key ``last``."""
    return connection.execute(
        select(func.count())
        .select_from(judgements)
        .where(judgements.c.project_id == project_id, judgements.c.id > last)
    ).scalar_one()


def answers_after(connection: Connection, project_id: int, last: int) -> int:
    """How many answers and undos came after the row with key ``last``."""
    return connection.execute(
        select(func.count(judgements.c.request_id.distinct())).where(
            judgements.c.project_id == project_id, judgements.c.id > last
        )
    ).scalar_one()


def newest(connection: Connection, project_ids: Iterable[int] | None = None) -> dict[int, int]:
    """The key of the newest row of each project."""
    query = select(judgements.c.project_id, func.max(judgements.c.id)).group_by(judgements.c.project_id)
    if project_ids is not None:
        query = query.where(judgements.c.project_id.in_(list(project_ids)))
    return {row[0]: row[1] for row in connection.execute(query)}
