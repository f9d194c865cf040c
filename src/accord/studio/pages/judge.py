"""The pages on which people judge."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from accord.store import judgements as kept
from accord.store import projects
from accord.store.database import Connection
from accord.store.scores import results_of
from accord.studio.context import Access, Judge, Studio
from accord.studio.pages.rendering import render
from accord.workflows.collecting.collect import skip_reasons, why_closed
from accord.workflows.collecting.settings import looks_of

__all__ = ["router"]

router = APIRouter(prefix="/projects/{project_id}", include_in_schema=False)

_TEMPLATES = {
    "pairs": "vote.html",
    "threads": "thread.html",
    "aspects": "aspects.html",
    "links": "label.html",
    "rationales": "label.html",
}


@dataclass(frozen=True)
class Comment:
    """A comment as the thread page shows it."""

    key: int
    author: str | None
    text: str
    depth: int
    given: str | None  # empty where the person could not decide
    suggestion: str | None


@dataclass(frozen=True)
class Thread:
    """A thread: its question and comments, and the place of its last text in the project."""

    position: int
    question: str
    comments: list[Comment]


@router.get("/judge")
def judge(
    request: Request,
    access: Judge,
    studio: Studio,
    after: Annotated[int, Query(ge=-1, lt=2**31)] = -1,
    comment: Annotated[int | None, Query(ge=1, lt=2**62)] = None,
) -> HTMLResponse:
    """The judging page of the project's kind."""
    with studio.database.read() as connection:
        n_done = kept.count_of(connection, access.project.id, access.person.id)
        closed = why_closed(connection, access.project, access.person.id, access.role)
        context: dict[str, Any] = {}
        if access.project.kind == "threads" and closed:
            context["thread"] = Thread(-1, "", [])
        elif access.project.kind == "threads":
            context["thread"] = _next_thread(connection, access, after, comment)
    return render(
        request,
        _TEMPLATES[access.project.kind],
        access=access,
        here="judge",
        n_done=n_done,
        skip_reasons=skip_reasons(access.project.kind),
        looks=looks_of(access.project),
        closed=closed,
        **context,
    )


def _next_thread(connection: Connection, access: Access, after: int, comment: int | None) -> Thread:
    """A thread with something left to label, behind place ``after`` of the texts if it is given, or a comment's own."""
    project_id = access.project.id
    name = None
    if comment is not None:
        item = projects.get_item(connection, project_id, comment)
        name = item.group_id if item else None
    if name is None:
        overlap = access.project.settings.get("overlap")
        if after < 0:
            name = kept.wanted_thread(connection, project_id, access.person.id, overlap=overlap)
        if name is None:
            name = kept.unlabelled_thread(connection, project_id, access.person.id, after=after, overlap=overlap)
    return Thread(-1, "", []) if name is None else _thread(connection, access, name)


def _thread(connection: Connection, access: Access, name: str) -> Thread:
    found, _ = projects.find_items(connection, access.project.id, group_id=name, limit=None)
    given = kept.labels_of(connection, access.project.id, access.person.id, [item.key for item in found])
    # What the model says must not sway a judge who is blind.
    said = results_of(connection, access.project.id, [item.key for item in found]) if access.sees_results else {}
    depth: dict[str, int] = {name: -1}
    question, comments = "", []
    for item in found:
        if item.item_id == name:
            question = item.text
            continue
        depth[item.item_id] = depth.get(item.reply_to or name, -1) + 1
        comments.append(
            Comment(
                item.key,
                item.author_id,
                item.text,
                depth[item.item_id],
                (given[item.key] or "") if item.key in given else None,
                _suggestion(said.get(item.key)),
            )
        )
    return Thread(found[-1].position, question, comments)


def _suggestion(row: dict[str, Any] | None) -> str | None:
    """What the model says of a comment; the page shows it only after the person's own answer."""
    if row is None or row.get("label") is None or row.get("given"):
        return None
    sure = row.get("probability")
    return f"The model says {row['label']}" + (f", {100 * sure:.0f} % sure." if isinstance(sure, float) else ".")
