"""What every request needs: the database, who is asking, and what that person may do here."""

import asyncio
import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from fastapi import Depends, HTTPException, Path, Request

from accord.store import connections, people, projects
from accord.store.database import Connection, Database
from accord.store.people import ROLES, Person
from accord.store.projects import Admission, StoredItem, StoredProject
from accord.store.writer import Reader, Writer
from accord.studio.security import Passwords, RateLimit, csrf_token, same_token
from accord.studio.turns import Turns
from accord.workflows.collecting.suggest import Shelf

__all__ = [
    "COOKIE",
    "Access",
    "Account",
    "Creator",
    "CurrentPerson",
    "Judge",
    "MaybePerson",
    "Owner",
    "Reading",
    "Studio",
    "StudioState",
    "Viewer",
    "is_known",
    "sent_secret",
    "studio_of",
]

Result = TypeVar("Result")

COOKIE = "accord_session"
_NEEDS_ACCOUNT = "this needs an account; sign in first."

# Larger keys do not fit the databases' integers.
Key = Annotated[int, Path(ge=1, lt=2**62)]


@dataclass(eq=False)
class StudioState:
    """The parts of a running studio."""

    database: Database
    writer: Writer
    reader: Reader
    passwords: Passwords
    secret: bytes
    secure_cookies: bool = False
    demo: bool = False
    logins: RateLimit = field(default_factory=lambda: RateLimit(20, 60.0))
    changes: RateLimit = field(default_factory=lambda: RateLimit(1200, 60.0))
    shelf: Shelf = field(default_factory=Shelf)
    # Work that is expensive is done for few at a time; the others wait without a thread.
    signing_in: Turns = field(default_factory=lambda: Turns(2))
    searching: Turns = field(default_factory=lambda: Turns(3))
    reading: Turns = field(default_factory=lambda: Turns(1))
    evaluating: Turns = field(default_factory=lambda: Turns(1))
    explaining: Turns = field(default_factory=lambda: Turns(2))

    async def stored(self, work: Callable[[Connection], Result]) -> Result:
        """What ``work`` returns, once its transaction is committed; no thread waits meanwhile."""
        return await asyncio.wrap_future(self.writer.submit(work))

    async def found(self, project_id: int, **wanted: Any) -> tuple[list[StoredItem], int]:
        """Some texts of a project and the number that match; each search reads all of them, so few search at once."""

        def find() -> tuple[list[StoredItem], int]:
            with self.database.read() as connection:
                return projects.find_items(connection, project_id, **wanted)

        return await self.searching.run(find)

    async def asked(self, work: Callable[[Connection], Result]) -> Result:
        """What ``work`` finds in the database; no thread waits meanwhile."""
        return await asyncio.wrap_future(self.reader.submit(work))


@dataclass(frozen=True)
class Visitor:
    """Somebody with a session."""

    person: Person
    session: str
    secret: bytes = field(repr=False)

    @property
    def csrf(self) -> str:
        """The token that this visitor's pages send back with every change."""
        return csrf_token(self.secret, self.session)


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

    @property
    def sees_results(self) -> bool:
        """Whether the person may see what the model and others say: judges only once an owner has opened it."""
        return self.role != "judge" or bool(self.project.settings.get("open"))


def studio_of(request: Request) -> StudioState:
    """The studio that serves a request."""
    state: StudioState = request.app.state.studio
    return state


# What needs no database is a coroutine: plain functions each cost a change of thread.
async def _studio(request: Request) -> StudioState:
    return studio_of(request)


Studio = Annotated[StudioState, Depends(_studio)]
Found = TypeVar("Found", Person, Admission)


def _session_of(request: Request) -> tuple[str, bool]:
    """The session that a request names, and whether by a header that no browser sends by itself."""
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    by_bearer = scheme.lower() == "bearer" and bool(bearer)
    return (bearer if by_bearer else request.cookies.get(COOKIE, "")), by_bearer


