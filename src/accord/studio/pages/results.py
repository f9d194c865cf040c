"""The pages that show what the judgements say: ranking, results, texts."""

from collections.abc import Callable
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import HTMLResponse

from accord.store import judgements as kept
from accord.store import projects
from accord.store.database import Connection
from accord.store.projects import StoredItem
from accord.store.scores import get_failure, get_scores, result_rows, results_of
from accord.studio.context import Access, Key, Reading, Studio, Viewer
from accord.studio.pages.rendering import (
    WAITING,
    ago,
    failure_sentence,
    interval_svg,
    listed,
    pager,
    render,
    share_svg,
)
from accord.workflows.rank import stability_sentences

__all__ = ["router"]

router = APIRouter(prefix="/projects/{project_id}", include_in_schema=False)

_PAGE = 100
Offset = Annotated[int, Query(ge=0, lt=2**31)]


@router.get("/results")
def results(request: Request, access: Reading, studio: Studio, offset: Offset = 0) -> HTMLResponse:
    """The ranking of a pairs project; the predictions of the others."""
    with studio.database.read() as connection:
        scores = get_scores(connection, access.project.id)
        failure = get_failure(connection, access.project.id)
        shown = result_rows(connection, access.project.id, offset=offset, limit=_PAGE)
        texts = projects.items_by_key(connection, access.project.id, [r["key"] for r in shown if r.get("key")])
    summary = scores.result.get("summary", {}) if scores else {}
    common: dict[str, Any] = {
        "rows": shown,
        "waiting": _capital(summary.get("waiting") or WAITING),
        "failure": failure_sentence(failure, is_owner=access.may("owner")),
        "n_judgements": scores.n_judgements if scores else 0,
        "model_version": scores.model_version if scores else 0,
        "fitted_ago": ago(scores.fitted_at) if scores else "",
        "pager": pager(request, offset=offset, limit=_PAGE, total=scores.n_rows if scores else 0),
    }
    if access.project.kind == "pairs":
        return _ranking(request, access, shown, texts, summary, common)
    columns, cells = _table(access.project.kind, list(access.project.settings.get("aspects", [])), shown)
    common["rows"] = [
        {"key": row["key"], "pieces": _marked_title(texts.get(row["key"]), row, listed), "cells": line}
        for row, line in zip(shown, cells, strict=True)
    ]
    return render(request, "results.html", access=access, here="results", columns=columns, **common)


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _table(kind: str, aspects: list[str], rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Names and cells of the columns beside the text."""
    if kind == "aspects":
        lines = [
            [*(_score(row["aspects"].get(aspect)) for aspect in aspects), _percent(row.get("p_all_equal"))]
            for row in rows
        ]
        return [*aspects, "all aspects equal"], lines
    return ["label", "how sure"], [
        [_cell(row.get("label")), "given by people" if row.get("given") else _percent(row.get("probability"))]
        for row in rows
    ]


def _score(found: dict[str, Any] | None) -> str:
    if not found or found.get("rank") is None:
        return ""
    return f"{found['rank']:g} ({'given' if found.get('given') else _percent(found.get('probability'))})"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def _marked_title(
    item: StoredItem | None, row: dict[str, Any], shown: Callable[[str], str] = str
) -> list[tuple[str, bool]]:
    """The text, or what is shown of it, with the words marked that the model would highlight."""
    text = shown(_title(item, row))
    return _pieces(text, [(a, min(b, len(text))) for a, b, _ in row.get("highlights") or [] if 0 <= a < len(text)])


def _title(item: StoredItem | None, row: dict[str, Any]) -> str:
    return (item.text if item else None) or str(row.get("item_id"))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_cell(entry)}" for name, entry in value.items())
    return "" if value is None else str(value)


def _ranking(
    request: Request,
    access: Access,
    shown: list[dict[str, Any]],
    texts: dict[int, StoredItem],
    summary: dict[str, Any],
    common: dict[str, Any],
) -> HTMLResponse:
    least, most = summary.get("least", 0.0), summary.get("most", 1.0)
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in shown:
        grouped.setdefault(str(row.get("group") or ""), []).append(row)
    groups = []
    for name, members in grouped.items():
        drawn = [
            {
                **row,
                "text": _title(texts.get(row["key"]), row),
                "svg": interval_svg(row["score"], row["low"], row["high"], least, most),
                "tier_start": place == 0 or members[place - 1]["tier"] != row["tier"],
                "ranks": _range(row.get("rank_low"), row.get("rank_high")),
                "wins": f"{row['wins']:.0f} in 100" if row.get("wins") is not None else "",
                "p_best": row.get("p_best") or 0.0,
            }
            for place, row in enumerate(members)
        ]
        groups.append({"name": name, "rows": drawn})
    warnings = []
    if summary.get("missing_joins"):
        n = summary["missing_joins"]
        warnings.append(
            f"The votes do not join all texts yet: {n} more {'link is' if n == 1 else 'links are'} missing. Until then "
            "the order between the parts comes from the model alone."
        )
    if summary.get("left_out"):
        warnings.append(f"{summary['left_out']:,} texts have no vote yet and are not ranked.")
    settled = float(summary.get("settled", 0.0))
    return render(
        request,
        "ranking.html",
        access=access,
        here="results",
        groups=groups,
        warnings=warnings,
        n_votes=summary.get("n_votes", common["n_judgements"]),
        stability=stability_sentences(summary, summary.get("n_questions", len(groups))),
        stability_bar=share_svg(settled, f"{100 * settled:.0f} % settled"),
        **common,
    )


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return f"{low:.0f}" if low == high else f"{low:.0f}–{high:.0f}"


@router.get("/texts")
async def texts(
    request: Request,
    access: Viewer,
    studio: Studio,
    search: Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")] = "",
    offset: Offset = 0,
) -> HTMLResponse:
    """All texts, to search and to open."""
    found, total = await studio.found(access.project.id, search=search, offset=offset, limit=_PAGE)
    pages = pager(request, offset=offset, limit=_PAGE, total=total)
    return render(
        request, "texts.html", access=access, here="texts", items=found, total=total, search=search, pager=pages
    )


@router.get("/texts/{key}")
def text(request: Request, key: Key, access: Viewer, studio: Studio) -> HTMLResponse:
    """One text: what the model says of it, its links, its judgements and the marked words."""
    with studio.database.read() as connection:
        item = projects.get_item(connection, access.project.id, key)
        if item is None:
            raise HTTPException(404, "there is no such text in this project.")
        said = results_of(connection, access.project.id, [key]).get(key) if access.sees_results else None
        judged = _judgements_of(connection, access, key)
        neighbours = _neighbours(connection, access.project.id, item)
        others = _others(connection, access.project.id, item) if access.project.kind == "pairs" else []
    return render(
        request,
        "text.html",
        access=access,
        here="texts",
        item=item,
        pieces=_pieces(item.text, [(j["start"], j["end"]) for j in judged if j["start"] is not None]),
        facts=_facts(said) if said else [],
        reasons=_reasons(said) if said else [],
        why=_why(access.project.kind, said) if said else None,
        given=_is_given(said) if said else False,
        highlights=_marked_title(item, said) if said and said.get("highlights") else [],
        judgements=judged,
        neighbours=neighbours,
        others=others,
    )


_FACTS = {
    "p_best": "chance of being best",
    "n_votes": "votes",
    "probability": "how sure",
    "p_all_equal": "all aspects equal",
}


_NO_FACTS = {"key", "item_id", "text", "highlights", "reasons", "reasons_for", "given", "group", "group_id", "std"}


def _facts(row: dict[str, Any]) -> list[tuple[str, str]]:
    facts = {name: _cell(value) for name, value in row.items() if name not in _NO_FACTS and not name.startswith("p.")}
    if "low" in facts and "high" in facts:
        facts["score"] += f" (between {facts.pop('low')} and {facts.pop('high')} with 90 %)"
    ranks = _range(row.get("rank_low"), row.get("rank_high"))
    for name in ("rank_low", "rank_high"):
        facts.pop(name, None)
    if ranks and ranks != facts.get("rank"):
        facts["rank"] += f" (between {ranks.replace('–', ' and ')} with 90 %)"
    if row.get("wins") is not None:
        facts["wins"] = f"{row['wins']:.0f} in 100"
    for name in ("p_best", "probability", "p_all_equal"):
        if row.get(name) is not None:
            facts[name] = _percent(row[name])
    if row.get("given"):  # a person said so: the model has nothing to be sure of
        facts.pop("probability", None)
    for aspect, found in (row.get("aspects") or {}).items():
        facts[aspect] = _score(found)
    facts.pop("aspects", None)
    return [(_FACTS.get(name, name.replace("_", " ")), value) for name, value in facts.items() if value]


def _is_given(row: dict[str, Any]) -> bool:
    """Whether people said all of it, so that nothing is the model's."""
    if row.get("aspects"):
        return all(found.get("given") for found in row["aspects"].values())
    return bool(row.get("given"))


def _why(kind: str, row: dict[str, Any]) -> str | None:
    """What the reasons are reasons for; ``None`` where the model has not been asked for them yet."""
    if "reasons" not in row:
        return None
    if not row["reasons"]:
        return "The model has no reason to give for this text."
    leans = row.get("reasons_for")
    if kind == "pairs":
        return "What moves the score of this text up (for) or down (against)."
    if kind == "aspects" or not leans:
        return "What speaks for the scores that the model gives, and against them."
    if row.get("given"):
        return f"People said {row.get('label')}. By itself the model leans to {leans}, and this is why."
    return f"Why the model says {leans}: what speaks for it and against it."


_REASONS = {
    "word": "a word",
    "words": "words",
    "content": "its words together",
    "link": "a linked text",
    "aspect": "another aspect",
    "comment": "another comment",
    "term": "a property of the text",
    "feature": "a property of the text",
    "item": "another text, by its votes",
    "pull": "another comment",
    "evidence": "what the comment is like",
    "rest": "all else",
    "prior": "how common the label is",
    "vote": "a vote",
}
# The parts of the score of a text, without the shape of the function that each has.
_PARTS = {
    "length": "its length",
    "surface": "how it is written",
    "words": "its words",
    "characters": "parts of its words",
    "lemmas": "its words",
    "tags": "its kinds of words",
    "item": "what votes say of it beyond its words",
}


def _reasons(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Why the model says what it says: each reason with a bar that is as long as the reason is strong."""
    found = _merged(row.get("reasons") or [])
    most = max((abs(effect) for _, effect, _ in found), default=0.0) or 1.0
    return [
        {
            "reason": reason,
            "kind": _REASONS.get(kind, kind),
            "way": "for" if effect > 0 else "against",
            "bar": share_svg(abs(effect) / most, f"{'for' if effect > 0 else 'against'}, strength {abs(effect):.2f}"),
        }
        for reason, effect, kind in found
        if effect
    ]


def _merged(found: list[list[Any]]) -> list[list[Any]]:
    """The reasons with plain words for the parts of a score; parts of one name are one reason."""
    parts: dict[str, float] = {}
    for reason, effect, kind in found:
        if kind == "term":
            groups = reason.split(":")[:-1] or [reason]
            name = " and ".join(_PARTS.get(group, group) for group in groups)
            parts[name] = parts.get(name, 0.0) + effect
    strongest = sorted(parts.items(), key=lambda part: -abs(part[1]))
    others = [[_plain(reason, kind), effect, kind] for reason, effect, kind in found if kind != "term"]
    return [*([name, effect, "term"] for name, effect in strongest), *others]


def _plain(reason: str, kind: str) -> str:
    return "how common the label is" if kind == "prior" else reason.replace("_", " ") if kind == "feature" else reason


def _judgements_of(connection: Connection, access: Access, key: int) -> list[dict[str, Any]]:
    """The judgements about a text: to owners with names, to readers without, to blind judges their own only."""
    project_id = access.project.id
    rows = kept.of_text(connection, project_id, key, person_id=None if access.sees_results else access.person.id)
    others = projects.items_by_key(
        connection, project_id, {k for row in rows for k in (row.item, row.other) if k is not None}
    )
    out = []
    for row in rows:
        out.append(
            {
                "when": row.created_at.strftime("%Y-%m-%d %H:%M"),
                "who": _who(row, access),
                "what": _what(row, key, others),
                "start": row.start if row.item == key else None,
                "end": row.end if row.item == key else None,
            }
        )
    return out


def _who(row: Any, access: Access) -> str:
    if row.person_id == access.person.id:
        return "you"
    return (row.annotator_id or row.person_name or "") if access.may("owner") else "somebody"


def _what(row: Any, key: int, others: dict[int, StoredItem]) -> str:
    if row.kind == "pair":
        against = others[row.other if row.item == key else row.item].item_id
        value = row.value if row.item == key else 1.0 - row.value
        return {1.0: f"won against {against}", 0.0: f"lost to {against}"}.get(value, f"equal to {against}")
    if row.kind == "score":
        return f"{row.aspect}: {row.value:g}" if row.value is not None else f"{row.aspect}: not mentioned"
    if row.kind == "span":
        return f"highlighted “{row.quote}”" if row.quote else "read, nothing highlighted"
    return f"labelled {row.label}" if row.kind == "label" else f"skipped ({row.skip_reason or 'no reason given'})"


def _neighbours(connection: Connection, project_id: int, item: StoredItem) -> list[dict[str, Any]]:
    rows = projects.neighbours_of(connection, project_id, item.item_id)
    names = {row.dst_id if row.src_id == item.item_id else row.src_id for row in rows}
    known = projects.items_by_id(connection, project_id, names)
    out = []
    for row in rows:
        outgoing = row.src_id == item.item_id
        other = known.get(row.dst_id if outgoing else row.src_id)
        if other is not None:
            kind = row.kind or "link"
            out.append({"key": other.key, "text": other.text, "kind": f"{kind} →" if outgoing else f"← {kind}"})
    return out


def _others(connection: Connection, project_id: int, item: StoredItem) -> list[StoredItem]:
    """The first texts beside which a text may be asked about."""
    found, _ = projects.find_items(connection, project_id, group_id=item.group_id, limit=_PAGE + 1)
    return [other for other in found if other.key != item.key][:_PAGE]


def _pieces(text: str, spans: list[tuple[int, int]]) -> list[tuple[str, bool]]:
    """The text cut where highlighting starts or ends."""
    inside = np.zeros(len(text) + 1, dtype=int)
    for start, end in spans:
        inside[start] += 1
        inside[end] -= 1
    marked = np.cumsum(inside)[: len(text)] > 0
    cuts = [0, *(np.flatnonzero(np.diff(marked)) + 1).tolist(), len(text)]
    return [(text[a:b], bool(marked[a])) for a, b in pairwise(cuts) if a < b]
