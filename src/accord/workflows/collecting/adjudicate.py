"""Adjudicate: owners settle disagreements with a reason, and say the right answers of gold questions."""

from collections.abc import Mapping
from typing import Any

from accord.errors import InputError
from accord.store import gold, projects
from accord.store import judgements as kept
from accord.store.database import Connection
from accord.store.gold import Gold
from accord.store.judgements import Judgement
from accord.store.projects import StoredProject
from accord.workflows.collecting.collect import Answer, given_by, rows_of
from accord.workflows.collecting.quality import ADJUDICATION

__all__ = ["feedback", "make_gold", "resolve", "right_words"]


def resolve(
    connection: Connection, project: StoredProject, person_id: int, answer: Answer, *, reason: str, as_gold: bool
) -> None:
    """Store an owner's answer that counts in place of all others about the same question."""
    if answer.kind == "skip":
        raise InputError("a disagreement is settled by an answer; 'cannot decide' was sent. Choose an answer.")
    rows = [
        Judgement(
            request_id=answer.request_id, part=part, person_id=person_id, source=ADJUDICATION, strategy=ADJUDICATION,
            **{**row, "skip_reason": reason[:200] or None},
        )
        for part, row in enumerate(rows_of(connection, project, answer))
        if row["kind"] != "span"
    ]  # fmt: skip
    if kept.is_stored(connection, project.id, rows):
        return
    kept.append(connection, project.id, rows)
    projects.note(
        connection, project.id, person_id, "disagreement settled", item=answer.item, other=answer.other, reason=reason
    )
    if as_gold:
        make_gold(connection, project, person_id, answer, reason=reason)


def make_gold(connection: Connection, project: StoredProject, person_id: int, answer: Answer, *, reason: str) -> None:
    """Keep the right answer of a question, to be mixed in among the others; other aspects of the text stay known."""
    rows = [Judgement(request_id="gold", **row) for row in rows_of(connection, project, answer)]
    given = given_by(rows)
    right = {name: given[name] for name in ("value", "labels", "scores") if given.get(name) is not None}
    earlier = gold.gold_about(connection, project.id, answer.item, answer.other)
    if earlier is not None and "scores" in right:
        right["scores"] = {**earlier.right.get("scores", {}), **right["scores"]}
        reason = "; ".join(dict.fromkeys(filter(None, [*earlier.reason.split("; "), reason])))
    gold.add_gold(
        connection, project.id, item=answer.item, other=answer.other, right=right, reason=reason, created_by=person_id
    )
    projects.note(connection, project.id, person_id, "gold question made", item=answer.item, other=answer.other)


def feedback(connection: Connection, project: StoredProject, answer: Answer) -> tuple[bool, str, str] | None:
    """Whether the answer to a gold question was right, the right answer and why; ``None`` where nothing is told."""
    if not project.settings.get("gold_feedback") or answer.kind == "skip":
        return None
    rows = kept.stored_rows(connection, project.id, answer.request_id)
    if not rows or rows[0].strategy != "gold":
        return None
    found = gold.gold_about(connection, project.id, answer.item, answer.other)
    if found is None:
        return None
    return (
        _is_right(found, given_by(rows), answer),
        right_words(found, first=answer.shown_left or answer.item),
        found.reason,
    )


def _is_right(found: Gold, given: Mapping[str, Any], answer: Answer) -> bool:
    if "value" in found.right:
        value = given["value"] if found.item == answer.item else 1.0 - given["value"]
        return bool(value == found.right["value"])
    if "scores" in found.right:
        return all(given.get("scores", {}).get(name) == rank for name, rank in found.right["scores"].items())
    return bool(given.get("labels")) and set(given["labels"]) <= set(found.right["labels"])


def right_words(found: Gold, *, first: int) -> str:
    """The right answer in words; ``first`` is the text that is shown first."""
    if "value" in found.right:
        if found.right["value"] == 0.5:
            return "equally good"
        won = found.item if found.right["value"] == 1.0 else found.other
        return "the first is better" if won == first else "the second is better"
    if "scores" in found.right:
        return ", ".join(f"{name}: {rank}" for name, rank in found.right["scores"].items() if rank is not None)
    return ", ".join(found.right["labels"])
