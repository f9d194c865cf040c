"""People: accounts, sessions, invites and what each may do in a project.

Only hashes of session and invite tokens are stored, so a copy of the database lets nobody in.
"""

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from accord.errors import InputError
from accord.store.tables import connections, invites, memberships, people, questions, sessions
from accord.store.tables import secrets as secrets_table

__all__ = [
    "ROLES",
    "Invite",
    "Person",
    "accept_invite",
    "add_member",
    "allow_creating",
    "count_people",
    "create_invite",
    "create_person",
    "create_reset",
    "end_session",
    "find_invite",
    "get_person",
    "hash_token",
    "invites_of",
    "members",
    "names_of",
    "password_hash_of",
    "person_of_session",
    "remove_member",
    "revoke_invite",
    "role_of",
    "secret",
    "set_password_hash",
    "set_role",
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
    is_guest: bool = False  # of a demonstration: judges the examples and nothing else
    may_create: bool = False  # projects


@dataclass(frozen=True)
class Invite:
    """A link: it lets people join a project, or one person (``person_id``) set a new password."""

    key: str  # the hash of the link's token
    project_id: int | None
    role: str
    person_id: int | None
    created_by: int | None
    created_at: datetime
    expires_at: datetime
    uses_left: int


def now() -> datetime:
    """The present, with its time zone."""
    return datetime.now(UTC)


def hash_token(token: str) -> str:
    """What is stored of a secret token."""
    return hashlib.sha256(token.encode()).hexdigest()


def secret(connection: Connection, name: str) -> bytes:
    """A secret that is drawn once and stored, so that it is the same after a restart."""
    stored = select(secrets_table.c.value).where(secrets_table.c.name == name)
    found = connection.execute(stored).scalar()
    if found is None:
        found = secrets.token_bytes(32)
        connection.execute(insert(secrets_table).values(name=name, value=found))
    return bytes(found)


def create_person(
    connection: Connection,
    name: str,
    *,
    password_hash: str | None,
    is_admin: bool = False,
    is_guest: bool = False,
    may_create: bool = False,
) -> Person:
    """A new account; the name must not be taken."""
    name = name.strip()
    if not 1 <= len(name) <= 200 or not name.isprintable():
        raise InputError(f"a name has 1 to 200 printable characters; {name[:40]!r} does not. Choose another.")
    try:
        key = connection.execute(
            insert(people).values(
                name=name, password_hash=password_hash, is_admin=is_admin, is_guest=is_guest,
                may_create=may_create or is_admin, created_at=now(),
            )
        ).inserted_primary_key  # fmt: skip
    except IntegrityError as error:
        raise InputError(f"a name belongs to one person; {name!r} is taken. Choose another.") from error
    assert key is not None
    return Person(key[0], name, is_admin, is_guest, may_create or is_admin)


def get_person(connection: Connection, person_id: int) -> Person:
    """The person of a key."""
    return _person(connection.execute(select(people).where(people.c.id == person_id)).one())


def names_of(connection: Connection, person_ids: Collection[int]) -> dict[int, str]:
    """The names of some people."""
    rows = connection.execute(select(people.c.id, people.c.name).where(people.c.id.in_(person_ids)))
    return {row.id: row.name for row in rows}


def count_people(connection: Connection) -> int:
    """The number of accounts."""
    return connection.execute(select(func.count()).select_from(people)).scalar_one()


def password_hash_of(connection: Connection, name: str) -> tuple[Person, str | None] | None:
    """The person of a name and the stored password hash, or ``None``."""
    row = connection.execute(select(people).where(people.c.name == name.strip())).first()
    return None if row is None else (_person(row), row.password_hash)


def _person(row: Any) -> Person:
    return Person(row.id, row.name, row.is_admin, row.is_guest, row.may_create)


def set_password_hash(connection: Connection, person_id: int, password_hash: str) -> None:
    """Store a new password hash, end the person's sessions and take back links that would set another password."""
    connection.execute(update(people).where(people.c.id == person_id).values(password_hash=password_hash))
    connection.execute(delete(sessions).where(sessions.c.person_id == person_id))
    connection.execute(delete(invites).where(invites.c.person_id == person_id))


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
    select(people.c.id, people.c.name, people.c.is_admin, people.c.is_guest, people.c.may_create)
    .join(sessions, sessions.c.person_id == people.c.id)
    .where(sessions.c.token_hash == bindparam("token"), sessions.c.expires_at > bindparam("moment"))
)


