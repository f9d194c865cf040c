"""What every request needs: the database, who is asking, and what that person may do here."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Path, Request

from accord.store import people, projects
from accord.store.database import Database
from accord.store.people import ROLES, Person
from accord.store.projects import StoredProject
from accord.store.writer import Writer
from accord.studio.security import Passwords, RateLimit, csrf_token, csrf_token_is_good
from accord.workflows.suggest import Shelf

__all__ = [
    "COOKIE",
    "Access",
    "CurrentPerson",
    "Judge",
    "MaybePerson",
    "Owner",
    "Studio",
    "StudioState",
    "Viewer",
    "studio_of",
]

COOKIE = "accord_session"

# Larger keys do not fit the databases' integers.
Key = Annotated[int, Path(ge=1, lt=2**62)]


@dataclass(eq=False)
class StudioState:
    """The parts of a running studio."""

    database: Database
    writer: Writer
    passwords: Passwords
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    secure_cookies: bool = False
    demo: bool = False
    logins: RateLimit = field(default_factory=lambda: RateLimit(20, 60.0))
    changes: RateLimit = field(default_factory=lambda: RateLimit(1200, 60.0))
    shelf: Shelf = field(default_factory=Shelf)


@dataclass(frozen=True)
class Visitor:
    """Somebody with a session."""

    person: Person
    session: str
    csrf: str


@dataclass(frozen=True)
class Access:
    """A person, a project, and the person's role in it."""

    visitor: Visitor
    project: StoredProject
    role: str

    @property
    def person(self) -> Person:
        """The person who asks."""
        return self.visitor.person

    def may(self, role: str) -> bool:
        """Whether the person's role is at least ``role``."""
        return ROLES.index(self.role) >= ROLES.index(role)


def studio_of(request: Request) -> StudioState:
    """The studio that serves a request."""
    state: StudioState = request.app.state.studio
    return state


Studio = Annotated[StudioState, Depends(studio_of)]


def maybe_visitor(request: Request, studio: Studio) -> Visitor | None:
    """Who asks, or ``None``; a change by cookie must carry the page's token."""
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    by_bearer = scheme.lower() == "bearer" and bool(bearer)
    session = bearer if by_bearer else request.cookies.get(COOKIE, "")
    if not session or len(session) > 200:
        return None
    with studio.database.read() as connection:
        person = people.person_of_session(connection, session)
    if person is None:
        return None
    if request.method not in {"GET", "HEAD", "OPTIONS"}:
        # A browser sends cookies by itself; only our own pages know the token. A bearer is never sent by itself.
        sent = request.headers.get("x-csrf-token", "")
        if not by_bearer and not csrf_token_is_good(studio.secret, session, sent):
            raise HTTPException(403, "this page is too old to make changes; reload it and try again.")
        if not studio.changes.allows(str(person.id)):
            raise HTTPException(429, "at most 1,200 changes a minute are taken from one person; wait a moment.")
    return Visitor(person, session, csrf_token(studio.secret, session))


MaybePerson = Annotated[Visitor | None, Depends(maybe_visitor)]


def current_visitor(visitor: MaybePerson) -> Visitor:
    """Who asks; nobody else gets past."""
    if visitor is None:
        raise HTTPException(401, "this needs an account; sign in first.")
    return visitor


CurrentPerson = Annotated[Visitor, Depends(current_visitor)]


def _with_role(least: str) -> Callable[..., Any]:
    def access(project_id: Key, visitor: CurrentPerson, studio: Studio) -> Access:
        with studio.database.read() as connection:
            role = people.role_of(connection, project_id, visitor.person.id)
            project = projects.get_project(connection, project_id)
        # The same answer for a project that is not there and one that is not theirs.
        if project is None or role is None:
            raise HTTPException(404, "there is no such project, or you are not a member of it.")
        if ROLES.index(role) < ROLES.index(least):
            raise HTTPException(403, f"this needs the role {least}; yours is {role}. Ask an owner of the project.")
        return Access(visitor, project, role)

    return access


Viewer = Annotated[Access, Depends(_with_role("viewer"))]
Judge = Annotated[Access, Depends(_with_role("judge"))]
Owner = Annotated[Access, Depends(_with_role("owner"))]
