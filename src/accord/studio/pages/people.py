"""The owner's pages: people, settings and export."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from accord.store import people as stored_people
from accord.store import projects
from accord.store.scores import get_failure, get_scores
from accord.studio.context import Owner, Studio
from accord.studio.pages.rendering import WAITING, ago, failure_sentence, pager, render, titles
from accord.workflows.collecting.people import Annotator

__all__ = ["router"]

_TABLES = {
    "csv": "For spreadsheets",
    "jsonl": "One JSON object a line",
    "parquet": "Compact, with types",
    "tsv": "Tab-separated",
}

_PAGE = 50  # people on one page

router = APIRouter(prefix="/projects/{project_id}", include_in_schema=False)


@router.get("/people")
def people(
    request: Request,
    access: Owner,
    studio: Studio,
    search: Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")] = "",
    offset: Annotated[int, Query(ge=0, lt=2**31)] = 0,
) -> HTMLResponse:
    """Who judges how, who is a member, and what was done; of many people some at a time."""

    def is_wanted(name: str) -> bool:
        return search.strip().casefold() in name.casefold()

    with studio.database.read() as connection:
        scores = get_scores(connection, access.project.id)
        failure = get_failure(connection, access.project.id)
        members = stored_people.members(connection, access.project.id)
        invites = stored_people.invites_of(connection, access.project.id)
        audit = projects.audit_log(connection, access.project.id)
        about = {line.detail["person"] for line in audit if "person" in line.detail}
        named = stored_people.names_of(connection, about)
    # Computed by the worker with every refit: a project may have hundreds of thousands of answers.
    found = [Annotator(**row) for row in (scores.result.get("people", []) if scores else [])]
    shared = sum(person.n_shared for person in found)
    overall = "" if shared else "No question was answered by two people yet, so nothing can be said of agreement."
    if scores is None:
        overall = WAITING
    overall = failure_sentence(failure, is_owner=True) or overall
    voters = scores.result.get("summary", {}).get("voters", []) if scores else []
    rates = {row["annotator"]: row for row in voters}
    pace = scores.result.get("quality", {}).get("pace", []) if scores else []
    found = [person for person in found if is_wanted(person.name)]
    pace = [row for row in pace if is_wanted(row["name"])]
    listed = [entry for entry in members if is_wanted(entry[0].name)]
    some = slice(offset, offset + _PAGE)
    table = [_row(person, rates.get(person.name)) for person in found[some]]
    return render(
        request,
        "people.html",
        access=access,
        here="people",
        table=table,
        rated=bool(rates),
        members=listed[some],
        n_members=len(members),
        search=search,
        pager=pager(request, offset=offset, limit=_PAGE, total=max(len(listed), len(found), len(pace))),
        invites=invites,
        names={person.id: person.name for person, _ in members},
        audit=[(line.at, line.person_name or "the studio", line.action, _detail(line.detail, named)) for line in audit],
        overall=overall,
        pace=pace[some],
        quota=access.project.settings.get("quota"),
        fitted_ago=ago(scores.fitted_at) if scores else "",
        model_version=scores.model_version if scores else 0,
        n_judgements=scores.n_judgements if scores else 0,
        judges=_judges(scores.result.get("judges") if scores else None),
    )


def _detail(detail: Mapping[str, Any], names: Mapping[int, str]) -> str:
    """What a line of the audit log is about, in words."""
    parts = []
    for name, value in detail.items():
        if name == "person":
            parts.append(names.get(value, "somebody who is gone"))
        elif name not in ("item", "other") and value not in (None, ""):
            shown = ", ".join(value) if isinstance(value, list) else value
            parts.append(f"{name.replace('_', ' ')}: {shown}")
    return "; ".join(parts)


def _judges(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What is said of judges; every figure with its interval."""
    if not found:
        return None
    pairs = [
        {
            **row,
            "share": _number(row["share"], row["share_low"], row["share_high"]),
            "agreement": _percent(row.get("agreement"), row.get("low"), row.get("high"), row.get("n_shared") or 0),
        }
        for row in found.get("pairs", [])
    ]
    steady = [
        {**row, "again": _percent(row["same_again"], row["again_low"], row["again_high"], row["n_again"]),
         "drift": _number(row["drift"], row["drift_low"], row["drift_high"], signed=True)}
        for row in found.get("steady", [])
    ]  # fmt: skip
    marks = [
        {**row, "alpha": _number(row["agreement"], row["low"], row["high"]), "shares": _shares(row)}
        for row in found.get("marks", [])
    ]
    tables = [
        {
            **table,
            "judges": [
                {
                    **row,
                    "agreement": _percent(row["agreement"], row["low"], row["high"], row["n_shared"]),
                    "bias": _number(row.get("bias"), row.get("bias_low"), row.get("bias_high"), signed=True),
                    "scale": _number(row.get("scale"), row.get("scale_low"), row.get("scale_high")),
                }
                for row in table["judges"]
            ],
            "confusion": [
                {**row, "share": _number(row["probability"], row["low"], row["high"])} for row in table["confusion"]
            ],
        }
        for table in found.get("tables", [])
    ]
    return {**found, "pairs": pairs, "tables": tables, "steady": steady, "marks": marks}


def _shares(row: Mapping[str, Any]) -> str:
    """How much of a text a judge marks, and people."""
    if row["marked"] is None:
        return "–"
    return f"{100 * row['marked']:.0f} %, people {100 * row['people_marked']:.0f} %"


def _number(value: float | None, low: float | None, high: float | None, *, signed: bool = False) -> str:
    if value is None or low is None or high is None:
        return "–"
    form = "+.2f" if signed else ".2f"
    return f"{value:{form}} ({low:{form}} to {high:{form}})"


def _percent(share: float | None, low: float | None, high: float | None, n: int) -> str:
    if share is None or low is None or high is None:
        return "–"
    return f"{100 * share:.0f} % ({100 * low:.0f}–{100 * high:.0f}, n = {n})"


def _rate(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "–"
    return f"{100 * found['error']:.0f} % ({100 * found['low']:.0f}–{100 * found['high']:.0f})"


def _row(person: Annotator, rate: Mapping[str, Any] | None) -> dict[str, object]:
    notes = []
    if person.high is not None and person.high < 0.5:
        notes.append("agrees less than by half")
    if person.left_low is not None and person.left_high is not None and not person.left_low <= 0.5 <= person.left_high:
        notes.append("prefers the left side" if person.left_low > 0.5 else "prefers the right side")
    if person.fast_share is not None and person.fast_share > 0.3:
        notes.append("often answers within 0.7 s")
    return {
        "name": person.name,
        "n": person.n_answers,
        "agreement": _percent(person.agreement, person.low, person.high, person.n_shared),
        "left": _percent(person.left_share, person.left_low, person.left_high, person.n_sided),
        "rate": _rate(rate),
        "time": "–" if person.median_ms is None else f"{person.median_ms / 1000:.1f} s",
        "note": ", ".join(notes),
    }


@router.get("/export")
def export(request: Request, access: Owner) -> HTMLResponse:
    """Files to take away."""
    return render(
        request, "export.html", access=access, here="export", tables=_TABLES.items(), formats=titles(writable=True)
    )
