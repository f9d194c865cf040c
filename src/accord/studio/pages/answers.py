"""Lists of answers: a person's own, to be changed, and to owners everybody's, by person, time and way of choosing."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from accord.errors import InputError
from accord.store import people
from accord.store.judgements import Wanted
from accord.studio.api.judge import Given, Listed, listed
from accord.studio.context import Access, Judge, Owner, Studio
from accord.studio.pages.rendering import render
from accord.workflows.collecting.mix import REASONS

__all__ = ["router", "said"]

router = APIRouter(prefix="/projects/{project_id}", include_in_schema=False)

_PAGE = 50
_WAYS = ("informative", "coverage", "random", "repeat", "overlap", "gold", "adjudication", "again")
Before = Annotated[int | None, Query(ge=1, lt=2**62)]
Field = Annotated[str, Query(max_length=40, pattern=r"^[^\x00]*$")]  # an empty one is sent by a form, too


@router.get("/mine")
def mine(request: Request, access: Judge, studio: Studio, before: Before = None) -> HTMLResponse:
    """The person's own answers, newest first, each to be changed."""
    with studio.database.read() as connection:
        found = listed(connection, access, Wanted(person_id=access.person.id, before=before), limit=_PAGE)
    return _page(request, access, found, here="mine")


@router.get("/answers")
def answers(
    request: Request,
    access: Owner,
    studio: Studio,
    person: Field = "",
    since: Field = "",
    until: Field = "",
    strategy: Field = "",
    before: Before = None,
) -> HTMLResponse:
    """Everybody's answers, newest first."""
    who = int(person) if person.isdecimal() and len(person) < 18 else None
    wanted = Wanted(who, strategy or None, _day(since), _day(until), before, undone=True)
    with studio.database.read() as connection:
        found = listed(connection, access, wanted, limit=_PAGE)
        members = people.members(connection, access.project.id)
    return _page(request, access, found, here="answers", members=members, wanted=wanted, ways=_WAYS)


def _day(text: str) -> datetime | None:
    if not text:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise InputError(f"a day is written as in 2026-01-31; {text!r} is not.") from None
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _page(request: Request, access: Access, found: Sequence[Listed], *, here: str, **context: Any) -> HTMLResponse:
    older = None
    if len(found) == _PAGE:
        older = "?" + urlencode({**request.query_params, "before": found[-1].id})
    rows = [
        {
            "at": row.at.strftime("%Y-%m-%d %H:%M"),
            "who": row.person or "",
            "texts": row.texts,
            "said": said(row.given, [text.key for text in row.texts]),
            "way": row.strategy or "",
            "why": REASONS.get(row.strategy or "", "")
            + ("; meant for this person" if row.person_propensity is not None else ""),
            "undone": row.undone,
            "edit": f"comment={row.texts[0].key}" if access.project.kind == "threads" else f"edit={row.request_id}",
        }
        for row in found
        if row.texts
    ]
    return render(request, "answers.html", access=access, here=here, rows=rows, older=older, **context)


def said(given: Given, keys: Sequence[int]) -> str:
    """An answer in words; ``keys`` names its texts in the order in which they are listed."""
    if given.kind == "skip":
        return f"cannot decide ({given.skip_reason})" if given.skip_reason else "skipped"
    if given.kind == "pair":
        won = (given.item == keys[0]) == (given.value == 1.0)
        words = "equally good" if given.value == 0.5 else f"the {'first' if won else 'second'} is better"
    elif given.scores:
        words = ", ".join(f"{name}: {'not mentioned' if rank is None else rank}" for name, rank in given.scores.items())
    else:
        words = ", ".join(given.labels)
    quotes = [f"“{span['quote']}”" for span in given.spans[:3]]
    more = f" and {len(given.spans) - 3} more" if len(given.spans) > 3 else ""
    return words + (f", because of {', '.join(quotes)}{more}" if quotes else "")
