"""Arenas: battles of two models with a winner."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from accord.data.formats.registry import Format, Glimpse, glimpse
from accord.data.project import Project
from accord.data.reading.json_stream import rows_of
from accord.data.reading.rows import Buffer, Context, Rows
from accord.data.reading.sources import as_text
from accord.data.reading.writing import plain_rows, vote_confidence, write_lines

__all__ = ["FORMAT"]

_SOURCE = "arena"
_COLUMNS = ("model_a", "model_b", "winner")
# What the winner says: the value for model_a, and what a tie adds.
_WINNERS = {
    "model_a": ("1", None),
    "model_b": ("0", None),
    "a": ("1", None),
    "b": ("0", None),
    "tie": ("0.5", None),
    "tie (bothbad)": ("0.5", "both_bad"),
    "both_bad": ("0.5", "both_bad"),
    "bothbad": ("0.5", "both_bad"),
}
_IDS = ("question_id", "conversation_id", "battle_id", "id")
_READ = {*_COLUMNS, *_IDS, "judge", "judge_hash", "judge_kind", "judge_family", "tstamp", "timestamp", "confidence"}
_MODEL_IDS = ("item_id", "model", "model_name", "name", "id")  # of a table of the models beside that of the battles
_MODEL_TEXTS = ("text", "description")


def _detect(seen: Glimpse) -> str | None:
    return f"it has the columns {', '.join(_COLUMNS)}" if seen.has(*_COLUMNS) else None


def _read(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    columns = {path: glimpse(path).columns for path in paths}
    tables = [path for path in paths if _is_of_models(columns[path])]
    for path in (*tables, *(path for path in paths if path not in tables)):  # models come before their battles
        buffer = Buffer(path, context, source=_SOURCE)
        unread = [name for name in columns[path] if name not in _READ and "conversation" not in name]
        if unread and path not in tables:
            named = ", ".join(unread)
            context.lost[f"columns of {path.name} that differ from battle to battle are not kept: {named}"] = 1
        for row, cells in rows_of(path):
            (_model if path in tables else _battle)(buffer, row, cells)
            yield from buffer.ready()
        yield from buffer.rest()


def _is_of_models(columns: Sequence[str]) -> bool:
    return not set(_COLUMNS) & set(columns) and any(name in columns for name in _MODEL_IDS)


def _model(buffer: Buffer, row: int, cells: dict[str, Any]) -> None:
    """A row of a table of the models: an id, perhaps a text, an author and a group; all else is meta data."""
    key = next(name for name in _MODEL_IDS if name in cells)
    if as_text(cells[key]) is None:
        buffer.refuse(row, f"a model needs an id in the column {key!r}", "none", "Fill it in or drop the row.")
        return
    text = next((name for name in _MODEL_TEXTS if name in cells), None)
    own = {name: cells[name] for name in ("author_id", "group_id") if name in cells}
    meta = {
        name.removeprefix("meta."): value
        for name, value in cells.items()
        if name not in (key, text) and name not in own
    }
    buffer.item(row, cells[key], as_text(cells[text]) if text else None, meta=meta, **own)


def _battle(buffer: Buffer, row: int, battle: dict[str, Any]) -> None:
    models = [as_text(battle.get(name)) for name in ("model_a", "model_b")]
    said = str(battle.get("winner"))
    value, reason = _WINNERS.get(said.strip().lower(), (None, None))
    if value is None and said in models:
        value = "1" if said == models[0] else "0"
    if value is None:
        buffer.refuse(
            row, "the winner must be model_a, model_b, tie or both_bad", repr(said), "Correct it or drop the row."
        )
        return
    if any("conversation" in name for name in battle):
        buffer.context.lost["the conversations of battles are not kept: models are the items"] += 1
    if battle.get("confidence") is not None:
        buffer.context.lost["how sure a battle is (confidence) is not kept: each is one vote"] += 1
    judge = as_text(battle.get("judge")) or as_text(battle.get("judge_hash"))
    if judge is not None and str(battle.get("judge_kind")).strip().lower() == "judge":
        buffer.context.judges[judge] = {"family": as_text(battle.get("judge_family")) or judge, "model": None}
    buffer.judgement(
        row,
        "pair",
        models[0],
        other_id=models[1],
        value=value,
        skip_reason=reason,
        judgement_id=next((battle[name] for name in _IDS if battle.get(name) is not None), None),
        annotator_id=judge,
        created_at=battle.get("tstamp") or battle.get("timestamp"),
        shown_left_id=models[0],
    )


def _write(project: Project, folder: Path, lost: Counter[str]) -> dict[str, int]:
    return {"battles.jsonl": write_lines(folder / "battles.jsonl", _battles(project, lost))}


def _battles(project: Project, lost: Counter[str]) -> Iterator[dict[str, Any]]:
    if any(row["text"] for row in plain_rows(project, "items")):
        lost["texts have no place in a table of battles"] += 1
    confidence = vote_confidence(project)
    judges = project.judges()
    families = dict(zip(judges["annotator_id"], judges["family"], strict=True))
    for row in plain_rows(project, "judgements"):
        if row["kind"] != "pair" or row["status"] not in (None, "done"):
            lost["only answered comparisons have a place in a table of battles"] += 1
            continue
        tie = "tie (bothbad)" if row["skip_reason"] == "both_bad" else "tie"
        battle = {
            "question_id": row["judgement_id"],
            "model_a": row["item_id"],
            "model_b": row["other_id"],
            "winner": {1.0: "model_a", 0.0: "model_b"}.get(float(row["value"]), tie),
            "judge": row["annotator_id"],
            "judge_kind": "judge" if row["annotator_id"] in families else None,
            "judge_family": families.get(row["annotator_id"]),
            "tstamp": row["created_at"],
            "confidence": confidence(row),
        }
        yield {name: value for name, value in battle.items() if value is not None}


FORMAT = Format(_SOURCE, "a table of arena battles", _detect, _read, _write, tabular=True)