def person_of_session(connection: Connection, token: str) -> Person | None:
    """Who holds a session token, or ``None`` where it is unknown or too old."""
    row = connection.execute(_HOLDER, {"token": hash_token(token), "moment": now()}).first()
    return None if row is None else _person(row)


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
    return _make_link(connection, project_id=project_id, role=role, created_by=created_by, uses_left=uses, life=life)


def _make_link(connection: Connection, *, life: timedelta, **values: Any) -> str:
    token = secrets.token_urlsafe(24)
    connection.execute(
        insert(invites).values(token_hash=hash_token(token), created_at=now(), expires_at=now() + life, **values)
    )
    return token


def create_reset(connection: Connection, person_id: int, *, project_id: int, created_by: Person) -> str:
    """A secret token by which a member of a project sets a new password, once, within two days.

    Whoever holds the link becomes that person. So an owner makes one only for somebody who is nowhere else: every
    project of the person must be one that the owner owns too. The first owner of the studio may do it for all.
    """
    theirs = select(memberships.c.project_id).where(memberships.c.person_id == person_id)
    owned = select(memberships.c.project_id).where(
        memberships.c.person_id == created_by.id, memberships.c.role == "owner"
    )
    elsewhere = connection.execute(theirs.where(memberships.c.project_id.not_in(owned)).limit(1)).first()
    is_admin = connection.execute(select(people.c.is_admin).where(people.c.id == person_id)).scalar()
    if not created_by.is_admin and (elsewhere is not None or is_admin):
        raise InputError(
            "an owner resets the password of people who are only in the owner's projects; this person is in others "
            "too. Ask the first owner of the studio."
        )
    connection.execute(delete(invites).where(invites.c.person_id == person_id))
    return _make_link(
        connection, project_id=project_id, role="reset", created_by=created_by.id, uses_left=1, person_id=person_id,
        life=timedelta(days=2),
    )  # fmt: skip


def invites_of(connection: Connection, project_id: int) -> list[Invite]:
    """The links of a project that still work, newest first."""
    works = (invites.c.expires_at > now(), invites.c.uses_left > 0)
    query = select(invites).where(invites.c.project_id == project_id, *works).order_by(invites.c.created_at.desc())
    return [_invite(row) for row in connection.execute(query)]


def _invite(row: Any) -> Invite:
    return Invite(
        row.token_hash, row.project_id, row.role, row.person_id, row.created_by, row.created_at, row.expires_at,
        row.uses_left,
    )  # fmt: skip


def revoke_invite(connection: Connection, project_id: int, key: str) -> bool:
    """End a link of a project; returns whether there was one."""
    found = delete(invites).where(invites.c.project_id == project_id, invites.c.token_hash == key)
    return connection.execute(found).rowcount > 0


def find_invite(connection: Connection, token: str) -> Invite | None:
    """What an invite is good for, or ``None`` where it is unknown, used up or too old."""
    row = connection.execute(
        select(invites).where(
            invites.c.token_hash == hash_token(token), invites.c.expires_at > now(), invites.c.uses_left > 0
        )
    ).first()
    return None if row is None else _invite(row)


def accept_invite(connection: Connection, token: str, person_id: int) -> Invite:
    """Use a link once; the person becomes a member of its project, or may set a new password."""
    invite = find_invite(connection, token)
    if invite is not None and invite.person_id in (None, person_id):
        taken = connection.execute(
            update(invites)
            .where(invites.c.token_hash == hash_token(token), invites.c.uses_left > 0)
            .values(uses_left=invites.c.uses_left - 1)
        )
        if taken.rowcount == 1:
            if invite.project_id is not None and invite.person_id is None:
                add_member(connection, invite.project_id, person_id, invite.role, invite=invite.key)
            return invite
    raise InputError("an invite link works until it is used up or two weeks old; this one does not. Ask for a new one.")


