"""Pictures: drawn on the server as SVG, each with a sentence that says the same; the same files can be taken away.

Colours are those of the page (``currentColor``) and one blue that can be told from both light and dark paper.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import HTMLResponse
from markupsafe import Markup, escape

from accord.evaluation.agreement import wilson
from accord.store import projects
from accord.store.scores import Scores, get_evaluation, get_scores, result_rows
from accord.studio.context import Access, Reading, Studio
from accord.studio.pages.rendering import WAITING, ago, render

__all__ = ["calibration", "forest", "graph", "matrix", "progress", "router"]

router = APIRouter(prefix="/projects/{project_id}", include_in_schema=False)

_BLUE = "#3b76e0"
_MOST_ROWS, _MOST_PEOPLE, _MOST_EDGES = 40, 12, 300


def _svg(width: int, height: int, told: str, *parts: str) -> Markup:
    """A drawing with the sentence that screen readers say."""
    shape = "picture narrow" if width < 450 else "picture"
    return Markup(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{shape}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(told)}" font-family="system-ui, sans-serif" font-size="12" fill="currentColor">'
        f"<title>{escape(told)}</title>{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, words: str, *, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, *, width: float = 1, soft: float = 0.35, more: str = "") -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor" '
        f'stroke-width="{width}" opacity="{soft}" {more}/>'
    )


def forest(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Markup:
    """The scores with their intervals, best first, a line between tiers."""
    height = 22 * len(rows) + 30
    least, most = min(row["low"] for row in rows), max(row["high"] for row in rows)

    def x(value: float) -> float:
        return 290 + 300 * (value - least) / ((most - least) or 1.0)

    parts = [_line(x(0.0), 6, x(0.0), height - 22, more='stroke-dasharray="3 3"')] if least < 0 < most else []
    for place, (row, name) in enumerate(zip(rows, names, strict=True)):
        y = 16 + 22 * place
        if place and (row["tier"], row.get("group")) != (rows[place - 1]["tier"], rows[place - 1].get("group")):
            parts.append(_line(0, y - 11, 600, y - 11, soft=0.7))
        parts += [
            _text(6, y + 4, name if len(name) <= 40 else name[:39] + "…"),
            f'<line x1="{x(row["low"]):.1f}" y1="{y}" x2="{x(row["high"]):.1f}" y2="{y}" stroke="{_BLUE}" '
            'stroke-width="3" stroke-linecap="round"/>',
            f'<circle cx="{x(row["score"]):.1f}" cy="{y}" r="4.5" fill="{_BLUE}"/>',
        ]
    parts += [_text(x(least), height - 4, f"{least:.1f}"), _text(x(most), height - 4, f"{most:.1f}", anchor="end")]
    n_tiers = len({(row.get("group"), row["tier"]) for row in rows})
    told = f"Scores of the first {len(rows)} texts with 90 % intervals, in {n_tiers} tiers. Best: {names[0][:80]}."
    return _svg(600, height, told, *parts)


def progress(days: Sequence[Sequence[Any]], wanted: int | None) -> Markup:
    """The number of answers over time and, if a number is wanted, when it is reached at the pace of the last week."""
    first, last = (date.fromisoformat(days[place][0]) for place in (0, -1))
    total, points = 0, []
    for day, n in days:
        total += n
        points.append(((date.fromisoformat(day) - first).days + 1, total))  # by the end of the day
    n_days = (last - first).days + 1
    told = f"{total:,} answers from {first} to {last}."
    end, most = n_days, total
    forecast = ""
    if wanted and wanted > total:
        week = sum(n for day, n in days if date.fromisoformat(day) > last - timedelta(days=7))
        pace = week / min(7, n_days)
        left = math.ceil((wanted - total) / pace) if pace else 0
        if 0 < left <= 3650:
            end, most = n_days + left, wanted
            told += f" At the pace of the last week all {wanted:,} are there on {last + timedelta(days=left)}."
            forecast = "yes"

    def x(day: float) -> float:
        return 50 + 530 * day / end

    def y(n: float) -> float:
        return 190 - 170 * n / (most or 1)

    path = " ".join(f"{x(day):.1f},{y(n):.1f}" for day, n in [(0, 0), *points])
    parts = [
        _line(50, 190, 580, 190),
        _line(50, 20, 50, 190),
        f'<polyline points="{path}" fill="none" stroke="{_BLUE}" stroke-width="2.5"/>',
        _text(46, 24, f"{most:,}", anchor="end"),
        _text(46, 190, "0", anchor="end"),
        _text(50, 208, str(first)),
        _text(580, 208, str(first + timedelta(days=end)), anchor="end"),
    ]
    if forecast:
        parts.append(_line(x(n_days), y(total), x(end), y(most), width=2, soft=0.8, more='stroke-dasharray="5 4"'))
    return _svg(600, 214, told, *parts)


def matrix(pairs: Sequence[Mapping[str, Any]]) -> Markup:
    """Cohen's κ of each two people who share questions."""
    names = list(dict.fromkeys(name for row in pairs for name in (row["first"], row["second"])))[:_MOST_PEOPLE]
    found = {frozenset((row["first"], row["second"])): row for row in pairs}
    size, left = 44, 130
    parts = []
    for i, a in enumerate(names):
        parts += [
            _text(left - 6, 48 + size * i, a[:16], anchor="end"),
            _text(left + size * i + 22, 16, str(i + 1), anchor="middle"),
        ]
        parts.append(_text(4, 48 + size * i, str(i + 1)))
        for j, b in enumerate(names):
            row = found.get(frozenset((a, b)))
            if i == j or row is None or row["value"] is None:
                continue
            strength = max(0.0, min(1.0, row["value"]))
            parts.append(
                f'<rect x="{left + size * j}" y="{24 + size * i}" width="{size - 2}" height="{size - 2}" rx="4" '
                f'fill="{_BLUE}" fill-opacity="{0.08 + 0.45 * strength:.2f}"/>'
            )
            parts.append(_text(left + size * j + 21, 24 + size * i + 25, f"{row['value']:.2f}", anchor="middle"))
    told = "Agreement of each two people beyond chance (Cohen's κ): " + "; ".join(
        f"{row['first']} and {row['second']} {row['value']:.2f}" for row in list(pairs)[:20] if row["value"] is not None
    )
    return _svg(left + size * len(names) + 6, 34 + size * len(names), told, *parts)


