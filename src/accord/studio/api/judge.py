"""Judging: the next question, an answer, and taking the last answer back."""

import random
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from accord.store.projects import StoredItem
from accord.studio.context import Judge, Studio
from accord.workflows.collecting.collect import Answer, next_question, record, take_back

__all__ = ["ItemAnswer", "item_answer", "router"]

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
    """The next question; ``texts`` in the order to show them. ``done`` where nothing is left to ask."""

    done: bool
    question_id: int | None = None
    strategy: str | None = None
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
    scores: dict[Line, Annotated[int, Field(ge=-(2**31), lt=2**31)] | None] = Field(default={}, max_length=100)
    spans: list[SpanSent] = Field(default=[], max_length=1000)
    shown_left: Key | None = None
    response_ms: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    skip_reason: Line | None = None
    question_id: Key | None = None


class Stored(BaseModel):
    """That an answer is kept, and how many rows of it are new."""

    request_id: str
    new_rows: int


class UndoSent(BaseModel):
    """A wish to take the newest answer back."""

    request_id: RequestId


class Undone(BaseModel):
    """Which answer was taken back, if any."""

    undone: str | None


@router.post("/questions/next", responses={401: {}, 403: {}, 404: {}})
async def ask_next(access: Judge, studio: Studio) -> QuestionAnswer:
    """The next question for the person who asks; it is held for them for five minutes."""
    found = await studio.stored(
        lambda connection: next_question(connection, access.project, access.person.id, rng=_RNG)
    )
    if found is None:
        return QuestionAnswer(done=True)
    return QuestionAnswer(
        done=False,
        question_id=found.question_id,
        strategy=found.strategy,
        texts=[item_answer(item) for item in found.texts],
    )


@router.post("/judgements", status_code=201, responses={401: {}, 403: {}, 404: {}})
async def answer(sent: AnswerSent, access: Judge, studio: Studio) -> Stored:
    """Store an answer. It is on disk before this is acknowledged."""
    given = Answer(
        request_id=sent.request_id,
        kind=sent.kind,
        item=sent.item,
        other=sent.other,
        value=sent.value,
        label=sent.label,
        scores=sent.scores,
        spans=[(span.item, span.start, span.end) for span in sent.spans],
        shown_left=sent.shown_left,
        response_ms=sent.response_ms,
        skip_reason=sent.skip_reason,
        question_id=sent.question_id,
    )
    new = await studio.stored(lambda connection: record(connection, access.project, access.person.id, given))
    return Stored(request_id=sent.request_id, new_rows=new)


@router.post("/undo", responses={401: {}, 403: {}, 404: {}})
async def undo(sent: UndoSent, access: Judge, studio: Studio) -> Undone:
    """Take back the newest answer of the person who asks."""
    undone = await studio.stored(
        lambda connection: take_back(connection, access.project, access.person.id, request_id=sent.request_id)
    )
    return Undone(undone=undone)
