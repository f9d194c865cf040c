"""What the judgements say: results of the model, and files to take away."""

import io
import tempfile
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from fastapi import APIRouter, HTTPException, Query, Response
from pydantic import BaseModel

from accord.store.scores import get_scores
from accord.studio.context import Key, Owner, Studio, Viewer
from accord.workflows.exchange import project_of
from accord.workflows.export import write_frame

__all__ = ["router"]

router = APIRouter(prefix="/projects/{project_id}", tags=["results"])

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class ResultsAnswer(BaseModel):
    """What the model last said; ``fitted_at`` is empty before the first fit."""

    model_version: int
    n_judgements: int
    fitted_at: datetime | None
    total: int
    rows: list[dict[str, Any]]
    summary: dict[str, Any]


@router.get("/results", responses={401: {}, 404: {}})
def results(
    access: Viewer,
    studio: Studio,
    offset: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> ResultsAnswer:
    """The model's results: the ranking of a pairs project, the predictions of the others."""
    with studio.database.read() as connection:
        found = get_scores(connection, access.project.id)
    if found is None:
        return ResultsAnswer(model_version=0, n_judgements=0, fitted_at=None, total=0, rows=[], summary={})
    rows = found.result.get("rows", [])
    return ResultsAnswer(
        model_version=found.model_version,
        n_judgements=found.n_judgements,
        fitted_at=found.fitted_at,
        total=len(rows),
        rows=rows[offset : offset + limit],
        summary=found.result.get("summary", {}),
    )


@router.get("/results/{key}", responses={401: {}, 404: {}})
def result_of(key: Key, access: Viewer, studio: Studio) -> dict[str, Any]:
    """What the model says of one text."""
    with studio.database.read() as connection:
        found = get_scores(connection, access.project.id)
    for row in found.result.get("rows", []) if found else []:
        if row.get("key") == key:
            return dict(row)
    raise HTTPException(404, "the model has not said anything about this text yet.")


@router.get(
    "/export",
    response_class=Response,
    responses={200: {"content": {"application/zip": {}}}, 401: {}, 403: {}, 404: {}},
)
def export_project(
    access: Owner,
    studio: Studio,
    form: Annotated[Literal["csv", "tsv", "jsonl", "parquet"], Query(alias="format")] = "csv",
    everything: bool = False,
) -> Response:
    """The project's own tables as a zip file; with ``everything`` undone answers and undos too."""
    with studio.database.read() as connection:
        project = project_of(connection, access.project, standing=not everything)
    buffer = io.BytesIO()
    with tempfile.TemporaryDirectory(prefix="accord-export-") as folder:
        for name, frame in project.frames().items():
            if len(frame):
                harmless = _harmless(frame) if form in {"csv", "tsv"} else frame
                write_frame(harmless.dropna(axis="columns", how="all"), Path(folder) / f"{name}.{form}")
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(Path(folder).iterdir()):
                archive.write(path, path.name)
    return Response(
        buffer.getvalue(),
        media_type="application/zip",
        headers={"content-disposition": f'attachment; filename="accord-project-{access.project.id}.zip"'},
    )


def _harmless(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with an apostrophe before what a spreadsheet would run as a formula."""

    def guard(value: Any) -> Any:
        return f"'{value}" if isinstance(value, str) and value[:1] in _FORMULA and not _is_number(value) else value

    return frame.apply(lambda column: column.map(guard) if column.dtype == object else column)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
