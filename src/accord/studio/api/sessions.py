"""Signing in and out."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, StringConstraints

from accord.errors import InputError
from accord.store import people, projects
from accord.store.database import Connection
from accord.store.people import Person
from accord.studio.context import COOKIE, CurrentPerson, Studio, StudioState
from accord.studio.security import csrf_token

__all__ = ["router", "sign_in"]

router = APIRouter(tags=["sessions"])

Name = Annotated[
    str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True, pattern=r"^[^\x00-\x1f\x7f]*$")
]
Password = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00]*$")]


class Credentials(BaseModel):
    """A name and its password."""

    name: Name
    password: Password


class Joining(Credentials):
    """A new account made with an invite."""

    invite: Annotated[str, StringConstraints(min_length=10, max_length=100, pattern=r"^[A-Za-z0-9_-]*$")]


class SessionAnswer(BaseModel):
    """A session: send the token as ``Authorization: Bearer …``."""

    token: str
    csrf: str
    person: str


def sign_in(studio: StudioState, response: Response, person: Person) -> SessionAnswer:
    """Start a session and set its cookie."""
    token = studio.writer.write(lambda connection: people.start_session(connection, person.id))
    response.set_cookie(
        COOKIE, token, max_age=30 * 86400, httponly=True, samesite="lax", secure=studio.secure_cookies, path="/"
    )
    return SessionAnswer(token=token, csrf=csrf_token(studio.secret, token), person=person.name)


def _check_rate(studio: StudioState, request: Request) -> None:
    if not studio.logins.allows(request.client.host if request.client else "unknown"):
        raise HTTPException(429, "too many tries from this address; wait a minute.")


@router.post("/sessions", responses={401: {}, 429: {}})
def create_session(credentials: Credentials, request: Request, response: Response, studio: Studio) -> SessionAnswer:
    """Sign in."""
    _check_rate(studio, request)
    with studio.database.read() as connection:
        found = people.password_hash_of(connection, credentials.name)
    if not studio.passwords.is_right(found[1] if found else None, credentials.password) or found is None:
        raise HTTPException(401, "name and password do not fit; check both.")
    return sign_in(studio, response, found[0])


@router.post("/accounts", status_code=201, responses={429: {}})
def create_account(joining: Joining, request: Request, response: Response, studio: Studio) -> SessionAnswer:
    """Make an account with an invite, and sign in."""
    _check_rate(studio, request)
    with studio.database.read() as connection:
        invite = people.find_invite(connection, joining.invite)
    if invite is None:
        raise InputError(
            "an invite link works until it is used up or two weeks old; this one does not. Ask for a new one."
        )
    password_hash = studio.passwords.hash(joining.password)

    def join(connection: Connection) -> Person:
        is_admin = invite.project_id is None
        person = people.create_person(connection, joining.name, password_hash=password_hash, is_admin=is_admin)
        people.accept_invite(connection, joining.invite, person.id)
        if is_admin:
            projects.adopt(connection, person.id)
        return person

    return sign_in(studio, response, studio.writer.write(join))


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