def add_member(
    connection: Connection, project_id: int, person_id: int, role: str, *, invite: str | None = None
) -> None:
    """Give a person a role in a project; a role already held is only ever raised."""
    if role not in ROLES:
        raise InputError(f"a role is one of {', '.join(ROLES)}; {role!r} is not.")
    held = role_of(connection, project_id, person_id)
    if held is None:
        connection.execute(
            insert(memberships).values(
                project_id=project_id, person_id=person_id, role=role, joined_at=now(), invite=invite
            )
        )
    elif ROLES.index(held) < ROLES.index(role):
        connection.execute(
            update(memberships)
            .where(memberships.c.project_id == project_id, memberships.c.person_id == person_id)
            .values(role=role)
        )
    if role == "owner":
        allow_creating(connection, person_id, True)


def allow_creating(connection: Connection, person_id: int, allowed: bool) -> None:
    """Say whether a person may make projects; whoever becomes an owner may."""
    connection.execute(update(people).where(people.c.id == person_id).values(may_create=allowed))


def set_role(connection: Connection, project_id: int, person_id: int, role: str) -> None:
    """Raise or lower a member's role. A project keeps at least one owner."""
    if role not in ROLES:
        raise InputError(f"a role is one of {', '.join(ROLES)}; {role!r} is not.")
    if role != "owner":
        _check_other_owner(connection, project_id, person_id)
    here = (memberships.c.project_id == project_id, memberships.c.person_id == person_id)
    connection.execute(update(memberships).where(*here).values(role=role))
    if role == "owner":
        allow_creating(connection, person_id, True)
    else:
        _end_links(connection, project_id, person_id)


def _check_other_owner(connection: Connection, project_id: int, person_id: int) -> None:
    owners = connection.execute(
        select(memberships.c.person_id).where(memberships.c.project_id == project_id, memberships.c.role == "owner")
    ).scalars()
    if set(owners) == {person_id}:
        raise InputError("a project needs an owner; this person is the only one. Make somebody else owner first.")


def _end_links(connection: Connection, project_id: int, person_id: int) -> None:
    """End the links and the address for Label Studio that a person made in a project."""
    connection.execute(delete(invites).where(invites.c.project_id == project_id, invites.c.created_by == person_id))
    connection.execute(
        delete(connections).where(connections.c.project_id == project_id, connections.c.created_by == person_id)
    )


def remove_member(connection: Connection, project_id: int, person_id: int) -> None:
    """Take a person's role away; their judgements stay. A project keeps at least one owner.

    The links that the person made and the one by which the person came stop working, and so does an address for Label
    Studio that the person made.
    """
    _check_other_owner(connection, project_id, person_id)
    here = (memberships.c.project_id == project_id, memberships.c.person_id == person_id)
    came_by = select(memberships.c.invite).where(*here, memberships.c.invite.is_not(None))
    connection.execute(delete(invites).where(invites.c.project_id == project_id, invites.c.token_hash.in_(came_by)))
    _end_links(connection, project_id, person_id)
    # What the person was asked is asked of others at once.
    held = (questions.c.project_id == project_id, questions.c.leased_by == person_id)
    connection.execute(update(questions).where(*held).values(leased_by=None, leased_until=None))
    connection.execute(delete(memberships).where(*here))


def role_of(connection: Connection, project_id: int, person_id: int) -> str | None:
    """The role of a person in a project, or ``None``."""
    return connection.execute(
        select(memberships.c.role).where(memberships.c.project_id == project_id, memberships.c.person_id == person_id)
    ).scalar()


def members(connection: Connection, project_id: int) -> list[tuple[Person, str]]:
    """The members of a project with their roles, by name."""
    rows = connection.execute(
        select(people, memberships.c.role)
        .join(memberships, memberships.c.person_id == people.c.id)
        .where(memberships.c.project_id == project_id)
        .order_by(people.c.name)
    )
    return [(_person(row), row.role) for row in rows]
