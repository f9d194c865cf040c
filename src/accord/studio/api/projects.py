"""Projects and their texts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Depends, Form, HTTPException, Query, UploadFile
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from accord.data.project import Project
from accord.data.reading.json_stream import decode
from accord.data.reading.roles import USES
from accord.data.reading.schemas import check_uses
from accord.errors import InputError
from accord.store import projects
from accord.store.database import Connection, UnstorableError
from accord.store.projects import StoredProject
from accord.studio.api.judge import ItemAnswer, item_answer
from accord.studio.context import Creator, CurrentPerson, Key, Owner, Studio, StudioState, Viewer, Visitor
from accord.studio.limited import FailedError, Limits, run
from accord.studio.limited_work import look, read
from accord.studio.uploads import received
from accord.workflows.collecting.settings import changed_settings
from accord.workflows.exchange import asked_about, store_project

__all__ = ["ProjectAnswer", "limited", "project_answer", "router"]

router = APIRouter(tags=["projects"])
Result = TypeVar("Result")

Kind = Literal["pairs", "threads", "aspects", "links", "rationales"]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True, pattern=r"^[^\x00]*$")]
LongText = Annotated[str, StringConstraints(max_length=20_000, pattern=r"^[^\x00]*$")]
Labels = Annotated[str, StringConstraints(max_length=2_000, pattern=r"^[^\x00]*$")]


class ProjectAnswer(BaseModel):
    """A project and the role of the person who asks."""

    id: int
    name: str
    kind: str
    question: str
    guidelines: str
    settings: dict[str, Any]
    state: str
    role: str


class LabelSent(BaseModel):
    """A label as people see it; the order of labels is that of the list."""

    model_config = ConfigDict(extra="forbid")

    name: Name
    colour: Annotated[str, StringConstraints(max_length=20)] = "none"
    key: Annotated[str, StringConstraints(max_length=1)] = ""


class ProjectChange(BaseModel):
    """What may be changed of a project; what is not sent stays, a setting that is sent empty is taken away."""

    model_config = ConfigDict(extra="forbid")

    name: Name | None = None
    question: LongText | None = None
    guidelines: LongText | None = None
    highlight: bool | None = None  # ask for the words that decided
    several: bool | None = None  # take several labels of one text
    plain: bool | None = None  # ask for labels, not for the words behind them
    open: bool | None = None  # let judges see results
    who: Literal["judges", "owners"] | None = None  # may judge
    labels: Annotated[list[LabelSent], Field(max_length=30)] | None = None
    aspects: Annotated[list[Name], Field(max_length=20)] | None = None
    n_ranks: Annotated[int, Field(ge=2, le=20)] | None = None
    scale: Annotated[list[Annotated[str, StringConstraints(max_length=60)]], Field(max_length=20)] | None = None
    quota: Annotated[int, Field(ge=1, le=1_000_000)] | None = None  # most answers of one person
    overlap: Annotated[int, Field(ge=1, le=100)] | None = None  # people who are asked the same
    deadline: Annotated[str, StringConstraints(max_length=40)] | None = None
    gold_share: Annotated[float, Field(ge=0, le=0.5, allow_inf_nan=False)] | None = None
    gold_feedback: bool | None = None
    by_reliability: bool | None = None  # questions go to those who answer them best
    by_cost: bool | None = None  # highlights are asked for where they are worth their time
    kind: Kind | None = None  # while nobody has judged
    choices: Labels | None = None  # the labels or aspects of the new kind, with commas between


class ItemsAnswer(BaseModel):
    """A page of texts."""

    total: int
    items: list[ItemAnswer]


def project_answer(project: StoredProject, role: str) -> ProjectAnswer:
    return ProjectAnswer(
        id=project.id,
        name=project.name,
        kind=project.kind,
        question=project.question,
        guidelines=project.guidelines,
        settings=dict(project.settings),
        state=project.state,
        role=role,
    )


@router.get("/projects", responses={401: {}})
def list_projects(visitor: CurrentPerson, studio: Studio) -> list[ProjectAnswer]:
    """The projects of the person who asks."""
    with studio.database.read() as connection:
        found = projects.projects_of(connection, visitor.person.id)
    return [project_answer(project, role) for project, role in found]


@dataclass(frozen=True)
class UploadSent:
    """Files, and what their sender says about them; what is left empty is found by looking."""

    files: list[UploadFile]
    config: UploadFile | None
    kind: str | None
    form: str | None
    uses: dict[str, str]  # what columns are, as people chose it
    settings: dict[str, Any]


def upload_sent(
    file: list[UploadFile],
    kind: Annotated[Kind | Literal["labels", ""], Form()] = "",
    form: Annotated[Name | Literal[""], Form(alias="format")] = "",
    config: UploadFile | None = None,
    labels: Annotated[Labels, Form()] = "",
    aspects: Annotated[Labels, Form()] = "",
    n_ranks: Annotated[int, Form(ge=2, le=20)] = 5,
    several: Annotated[bool, Form()] = False,
    uses: Annotated[str, Form(alias="map", max_length=100_000)] = "",
) -> UploadSent:
    """The part of the two forms that is about files; labels and aspects separated by commas, ``map`` in JSON."""
    settings: dict[str, Any] = {}
    for name, text in (("labels", labels), ("aspects", aspects)):
        named = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
        if named and (name == "aspects") == (kind == "aspects"):
            settings[name] = named
    if kind == "aspects":
        settings["n_ranks"] = n_ranks
    if kind == "labels":  # of texts that stand alone; the model of rationales learns from labels alone, too
        kind = "rationales"
        settings |= {"plain": True, **({"several": True} if several else {})}
    chosen = decode(uses, dict[str, str], "the choice of columns") if uses else {}
    return UploadSent(file, config, kind or None, form or None, check_uses(chosen), settings)


Upload = Annotated[UploadSent, Depends(upload_sent)]


class ColumnAnswer(BaseModel):
    """How one column of plain tables is taken, and why; ``use`` is empty where it is not used."""

    file: str
    column: str
    use: str
    why: str
    samples: list[str]


class LookAnswer(BaseModel):
    """What files hold and how they are read; ``dropped`` counts the rows that break a rule, by rule."""

    kind: str
    format: str
    reasons: list[str]
    files: dict[str, int]
    counts: dict[str, int]
    conflicts: dict[str, int]
    dropped: dict[str, int]
    examples: list[str]
    renamed: dict[str, str]
    unread: list[str]
    lost: dict[str, int]
    columns: list[ColumnAnswer]
    uses: list[str]  # what a column can be
    map: dict[str, str]  # the choice that was applied


_READING = Limits(
    seconds=300.0,
    megabytes=1536,
    cure="Split the files, or import them on the command line with 'accord import'.",
    patience=3.0,
)


def limited(work: Callable[..., Result], *arguments: Any) -> Result:
    """Read files in a process of its own: a file can be made to need any amount of memory and time."""
    try:
        return run(work, *arguments, limits=_READING)
    except FailedError as error:
        raise InputError(f"the files could not be read: {error}") from None


@router.post("/uploads/look", responses={401: {}, 403: {}})
async def look_at_upload(visitor: Creator, studio: Studio, upload: Upload) -> LookAnswer:
    """What a project made of these files would hold; nothing is stored."""
    with studio.database.read() as connection:
        own = projects.projects_of(connection, visitor.person.id)
    earlier = [(project.name, project.settings["map"]) for project, _ in own if project.settings.get("map")]
    return await studio.reading.run(lambda: _look(upload, earlier))


def _look(upload: UploadSent, earlier: list[tuple[str, dict[str, str]]]) -> LookAnswer:
    with received(upload.files, upload.config) as files:
        options: dict[str, Any] = {
            "kind": upload.kind,
            "form": upload.form,
            "config": files.config,
            "uses": upload.uses,
        }
        seen = limited(look, files.paths, upload.settings, options)
        reasons = [reason.partition(";")[0] for reason in seen.assumed]
        names = {column.column for column in seen.looks}
        again = next(((name, uses) for name, uses in earlier if names and set(uses) <= names), None)
        if again is not None and not upload.uses:
            options["uses"] = again[1]
            seen = limited(look, files.paths, upload.settings, options)
            reasons = [f"the columns are taken as in the project {again[0]}", *reasons]
        # The reasons end with what to type on the command line.
        return LookAnswer(
            kind=seen.kind,
            format=seen.form,
            reasons=reasons,
            files={Path(path).name: rows for path, _, rows in seen.files},
            counts={name: n for name, n in seen.counts.items() if n},
            conflicts={name: n for name, n in seen.conflicts.items() if n},
            dropped=seen.dropped,
            examples=[str(replace(problem, file=Path(problem.file).name)) for problem in seen.examples],
            renamed=seen.renamed,
            unread=list(seen.unread),
            lost=seen.lost,
            columns=[
                ColumnAnswer(**{**vars(column), "file": Path(column.file).name, "samples": list(column.samples)})
                for column in seen.looks
            ],
            uses=list(USES),
            map=dict(options["uses"] or {}),
        )


@router.post("/projects", status_code=201, responses={401: {}, 403: {}})
async def create_project(
    visitor: Creator,
    studio: Studio,
    upload: Upload,
    name: Annotated[Name, Form()],
    question: Annotated[LongText, Form()] = "",
    guidelines: Annotated[LongText, Form()] = "",
    drop_bad: Annotated[bool, Form()] = False,
) -> ProjectAnswer:
    """Make a project from files of any known format: all of it, or nothing."""

    def make() -> ProjectAnswer:
        with received(upload.files, upload.config) as files:
            options = {
                "kind": upload.kind,
                "form": upload.form,
                "config": files.config,
                "uses": upload.uses,
                "drop_bad": drop_bad,
            }
            project = limited(read, files.paths, upload.settings, options)
        return _store(studio, visitor, project, name=name, question=question, guidelines=guidelines)

    return await studio.reading.run(make)


def _store(
    studio: StudioState, visitor: Visitor, project: Project, *, name: str, question: str, guidelines: str
) -> ProjectAnswer:
    try:
        key = store_project(
            studio.database, project, name=name, created_by=visitor.person.id, question=question, guidelines=guidelines
        )
        with studio.database.write() as connection:
            projects.note(connection, key, visitor.person.id, "project made", texts=project.counts["items"])
            stored = projects.get_project(connection, key)
    except UnstorableError as error:
        raise InputError(
            "the database holds ids of at most 500 characters, labels of at most 200, and no character with the code "
            "0; something in the upload is otherwise. Change it."
        ) from error
    assert stored is not None
    return project_answer(stored, "owner")


@router.get("/projects/{project_id}", responses={401: {}, 404: {}})
def get_project(access: Viewer) -> ProjectAnswer:
    """One project."""
    return project_answer(access.project, access.role)


def _differing(before: StoredProject, changes: Mapping[str, Any]) -> list[str]:
    """The names of what a change makes different, settings by their own names: a form sends all that it shows."""
    settings = changes.get("settings", before.settings)
    names = {name for name in changes if name != "settings" and changes[name] != getattr(before, name)}
    known = settings.keys() | before.settings.keys()
    return sorted(names | {name for name in known if settings.get(name) != before.settings.get(name)})


@router.patch("/projects/{project_id}", responses={401: {}, 403: {}, 404: {}})
def change_project(sent: ProjectChange, access: Owner, studio: Studio) -> ProjectAnswer:
    """Change what a project asks and whom."""
    changed = sent.model_dump(exclude_unset=True)
    kind, choices = changed.pop("kind", None), changed.pop("choices", None) or ""
    changes = {name: changed.pop(name) for name in ("name", "question", "guidelines") if changed.get(name) is not None}
    if kind is not None and kind != access.project.kind:
        changes["kind"] = kind

    def change(connection: Connection) -> StoredProject | None:
        stored = projects.get_project(connection, access.project.id) or access.project
        if changed:
            changes["settings"] = changed_settings(connection, stored, changed)
        if "kind" in changes:
            _, n_answers = projects.count_rows(connection, [access.project.id])[access.project.id]
            if n_answers:
                raise InputError(
                    f"the kind can be changed before the first judgement; there are {n_answers:,}. Make a new project."
                )
            settings = changes.get("settings", access.project.settings)
            named = [part.strip() for part in choices.split(",") if part.strip()]
            changes["settings"] = {**settings, **asked_about(kind, named, settings)}
        if changes:
            projects.change_project(connection, access.project.id, **changes)
        if fields := _differing(stored, changes):
            projects.note(connection, access.project.id, access.person.id, "project changed", fields=fields)
        return projects.get_project(connection, access.project.id)

    project = studio.writer.write(change)
    return project_answer(project or access.project, access.role)


@router.get("/projects/{project_id}/items", responses={401: {}, 404: {}})
async def list_items(
    access: Viewer,
    studio: Studio,
    search: Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")] = "",
    group: Annotated[str | None, Query(max_length=500, pattern=r"^[^\x00]*$")] = None,
    offset: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> ItemsAnswer:
    """Texts of a project, in their order."""
    found, total = await studio.found(access.project.id, search=search, group_id=group, offset=offset, limit=limit)
    return ItemsAnswer(total=total, items=[item_answer(item) for item in found])


@router.get("/projects/{project_id}/items/{key}", responses={401: {}, 404: {}})
def get_item(key: Key, access: Viewer, studio: Studio) -> ItemAnswer:
    """One text."""
    with studio.database.read() as connection:
        item = projects.get_item(connection, access.project.id, key)
    if item is None:
        raise HTTPException(404, "there is no such text in this project.")
    return item_answer(item)