def graph(nodes: Sequence[Sequence[Any]], edges: Sequence[Sequence[int]], n_parts: int) -> Markup:
    """Which texts were compared with which; parts that no vote joins have their own places on the circle."""
    n = len(nodes)
    spot = [(220 + 190 * math.cos(2 * math.pi * i / n), 215 + 190 * math.sin(2 * math.pi * i / n)) for i in range(n)]
    most = max((weight for _, _, weight in edges), default=1)
    drawn = sorted(edges, key=lambda edge: -edge[2])[:_MOST_EDGES]
    parts = [_line(*spot[a], *spot[b], width=round(0.6 + 3 * weight / most, 1), soft=0.3) for a, b, weight in drawn]
    for (x, y), (name, part) in zip(spot, nodes, strict=True):
        fill = _BLUE if part == 0 else "currentColor"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{fill}"><title>{escape(name)}</title></circle>')
    joined = "All texts that were compared hang together." if n_parts == 1 else f"They fall into {n_parts} parts."
    told = f"{n} texts and the {len(edges)} pairs of them that were compared. {joined}"
    if len(drawn) < len(edges):
        told += f" The {len(drawn)} pairs that were compared most are drawn."
    return _svg(440, 430, told, *parts)


def calibration(rows: Sequence[Mapping[str, Any]]) -> Markup:
    """How often the model was right by how sure it was, with 95 % intervals; on the dashed line both are the same."""
    least = math.floor(10 * min(min(row["predicted"], row["right"]) for row in rows)) / 10

    def x(share: float) -> float:
        return 70 + 340 * (share - least) / (1.0 - least)

    def y(share: float) -> float:
        return 290 - 260 * (max(share, least) - least) / (1.0 - least)

    parts = [
        _line(70, 290, 410, 290),
        _line(70, 30, 70, 290),
        _line(70, 290, 410, 30, more='stroke-dasharray="5 4"', soft=0.6),
        _text(240, 330, "how sure the model said it was", anchor="middle"),
        _text(6, 16, "how often it was right"),
    ]
    for tick in (least, (1.0 + least) / 2, 1.0):
        parts += [
            _text(x(tick), 308, f"{100 * tick:.0f} %", anchor="middle"),
            _text(64, y(tick) + 4, f"{100 * tick:.0f} %", anchor="end"),
        ]
    for row in rows:
        low, high = wilson(row["right"], int(row["n"]))
        across, up = x(row["predicted"]), y(row["right"])
        parts.append(
            f'<line x1="{across:.1f}" y1="{y(low):.1f}" x2="{across:.1f}" y2="{y(high):.1f}" stroke="{_BLUE}" '
            f'stroke-width="5" stroke-opacity="0.4"/><circle cx="{across:.1f}" cy="{up:.1f}" r="5" fill="{_BLUE}"/>'
        )
    told = "How sure the model said it was, and how often it was right: " + "; ".join(
        f"{100 * row['predicted']:.0f} % sure, right in {100 * row['right']:.0f} % of {row['n']:,}" for row in rows
    )
    return _svg(430, 338, f"{told}.", *parts)


