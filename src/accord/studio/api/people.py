"""The people of a project: members, invites and the audit log."""

from datetime import datetime
from typing import Annotated, Any, Literal

import segno
from fastapi import APIRouter, HTTPException, Path, Request, Response
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
    qr: str  # a picture of the whole address, as a data address of SVG


def _link(request: Request, studio: Studio, token: str, path: str) -> InviteAnswer:
    scheme = "https" if studio.secure_cookies else request.url.scheme
    code = segno.make(f"{scheme}://{request.url.netloc}{path}", error="m", micro=False)
    return InviteAnswer(token=token, path=path, qr=code.svg_data_uri(scale=4, border=3, dark="#000", light="#fff"))


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


class MemberChange(BaseModel):
    """Another role, or whether the person may make projects; what is not sent stays."""

    role: Literal["viewer", "judge", "owner"] | None = None
    may_create: bool | None = None


@router.patch("/members/{person_id}", responses={401: {}, 403: {}, 404: {}})
def change_member(person_id: Key, sent: MemberChange, access: Owner, studio: Studio) -> Member:
    """Raise or lower a member's role, or allow them to make projects."""

    def change(connection: Connection) -> Member:
        held = people.role_of(connection, access.project.id, person_id)
        if held is None:
            raise HTTPException(404, "this person is not a member of the project.")
        if sent.role is not None and sent.role != held:
            people.set_role(connection, access.project.id, person_id, sent.role)
        if sent.may_create is not None:
            if not access.person.may_create:
                raise HTTPException(403, "whoever may make projects allows it to others; you may not.")
            people.allow_creating(connection, person_id, sent.may_create)
        fields = sent.model_dump(exclude_none=True)
        projects.note(connection, access.project.id, access.person.id, "member changed", person=person_id, **fields)
        person = people.get_person(connection, person_id)
        return Member(id=person.id, name=person.name, role=sent.role or held)

    return studio.writer.write(change)


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
    return _link(request, studio, token, f"/join/{token}")


class InviteListed(BaseModel):
    """A link that still works; ``key`` names it and opens nothing."""

    key: str
    role: str
    uses_left: int
    created_at: datetime
    expires_at: datetime
    created_by: int | None
    person_id: int | None


@router.get("/invites", responses={401: {}, 403: {}, 404: {}})
def list_invites(access: Owner, studio: Studio) -> list[InviteListed]:
    """The links of the project that still work: invites, and links for a new password (role ``reset``)."""
    with studio.database.read() as connection:
        found = people.invites_of(connection, access.project.id)
    names = InviteListed.model_fields
    return [InviteListed(**{name: value for name, value in vars(entry).items() if name in names}) for entry in found]


@router.delete("/invites/{key}", status_code=204, responses={401: {}, 403: {}, 404: {}})
def revoke_invite(key: Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")], access: Owner, studio: Studio) -> Response:
    """Take a link back."""

    def revoke(connection: Connection) -> None:
        if not people.revoke_invite(connection, access.project.id, key):
            raise HTTPException(404, "this project has no such link.")
        projects.note(connection, access.project.id, access.person.id, "invite taken back", invite=key[:8])

    studio.writer.write(revoke)
    return Response(status_code=204)


@router.post("/members/{person_id}/reset", status_code=201, responses={401: {}, 403: {}, 404: {}})
def reset_member(person_id: Key, access: Owner, studio: Studio, request: Request) -> InviteAnswer:
    """A link with which a member sets a new password."""

    def create(connection: Connection) -> str:
        if people.role_of(connection, access.project.id, person_id) is None:
            raise HTTPException(404, "this person is not a member of the project.")
        projects.note(connection, access.project.id, access.person.id, "password link made", person=person_id)
        return people.create_reset(connection, person_id, project_id=access.project.id, created_by=access.person)

    token = studio.writer.write(create)
    return _link(request, studio, token, f"/reset/{token}")


@router.get("/audit", responses={401: {}, 403: {}, 404: {}})
def audit(access: Owner, studio: Studio) -> list[AuditLine]:
    """The newest lines of the audit log."""
    with studio.database.read() as connection:
        rows = projects.audit_log(connection, access.project.id)
    return [AuditLine(at=row.at, person_id=row.person_id, action=row.action, detail=row.detail) for row in rows]
