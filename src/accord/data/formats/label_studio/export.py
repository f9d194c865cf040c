"""Label Studio's tasks and label config from a project."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import msgspec

from accord.data.formats.label_studio.config import control, shown, write_config
from accord.data.project import Project
from accord.data.reading.writing import Judged, judged_texts, plain_rows

__all__ = ["write"]

_TASKS, _CONFIG = "tasks.json", "label_config.xml"
_ITEM = ("item_id", "group_id", "reply_to", "author_id", "timestamp")


def write(project: Project, folder: Path, lost: Counter[str]) -> dict[str, int]:
    """Write ``tasks.json`` for the import page and ``label_config.xml`` for the project's settings."""
    folder.mkdir(parents=True, exist_ok=True)
    kinds = {row["kind"] for row in plain_rows(project, "judgements")} or {"pair" if project.kind == "pairs" else ""}
    pairs = "pair" in kinds
    if project.link_table.num_rows:
        lost["links between texts have no place in Label Studio"] += project.link_table.num_rows
    write_config(folder / _CONFIG, _pair_config() if pairs else _text_config(project))
    tasks = _pair_tasks(project, lost) if pairs else _text_tasks(project, lost)
    n = 0
    with (folder / _TASKS).open("wb") as file:
        file.write(b"[")
        for n, task in enumerate(tasks, start=1):
            file.write((b",\n" if n > 1 else b"\n") + msgspec.json.encode({"id": n, **task}))
        file.write(b"\n]\n")
    return {_TASKS: n, _CONFIG: 1}


def _pair_config() -> list[Element]:
    return [
        control("Pairwise", "better", "left,right"),
        shown("left", "left"),
        shown("right", "right"),
    ]


def _text_config(project: Project) -> list[Element]:
    rows = plain_rows(project, "judgements")
    tags = [shown("text", "text")]
    labels: dict[str, dict[str, None]] = {}
    for row in rows:
        if row["kind"] == "label" and row["value"] is not None:
            labels.setdefault(row["aspect"] or "label", {})[row["value"]] = None
    tags += [control("Choices", name, "text", list(values)) for name, values in labels.items()]
    aspects = dict.fromkeys(row["aspect"] or "score" for row in rows if row["kind"] == "score")
    tags += [control("Rating", name, "text", maxRating=str(project.settings.get("n_ranks", 5))) for name in aspects]
    spans = dict.fromkeys(row["value"] or "span" for row in rows if row["kind"] == "span")
    if spans:
        tags.append(control("Labels", "spans", "text", list(spans)))
    return tags


def _pair_tasks(project: Project, lost: Counter[str]) -> Iterator[dict[str, Any]]:
    texts = {row["item_id"]: row for row in plain_rows(project, "items")}
    shown_pairs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in plain_rows(project, "judgements"):
        answer = row["status"] in (None, "done")
        if row["kind"] != "pair":
            lost[f"judgements of kind {row['kind']} are not written beside comparisons"] += 1
        elif answer and float(row["value"]) == 0.5:
            lost["ties have no place in a pairwise question"] += 1
        else:
            sides, value = (row["item_id"], row["other_id"]), row["value"]
            if row["shown_left_id"] == row["other_id"]:
                sides, value = sides[::-1], None if value is None else f"{1.0 - float(value):g}"
            selected = "left" if answer and float(value) == 1.0 else "right"
            result = [_result("better", "left", "pairwise", {"selected": selected})] if answer else []
            shown_pairs.setdefault(sides, []).append(_annotation(row, result, cancelled=not answer))
    for (left, right), annotations in shown_pairs.items():
        data = {
            "left": texts[left]["text"] or "",
            "right": texts[right]["text"] or "",
            "left_id": left,
            "right_id": right,
        }
        group = texts[left]["group_id"]
        if group is not None and group == texts[right]["group_id"]:
            data["group_id"] = group
        yield {"data": data, "annotations": annotations}


def _text_tasks(project: Project, lost: Counter[str]) -> Iterator[dict[str, Any]]:
    for judged in judged_texts(project).values():
        text = judged.item["text"] or ""
        data = {"text": text, **{name: judged.item[name] for name in _ITEM if judged.item[name] is not None}}
        for name, value in judged.item.items():
            if name.startswith("meta.") and value is not None:
                data.setdefault(name[5:], value)
        annotations = []
        for person in judged.people():
            own = judged.by(person)
            rows = [*own.labels, *own.scores, *own.spans]
            skipped = [row for row in rows if row["status"] not in (None, "done")]
            if len(skipped) < len(rows) or not rows:
                lost["judgements without an answer, of people who answered otherwise, are left out"] += len(skipped)
                answers = [row for row in rows if row not in skipped]
                annotations.append(_annotation(answers[0] if answers else {}, _results(own, skipped), cancelled=False))
            else:
                annotations.append(_annotation(rows[0], [], cancelled=True))
        yield {"data": data, "annotations": annotations}
    lost += Counter()


def _results(own: Judged, skipped: list[dict[str, Any]]) -> list[dict[str, Any]]:
    results, choices = [], dict[str, list[str]]()
    for row in own.labels:
        if row not in skipped:
            choices.setdefault(row["aspect"] or "label", []).append(row["value"])
    results += [_result(name, "text", "choices", {"choices": values}) for name, values in choices.items()]
    for row in own.scores:
        if row not in skipped:
            results.append(_result(row["aspect"] or "score", "text", "rating", {"rating": int(float(row["value"]))}))
    for place, row in enumerate(own.spans):
        if row not in skipped and row["start"] is not None:
            quote = (own.item["text"] or "")[row["start"] : row["end"]]
            value = {"start": row["start"], "end": row["end"], "text": quote, "labels": [row["value"] or "span"]}
            results.append({**_result("spans", "text", "labels", value), "id": f"span{place}"})
    return results


def _result(name: str, about: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"id": name, "from_name": name, "to_name": about, "type": kind, "value": value}


def _annotation(row: dict[str, Any], result: list[dict[str, Any]], *, cancelled: bool) -> dict[str, Any]:
    annotation: dict[str, Any] = {"result": result, "was_cancelled": cancelled}
    person, took = row.get("annotator_id"), row.get("response_ms")
    if person is not None:
        annotation["completed_by"] = int(person) if _is_key(person) else {"email": person}
    if row.get("created_at") is not None:
        annotation["created_at"] = row["created_at"]
    if took is not None:
        annotation["lead_time"] = took / 1000.0
    return annotation


def _is_key(person: str) -> bool:
    """Whether a person is known by the number that Label Studio gives its users."""
    return person.isascii() and person.isdecimal() and str(int(person[:15])) == person
