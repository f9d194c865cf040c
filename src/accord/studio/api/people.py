"""The people of a project: members, invites and the audit log."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, Field

from accord.store import people, projects
from accord.store.database import Connection
from accord.studio.context import Key, Owner, Studio

__all__ = ["router"]

router = APIRouter(prefix="/projects/{project_id}", tags=["people"])


class Member(BaseModel):
    """A person and their role."""

    id: int
    name: str
    role: str


class InviteSent(BaseModel):
    """A wish for an invite link."""

    role: Literal["viewer", "judge", "owner"] = "judge"
    uses: Annotated[int, Field(ge=1, le=10_000)] = 1


class InviteAnswer(BaseModel):
    """A link that lets people join; it is shown once."""

    token: str
    path: str


class AuditLine(BaseModel):
    """Something that somebody did."""

    at: datetime
    person_id: int | None
    action: str
    detail: dict[str, Any]


@router.get("/members", responses={401: {}, 403: {}, 404: {}})
def list_members(access: Owner, studio: Studio) -> list[Member]:
    """The members of the project."""
    with studio.database.read() as connection:
        found = people.members(connection, access.project.id)
    return [Member(id=person.id, name=person.name, role=role) for person, role in found]


@router.delete("/members/{person_id}", status_code=204, responses={401: {}, 403: {}, 404: {}})
def remove_member(person_id: Key, access: Owner, studio: Studio) -> Response:
    """Take a member's role away; their judgements stay."""

    def remove(connection: Connection) -> None:
        if people.role_of(connection, access.project.id, person_id) is None:
            raise HTTPException(404, "this person is not a member of the project.")
        people.remove_member(connection, access.project.id, person_id)
        projects.note(connection, access.project.id, access.person.id, "member removed", person=person_id)

    studio.writer.write(remove)
    return Response(status_code=204)


@router.post("/invites", status_code=201, responses={401: {}, 403: {}, 404: {}})
def invite(sent: InviteSent, access: Owner, studio: Studio, request: Request) -> InviteAnswer:
    """A link with which others can join."""

    def create(connection: Connection) -> str:
        projects.note(connection, access.project.id, access.person.id, "invite made", role=sent.role, uses=sent.uses)
        return people.create_invite(
            connection, project_id=access.project.id, role=sent.role, created_by=access.person.id, uses=sent.uses
        )

    token = studio.writer.write(create)
    return InviteAnswer(token=token, path=f"/join/{token}")


@router.get("/audit", responses={401: {}, 403: {}, 404: {}})
def audit(access: Owner, studio: Studio) -> list[AuditLine]:
    """The newest lines of the audit log."""
    with studio.database.read() as connection:
        rows = projects.audit_log(connection, access.project.id)
    return [AuditLine(at=row.at, person_id=row.person_id, action=row.action, detail=row.detail) for row in rows]
