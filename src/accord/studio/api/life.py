"""The life of a project: more texts, a pause, an archive, a copy, an end."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Form, HTTPException, Response, UploadFile
from pydantic import BaseModel, StringConstraints

from accord.store import projects
from accord.store.database import Connection
from accord.studio.api.projects import Name, ProjectAnswer, limited, project_answer
from accord.studio.context import Access, Owner, Studio
from accord.studio.limited_work import look, read
from accord.studio.uploads import received
from accord.workflows.exchange import Added, add_texts, copy_project, remove_project

__all__ = ["router"]

router = APIRouter(prefix="/projects/{project_id}", tags=["projects"])


class StateSent(BaseModel):
    """A wish to pause, archive or resume a project."""

    state: Literal["active", "paused", "archived"]


@router.post("/state", responses={401: {}, 403: {}, 404: {}})
def change_state(sent: StateSent, access: Owner, studio: Studio) -> ProjectAnswer:
    """Pause a project (nobody is asked), archive it (it is put away, and nothing can be answered) or resume it."""

    def change(connection: Connection) -> ProjectAnswer:
        projects.change_project(connection, access.project.id, state=sent.state)
        projects.note(connection, access.project.id, access.person.id, f"project {sent.state}")
        return project_answer(projects.get_project(connection, access.project.id) or access.project, access.role)

    return studio.writer.write(change)


class DeletionSent(BaseModel):
    """The name of the project that is to be deleted, as a confirmation."""

    name: Annotated[str, StringConstraints(max_length=200)]


@router.delete("", status_code=204, responses={401: {}, 403: {}, 404: {}, 409: {}})
async def delete_project(sent: DeletionSent, access: Owner, studio: Studio) -> Response:
    """Delete a project with all its texts and answers. Export it first: nothing brings it back."""
    if sent.name.strip() != access.project.name:
        raise HTTPException(409, "a project is deleted when its name is typed; the name that was sent is another one.")
    await studio.reading.run(lambda: remove_project(studio.database, access.project, access.person.id))
    return Response(status_code=204)


class CopySent(BaseModel):
    """The name of a copy."""

    name: Name


def _may_copy(access: Owner) -> Access:
    if not access.person.may_create:
        raise HTTPException(403, "owners make projects; you are not one yet. Ask an owner of a project to allow it.")
    return access


@router.post("/copy", status_code=201, responses={401: {}, 403: {}, 404: {}})
async def copy(sent: CopySent, access: Annotated[Access, Depends(_may_copy)], studio: Studio) -> ProjectAnswer:
    """Make another project with the same texts and settings, and no answers."""

    def make() -> ProjectAnswer:
        key = copy_project(studio.database, access.project, name=sent.name, created_by=access.person.id)
        with studio.database.read() as connection:
            stored = projects.get_project(connection, key)
        assert stored is not None  # just made
        return project_answer(stored, "owner")

    return await studio.reading.run(make)


class AddedAnswer(BaseModel):
    """How many texts and links were added, how many were there already, and how many judgements were not read."""

    texts: int
    known: int
    links: int
    judgements: int


@router.post("/items", status_code=201, responses={401: {}, 403: {}, 404: {}})
async def add_items(
    access: Owner,
    studio: Studio,
    file: list[UploadFile],
    form: Annotated[Name | Literal[""], Form(alias="format")] = "",
    drop_bad: Annotated[bool, Form()] = False,
) -> AddedAnswer:
    """Add the texts of files to a project: all that are new, or nothing."""

    def add() -> Added:
        with received(file, None) as files:
            options: dict[str, Any] = {"kind": access.project.kind, "form": form or None, "config": None}
            if chosen := access.project.settings.get("map"):  # columns are taken as in the files before
                names = {column.column for column in limited(look, files.paths, {}, options).looks}
                options["uses"] = {column: use for column, use in chosen.items() if column in names}
            options["drop_bad"] = drop_bad
            found = limited(read, files.paths, dict(access.project.settings), options)
        return add_texts(studio.database, access.project, found, access.person.id)

    return AddedAnswer(**vars(await studio.reading.run(add)))
