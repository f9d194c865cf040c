"""Rendering: templates with everything escaped, and the few small drawings of the pages."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from accord import __version__
from accord.data.formats.registry import format_names, format_of
from accord.store.scores import Failure
from accord.studio.context import Access, Visitor, studio_of

__all__ = [
    "WAITING",
    "ago",
    "failure_sentence",
    "fragment",
    "interval_svg",
    "listed",
    "pager",
    "render",
    "share_svg",
    "titles",
]

_ENVIRONMENT = Environment(
    loader=PackageLoader("accord.studio", "templates"),
    autoescape=select_autoescape(default=True),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


_LISTED = 240  # characters of a text in a list: its page has all of them


def listed(text: str) -> str:
    """A text as lists show it."""
    return text if len(text) <= _LISTED else f"{text[: _LISTED - 1].rstrip()}…"


_ENVIRONMENT.filters["listed"] = listed


def fragment(template: str, **context: Any) -> str:
    """A piece of a page."""
    return _ENVIRONMENT.get_template(template).render(**context)


def render(
    request: Request,
    template: str,
    *,
    visitor: Visitor | None = None,
    access: Access | None = None,
    here: str = "",
    status: int = 200,
    **context: Any,
) -> HTMLResponse:
    """A page."""
    page = _ENVIRONMENT.get_template(template).render(
        visitor=access.visitor if access else visitor,
        access=access,
        project=access.project if access else None,
        here=here,
        demo=studio_of(request).demo,
        version=__version__,
        status=status,
        **context,
    )
    return HTMLResponse(page, status_code=status, headers={"cache-control": "no-store"})


WAITING = "The model has not looked at this project yet. It does so soon after the first answers."


def failure_sentence(failure: Failure | None, *, is_owner: bool) -> str | None:
    """What a page says while the model of a project cannot be fitted: to its owners why, to others that it is so."""
    if failure is None:
        return None
    minutes = max(1, round((failure.retry_at - datetime.now(UTC)).total_seconds() / 60))
    again = f"It is tried again in about {minutes} minute{'' if minutes == 1 else 's'}. All answers are kept."
    if not is_owner:
        return f"The model could not be fitted to the newest answers. {again}"
    return f"The model could not be fitted: {failure.sentence} {again}"


def titles(*, readable: bool = False, writable: bool = False) -> list[tuple[str, str]]:
    """The names and titles of the formats of other tools that can be read, or written."""
    known = [(name, format_of(name)) for name in format_names()]
    return [
        (name, form.title)
        for name, form in known
        if not (readable and form.read is None) and not (writable and form.write is None)
    ]


def ago(moment: datetime) -> str:
    """How long ago something was, in words."""
    if moment.tzinfo is None:  # SQLite keeps no time zone; all times are stored in UTC
        moment = moment.replace(tzinfo=UTC)
    seconds = max(0.0, (datetime.now(UTC) - moment).total_seconds())
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            n = int(seconds // size)
            return f"{n} {unit}{'s' if n > 1 else ''} ago"
    return "just now"


def interval_svg(score: float, low: float, high: float, least: float, most: float) -> Markup:
    """A dot with its interval on the axis from ``least`` to ``most``."""
    span = (most - least) or 1.0

    def x(value: float) -> float:
        return 4 + 152 * (value - least) / span

    label = f"{score:.2f}, between {low:.2f} and {high:.2f}"
    return Markup(
        f'<svg class="interval" viewBox="0 0 160 18" role="img" aria-label="{label}">'
        f'<line class="axis" x1="0" y1="9" x2="160" y2="9"/>'
        f'<line class="range" x1="{x(low):.1f}" y1="9" x2="{x(high):.1f}" y2="9"/>'
        f'<circle class="dot" cx="{x(score):.1f}" cy="9" r="4.5"/></svg>'
    )


def share_svg(share: float, label: str) -> Markup:
    """A bar filled to a share."""
    width = 100 * min(1.0, max(0.0, share))
    return Markup(
        '<svg class="bar" width="100%" height="9" viewBox="0 0 100 9" preserveAspectRatio="none" role="img" '
        'aria-label="{}">'
        '<rect class="fillbar" x="0" y="0" width="{}" height="9"/></svg>'
    ).format(label, f"{width:.1f}")


def pager(request: Request, *, offset: int, limit: int, total: int) -> Markup:
    """Links to the pages before and after."""
    if total <= limit:
        return Markup("")
    links = []
    for name, start in (("Earlier", offset - limit), ("Later", offset + limit)):
        if 0 <= start < total:
            query = urlencode({**request.query_params, "offset": start})
            links.append(Markup('<a class="button" href="?{}">{}</a>').format(query, name))
    return Markup('<nav class="row" aria-label="Pages">{} <span class="quiet">{}–{} of {}</span></nav>').format(
        Markup(" ").join(links), f"{offset + 1:,}", f"{min(offset + limit, total):,}", f"{total:,}"
    )
