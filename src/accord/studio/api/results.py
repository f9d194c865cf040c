"""What the judgements say: results of the model, and files to take away."""

import hashlib
import tempfile
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from pydantic import BaseModel

from accord.data.formats.registry import format_names
from accord.data.tables import plain
from accord.errors import InputError
from accord.store import judgements as kept
from accord.store import projects
from accord.store.questions import count_open
from accord.store.scores import get_failure, get_scores, put_evaluation, put_reasons, result_rows, results_of
from accord.studio.context import Key, Owner, Reading, Studio, Viewer
from accord.studio.limited import FailedError, Limits, run
from accord.studio.limited_work import evaluate_project, explain_text
from accord.studio.pages.evaluation import evaluation_fragment
from accord.workflows.collecting.reasons import asked
from accord.workflows.exchange import project_of
from accord.workflows.export import FORMATS, export_as

__all__ = ["router"]

router = APIRouter(prefix="/projects/{project_id}", tags=["results"])


class ResultsAnswer(BaseModel):
    """What the model last said; ``fitted_at`` is empty before the first fit.

    ``problem`` says to owners why the last fit failed; it is empty where it did not.
    """

    model_version: int
    n_judgements: int
    fitted_at: datetime | None
    total: int
    rows: list[dict[str, Any]]
    summary: dict[str, Any]
    problem: str | None = None


