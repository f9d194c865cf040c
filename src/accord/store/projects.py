"""Projects: what is asked, about which texts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, and_, bindparam, delete, func, insert, or_, select, update

from accord.errors import InputError
from accord.store.people import Person, add_member, hash_token, now
from accord.store.tables import (
    annotators,
    audit,
    items,
    judgements,
    links,
    memberships,
    people,
    projects,
    questions,
    sessions,
)

__all__ = [
    "Admission",
    "StoredItem",
    "StoredProject",
    "add_annotators",
    "add_items",
    "add_links",
    "admit",
    "adopt",
    "all_projects",
    "audit_log",
    "change_project",
    "count_rows",
    "count_thread_questions",
    "create_project",
    "examples",
    "find_items",
    "finish_import",
    "get_item",
    "get_project",
    "groups_of",
    "hide",
    "item_columns",
    "items_by_id",
    "items_by_key",
    "items_by_text",
    "keys_by_id",
    "keys_of_group",
    "keys_of_places",
    "links_of",
    "neighbours_of",
    "note",
    "projects_of",
    "remove_unfinished",
]

_BATCH = 2_000


@dataclass(frozen=True)
class StoredProject:
    """A project as stored."""

    id: int
    name: str
    kind: str
    question: str
    guidelines: str
    settings: Mapping[str, Any]
    created_at: datetime
    state: str = "active"  # or paused, archived


@dataclass(frozen=True)
class StoredItem:
    """A text as stored; ``key`` is the database's own number, ``item_id`` the id that people gave it."""

    key: int
    item_id: str
    position: int
    text: str
    group_id: str | None
    reply_to: str | None
    author_id: str | None
    timestamp: str | None
    meta: Mapping[str, Any]


def create_project(
    connection: Connection,
    *,
    name: str,
    kind: str,
    question: str = "",
    guidelines: str = "",
    settings: Mapping[str, Any] | None = None,
    created_by: int | None = None,
    is_ready: bool = True,
) -> int:
    """A new, empty project; its creator becomes its owner. Returns its key.

    One that is not ready is seen by nobody until :func:`finish_import`.
    """
    name = name.strip()
    if not 1 <= len(name) <= 200:
        raise InputError(f"a project's name has 1 to 200 characters; this one has {len(name)}. Choose another.")
    key = connection.execute(
        insert(projects).values(
            name=name, kind=kind, question=question, guidelines=guidelines, settings=dict(settings or {}),
            created_by=created_by, created_at=now(), is_ready=is_ready,
        )
    ).inserted_primary_key  # fmt: skip
    assert key is not None
    if created_by is not None and is_ready:
        add_member(connection, key[0], created_by, "owner")
    return int(key[0])


def finish_import(connection: Connection, project_id: int) -> None:
    """Show a project whose texts and judgements are all stored; its creator becomes its owner."""
    ready = update(projects).where(projects.c.id == project_id).values(is_ready=True).returning(projects.c.created_by)
    created_by = connection.execute(ready).scalar_one()
    if created_by is not None:
        add_member(connection, project_id, created_by, "owner")


def remove_unfinished(connection: Connection, project_id: int | None = None, *, most: int = _BATCH) -> bool:
    """Remove some rows of an import that was cut off; call it again while it returns true.

    Without ``project_id`` those that are older than an hour: whoever made them is not at it any more.
    """
    unfinished = select(projects.c.id).where(projects.c.is_ready.is_(False))
    if project_id is not None:
        unfinished = unfinished.where(projects.c.id == project_id)
    else:
        unfinished = unfinished.where(projects.c.created_at < now() - timedelta(hours=1))
    for table in (questions, judgements, links, items):
        some = select(table.c.id).where(table.c.project_id.in_(unfinished)).limit(most)
        if connection.execute(delete(table).where(table.c.id.in_(some))).rowcount:
            return True
    return connection.execute(delete(projects).where(projects.c.id.in_(unfinished))).rowcount > 0


