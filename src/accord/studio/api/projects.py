"""Projects and their texts."""

import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, HTTPException, Query, UploadFile
from pydantic import BaseModel, ConfigDict, StringConstraints
from sqlalchemy import Connection

from accord.errors import InputError
from accord.store import projects
from accord.store.projects import StoredProject
from accord.studio.api.judge import ItemAnswer, item_answer
from accord.studio.context import CurrentPerson, Key, Owner, Studio, StudioState, Viewer
from accord.workflows.exchange import read_upload, store_project

__all__ = ["create_from_upload", "router"]

router = APIRouter(tags=["projects"])

Word = Literal["pairs", "threads", "aspects", "links", "rationales"]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True, pattern=r"^[^\x00]*$")]
LongText = Annotated[str, StringConstraints(max_length=20_000, pattern=r"^[^\x00]*$")]
Labels = Annotated[str, StringConstraints(max_length=2_000, pattern=r"^[^\x00]*$")]


class ProjectAnswer(BaseModel):
    """A project and the role of the person who asks."""

    id: int
    name: str
    word: str
    question: str
    guidelines: str
    settings: dict[str, Any]
    role: str


class ProjectChange(BaseModel):
    """What may be changed of a project."""

    model_config = ConfigDict(extra="forbid")

    name: Name | None = None
    question: LongText | None = None
    guidelines: LongText | None = None
    highlight: bool | None = None


class ItemsAnswer(BaseModel):
    """A page of texts."""

    total: int
    items: list[ItemAnswer]


def _answer(project: StoredProject, role: str) -> ProjectAnswer:
    return ProjectAnswer(
        id=project.id,
        name=project.name,
        word=project.word,
        question=project.question,
        guidelines=project.guidelines,
        settings=dict(project.settings),
        role=role,
    )


@router.get("/projects", responses={401: {}})
def list_projects(visitor: CurrentPerson, studio: Studio) -> list[ProjectAnswer]:
    """The projects of the person who asks."""
    with studio.database.read() as connection:
        found = projects.projects_of(connection, visitor.person.id)
    return [_answer(project, role) for project, role in found]


def create_from_upload(
    studio: StudioState,
    person_id: int,
    upload: UploadFile,
    *,
    name: str,
    word: str,
    settings: dict[str, Any],
    question: str = "",
    guidelines: str = "",
) -> int:
    """Make a project of an uploaded file: all of it, or nothing."""
    # Only the ending of the sent name is used; the file's place is ours.
    ending = Path(upload.filename or "").suffix.lower()
    with tempfile.TemporaryDirectory(prefix="accord-upload-") as folder:
        path = Path(folder) / f"upload{ending if ending.isascii() and len(ending) <= 10 else ''}"
        with path.open("wb") as out:
            while chunk := upload.file.read(2**20):
                out.write(chunk)
        project = read_upload(word, path, settings)

    def store(connection: Connection) -> int:
        key = store_project(
            connection, project, name=name, created_by=person_id, question=question, guidelines=guidelines
        )
        projects.note(connection, key, person_id, "project made", texts=project.counts["items"])
        return key

    with studio.database.write() as connection:
        return store(connection)


@router.post("/projects", status_code=201, responses={401: {}, 403: {}})
def create_project(
    visitor: CurrentPerson,
    studio: Studio,
    file: UploadFile,
    name: Annotated[Name, Form()],
    word: Annotated[Word, Form()],
    question: Annotated[LongText, Form()] = "",
    guidelines: Annotated[LongText, Form()] = "",
    labels: Annotated[Labels, Form()] = "",
    aspects: Annotated[Labels, Form()] = "",
    n_ranks: Annotated[int, Form(ge=2, le=20)] = 5,
) -> ProjectAnswer:
    """Make a project from a table of texts (CSV, TSV, JSONL or Parquet); labels and aspects separated by commas."""
    settings = project_settings(word, labels=labels, aspects=aspects, n_ranks=n_ranks)
    key = create_from_upload(
        studio, visitor.person.id, file, name=name, word=word, settings=settings, question=question,
        guidelines=guidelines,
    )  # fmt: skip
    with studio.database.read() as connection:
        project = projects.get_project(connection, key)
    if project is None:
        raise HTTPException(404, "the project is gone again.")
    return _answer(project, "owner")


def project_settings(word: str, *, labels: str, aspects: str, n_ranks: int) -> dict[str, Any]:
    """The settings of a new project from what its form says."""
    named = {"labels": labels, "aspects": aspects}
    lists = {
        key: list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
        for key, text in named.items()
    }
    if word == "aspects":
        if not 1 <= len(lists["aspects"]) <= 20:
            raise InputError(
                f"aspect scores need 1 to 20 aspects; {len(lists['aspects'])} were given. Name them, with commas."
            )
        return {"aspects": lists["aspects"], "n_ranks": n_ranks}
    if word in {"threads", "links", "rationales"}:
        if not 2 <= len(lists["labels"]) <= 9:
            raise InputError(f"labels are 2 to 9 names; {len(lists['labels'])} were given. Name them, with commas.")
        return {"labels": lists["labels"]}
    return {}


@router.get("/projects/{project_id}", responses={401: {}, 404: {}})
def get_project(access: Viewer) -> ProjectAnswer:
    """One project."""
    return _answer(access.project, access.role)


@router.patch("/projects/{project_id}", responses={401: {}, 403: {}, 404: {}})
def change_project(sent: ProjectChange, access: Owner, studio: Studio) -> ProjectAnswer:
    """Change a project's name, question or guidelines, or switch highlighting on or off."""
    changes: dict[str, Any] = sent.model_dump(exclude_none=True, exclude={"highlight"})
    if sent.highlight is not None:
        changes["settings"] = {**access.project.settings, "highlight": sent.highlight}

    def change(connection: Connection) -> StoredProject | None:
        if changes:
            projects.change_project(connection, access.project.id, **changes)
            projects.note(connection, access.project.id, access.person.id, "project changed", fields=sorted(changes))
        return projects.get_project(connection, access.project.id)

    project = studio.writer.write(change)
    return _answer(project or access.project, access.role)


@router.get("/projects/{project_id}/items", responses={401: {}, 404: {}})
def list_items(
    access: Viewer,
    studio: Studio,
    search: Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")] = "",
    group: Annotated[str | None, Query(max_length=500, pattern=r"^[^\x00]*$")] = None,
    offset: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> ItemsAnswer:
    """Texts of a project, in their order."""
    with studio.database.read() as connection:
        found, total = projects.find_items(
            connection, access.project.id, search=search, group_id=group, offset=offset, limit=limit
        )
    return ItemsAnswer(total=total, items=[item_answer(item) for item in found])


@router.get("/projects/{project_id}/items/{key}", responses={401: {}, 404: {}})
def get_item(key: Key, access: Viewer, studio: Studio) -> ItemAnswer:
    """One text."""
    with studio.database.read() as connection:
        item = projects.get_item(connection, access.project.id, key)
    if item is None:
        raise HTTPException(404, "there is no such text in this project.")
    return item_answer(item)
