"""The owner's page of settings, and of a project's pause, archive, copy and end."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from accord.store import people, projects
from accord.studio.context import Owner, Studio
from accord.studio.pages.rendering import render
from accord.typing import KINDS
from accord.workflows.collecting.settings import COLOURS, looks_of

__all__ = ["router"]

router = APIRouter(prefix="/projects/{project_id}", include_in_schema=False)

_STATES = {
    "active": "People are asked.",
    "paused": "Nobody is asked until you resume it.",
    "archived": "It is put away: nothing is asked, nothing can be answered, and the model rests.",
}


@router.get("/settings")
def settings(request: Request, access: Owner, studio: Studio) -> HTMLResponse:
    """What is asked, who is asked, and the life of the project."""
    with studio.database.read() as connection:
        n_texts, n_answers = projects.count_rows(connection, [access.project.id])[access.project.id]
        members = people.members(connection, access.project.id)
    return render(
        request,
        "settings.html",
        access=access,
        here="settings",
        looks=looks_of(access.project),
        colours=COLOURS,
        states=_STATES,
        n_texts=n_texts,
        n_answers=n_answers,
        kinds=KINDS,
        n_members=len(members),
    )