def _drawn(
    access: Access, scores: Scores, rows: Sequence[Any], texts: Mapping[int, Any], n_texts: int
) -> dict[str, Any]:
    """The pictures that there is something to draw for, by name, each with its title."""
    quality = scores.result.get("quality", {})
    found: dict[str, tuple[str, Markup]] = {}
    if access.project.kind == "pairs" and rows:
        names = [(texts[row["key"]].text if row.get("key") in texts else None) or str(row["item_id"]) for row in rows]
        found["ranking"] = ("Ranking with intervals", forest(rows, names))
    if quality.get("days"):
        overlap = access.project.settings.get("overlap")
        wanted = n_texts * overlap if overlap and access.project.kind != "pairs" else None
        found["progress"] = ("Answers over time", progress(quality["days"], wanted))
    if quality.get("graph", {}).get("nodes"):
        found["graph"] = ("What was compared with what", graph(**quality["graph"]))
    if access.may("owner"):  # names are for owners
        for place, entry in enumerate(quality.get("agreement", [])):
            if entry["pairs"]:
                found[f"agreement-{place}"] = (f"Agreement about {entry['what']}", matrix(entry["pairs"]))
    return found


def _pictures(access: Access, studio: Studio) -> tuple[dict[str, Any], Scores | None]:
    with studio.database.read() as connection:
        scores = get_scores(connection, access.project.id)
        rows = result_rows(connection, access.project.id, limit=_MOST_ROWS) if scores else []
        texts = projects.items_by_key(connection, access.project.id, [row["key"] for row in rows if row.get("key")])
        n_texts = projects.count_rows(connection, [access.project.id])[access.project.id][0]
        if access.project.kind == "threads":  # nobody is asked about their questions
            n_texts -= projects.count_thread_questions(connection, access.project.id)
        evaluated = get_evaluation(connection, access.project.id)
    found = {} if scores is None else _drawn(access, scores, rows, texts, n_texts)
    if evaluated is not None:
        title = f"Is the model as sure as it is right? Evaluated {ago(evaluated[0])}"
        found["calibration"] = (title, calibration(evaluated[1]["calibration"]))
    return found, scores


@router.get("/pictures")
def pictures(request: Request, access: Reading, studio: Studio) -> HTMLResponse:
    """All pictures of a project."""
    found, scores = _pictures(access, studio)
    return render(
        request,
        "pictures.html",
        access=access,
        here="pictures",
        pictures=found,
        waiting=WAITING,
        fitted_ago=ago(scores.fitted_at) if scores else "",
        model_version=scores.model_version if scores else 0,
    )


@router.get("/pictures/{name}.svg")
def picture(name: str, access: Reading, studio: Studio) -> Response:
    """One picture as a file."""
    found, _ = _pictures(access, studio)
    if name not in found:
        raise HTTPException(404, "there is no such picture of this project.")
    headers = {"content-disposition": f'attachment; filename="accord-{access.project.id}-{name}.svg"'}
    return Response(str(found[name][1]), media_type="image/svg+xml", headers=headers)
