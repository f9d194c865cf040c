"""Judging: the next question, an answer, and taking the last answer back."""

import random
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from accord.store import judgements as kept
from accord.store import projects
from accord.store.database import Connection
from accord.store.judgements import Wanted
from accord.store.projects import StoredItem
from accord.studio.context import Access, Judge, Studio
from accord.workflows.collecting.adjudicate import feedback
from accord.workflows.collecting.collect import (
    Answer,
    NextQuestion,
    Reopened,
    given_by,
    next_question,
    record,
    reopen,
    take_back,
    why_closed,
)

__all__ = ["AnswerSent", "ItemAnswer", "Listed", "as_answer", "item_answer", "listed", "router", "wanted_answers"]

router = APIRouter(prefix="/projects/{project_id}", tags=["judging"])

# One generator for all people; which pair somebody gets need not be repeatable.
_RNG = random.Random()

Key = Annotated[int, Field(ge=1, lt=2**62)]
RequestId = Annotated[str, StringConstraints(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
Line = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00]*$")]
Offset = Annotated[int, Field(ge=0, lt=2**31)]


class ItemAnswer(BaseModel):
    """A text."""

    key: int
    item_id: str
    text: str
    group_id: str | None = None
    reply_to: str | None = None
    author_id: str | None = None
    meta: dict[str, object] = {}


def item_answer(item: StoredItem) -> ItemAnswer:
    """A stored text as the interface shows it."""
    return ItemAnswer(
        key=item.key,
        item_id=item.item_id,
        text=item.text,
        group_id=item.group_id,
        reply_to=item.reply_to,
        author_id=item.author_id,
        meta=dict(item.meta),
    )


class QuestionAnswer(BaseModel):
    """The next question; ``texts`` in the order to show them. ``done`` where nothing is left to ask.

    ``strategy`` is told to owners only.
    """

    done: bool
    reason: str | None = None  # why nothing is asked, where there would be something
    question_id: int | None = None
    strategy: str | None = None
    asks: str | None = None  # "label" where the words behind it are not asked for
    texts: list[ItemAnswer] = []


class SpanSent(BaseModel):
    """A highlight, in characters (Unicode code points) of the text."""

    item: Key
    start: Offset
    end: Offset


class AnswerSent(BaseModel):
    """An answer; ``request_id`` is chosen by the sender and makes sending twice harmless."""

    model_config = ConfigDict(extra="forbid")

    request_id: RequestId
    kind: Literal["pair", "label", "score", "span", "skip"]
    item: Key
    other: Key | None = None
    value: float | None = Field(default=None, allow_inf_nan=False)
    label: Line | None = None
    labels: list[Line] = Field(default=[], max_length=30)  # where several are taken; the main one first
    scores: dict[Line, Annotated[int, Field(ge=-(2**31), lt=2**31)] | None] = Field(default={}, max_length=100)
    spans: list[SpanSent] = Field(default=[], max_length=1000)
    shown_left: Key | None = None
    response_ms: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    skip_reason: Line | None = None
    question_id: Key | None = None
    replaces: RequestId | None = None  # an earlier answer of the same person, which this one corrects


class Feedback(BaseModel):
    """What is told after a question whose answer is known."""

    right: bool
    answer: str
    reason: str


class Stored(BaseModel):
    """That an answer is kept, and how many rows of it are new."""

    request_id: str
    new_rows: int
    feedback: Feedback | None = None


class UndoSent(BaseModel):
    """A wish to take the newest answer back."""

    request_id: RequestId


class Given(BaseModel):
    """What an answer says; a field that its kind does not have is empty."""

    kind: str
    item: int | None = None  # the text that ``value`` is about
    value: float | None = None
    label: str | None = None
    labels: list[str] = []
    scores: dict[str, int | None] = {}
    spans: list[dict[str, int | str | None]] = []
    skip_reason: str | None = None


class Undone(BaseModel):
    """Which answer was taken back, if any; its question again, and what was answered."""

    undone: str | None
    question: QuestionAnswer | None = None
    given: Given | None = None


@router.post("/questions/next", responses={401: {}, 403: {}, 404: {}})
async def ask_next(access: Judge, studio: Studio) -> QuestionAnswer:
    """The next question for the person who asks; it is held for them for five minutes."""

    def ask(connection: Connection) -> NextQuestion | str | None:
        closed = why_closed(connection, access.project, access.person.id, access.role)
        return closed or next_question(connection, access.project, access.person.id, rng=_RNG)

    found = await studio.stored(ask)
    if found is None or isinstance(found, str):
        return QuestionAnswer(done=True, reason=found)
    return _question(access, found)


def _question(access: Access, found: NextQuestion) -> QuestionAnswer:
    return QuestionAnswer(
        done=False,
        question_id=found.question_id,
        strategy=found.strategy if access.may("owner") else None,  # how it was chosen may tell the answer
        asks=found.asks,
        texts=[item_answer(item) for item in found.texts],
    )


@router.post("/judgements", status_code=201, responses={401: {}, 403: {}, 404: {}})
async def answer(sent: AnswerSent, access: Judge, studio: Studio) -> Stored:
    """Store an answer. It is on disk before this is acknowledged."""
    given = as_answer(sent)

    def store(connection: Connection) -> Stored:
        new = record(connection, access.project, access.person.id, given, role=access.role)
        told = feedback(connection, access.project, given)
        shown = None if told is None else Feedback(right=told[0], answer=told[1], reason=told[2])
        return Stored(request_id=sent.request_id, new_rows=new, feedback=shown)

    return await studio.stored(store)


def as_answer(sent: AnswerSent) -> Answer:
    """An answer as it was sent."""
    fields = sent.model_dump(exclude={"spans"})
    return Answer(**fields, spans=[(span.item, span.start, span.end) for span in sent.spans])


@router.post("/undo", responses={401: {}, 403: {}, 404: {}})
async def undo(sent: UndoSent, access: Judge, studio: Studio) -> Undone:
    """Take back the newest answer of the person who asks."""
    found = await studio.stored(
        lambda connection: take_back(connection, access.project, access.person.id, request_id=sent.request_id)
    )
    if isinstance(found, Reopened):
        return Undone(undone=found.request_id, question=_question(access, found.question), given=Given(**found.given))
    return Undone(undone=found)


class ListedText(BaseModel):
    """The beginning of a text."""

    key: int
    item_id: str
    text: str


class Listed(BaseModel):
    """An answer in a list; who gave it and how its question was chosen are told to owners only."""

    id: int
    request_id: str
    at: datetime
    person: str | None
    strategy: str | None
    person_propensity: float | None = None  # that this person was asked, where the question was meant for them
    undone: bool
    texts: list[ListedText]
    given: Given


Day = Annotated[datetime | None, Query()]


def wanted_answers(
    person: Annotated[int | None, Query(ge=1, lt=2**62)] = None,
    strategy: Annotated[str, Query(max_length=40, pattern=r"^[^\x00]*$")] = "",
    since: Day = None,
    until: Day = None,
    before: Annotated[int | None, Query(ge=1, lt=2**62)] = None,
    undone: bool = False,
) -> Wanted:
    """Which answers are asked for; ``before`` is the smallest id of the part of the list that was seen."""
    return Wanted(person, strategy or None, _utc(since), _utc(until), before, undone)


def _utc(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


def listed(connection: Connection, access: Access, wanted: Wanted, *, limit: int = 50) -> list[Listed]:
    """Answers of a project, newest first: to owners of everybody, to judges their own."""
    is_owner = access.may("owner")
    if not is_owner:
        wanted = replace(wanted, person_id=access.person.id, strategy=None)
    found = kept.history(connection, access.project.id, wanted, limit=limit)
    keys = {key for rows in found for key in (rows[0].item, rows[0].other) if key is not None}
    texts = projects.items_by_key(connection, access.project.id, keys)
    answers = []
    for rows in found:
        first = rows[0]
        about = [texts[key] for key in (first.item, first.other) if key in texts]
        answers.append(
            Listed(
                id=first.id,
                request_id=first.request_id,
                at=first.created_at,
                person=(first.person_name or first.annotator_id) if is_owner else None,
                strategy=first.strategy if is_owner else None,
                person_propensity=first.person_propensity if is_owner else None,
                undone=first.is_undone,
                texts=[ListedText(key=item.key, item_id=item.item_id, text=item.text[:400]) for item in about],
                given=Given(**given_by(rows)),
            )
        )
    return answers


@router.get("/answers", responses={401: {}, 403: {}, 404: {}})
def list_answers(
    access: Judge,
    studio: Studio,
    wanted: Annotated[Wanted, Depends(wanted_answers)],
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> list[Listed]:
    """Answers of the project, newest first: to owners of everybody, to judges their own."""
    with studio.database.read() as connection:
        return listed(connection, access, wanted, limit=limit)


class ToChange(BaseModel):
    """An own answer and its question, to send another one that ``replaces`` it."""

    question: QuestionAnswer
    given: Given


@router.get("/answers/{request_id}", responses={401: {}, 403: {}, 404: {}})
def answer_to_change(request_id: Annotated[RequestId, Path()], access: Judge, studio: Studio) -> ToChange:
    """An own answer with its question; it stands until an answer that ``replaces`` it is sent."""
    with studio.database.read() as connection:
        found = reopen(connection, access.project, access.person.id, request_id)
    return ToChange(question=_question(access, found.question), given=Given(**found.given))
