"""Signing in and out."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, StringConstraints

from accord.errors import InputError
from accord.store import people, projects
from accord.store.database import Connection
from accord.store.people import Invite, Person
from accord.studio.context import COOKIE, Account, CurrentPerson, Studio, StudioState
from accord.studio.security import csrf_token

__all__ = ["router", "sign_in"]

router = APIRouter(tags=["sessions"])

Name = Annotated[
    str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True, pattern=r"^[^\x00-\x1f\x7f]*$")
]
Password = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00]*$")]


Token = Annotated[str, StringConstraints(min_length=10, max_length=100, pattern=r"^[A-Za-z0-9_-]*$")]


class Credentials(BaseModel):
    """A name and its password."""

    name: Name
    password: Password


class Joining(Credentials):
    """A new account made with an invite."""

    invite: Token


class SessionAnswer(BaseModel):
    """A session: send the token as ``Authorization: Bearer …``."""

    token: str
    csrf: str
    person: str


async def sign_in(studio: StudioState, response: Response, person: Person) -> SessionAnswer:
    """Start a session and set its cookie."""
    token = await studio.stored(lambda connection: people.start_session(connection, person.id))
    response.set_cookie(
        COOKIE, token, max_age=30 * 86400, httponly=True, samesite="lax", secure=studio.secure_cookies, path="/"
    )
    return SessionAnswer(token=token, csrf=csrf_token(studio.secret, token), person=person.name)


def _check_rate(studio: StudioState, request: Request) -> None:
    if not studio.logins.allows(request.client.host if request.client else "unknown"):
        raise HTTPException(429, "too many tries from this address; wait a minute.")


@router.post("/sessions", responses={401: {}, 429: {}})
async def create_session(
    credentials: Credentials, request: Request, response: Response, studio: Studio
) -> SessionAnswer:
    """Sign in."""
    _check_rate(studio, request)
    return await sign_in(studio, response, await _with_password(studio, credentials.name, credentials.password))


async def _with_password(studio: StudioState, name: str, password: str) -> Person:
    """The person of a name, if the password is theirs."""
    found = await studio.asked(lambda connection: people.password_hash_of(connection, name))
    stored = found[1] if found else None
    is_right = await studio.signing_in.run(lambda: studio.passwords.is_right(stored, password))
    if not is_right or found is None:
        raise HTTPException(401, "name and password do not fit; check both.")
    return found[0]


@router.post("/accounts", status_code=201, responses={429: {}})
async def create_account(joining: Joining, request: Request, response: Response, studio: Studio) -> SessionAnswer:
    """Make an account with an invite, and sign in."""
    _check_rate(studio, request)
    await _invite(studio, joining.invite)
    password_hash = await studio.signing_in.run(lambda: studio.passwords.hash(joining.password))

    def join(connection: Connection) -> Person:
        invite = people.find_invite(connection, joining.invite)
        is_admin = invite is not None and invite.project_id is None
        person = people.create_person(connection, joining.name, password_hash=password_hash, is_admin=is_admin)
        people.accept_invite(connection, joining.invite, person.id)
        if is_admin:
            projects.adopt(connection, person.id)
        return person

    return await sign_in(studio, response, await studio.stored(join))


async def _invite(studio: StudioState, token: str, *, is_reset: bool = False) -> Invite:
    """The link of a token, if it works; asked before anything expensive is done for a stranger."""
    invite = await studio.asked(lambda connection: people.find_invite(connection, token))
    if invite is None or (invite.person_id is not None) != is_reset:
        raise InputError("a link works until it is used up or too old; this one does not. Ask for a new one.")
    return invite


class Accepting(BaseModel):
    """An invite that somebody with an account accepts."""

    invite: Token


class Joined(BaseModel):
    """The project that was joined."""

    id: int


@router.post("/invites/accept", responses={401: {}, 403: {}, 429: {}})
async def accept(sent: Accepting, visitor: Account, request: Request, studio: Studio) -> Joined:
    """Join another project with the account that is signed in."""
    _check_rate(studio, request)
    invite = await _invite(studio, sent.invite)
    if invite.project_id is None:
        raise InputError("this link sets the studio up and makes its first account; sign out to use it.")
    await studio.stored(lambda connection: people.accept_invite(connection, sent.invite, visitor.person.id))
    return Joined(id=invite.project_id)


class PasswordSent(BaseModel):
    """A wish for another password."""

    old: Password
    password: Password


@router.post("/password", responses={401: {}, 403: {}, 429: {}})
async def change_password(
    sent: PasswordSent, visitor: Account, request: Request, response: Response, studio: Studio
) -> SessionAnswer:
    """Change the own password; all sessions end but the new one."""
    _check_rate(studio, request)
    await _with_password(studio, visitor.person.name, sent.old)
    return await _set_password(studio, response, visitor.person, sent.password)


class ResetSent(BaseModel):
    """A new password, set with a link that an owner made."""

    invite: Token
    password: Password


@router.post("/password/reset", responses={429: {}})
async def reset_password(sent: ResetSent, request: Request, response: Response, studio: Studio) -> SessionAnswer:
    """Set a new password by an owner's link, and sign in; all other sessions end."""
    _check_rate(studio, request)
    invite = await _invite(studio, sent.invite, is_reset=True)

    person_id = invite.person_id
    assert person_id is not None  # asked for above
    person = await studio.asked(lambda connection: people.get_person(connection, person_id))
    return await _set_password(studio, response, person, sent.password, link=sent.invite)


async def _set_password(
    studio: StudioState, response: Response, person: Person, password: str, *, link: str | None = None
) -> SessionAnswer:
    password_hash = await studio.signing_in.run(lambda: studio.passwords.hash(password))

    def change(connection: Connection) -> None:
        if link is not None:
            people.accept_invite(connection, link, person.id)
        people.set_password_hash(connection, person.id, password_hash)

    await studio.stored(change)
    return await sign_in(studio, response, person)


@router.get("/sessions/current", responses={401: {}})
async def current_session(visitor: CurrentPerson) -> SessionAnswer:
    """Who is signed in, and the token that pages send with a change; the session's own token is not shown again."""
    return SessionAnswer(token="", csrf=visitor.csrf, person=visitor.person.name)


@router.delete("/sessions", status_code=204, responses={401: {}})
def delete_session(visitor: CurrentPerson, studio: Studio) -> Response:
    """Sign out."""
    studio.writer.write(lambda connection: people.end_session(connection, visitor.session))
    answer = Response(status_code=204)
    answer.delete_cookie(COOKIE, path="/")
    return answer


class PersonAnswer(BaseModel):
    """Who is signed in."""

    id: int
    name: str
    is_admin: bool


@router.get("/me", responses={401: {}})
def me(visitor: CurrentPerson) -> PersonAnswer:
    """Who is signed in."""
    return PersonAnswer(id=visitor.person.id, name=visitor.person.name, is_admin=visitor.person.is_admin)