@router.get("/results", responses={401: {}, 403: {}, 404: {}})
def results(
    access: Reading,
    studio: Studio,
    offset: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> ResultsAnswer:
    """The model's results: the ranking of a pairs project, the predictions of the others."""
    with studio.database.read() as connection:
        found = get_scores(connection, access.project.id)
        rows = result_rows(connection, access.project.id, offset=offset, limit=limit)
        failure = get_failure(connection, access.project.id) if access.may("owner") else None
    problem = None if failure is None else failure.sentence
    if found is None:
        return ResultsAnswer(
            model_version=0, n_judgements=0, fitted_at=None, total=0, rows=[], summary={}, problem=problem
        )
    return ResultsAnswer(
        model_version=found.model_version,
        n_judgements=found.n_judgements,
        fitted_at=found.fitted_at,
        total=found.n_rows,
        rows=rows,
        problem=problem,
        summary=found.result.get("summary", {}),
    )


class EvaluationAnswer(BaseModel):
    """How good the model is on a project's own judgements, beside simpler ones; intervals of 95 %."""

    sentence: str
    notes: list[str]
    n: int  # of what, says ``unit``
    unit: str
    rows: list[dict[str, Any]]
    curve: list[dict[str, Any]]
    calibration: list[dict[str, Any]]  # how sure the model said it was, and how often it was right
    html: str  # the same as a piece of a page


_EVALUATING = Limits(
    seconds=900.0, megabytes=2048, cure="Use 'accord export' and 'accord evaluate' on the command line.", nice=10
)


@router.post("/evaluation", responses={401: {}, 403: {}, 404: {}})
async def evaluate(access: Owner, studio: Studio) -> EvaluationAnswer:
    """Cross-validate the model on what was judged; may take minutes."""

    def work() -> EvaluationAnswer:
        with studio.database.read() as connection:
            project = project_of(connection, access.project)
        try:
            found = run(evaluate_project, project, limits=_EVALUATING)
        except FailedError as error:
            raise InputError(f"the project could not be evaluated: {error}") from None
        tables = {name: plain(getattr(found, name).to_dict("records")) for name in ("rows", "curve", "calibration")}
        result = {
            "sentence": found.sentence,
            "notes": list(found.notes),
            "n": found.n_judgements,
            "unit": found.unit,
            **tables,
        }
        moment = studio.writer.write(lambda connection: put_evaluation(connection, access.project.id, result))
        return EvaluationAnswer(**result, html=evaluation_fragment(access.project.id, moment, result))

    return await studio.evaluating.run(work)


class LiveAnswer(BaseModel):
    """What changes by itself: the state of the project, the own answers and, for those who see results, the model's.

    ``n_new`` counts answers and undos that came after the last refit; ``fitting`` says whether one is due.
    """

    state: str
    n_mine: int
    model_version: int | None = None
    n_judgements: int | None = None
    n_new: int | None = None
    fitted_at: datetime | None = None
    seconds: float | None = None
    fitting: bool | None = None
    problem: str | None = None
    queue: int | None = None


@router.get("/live", response_model=LiveAnswer, responses={304: {}, 401: {}, 404: {}})
def live(access: Viewer, studio: Studio, request: Request, response: Response) -> LiveAnswer | Response:
    """What changes by itself, to be asked often: with ``If-None-Match`` nothing is sent where all is as before."""
    project = access.project.id
    with studio.database.read() as connection:
        answer = LiveAnswer(state=access.project.state, n_mine=kept.count_of(connection, project, access.person.id))
        if access.sees_results:
            found = get_scores(connection, project)
            failure = get_failure(connection, project)
            answer.n_new = kept.answers_after(connection, project, found.last_judgement if found else 0)
            answer.fitting = answer.n_new > 0 and failure is None and access.project.state != "archived"
            if found is not None:
                answer.model_version, answer.n_judgements = found.model_version, found.n_judgements
                answer.fitted_at, answer.seconds = found.fitted_at, found.seconds
            if access.may("owner"):
                answer.problem = None if failure is None else failure.sentence
                answer.queue = count_open(connection, [project]).get(project, 0)
    tag = f'"{hashlib.sha256(answer.model_dump_json().encode()).hexdigest()[:24]}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"etag": tag})
    response.headers.update({"etag": tag, "cache-control": "no-cache"})
    return answer


@router.get("/results/{key}", responses={401: {}, 403: {}, 404: {}})
def result_of(key: Key, access: Reading, studio: Studio) -> dict[str, Any]:
    """What the model says of one text."""
    with studio.database.read() as connection:
        found = results_of(connection, access.project.id, [key])
    if key not in found:
        raise HTTPException(404, "the model has not said anything about this text yet.")
    return found[key]


_EXPLAINING = Limits(
    seconds=120.0, megabytes=1536, cure="Use 'accord export' and 'accord explain' on the command line.", nice=5
)


@router.post("/results/{key}/reasons", responses={401: {}, 403: {}, 404: {}})
async def explain(key: Key, access: Reading, studio: Studio) -> dict[str, Any]:
    """What the model says of one text, with the reasons for it; they are kept until the next refit."""

    def work() -> dict[str, Any]:
        said = result_of(key, access, studio)
        if said.get("reasons"):
            return said
        with studio.database.read() as connection:
            item = projects.get_item(connection, access.project.id, key)
            assert item is not None  # something is said of it
            one = asked(connection, access.project, item)
        try:
            found = run(explain_text, one, limits=_EXPLAINING)
        except FailedError as error:
            raise InputError(f"the reasons could not be found: {error}") from None
        studio.writer.write(lambda connection: put_reasons(connection, access.project.id, key, one.version, found))
        return {**said, **found}

    return await studio.explaining.run(work)


def _export_name(form: Annotated[str, Query(alias="format", max_length=40)] = "csv") -> str:
    if form not in (known := (*FORMATS, *format_names(writable=True))):
        raise HTTPException(422, f"the format must be one of {', '.join(known)}; got {form!r}.")
    return form


@router.get(
    "/export",
    response_class=Response,
    responses={200: {"content": {"application/zip": {}}}, 401: {}, 403: {}, 404: {}},
)
def export_project(
    access: Owner, studio: Studio, form: Annotated[str, Depends(_export_name)], everything: bool = False
) -> Response:
    """The project as a zip file: its own tables (csv, tsv, jsonl, parquet) or the files of another tool.

    With ``everything`` undone answers and undos are there too. What the tool cannot hold is counted in
    ``not-exported.txt``.
    """
    with studio.database.read() as connection:
        project = project_of(connection, access.project, standing=not everything)
    with tempfile.TemporaryDirectory(prefix="accord-export-") as work:
        folder, packed = Path(work) / "export", Path(work) / "export.zip"
        folder.mkdir()
        exported = export_as(project, folder, form=form)
        if exported.lost:
            lines = [f"{what}: {n}\n" for what, n in exported.lost.items()]
            (folder / "not-exported.txt").write_text("".join(lines), encoding="utf-8")
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                archive.write(path, path.relative_to(folder))
        content = packed.read_bytes()
    name = f"accord-project-{access.project.id}-{form}.zip"
    return Response(
        content, media_type="application/zip", headers={"content-disposition": f'attachment; filename="{name}"'}
    )
