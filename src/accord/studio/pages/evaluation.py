"""The owner's page that says how good the model is on a project's own judgements."""

from typing import TYPE_CHECKING, Any

import pandas as pd
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from accord.studio.context import Owner
from accord.studio.pages.rendering import fragment, interval_svg, render

if TYPE_CHECKING:
    from accord.workflows.evaluate import Evaluation

__all__ = ["evaluation_fragment", "router"]

router = APIRouter(prefix="/projects/{project_id}", include_in_schema=False)


@router.get("/evaluate")
def evaluate(request: Request, access: Owner) -> HTMLResponse:
    """Where owners ask for an evaluation, and see it."""
    return render(request, "evaluate.html", access=access, here="evaluate")


def evaluation_fragment(found: "Evaluation") -> str:
    """The sentence, tables and pictures of an evaluation, as a piece of a page."""
    metrics = []
    for name in dict.fromkeys(found.rows["metric"]):
        rows = found.rows[found.rows["metric"] == name].rename(columns={"method": "what"})
        curve = found.curve[found.curve["metric"] == name]
        curve = curve.assign(what=curve["n"].map("{:,} judgements".format))
        metrics.append({"name": name, "rows": _measured(rows), "curve": _measured(curve)})
    return fragment("evaluation.html", found=found, metrics=metrics)


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
