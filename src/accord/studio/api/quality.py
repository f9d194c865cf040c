"""Quality: agreement, disagreements and how owners settle them, gold questions."""

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Response
from pydantic import BaseModel, ConfigDict, StringConstraints

from accord.store import gold, projects
from accord.store.database import Connection
from accord.store.scores import get_scores
from accord.studio.api.judge import AnswerSent, as_answer
from accord.studio.context import Key, Owner, Studio
from accord.workflows.collecting.adjudicate import make_gold, resolve

__all__ = ["router"]

router = APIRouter(prefix="/projects/{project_id}", tags=["quality"])

Reason = Annotated[str, StringConstraints(max_length=200, strip_whitespace=True, pattern=r"^[^\x00]*$")]


class ResolutionSent(AnswerSent):
    """An owner's answer to a question that people answered differently, and why it is right."""

    model_config = ConfigDict(extra="forbid")

    reason: Reason = ""
    gold: bool = False  # ask it of others too, as a question whose answer is known


class GoldListed(BaseModel):
    """A gold question."""

    id: int
    item: int
    other: int | None
    right: dict[str, Any]
    reason: str


@router.get("/quality", responses={401: {}, 403: {}, 404: {}})
def get_quality(access: Owner, studio: Studio) -> dict[str, Any]:
    """What the last refit found of agreement, disagreements, skipped questions and gold questions."""
    with studio.database.read() as connection:
        scores = get_scores(connection, access.project.id)
    if scores is None:
        return {}
    return {**scores.result.get("quality", {}), "fitted_at": scores.fitted_at}


@router.post("/resolutions", status_code=204, responses={401: {}, 403: {}, 404: {}})
def settle(sent: ResolutionSent, access: Owner, studio: Studio) -> Response:
    """Settle a disagreement: the owner's answer counts, those of the others stay stored."""
    answer = as_answer(AnswerSent(**sent.model_dump(exclude={"reason", "gold"})))

    def store(connection: Connection) -> None:
        resolve(connection, access.project, access.person.id, answer, reason=sent.reason, as_gold=sent.gold)

    studio.writer.write(store)
    return Response(status_code=204)


@router.get("/gold", responses={401: {}, 403: {}, 404: {}})
def list_gold(access: Owner, studio: Studio) -> list[GoldListed]:
    """The questions whose right answer is known."""
    with studio.database.read() as connection:
        return [GoldListed(**vars(entry)) for entry in gold.list_gold(connection, access.project.id)]


@router.post("/gold", status_code=204, responses={401: {}, 403: {}, 404: {}})
def add_gold(sent: ResolutionSent, access: Owner, studio: Studio) -> Response:
    """Say the right answer of a question, which is then mixed in among the others."""
    answer = as_answer(AnswerSent(**sent.model_dump(exclude={"reason", "gold"})))
    studio.writer.write(
        lambda connection: make_gold(connection, access.project, access.person.id, answer, reason=sent.reason)
    )
    return Response(status_code=204)


@router.delete("/gold/{key}", status_code=204, responses={401: {}, 403: {}, 404: {}})
def remove_gold(key: Key, access: Owner, studio: Studio) -> Response:
    """Take a gold question out; the answers to it stay."""

    def remove(connection: Connection) -> None:
        if not gold.remove_gold(connection, access.project.id, key):
            raise HTTPException(404, "this project has no such gold question.")
        projects.note(connection, access.project.id, access.person.id, "gold question removed", gold=key)

    studio.writer.write(remove)
    return Response(status_code=204)
