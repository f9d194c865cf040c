"""The way in: welcome, invites, the list of projects and the form for a new one."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi import Path as PathParameter
from fastapi.responses import HTMLResponse, RedirectResponse

from accord.store import judgements as kept
from accord.store import people, projects
from accord.store.database import Connection
from accord.store.people import Person
from accord.store.projects import StoredProject
from accord.studio.api.sessions import SessionAnswer, sign_in
from accord.studio.context import MaybePerson, Studio
from accord.studio.pages.rendering import render, titles

__all__ = ["ASKS", "router"]

router = APIRouter(include_in_schema=False)

ASKS = {
    "pairs": "Which text is more convincing?",
    "threads": "Does each comment answer the question?",
    "aspects": "How does each text score?",
    "links": "Which side does each text take?",
    "rationales": "Which class, and which words made you decide?",
    "labels": "Which label fits each text?",
}


@router.get("/")
def home(request: Request, visitor: MaybePerson, studio: Studio) -> HTMLResponse:
    """The projects of the visitor, or the welcome page."""
    if visitor is None:
        return render(request, "welcome.html")
    with studio.database.read() as connection:
        found = projects.projects_of(connection, visitor.person.id)
        keys = [project.id for project, _ in found]
        texts, answers = projects.count_rows(connection, keys), kept.count_answers(connection, keys)
    listed = [
        (project, project.question or _ask(project), role, texts[project.id][0], answers[project.id])
        for project, role in found
    ]
    return render(request, "home.html", visitor=visitor, projects=listed)


def _ask(project: StoredProject) -> str:
    return ASKS["labels" if project.settings.get("plain") else project.kind]


@router.get("/join/{token}")
def join(
    request: Request, token: Annotated[str, PathParameter(max_length=100)], visitor: MaybePerson, studio: Studio
) -> Response:
    """The page behind an invite link."""
    with studio.database.read() as connection:
        invite = people.find_invite(connection, token)
        if invite is not None and invite.person_id is not None:
            invite = None  # a link for a password is no invite
        invited = projects.get_project(connection, invite.project_id) if invite and invite.project_id else None
    return render(request, "join.html", visitor=visitor, invite=invite, invited=invited, token=token)


@router.get("/reset/{token}")
def reset(request: Request, token: Annotated[str, PathParameter(max_length=100)], studio: Studio) -> Response:
    """The page behind a link for a new password."""
    with studio.database.read() as connection:
        invite = people.find_invite(connection, token)
        person = people.get_person(connection, invite.person_id) if invite and invite.person_id else None
    return render(request, "reset.html", person=person, token=token)


@router.get("/account")
def account(request: Request, visitor: MaybePerson) -> Response:
    """The form for another password."""
    if visitor is None:
        return RedirectResponse("/", status_code=303)
    return render(request, "account.html", visitor=visitor)


@router.post("/demo")
async def demo(request: Request, response: Response, studio: Studio) -> SessionAnswer:
    """A guest's account, who may judge the demonstration's examples and nothing else."""
    if not studio.demo:
        raise HTTPException(404, "this studio is not a demonstration.")
    if not studio.logins.allows(request.client.host if request.client else "unknown"):
        raise HTTPException(429, "too many tries from this address; wait a minute.")

    def enter(connection: Connection) -> Person:
        name = f"Guest {people.count_people(connection) + 1}"
        guest = people.create_person(connection, name, password_hash=None, is_guest=True)
        for key in projects.examples(connection):
            people.add_member(connection, key, guest.id, "judge")
        return guest

    return await sign_in(studio, response, await studio.stored(enter))


@router.get("/projects/new")
def new_project(request: Request, visitor: MaybePerson) -> Response:
    """The form for a new project."""
    if visitor is None or not visitor.person.may_create:
        return RedirectResponse("/", status_code=303)
    return render(request, "new_project.html", visitor=visitor, formats=titles(readable=True))
