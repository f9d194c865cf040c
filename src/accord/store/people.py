"""People: accounts, sessions, invites and what each may do in a project.

Only hashes of session and invite tokens are stored, so a copy of the database lets nobody in.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from accord.errors import InputError
from accord.store.tables import invites, memberships, people, sessions

__all__ = [
    "ROLES",
    "Person",
    "accept_invite",
    "add_member",
    "count_people",
    "create_invite",
    "create_person",
    "end_session",
    "find_invite",
    "hash_token",
    "members",
    "password_hash_of",
    "person_of_session",
    "remove_member",
    "role_of",
    "set_password_hash",
    "start_session",
]

# What each role may do grows from left to right.
ROLES = ("viewer", "judge", "owner")

_SESSION_LIFE = timedelta(days=30)


@dataclass(frozen=True)
class Person:
    """Somebody with an account."""

    id: int
    name: str
    is_admin: bool


@dataclass(frozen=True)
class Invite:
    """What an invite link lets its bearer do."""

    project_id: int | None
    role: str


def now() -> datetime:
    """The present, with its time zone."""
    return datetime.now(UTC)


def hash_token(token: str) -> str:
    """What is stored of a secret token."""
    return hashlib.sha256(token.encode()).hexdigest()


def create_person(connection: Connection, name: str, *, password_hash: str | None, is_admin: bool = False) -> Person:
    """A new account; the name must not be taken."""
    name = name.strip()
    if not 1 <= len(name) <= 200 or not name.isprintable():
        raise InputError(f"a name has 1 to 200 printable characters; {name[:40]!r} does not. Choose another.")
    try:
        key = connection.execute(
            insert(people).values(name=name, password_hash=password_hash, is_admin=is_admin, created_at=now())
        ).inserted_primary_key
    except IntegrityError as error:
        raise InputError(f"a name belongs to one person; {name!r} is taken. Choose another.") from error
    assert key is not None
    return Person(key[0], name, is_admin)


def count_people(connection: Connection) -> int:
    """The number of accounts."""
    return connection.execute(select(func.count()).select_from(people)).scalar_one()


def password_hash_of(connection: Connection, name: str) -> tuple[Person, str | None] | None:
    """The person of a name and the stored password hash, or ``None``."""
    row = connection.execute(select(people).where(people.c.name == name.strip())).first()
    return None if row is None else (Person(row.id, row.name, row.is_admin), row.password_hash)


def set_password_hash(connection: Connection, person_id: int, password_hash: str) -> None:
    """Store a new password hash and end the person's other sessions."""
    connection.execute(update(people).where(people.c.id == person_id).values(password_hash=password_hash))
    connection.execute(delete(sessions).where(sessions.c.person_id == person_id))


def start_session(connection: Connection, person_id: int) -> str:
    """A new session; returns its secret token."""
    token = secrets.token_urlsafe(32)
    connection.execute(delete(sessions).where(sessions.c.expires_at < now()))
    connection.execute(
        insert(sessions).values(
            token_hash=hash_token(token), person_id=person_id, created_at=now(), expires_at=now() + _SESSION_LIFE
        )
    )
    return token


_HOLDER = (
    select(people.c.id, people.c.name, people.c.is_admin)
    .join(sessions, sessions.c.person_id == people.c.id)
    .where(sessions.c.token_hash == bindparam("token"), sessions.c.expires_at > bindparam("moment"))
)


def person_of_session(connection: Connection, token: str) -> Person | None:
    """Who holds a session token, or ``None`` where it is unknown or too old."""
    row = connection.execute(_HOLDER, {"token": hash_token(token), "moment": now()}).first()
    return None if row is None else Person(row.id, row.name, row.is_admin)


def end_session(connection: Connection, token: str) -> None:
    """Forget a session."""
    connection.execute(delete(sessions).where(sessions.c.token_hash == hash_token(token)))


def create_invite(
    connection: Connection,
    *,
    project_id: int | None,
    role: str,
    created_by: int | None,
    uses: int = 1,
    life: timedelta = timedelta(days=14),
) -> str:
    """A secret token that lets ``uses`` people join a project (or, with no project, set up the studio)."""
    if role not in ROLES:
        raise InputError(f"a role is one of {', '.join(ROLES)}; {role!r} is not.")
    if not 1 <= uses <= 10_000:
        raise InputError(f"an invite is good for 1 to 10,000 people; {uses} was asked for.")
    token = secrets.token_urlsafe(24)
    connection.execute(
        insert(invites).values(
            token_hash=hash_token(token), project_id=project_id, role=role, created_by=created_by,
            created_at=now(), expires_at=now() + life, uses_left=uses,
        )
    )  # fmt: skip
    return token


def find_invite(connection: Connection, token: str) -> Invite | None:
    """What an invite is good for, or ``None`` where it is unknown, used up or too old."""
    row = connection.execute(
        select(invites.c.project_id, invites.c.role).where(
            invites.c.token_hash == hash_token(token), invites.c.expires_at > now(), invites.c.uses_left > 0
        )
    ).first()
    return None if row is None else Invite(row.project_id, row.role)


def accept_invite(connection: Connection, token: str, person_id: int) -> Invite:
    """Use an invite once; the person becomes a member of its project."""
    invite = find_invite(connection, token)
    if invite is not None:
        taken = connection.execute(
            update(invites)
            .where(invites.c.token_hash == hash_token(token), invites.c.uses_left > 0)
            .values(uses_left=invites.c.uses_left - 1)
        )
        if taken.rowcount == 1:
            if invite.project_id is not None:
                add_member(connection, invite.project_id, person_id, invite.role)
            return invite
    raise InputError("an invite link works until it is used up or two weeks old; this one does not. Ask for a new one.")


def add_member(connection: Connection, project_id: int, person_id: int, role: str) -> None:
    """Give a person a role in a project; a role already held is only ever raised."""
    if role not in ROLES:
        raise InputError(f"a role is one of {', '.join(ROLES)}; {role!r} is not.")
    held = role_of(connection, project_id, person_id)
    if held is None:
        connection.execute(
            insert(memberships).values(project_id=project_id, person_id=person_id, role=role, joined_at=now())
        )
    elif ROLES.index(held) < ROLES.index(role):
        connection.execute(
            update(memberships)
            .where(memberships.c.project_id == project_id, memberships.c.person_id == person_id)
            .values(role=role)
        )


def remove_member(connection: Connection, project_id: int, person_id: int) -> None:
    """Take a person's role away; their judgements stay. A project keeps at least one owner."""
    owners = connection.execute(
        select(memberships.c.person_id).where(memberships.c.project_id == project_id, memberships.c.role == "owner")
    ).scalars()
    if set(owners) == {person_id}:
        raise InputError("a project needs an owner; this person is the only one. Make somebody else owner first.")
    connection.execute(
        delete(memberships).where(memberships.c.project_id == project_id, memberships.c.person_id == person_id)
    )


def role_of(connection: Connection, project_id: int, person_id: int) -> str | None:
    """The role of a person in a project, or ``None``."""
    return connection.execute(
        select(memberships.c.role).where(memberships.c.project_id == project_id, memberships.c.person_id == person_id)
    ).scalar()


def members(connection: Connection, project_id: int) -> list[tuple[Person, str]]:
    """The members of a project with their roles, by name."""
    rows = connection.execute(
        select(people.c.id, people.c.name, people.c.is_admin, memberships.c.role)
        .join(memberships, memberships.c.person_id == people.c.id)
        .where(memberships.c.project_id == project_id)
        .order_by(people.c.name)
    )
    return [(Person(row.id, row.name, row.is_admin), row.role) for row in rows]
