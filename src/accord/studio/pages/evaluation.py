"""The owner's page that says how good the model is on a project's own judgements."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pandas as pd
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from accord.store.scores import get_evaluation
from accord.studio.context import Owner, Studio
from accord.studio.pages.pictures import calibration
from accord.studio.pages.rendering import ago, fragment, interval_svg, render

__all__ = ["evaluation_fragment", "router"]

router = APIRouter(prefix="/projects/{project_id}", include_in_schema=False)


@router.get("/evaluate")
def evaluate(request: Request, access: Owner, studio: Studio) -> HTMLResponse:
    """Where owners ask for an evaluation, and see the last one."""
    with studio.database.read() as connection:
        last = get_evaluation(connection, access.project.id)
    found = "" if last is None else evaluation_fragment(access.project.id, *last)
    return render(request, "evaluate.html", access=access, here="evaluate", found=found)


def evaluation_fragment(project_id: int, moment: datetime, found: Mapping[str, Any]) -> str:
    """The sentence, tables and pictures of an evaluation, as a piece of a page."""
    rows, curve = pd.DataFrame(found["rows"]), pd.DataFrame(found["curve"])
    metrics = []
    for name in dict.fromkeys(rows["metric"]):
        own = rows[rows["metric"] == name].rename(columns={"method": "what"})
        fewer = curve[curve["metric"] == name]
        fewer = fewer.assign(what=fewer["n"].map("{:,} judgements".format))
        metrics.append({"name": name, "rows": _measured(own), "curve": _measured(fewer)})
    return fragment(
        "evaluation.html",
        found=found,
        metrics=metrics,
        ago=ago(moment),
        calibration=calibration(found["calibration"]),
        project_id=project_id,
    )


def _measured(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Figures with a picture of their intervals, on one scale."""
    least, most = float(table["low"].min()), float(table["high"].max())
    return [
        {
            "what": row["what"],
            "figure": f"{row['value']:.3f} ({row['low']:.3f} to {row['high']:.3f})",
            "picture": interval_svg(row["value"], row["low"], row["high"], least, most),
        }
        for row in table.to_dict("records")
    ]