def hide(connection: Connection, project_id: int) -> None:
    """Take a project out of everybody's sight, so that :func:`remove_unfinished` may remove it."""
    connection.execute(update(projects).where(projects.c.id == project_id).values(is_ready=False))
    connection.execute(delete(memberships).where(memberships.c.project_id == project_id))


def adopt(connection: Connection, person_id: int) -> None:
    """Make a person the owner of every project that has no owner yet."""
    owned = select(memberships.c.project_id).where(memberships.c.role == "owner")
    unowned = select(projects.c.id).where(projects.c.id.not_in(owned), projects.c.is_ready)
    for key in connection.execute(unowned).scalars().all():
        add_member(connection, key, person_id, "owner")


def change_project(connection: Connection, project_id: int, **changes: Any) -> None:
    """Change a project's name, question, guidelines, settings or state."""
    connection.execute(update(projects).where(projects.c.id == project_id).values(**changes))


def get_project(connection: Connection, project_id: int) -> StoredProject | None:
    """A project, or ``None``."""
    row = connection.execute(select(projects).where(projects.c.id == project_id)).first()
    return None if row is None else _project(row)


# Who holds a session, the person's role in a project and the project itself, in one statement.
_ADMIT = (
    select(
        people.c.id.label("person_id"),
        people.c.name.label("person_name"),
        people.c.is_admin,
        people.c.is_guest,
        people.c.may_create,
        memberships.c.role,
        projects,
    )
    .join(sessions, sessions.c.person_id == people.c.id)
    .outerjoin(
        memberships,
        and_(memberships.c.person_id == people.c.id, memberships.c.project_id == bindparam("project")),
    )
    .outerjoin(projects, projects.c.id == memberships.c.project_id)
    .where(sessions.c.token_hash == bindparam("token"), sessions.c.expires_at > bindparam("moment"))
)


@dataclass(frozen=True)
class Admission:
    """Who holds a session, and the project with the person's role in it, where there is one."""

    person: Person
    role: str | None
    project: StoredProject | None


def admit(connection: Connection, token: str, project_id: int) -> Admission | None:
    """Who holds a session token, and the role in a project; ``None`` where the token is unknown or too old."""
    row = connection.execute(_ADMIT, {"token": hash_token(token), "project": project_id, "moment": now()}).first()
    if row is None:
        return None
    person = Person(row.person_id, row.person_name, row.is_admin, row.is_guest, row.may_create)
    return Admission(person, row.role, None if row.role is None else _project(row))


def projects_of(connection: Connection, person_id: int) -> list[tuple[StoredProject, str]]:
    """The projects in which a person has a role, with the role, newest first."""
    rows = connection.execute(
        select(projects, memberships.c.role)
        .join(memberships, memberships.c.project_id == projects.c.id)
        .where(memberships.c.person_id == person_id)
        .order_by(projects.c.id.desc())
    )
    return [(_project(row), row.role) for row in rows]


def all_projects(connection: Connection) -> list[StoredProject]:
    """Every project, archived ones too, oldest first."""
    return [
        _project(row) for row in connection.execute(select(projects).where(projects.c.is_ready).order_by(projects.c.id))
    ]


def examples(connection: Connection) -> list[int]:
    """The keys of the projects that nobody made: the examples of a demonstration."""
    nobodys = select(projects.c.id).where(projects.c.is_ready, projects.c.created_by.is_(None))
    return list(connection.execute(nobodys).scalars())


def count_rows(connection: Connection, project_ids: Sequence[int]) -> dict[int, tuple[int, int]]:
    """The number of texts and of rows of judgement of some projects; undone rows and undos are counted too."""
    counts = []
    for table in (items, judgements):
        query = select(table.c.project_id, func.count()).where(table.c.project_id.in_(project_ids))
        counts.append({row[0]: row[1] for row in connection.execute(query.group_by(table.c.project_id))})
    return {key: (counts[0].get(key, 0), counts[1].get(key, 0)) for key in project_ids}


def count_thread_questions(connection: Connection, project_id: int) -> int:
    """The number of texts that are the question of a thread: those that are named like their thread."""
    named_so = items.c.item_id == items.c.group_id
    return connection.execute(
        select(func.count()).select_from(items).where(items.c.project_id == project_id, named_so)
    ).scalar_one()


