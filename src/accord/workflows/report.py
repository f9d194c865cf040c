"""Write a project's report: one HTML page that needs nothing else, no script and no network."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from accord import __version__
from accord.data.project import Project
from accord.data.reading.rows import is_made
from accord.data.replacing import check_place, replacing
from accord.evaluation.agreement import wilson
from accord.workflows.evaluate import ACCORD, Evaluation
from accord.workflows.rank import Ranking, percent, stability_sentences
from accord.workflows.simulate import Simulation

__all__ = [
    "evaluation_report",
    "predictions_report",
    "project_report",
    "ranking_report",
    "simulation_report",
    "write_report",
]

_TICKS = 5  # about how many marks a scale has


PAGES = (".html", ".htm")  # what the name of a page ends in


def write_report(html: str, path: str | Path) -> Path:
    """Write a page."""
    path = Path(path)
    check_place(path, endings=PAGES)
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
        stability=stability_sentences(rankings[0].stability, len(rankings)) if rankings else [],
        judges=rankings[0].learnt.judges.to_dict("records") if rankings else [],
        slopes=rankings[0].learnt.sentences if rankings else [],
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
    judgements = judgements[judgements["status"].isna() | (judgements["status"] == "done")]
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
            people = rows["annotator_id"].astype(object).fillna("not known")
            texts = rows["item_id"].astype(str).groupby(people).nunique()
            charts.append(_chart(name, texts.sort_values(ascending=False, kind="stable")))
        else:
            charts.append(_chart(name, rows["value"].value_counts()))
    return _page("project.html", project, title=title, charts=charts, facts=project.counts)


_SAYS = {
    "accuracy": "How often the answer that is predicted is the right one. Further right is better.",
    "ranks off": "How many ranks the prediction is away from the score that was given. Further left is better.",
    "log loss": "How much a method pays for being sure of what is wrong. Further left is better.",
}


def evaluation_report(project: Project, evaluation: Evaluation, *, title: str) -> str:
    """How good each method is, how that grows with judgements, and whether probabilities can be trusted."""
    metrics = []
    for name in dict.fromkeys(evaluation.rows["metric"]):
        rows = evaluation.rows[evaluation.rows["metric"] == name].sort_values("value", ascending=name != "accuracy")
        low, high = float(rows["low"].min()), float(rows["high"].max())
        place = _placer(low, high, 2.0, 98.0)
        shown = [
            {
                "method": row.method,
                "place": place(row.value),
                "from": place(row.low),
                "to": place(row.high),
                "figure": f"{row.value:.3f}",
                "low": f"{row.low:.3f}",
                "high": f"{row.high:.3f}",
            }
            for row in rows.itertuples()
        ]
        metrics.append({"name": name, "says": _SAYS[name], "rows": shown})
    return _page(
        "evaluation.html",
        project,
        title=title,
        sentence=evaluation.sentence,
        notes=evaluation.notes,
        metrics=metrics,
        charts=[_learning_chart(evaluation), _calibration_chart(evaluation)],
        facts={evaluation.unit: evaluation.n_judgements, evaluation.group: evaluation.n_groups},
    )


def _placer(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """Where a value stands on a line from ``start`` to ``end``."""
    width = max(high - low, 1e-9)
    return lambda value: round(start + (end - start) * (value - low) / width, 2)


def _learning_chart(evaluation: Evaluation) -> dict[str, Any]:
    metric = evaluation.curve["metric"].iloc[1 if "ranks off" in set(evaluation.curve["metric"]) else 0]
    curve = evaluation.curve[evaluation.curve["metric"] == metric]
    low, high = float(curve["low"].min()), float(curve["high"].max())
    x, y = _placer(float(curve["n"].min()), float(curve["n"].max()), 90.0, 600.0), _placer(low, high, 235.0, 35.0)
    dots = [(x(row.n), y(row.value), y(row.low), y(row.high)) for row in curve.itertuples()]
    return {
        "name": "Does more help?",
        "says": f"{metric} of {ACCORD} by the number of {evaluation.unit} it has learnt from, with 95 % intervals.",
        "label": "; ".join(f"{row.n}: {row.value:.3f}" for row in curve.itertuples()),
        "x_name": evaluation.unit,
        "x_ticks": [(x(row.n), f"{row.n:,}") for row in curve.itertuples()],
        "y_ticks": [(y(low + (high - low) * part), f"{low + (high - low) * part:.2f}") for part in (0.0, 0.5, 1.0)],
        "points": " ".join(f"{dot[0]},{dot[1]}" for dot in dots),
        "dots": dots,
        "diagonal": None,
    }


def _calibration_chart(evaluation: Evaluation) -> dict[str, Any]:
    table = evaluation.calibration
    least = float(min(table["predicted"].min(), table["right"].min()))
    x, y = _placer(least, 1.0, 90.0, 600.0), _placer(least, 1.0, 235.0, 35.0)
    dots = []
    for n, predicted, right in table[["n", "predicted", "right"]].to_numpy(float).tolist():
        low, high = wilson(right, int(n))
        dots.append((x(predicted), y(right), y(max(low, least)), y(high)))
    ticks = [least + (1.0 - least) * part for part in (0.0, 0.5, 1.0)]
    return {
        "name": "Can the probabilities be trusted?",
        "says": "How often the model is right by how sure it says it is. On the dashed line both are the same.",
        "label": "; ".join(f"says {row.predicted:.2f}, is right {row.right:.2f}" for row in table.itertuples()),
        "x_name": "how sure the model says it is",
        "x_ticks": [(x(tick), f"{100 * tick:.0f} %") for tick in ticks],
        "y_ticks": [(y(tick), f"{100 * tick:.0f} %") for tick in ticks],
        "points": "",
        "dots": dots,
        "diagonal": (x(least), y(least), x(1.0), y(1.0)),
    }


# Colour and dashes of the lines of a picture, which are told apart without the colour too.
_LINES = (
    ("var(--soft)", "2 3"), ("var(--accent)", ""), ("#c2571a", "7 3"), ("#4a7fd0", "7 3 2 3"), ("#a05bb5", "3 2"),
)  # fmt: skip
_BESIDE = 3.0  # pixels between the intervals of two ways at one number of answers


def simulation_report(project: Project, found: Simulation, *, title: str) -> str:
    """Learning curves of ways of asking, as a picture and a table."""
    table = found.table
    if not found.has_intervals:
        table = table.assign(low=table["mean"], high=table["mean"])
    low, high = float(table["low"].min()), float(table["high"].max())
    least, most = float(table["n_labels"].min()), float(table["n_labels"].max())
    x, y = _placer(least, most, 90.0, 600.0), _placer(low, high, 235.0, 35.0)
    curves = []
    for place, name in enumerate(found.ways):
        part = table[table["strategy"] == name]
        figures = part[["n_labels", "mean", "low", "high"]].to_numpy(float).tolist()
        beside = _BESIDE * (place - (table["strategy"].nunique() - 1) / 2)
        dots = [(x(n) + beside, y(mean), y(bottom), y(top)) for n, mean, bottom, top in figures]
        colour, dashes = _LINES[place % len(_LINES)]
        points = " ".join(f"{dot[0]},{dot[1]}" for dot in dots)
        curves.append({"name": name, "points": points, "dots": dots, "colour": colour, "dashes": dashes})
    ticks = [n for n in sorted(set(table["n_labels"])) if n in (50, 100, 200, 400, 800) or n in (least, most)]
    return _page(
        "simulation.html",
        project,
        title=title,
        metric=found.metric,
        measured=found.measured,
        has_intervals=found.has_intervals,
        sentences=found.sentences,
        curves=curves,
        label="; ".join(f"{row.strategy} {row.n_labels}: {row.mean:.3f}" for row in table.itertuples()),
        x_ticks=[(x(n), f"{n:,}") for n in ticks],
        y_ticks=[(y(low + (high - low) * part), f"{low + (high - low) * part:.2f}") for part in (0.0, 0.5, 1.0)],
        columns=list(found.summary().columns),
        rows=found.summary().to_numpy().tolist(),
        facts=project.counts,
    )


def predictions_report(project: Project, table: Any, *, title: str) -> str:
    """Predictions beside their texts, with the words that the model expects people to highlight."""
    texts = dict(zip(*(project.item_table.column(name).to_pylist() for name in ("item_id", "text")), strict=True))
    shown = [name for name in table.columns if name != "highlights" and not str(name).startswith("p.")]
    if "item_id" in shown and all(is_made(name) for name in table["item_id"]):  # the text says more
        shown.remove("item_id")
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
    """The places of the spans (start, end, quote) of one text."""
    return sorted((int(span[0]), int(span[1])) for span in value) if isinstance(value, list | tuple) else []


def _marked(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[str, bool]]:
    """A text in pieces, those inside a span marked."""
    pieces, at = [], 0
    for start, end in spans:
        pieces += [(text[at:start], False), (text[max(start, at) : end], True)]
        at = max(end, at)
    return [(words, inside) for words, inside in (*pieces, (text[at:], False)) if words]


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
            "best": percent(row["p_best"]),
            "is_named": row["text"] != row["item_id"] and not is_made(row["item_id"]),
            "ranks": _range(row["rank_low"], row["rank_high"]),
            "wins": round(row["wins"]),
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
            {
                **row,
                "percent": round(100 * row["agreement"]),
                "n_votes": int(row["n_votes"]),
                "random": _random(row) if row.get("error", float("nan")) >= 0 else "",
            }
            for row in ranking.voters.to_dict("records")
        ],
        "n_votes": ranking.n_votes,
        "notes": ranking.notes,
    }


def _range(low: int, high: int) -> str:
    return f"rank {low}" if low == high else f"rank {low} to {high}"


def _random(voter: Mapping[Any, Any]) -> str:
    """A voter's rate of random answers with its interval, in words."""
    return f"random {percent(voter['error'])} ({percent(voter['low'])} to {percent(voter['high'])})"
