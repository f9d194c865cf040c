"""Write a project's report: one HTML page that needs nothing else, no script and no network."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from accord import __version__
from accord.data.project import Project
from accord.data.replacing import replacing
from accord.workflows.evaluate import Evaluation
from accord.workflows.rank import Ranking

__all__ = ["evaluation_report", "predictions_report", "project_report", "ranking_report", "write_report"]

_TICKS = 5  # about how many marks a scale has


def write_report(html: str, path: str | Path) -> Path:
    """Write a page."""
    path = Path(path)
    with replacing(path) as part:
        part.write_text(html, encoding="utf-8")
    return path


def ranking_report(project: Project, rankings: Sequence[Ranking], *, title: str = "Ranking") -> str:
    """The rankings of a project of pairs, with tiers, intervals and voters."""
    people = {name for ranking in rankings for name in ranking.voters["annotator_id"]}
    return _page(
        "ranking.html",
        project,
        title=title,
        sections=[_section(ranking) for ranking in rankings],
        facts={
            "texts": sum(len(ranking.table) for ranking in rankings),
            "votes": sum(ranking.n_votes for ranking in rankings),
            "undecided": sum(ranking.n_undecided for ranking in rankings),
            "voters": len(people),
        },
    )


def project_report(project: Project, *, title: str) -> str:
    """What is in a project of any kind: its counts and how the answers are distributed."""
    judgements = project.frames()["judgements"]
    kinds: dict[str, Any] = {"label": "Labels", "score": "Scores", "span": "Highlighted texts", "pair": "Votes"}
    charts = []
    for kind, name in kinds.items():
        rows = judgements[judgements["kind"] == kind]
        if rows.empty:
            continue
        if kind == "score":
            for aspect, part in rows.groupby("aspect"):
                charts.append(_chart(f"Scores of {aspect}", part["value"].value_counts().sort_index()))
        elif kind == "span":
            charts.append(_chart(name, rows["annotator_id"].fillna("not known").value_counts()))
        else:
            charts.append(_chart(name, rows["value"].value_counts()))
    return _page("project.html", project, title=title, charts=charts, facts=project.counts)


def predictions_report(project: Project, table: Any, *, title: str) -> str:
    """Predictions beside their texts, with the words that the model expects people to highlight."""
    texts = dict(zip(*(project.item_table.column(name).to_pylist() for name in ("item_id", "text")), strict=True))
    shown = [name for name in table.columns if name != "highlights" and not str(name).startswith("p.")]
    rows = []
    for row in table.to_dict("records"):
        cells: list[Any] = [_said(row[name]) for name in shown]
        if "item_id" in row:
            cells.append(_marked(texts.get(row["item_id"]) or "", _spans(row.get("highlights"))))
        rows.append(cells)
    columns = [*shown, "text"] if "item_id" in table.columns else shown
    return _page("predictions.html", project, title=title, columns=columns, rows=rows, facts={"rows": len(rows)})


def _said(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else "" if value is None else str(value)


def _spans(value: Any) -> list[tuple[int, int]]:
    """The spans of one text: a list of (start, end, …), or the same written as ``start:end``."""
    parts = [part.split(":") for part in value.split()] if isinstance(value, str) else value
    return sorted((int(part[0]), int(part[1])) for part in parts) if isinstance(parts, list | tuple) else []


def _marked(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[str, bool]]:
    """A text in pieces, those inside a span marked."""
    pieces, at = [], 0
    for start, end in spans:
        pieces += [(text[at:start], False), (text[max(start, at) : end], True)]
        at = max(end, at)
    return [(words, inside) for words, inside in (*pieces, (text[at:], False)) if words]


def evaluation_report(project: Project, found: Evaluation, *, title: str) -> str:
    """How good models are, with pictures of calibration and of the learning curve."""
    said = [
        (5 + 100 * p, 105 - 100 * right, f"said {p:.2f}: right {right:.2f} of {n:.0f}")
        for p, right, n in found.calibration.to_numpy(float)
    ]
    most = max(float(found.curve["n_judgements"].max()), 1.0)
    learnt = [
        (5 + 100 * n / most, 105 - 100 * right, f"{n:,.0f} judgements: right {right:.2f}")
        for n, right in found.curve.to_numpy(float)
    ]
    pictures = [("What Accord said, and how often it was right", said), ("Trained on fewer judgements", learnt)]
    models = found.table.to_dict("records")
    facts = {"judgements": found.n_judgements, found.groups: found.n_groups}
    return _page("evaluation.html", project, title=title, found=found, models=models, pictures=pictures, facts=facts)


def _page(template: str, project: Project, **values: Any) -> str:
    environment = Environment(
        loader=PackageLoader("accord.workflows"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(
        **values,
        project=project,
        version=__version__,
        fingerprint=project.fingerprint,
        written=datetime.now(UTC).strftime("%d %B %Y"),
    )


def _chart(name: str, counts: Any) -> dict[str, Any]:
    most = max(counts.max(), 1)
    return {"name": name, "bars": [(str(key), int(n), 100.0 * n / most) for key, n in counts.items()]}


def _section(ranking: Ranking) -> dict[str, Any]:
    """One ranking with its places on the page: scores become percentages of the width."""
    table = ranking.table
    low, high = float(table["low"].min()), float(table["high"].max())
    width = max(high - low, 1e-9)

    def place(score: float) -> float:
        return round(2.0 + 96.0 * (score - low) / width, 2)

    rows = [
        {
            **row,
            "place": place(row["score"]),
            "from": place(row["low"]),
            "to": place(row["high"]),
            "best": _percent(row["p_best"]),
        }
        for row in table.to_dict("records")
    ]
    tiers = [[row for row in rows if row["tier"] == tier] for tier in dict.fromkeys(row["tier"] for row in rows)]
    step = max(1, round((high - low) / _TICKS))
    ticks = [tick for tick in range(-step * 20, step * 20 + 1, step) if low <= tick <= high]
    return {
        "group": ranking.group,
        "tiers": tiers,
        "ticks": [(place(tick), f"{tick:+d}".replace("-", "−") if tick else "0") for tick in ticks],
        "voters": [
            {**row, "percent": round(100 * row["agreement"]), "n_votes": int(row["n_votes"])}
            for row in ranking.voters.to_dict("records")
        ],
        "n_votes": ranking.n_votes,
        "notes": ranking.notes,
    }


def _percent(p: float) -> str:
    return "<1 %" if p < 0.01 else f"{100 * p:.0f} %"