async def is_known(request: Request) -> bool:
    """Whether somebody with an account, or with a project's address for Label Studio, sends a request."""
    studio = studio_of(request)
    if request.url.path.startswith("/api/label-studio/"):
        parts = request.url.path.split("/")
        secret = (parts[4] if len(parts) > 5 else "") or sent_secret(request.headers.get("authorization", "")) or ""
        return bool(secret) and await studio.asked(lambda c: connections.project_of_token(c, secret)) is not None
    session, _ = _session_of(request)
    return bool(session) and await studio.asked(lambda c: people.person_of_session(c, session)) is not None


def sent_secret(header: str) -> str | None:
    """The secret in an ``Authorization`` header: the password of a basic one, or the bearer."""
    scheme, _, sent = header.partition(" ")
    if scheme.lower() == "bearer":
        return sent.strip()
    if scheme.lower() != "basic":
        return None
    try:
        return base64.b64decode(sent, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return None


async def _look_up(request: Request, find: Callable[[Connection, str], Found | None]) -> tuple[Visitor, Found] | None:
    """Who asks and what ``find`` says of the session, or ``None``.

    The database is asked each time, so that signing out or losing a role works at once. A change by cookie must carry
    the page's token.
    """
    session, by_bearer = _session_of(request)
    if not session or len(session) > 200:
        return None
    studio = studio_of(request)

    found = await studio.asked(lambda connection: find(connection, session))
    if found is None:
        return None
    visitor = Visitor(found if isinstance(found, Person) else found.person, session, studio.secret)
    if visitor.person.is_guest and not studio.demo:  # the demonstration is over
        return None
    if request.method not in {"GET", "HEAD", "OPTIONS"}:
        # A browser sends cookies by itself; only our own pages know the token. A bearer is never sent by itself.
        if not by_bearer and not same_token(visitor.csrf, request.headers.get("x-csrf-token", "")):
            raise HTTPException(403, "this page is too old to make changes; reload it and try again.")
        if not studio.changes.allows(str(visitor.person.id)):
            raise HTTPException(429, "at most 1,200 changes a minute are taken from one person; wait a moment.")
    return visitor, found


async def maybe_visitor(request: Request) -> Visitor | None:
    """Who asks, or ``None``."""
    found = await _look_up(request, people.person_of_session)
    return None if found is None else found[0]


MaybePerson = Annotated[Visitor | None, Depends(maybe_visitor)]


async def current_visitor(visitor: MaybePerson) -> Visitor:
    """Who asks; nobody else gets past."""
    if visitor is None:
        raise HTTPException(401, _NEEDS_ACCOUNT)
    return visitor


CurrentPerson = Annotated[Visitor, Depends(current_visitor)]


async def _account(visitor: CurrentPerson) -> Visitor:
    if visitor.person.is_guest:
        raise HTTPException(403, "guests judge the examples; this needs an account. Ask for an invite link.")
    return visitor


Account = Annotated[Visitor, Depends(_account)]  # somebody who is no guest


async def _creator(visitor: Account) -> Visitor:
    if not visitor.person.may_create:
        raise HTTPException(403, "owners make projects; you are not one yet. Ask an owner of a project to allow it.")
    return visitor


Creator = Annotated[Visitor, Depends(_creator)]  # somebody who may make projects


def _with_role(least: str) -> Callable[..., Any]:
    async def access(request: Request, project_id: Key) -> Access:
        found = await _look_up(request, lambda connection, session: projects.admit(connection, session, project_id))
        if found is None:
            raise HTTPException(401, _NEEDS_ACCOUNT)
        visitor, admission = found
        project, role = admission.project, admission.role
        # The same answer for a project that is not there and one that is not theirs.
        if project is None or role is None:
            raise HTTPException(404, "there is no such project, or you are not a member of it.")
        if ROLES.index(role) < ROLES.index(least):
            raise HTTPException(403, f"this needs the role {least}; yours is {role}. Ask an owner of the project.")
        return Access(visitor, project, role)

    return access


Viewer = Annotated[Access, Depends(_with_role("viewer"))]


async def _with_results(access: Viewer) -> Access:
    if not access.sees_results:
        raise HTTPException(403, "judges see the results once an owner of the project opens them; they are closed now.")
    return access


Reading = Annotated[Access, Depends(_with_results)]  # somebody who may see results
Judge = Annotated[Access, Depends(_with_role("judge"))]
Owner = Annotated[Access, Depends(_with_role("owner"))]
