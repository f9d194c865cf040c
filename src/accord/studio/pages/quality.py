"""The owner's page of quality: agreement, what could not be decided, disagreements to settle, gold questions."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from accord.store import gold, projects
from accord.store import judgements as kept
from accord.store.database import Connection
from accord.store.projects import StoredItem
from accord.store.scores import get_failure, get_scores
from accord.studio.context import Access, Owner, Studio
from accord.studio.pages.rendering import WAITING, ago, failure_sentence, render
from accord.workflows.collecting.adjudicate import right_words

__all__ = ["router"]

router = APIRouter(prefix="/projects/{project_id}", include_in_schema=False)

_PAGE = 30
_MOST_GOLD = 50  # people whose answers to gold questions are listed, those with the most mistakes first


@router.get("/quality")
def quality(request: Request, access: Owner, studio: Studio) -> HTMLResponse:
    """Agreement, disagreements, skipped questions and gold questions, as the last refit found them."""
    with studio.database.read() as connection:
        scores = get_scores(connection, access.project.id)
        failure = get_failure(connection, access.project.id)
        found = scores.result.get("quality", {}) if scores else {}
        conflicts = _conflicts(connection, access, found.get("conflicts", []))
        skipped = _named(connection, access, found.get("skips", {}).get("texts", []))
        known = gold.list_gold(connection, access.project.id, limit=_PAGE)
        texts = projects.items_by_key(
            connection, access.project.id, {key for entry in known for key in (entry.item, entry.other) if key}
        )
    return render(
        request,
        "quality.html",
        access=access,
        here="quality",
        found=found,
        conflicts=conflicts[:_PAGE],
        n_conflicts=len(conflicts),
        n_found=len(found.get("conflicts", [])),
        skipped=skipped,
        gold=[(entry, [texts[key] for key in (entry.item, entry.other) if key], right_words(entry, first=entry.item))
              for entry in known],
        right=sorted(found.get("gold", []), key=lambda row: (row["share"], -row["n"]))[:_MOST_GOLD],
        n_right=len(found.get("gold", [])),
        fitted_ago=ago(scores.fitted_at) if scores else "",
        model_version=scores.model_version if scores else 0,
        notice=failure_sentence(failure, is_owner=True) or (None if scores else WAITING),
    )  # fmt: skip


def _conflicts(connection: Connection, access: Access, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The disagreements that are not settled yet, with their texts and the answers to choose from."""
    names = {name for entry in found for name in (entry["item_id"], entry["other_id"]) if name}
    texts = projects.items_by_id(connection, access.project.id, names)
    settled = kept.settled_questions(connection, access.project.id, {item.key for item in texts.values()})
    rows = []
    for entry in found:
        about = [texts[name] for name in (entry["item_id"], entry["other_id"]) if name in texts]
        if len(about) == (2 if entry["other_id"] else 1) and (
            (frozenset(item.key for item in about), entry["aspect"]) not in settled
        ):
            rows.append({**entry, "texts": about, "choices": _choices(access, entry, about)})
    return rows


def _choices(access: Access, entry: dict[str, Any], about: list[StoredItem]) -> list[tuple[str, str]]:
    """What an owner may answer: the name of a value, and what the form sends."""
    settings = access.project.settings
    if entry["other_id"]:
        return [("the first is better", "1"), ("the second is better", "0"), ("equally good", "0.5")]
    if entry["aspect"]:
        return [(str(rank), str(rank)) for rank in range(1, int(settings.get("n_ranks", 5)) + 1)]
    return [(label, label) for label in settings.get("labels", [])]


def _named(connection: Connection, access: Access, counts: list[list[Any]]) -> list[tuple[StoredItem, int]]:
    texts = projects.items_by_id(connection, access.project.id, [name for name, _ in counts])
    return [(texts[name], n) for name, n in counts if name in texts]
