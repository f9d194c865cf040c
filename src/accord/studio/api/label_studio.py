"""A machine-learning backend for Label Studio: its tasks get suggestions, its annotations become judgements.

Label Studio is given a secret address of one project, ``/api/label-studio/PROJECT/SECRET``; or the address without the
secret, and the secret as the password of HTTP basic authentication. No cookie is ever looked at, so that no page can
make a browser ask in somebody's name.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from accord.store import connections, projects
from accord.store.database import Connection
from accord.store.projects import StoredProject
from accord.studio.context import Key, Owner, Studio, sent_secret
from accord.workflows.collecting.label_studio import match_config
from accord.workflows.collecting.receive import EVENTS, changes_of, keep
from accord.workflows.collecting.suggest import suggest

__all__ = ["backend", "router"]

router = APIRouter(prefix="/projects/{project_id}/label-studio", tags=["Label Studio"])
backend = APIRouter(tags=["Label Studio"])

_NO_MODEL = "0"
_CHALLENGE = {"www-authenticate": 'Basic realm="Accord"'}
_REFUSALS: dict[int | str, dict[str, Any]] = {401: {}, 404: {}, 429: {}}


class Connected(BaseModel):
    """The address to give to Label Studio; it is shown once."""

    token: str
    path: str


@router.post("", status_code=201, responses={401: {}, 403: {}, 404: {}})
def connect(access: Owner, studio: Studio) -> Connected:
    """Make a secret address for Label Studio; an earlier one stops working."""

    def make(connection: Connection) -> str:
        projects.note(connection, access.project.id, access.person.id, "connected to Label Studio")
        return connections.connect(connection, access.project.id, created_by=access.person.id)

    token = studio.writer.write(make)
    return Connected(token=token, path=f"/api/label-studio/{access.project.id}/{token}")


@router.delete("", status_code=204, responses={401: {}, 403: {}, 404: {}})
def disconnect(access: Owner, studio: Studio) -> Response:
    """Take the address back."""

    def remove(connection: Connection) -> None:
        if not connections.disconnect(connection, access.project.id):
            raise HTTPException(404, "this project is not connected to Label Studio.")
        projects.note(connection, access.project.id, access.person.id, "disconnected from Label Studio")

    studio.writer.write(remove)
    return Response(status_code=204)


def _connected(project_id: Key, request: Request, studio: Studio) -> StoredProject:
    """The project that the sender's secret opens; nobody else gets past."""
    token = request.path_params.get("token") or sent_secret(request.headers.get("authorization", ""))
    if not token or len(token) > 200:
        raise HTTPException(401, "this needs the secret of the project's address.", headers=_CHALLENGE)
    with studio.database.read() as connection:
        opened = connections.project_of_token(connection, token)
        project = projects.get_project(connection, project_id) if opened == project_id else None
    if opened is None:
        if not studio.logins.allows(request.client.host if request.client else "unknown"):
            raise HTTPException(429, "too many tries from this address; wait a minute.")
        raise HTTPException(401, "the secret of this address is not known; make a new address.", headers=_CHALLENGE)
    if project is None:
        raise HTTPException(404, "there is no such project, or its secret is another one.")
    if not studio.changes.allows(f"Label Studio {project_id}"):
        raise HTTPException(429, "at most 1,200 requests a minute are taken for one project; wait a moment.")
    return project


Opened = Annotated[StoredProject, Depends(_connected)]


class Asked(BaseModel):
    """Tasks to make suggestions for; what else Label Studio sends is left alone."""

    tasks: list[dict[str, Any]] = Field(max_length=10_000)
    label_config: str


class Suggestion(BaseModel):
    """A suggested annotation."""

    result: list[dict[str, Any]]
    score: float
    model_version: str


class Suggestions(BaseModel):
    """One suggestion a task; none at all before there is a model."""

    results: list[Suggestion]
    model_version: str


class Setting(BaseModel):
    """A project of Label Studio that wants to use this backend, with its label config."""

    schema_: str = Field(alias="schema")


class Version(BaseModel):
    """The version of the model."""

    model_version: str


class Health(BaseModel):
    """That the backend answers."""

    status: str
    model_class: str


class Event(BaseModel):
    """Something that happened in Label Studio."""

    model_config = ConfigDict(extra="allow")

    action: str


class Received(BaseModel):
    """What came of an event."""

    status: str
    result: dict[str, int] = {}


def _version(studio: Studio, project: StoredProject) -> str:
    with studio.database.read() as connection:
        return f"accord-{connections.model_version(connection, project.id) or _NO_MODEL}"


@backend.post("/predict", responses=_REFUSALS)
def predict(sent: Asked, project: Opened, studio: Studio) -> Suggestions:
    """Suggest an annotation for each task."""
    questions = match_config(project, sent.label_config)
    with studio.database.read() as connection:
        found = studio.shelf.model(connection, project.id)
        if found is None or not sent.tasks:
            return Suggestions(results=[], model_version=f"accord-{found[0] if found else _NO_MODEL}")
        answers = suggest(connection, project, found[1], sent.tasks, questions)
    version = f"accord-{found[0]}"
    return Suggestions(
        results=[Suggestion(**answer, model_version=version) for answer in answers], model_version=version
    )


@backend.post("/setup", responses=_REFUSALS)
def setup(sent: Setting, project: Opened, studio: Studio) -> Version:
    """Check that the label config asks what the project asks, and say which model answers."""
    match_config(project, sent.schema_)
    return Version(model_version=_version(studio, project))


@backend.post("/webhook", status_code=201, responses={200: {"model": Received}, **_REFUSALS})
def webhook(sent: Event, project: Opened, studio: Studio, response: Response) -> Received:
    """Take annotations that were made, changed or deleted into the project's judgements, each once."""
    if sent.action not in EVENTS:
        response.status_code = 200
        return Received(status="Unknown event")
    changes = changes_of(project, {"action": sent.action, **(sent.model_extra or {})})
    counts = studio.writer.write(lambda connection: keep(connection, project, changes)) if changes else {}
    return Received(status="ok", result=counts)


@backend.get("/health", responses=_REFUSALS)
@backend.get("/", include_in_schema=False)
def health(project: Opened) -> Health:
    """Whether the backend answers."""
    return Health(status="UP", model_class=f"accord.{project.kind}")