def _project(row: Any) -> StoredProject:
    return StoredProject(
        row.id, row.name, row.kind, row.question, row.guidelines, row.settings, row.created_at, row.state
    )


def add_items(connection: Connection, project_id: int, rows: Iterable[Mapping[str, Any]]) -> int:
    """Append texts (mappings with ``item_id`` and ``text`` and optionally the other columns); returns their number."""
    start = connection.execute(
        select(func.coalesce(func.max(items.c.position) + 1, 0)).where(items.c.project_id == project_id)
    ).scalar_one()
    count, batch = 0, []
    for row in rows:
        batch.append(
            {
                "project_id": project_id,
                "position": start + count,
                "item_id": row["item_id"],
                "text": row["text"],
                "group_id": row.get("group_id"),
                "reply_to": row.get("reply_to"),
                "author_id": row.get("author_id"),
                "timestamp": row.get("timestamp"),
                "meta": dict(row.get("meta") or {}),
            }
        )
        count += 1
        if len(batch) == _BATCH:
            connection.execute(insert(items), batch)
            batch = []
    if batch:
        connection.execute(insert(items), batch)
    return count


def add_links(connection: Connection, project_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """Append links (mappings with ``src_id``, ``dst_id`` and optionally ``kind``, ``weight``, ``context``)."""
    if rows:
        connection.execute(
            insert(links),
            [
                {
                    "project_id": project_id,
                    **{name: row.get(name) for name in ("src_id", "dst_id", "kind", "weight", "context")},
                }
                for row in rows
            ],
        )


def links_of(connection: Connection, project_id: int) -> list[Any]:
    """The links of a project, in their order."""
    return list(connection.execute(select(links).where(links.c.project_id == project_id).order_by(links.c.id)))


def add_annotators(connection: Connection, project_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """Append annotators (mappings with ``annotator_id, kind, family, model, cost``)."""
    if rows:
        connection.execute(insert(annotators), [{"project_id": project_id, **row} for row in rows])


def annotators_of(connection: Connection, project_id: int) -> list[Any]:
    """The annotators of a project, by their ids."""
    mine = annotators.c.project_id == project_id
    return list(connection.execute(select(annotators).where(mine).order_by(annotators.c.annotator_id)))


def neighbours_of(connection: Connection, project_id: int, item_id: str, *, limit: int = 50) -> list[Any]:
    """Some links that start or end at a text."""
    either = or_(links.c.src_id == item_id, links.c.dst_id == item_id)
    return list(connection.execute(select(links).where(links.c.project_id == project_id, either).limit(limit)))


def _item(row: Any) -> StoredItem:
    return StoredItem(
        row.id, row.item_id, row.position, row.text, row.group_id, row.reply_to, row.author_id, row.timestamp, row.meta
    )


def get_item(connection: Connection, project_id: int, key: int) -> StoredItem | None:
    """A text of a project by its key, or ``None``."""
    row = connection.execute(select(items).where(items.c.project_id == project_id, items.c.id == key)).first()
    return None if row is None else _item(row)


_BY_KEY = select(items).where(
    items.c.project_id == bindparam("project"), items.c.id.in_(bindparam("keys", expanding=True))
)


def items_by_key(connection: Connection, project_id: int, keys: Iterable[int]) -> dict[int, StoredItem]:
    """Some texts of a project by key; keys of other projects are not found."""
    rows = connection.execute(_BY_KEY, {"project": project_id, "keys": list(keys)})
    return {row.id: _item(row) for row in rows}


def items_by_id(connection: Connection, project_id: int, ids: Iterable[str]) -> dict[str, StoredItem]:
    """Some texts of a project by the id that people gave them."""
    rows = connection.execute(select(items).where(items.c.project_id == project_id, items.c.item_id.in_(list(ids))))
    return {row.item_id: _item(row) for row in rows}


def items_by_text(connection: Connection, project_id: int, texts: Iterable[str]) -> dict[str, StoredItem]:
    """Some texts of a project by their words; of equal texts the first."""
    rows = connection.execute(
        select(items)
        .where(items.c.project_id == project_id, items.c.text.in_(list(texts)))
        .order_by(items.c.position.desc())
    )
    return {row.text: _item(row) for row in rows}


def find_items(
    connection: Connection,
    project_id: int,
    *,
    search: str = "",
    group_id: str | None = None,
    offset: int = 0,
    limit: int | None = 50,
) -> tuple[list[StoredItem], int]:
    """Texts of a project in their order, and how many match."""
    condition = items.c.project_id == project_id
    if search:
        pattern = "%" + search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        condition = condition & or_(
            items.c.text.ilike(pattern, escape="\\"), items.c.item_id.ilike(pattern, escape="\\")
        )
    if group_id is not None:
        condition = condition & (items.c.group_id == group_id)
    total = connection.execute(select(func.count()).select_from(items).where(condition)).scalar_one()
    rows = connection.execute(select(items).where(condition).order_by(items.c.position).offset(offset).limit(limit))
    return [_item(row) for row in rows], total


_COLUMNS = ("item_id", "text", "group_id", "reply_to", "author_id", "timestamp", "meta")


def item_columns(connection: Connection, project_id: int) -> dict[str, list[Any]]:
    """All texts of a project in their order, by column: a project may have hundreds of thousands."""
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    query = select(*(items.c[name] for name in _COLUMNS)).where(items.c.project_id == project_id)
    rows = connection.execution_options(yield_per=_BATCH).execute(query.order_by(items.c.position))
    for part in rows.partitions():
        for name, values in zip(_COLUMNS, zip(*part, strict=True), strict=True):
            columns[name].extend(values)
    return columns


def keys_by_id(connection: Connection, project_id: int) -> dict[str, int]:
    """The key of every text of a project, by the id that people gave it."""
    rows = connection.execute(select(items.c.item_id, items.c.id).where(items.c.project_id == project_id))
    return {row[0]: row[1] for row in rows}


def keys_of_places(connection: Connection, project_id: int, places: Iterable[int]) -> list[tuple[int, str | None]]:
    """The key and the group of the texts at some places of a project's order."""
    query = select(items.c.id, items.c.group_id)
    rows = connection.execute(query.where(items.c.project_id == project_id, items.c.position.in_(list(places))))
    return [(row.id, row.group_id) for row in rows]


_GROUPS = (
    select(items.c.group_id, func.count().label("n"))
    .where(items.c.project_id == bindparam("project"))
    .group_by(items.c.group_id)
)
_KEYS = (
    select(items.c.id)
    .where(
        items.c.project_id == bindparam("project"),
        items.c.group_id.is_not_distinct_from(bindparam("group", type_=items.c.group_id.type)),
    )
    .order_by(items.c.id)
)


def groups_of(connection: Connection, project_id: int) -> list[tuple[str | None, int]]:
    """The groups (topics, threads) of a project with their number of texts."""
    return [(row.group_id, row.n) for row in connection.execute(_GROUPS, {"project": project_id})]


def keys_of_group(connection: Connection, project_id: int, group_id: str | None) -> list[int]:
    """The keys of the texts of a group (``None``: of those that have none), smallest first."""
    return list(connection.execute(_KEYS, {"project": project_id, "group": group_id}).scalars())


def note(connection: Connection, project_id: int | None, person_id: int | None, action: str, **detail: Any) -> None:
    """Write a line of the audit log."""
    connection.execute(
        insert(audit).values(project_id=project_id, person_id=person_id, at=now(), action=action, detail=detail)
    )


def audit_log(connection: Connection, project_id: int, *, limit: int = 200) -> list[Any]:
    """The newest lines of a project's audit log, with the name of who did it."""
    lines = select(audit, people.c.name.label("person_name")).outerjoin(people, people.c.id == audit.c.person_id)
    rows = connection.execute(lines.where(audit.c.project_id == project_id).order_by(audit.c.id.desc()).limit(limit))
    return list(rows)
