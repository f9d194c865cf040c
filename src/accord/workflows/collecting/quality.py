"""Quality: how much people agree, what they could not decide, where they disagree, how they do on gold questions.

Computed with every refit, because a page must not read a whole project.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from accord.data.project import Project
from accord.errors import InputError
from accord.evaluation.agreement import wilson
from accord.workflows.agree import agree, answer_table

__all__ = ["ADJUDICATION", "quality", "settled", "started_questions"]

ADJUDICATION = "adjudication"  # the source of answers by which owners settle a disagreement
_MOST_CONFLICTS, _MOST_SKIPPED, _MOST_PEOPLE, _MOST_DRAWN = 200, 20, 12, 40
# The aspects and the labels of one answer are rows of their own, which came in one moment.
_ONCE = ["item_id", "other_id", "created_at"]
_PAUSE = 600.0  # seconds after which somebody is taken to have paused
_MOST_ANSWERS = 50_000  # newest answers from which agreement is estimated


def quality(project: Project, gold: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Figures for the owners' pages; ``gold`` has ``item_id``, ``other_id`` and the ``right`` answer of each."""
    frame = project.frames()["judgements"]
    by_people = frame["source"] != ADJUDICATION
    judged, resolved = (
        replace(project, judgement_table=project.judgement_table.filter(pa.array(rows.to_numpy())))
        for rows in (by_people, ~by_people)
    )
    answers, by_owners = answer_table(judged), answer_table(resolved)
    done = set(zip(by_owners["what"], by_owners["question"], strict=True))
    return {
        "skips": _skips(frame[by_people]),
        "agreement": _agreement(judged),
        "conflicts": _conflicts(answers, done),
        "n_settled": len(done),
        "overlap": _overlap(answers),
        "days": _days(frame[by_people]),
        "graph": _graph(frame[by_people]) if project.kind == "pairs" else {},
        "pace": _pace(frame[by_people]),
        "gold": _gold(frame[by_people], gold),
    }


def _skips(frame: pd.DataFrame) -> dict[str, Any]:
    """How often each reason was given, and the texts that most people could not decide."""
    skipped = frame[frame["status"] == "skipped"]
    reasons = skipped["skip_reason"].fillna("no reason given").value_counts()
    both = pd.concat([skipped["item_id"], skipped["other_id"]]).dropna()
    texts = both.astype(str).value_counts().head(_MOST_SKIPPED)
    return {
        "reasons": {str(name): int(n) for name, n in reasons.items()},
        "texts": [[str(name), int(n)] for name, n in texts.items()],
    }


def _agreement(project: Project) -> list[dict[str, Any]]:
    """α and plain agreement about each thing that was judged, and κ of pairs of people."""
    if project.judgement_table.num_rows > _MOST_ANSWERS:
        start = project.judgement_table.num_rows - _MOST_ANSWERS
        project = replace(project, judgement_table=project.judgement_table.slice(start))
    try:
        found = agree(project)
    except InputError:  # nobody is known by name
        return []
    rows = []
    for entry in found:
        measures = [
            {"measure": str(row["measure"]), **_figures(row)}
            for row in entry.measures.to_dict("records")
            if np.isfinite(row["value"])
        ]
        if entry.n_shared and measures:
            pairs = [
                {"first": str(row["first"]), "second": str(row["second"]), **_figures(row)}
                for row in entry.pairs.head(_MOST_PEOPLE * (_MOST_PEOPLE - 1) // 2).to_dict("records")
            ]
            rows.append({"what": entry.what, "n": entry.n_shared, "measures": measures, "pairs": pairs})
    return rows


def _figures(row: Mapping[Any, Any]) -> dict[str, float | int | None]:
    values = {name: float(row[name]) for name in ("value", "low", "high")}
    return {**{name: value if np.isfinite(value) else None for name, value in values.items()}, "n": int(row["n"])}


def _conflicts(answers: pd.DataFrame, done: Set[tuple[str, str]]) -> list[dict[str, Any]]:
    """Questions that people answered differently, those first whose majority is most probably wrong, or far off.

    Those that an owner has settled are left out.

    The harm of a question is the expected loss of taking what most people said: the probability that another answer
    is right or, of scores, the expected distance. Each possible answer starts with a weight of 1/K.
    """
    if answers.empty:
        return []
    last = answers.drop_duplicates(["what", "who", "question"], keep="last")
    counts = last.groupby(["what", "question", "answer"], sort=False).size().rename("n").reset_index()
    mixed = counts.groupby(["what", "question"])["answer"].transform("size") > 1
    n_values = {str(what): n for what, n in counts.groupby("what")["answer"].nunique().items()}
    found: list[dict[str, Any]] = []
    for (what, question), rows in counts[mixed].groupby(["what", "question"], sort=False):
        given = dict(zip(rows["answer"], rows["n"], strict=True))
        if (what, question) in done:
            continue
        first, _, second = str(question).partition("\0")
        aspect = str(what).removeprefix("score: ") if str(what).startswith("score: ") else None
        k = 3 if what == "votes" else int(n_values[str(what)])
        found.append(
            {
                "item_id": first,
                "other_id": second or None,
                "aspect": aspect,
                "answers": {str(name): int(n) for name, n in sorted(given.items(), key=lambda entry: -entry[1])},
                "harm": _harm(given, k, is_score=aspect is not None),
            }
        )
    return sorted(found, key=lambda entry: (-entry["harm"], entry["item_id"]))[:_MOST_CONFLICTS]


def _harm(given: Mapping[str, int], k: int, *, is_score: bool) -> float:
    total = sum(given.values()) + 1.0
    if not is_score:
        return 1.0 - (max(given.values()) + 1.0 / k) / total
    values = np.array([float(name) for name in given])
    weights = np.array(list(given.values()), dtype=float)
    chosen = values[np.argmax(weights)]
    return float(np.sum(weights * np.abs(values - chosen)) / total)


def _overlap(answers: pd.DataFrame) -> dict[str, int]:
    """How many questions were answered by one, two, three … people."""
    if answers.empty:
        return {}
    people = answers.groupby(["what", "question"], sort=False)["who"].nunique().value_counts().sort_index()
    return {str(n): int(count) for n, count in people.items()}


def _days(frame: pd.DataFrame) -> list[list[Any]]:
    """The number of answers on each day, the last half year of them."""
    first = frame[frame["kind"].isin(["pair", "label", "score", "skip"]) | (frame["status"] == "skipped")]
    first = first.drop_duplicates(["annotator_id", *_ONCE])
    days = first["created_at"].dropna().astype(str).str[:10].value_counts().sort_index()
    return [[str(day), int(n)] for day, n in days.tail(183).items()]


def _graph(frame: pd.DataFrame) -> dict[str, Any]:
    """The texts that were compared most, which of them with which how often, and how many parts all votes make."""
    votes = frame[frame["kind"] == "pair"]
    if votes.empty:
        return {}
    codes, names = pd.factorize(pd.concat([votes["item_id"], votes["other_id"]]).astype(str))
    a, b = codes[: len(votes)], codes[len(votes) :]
    joined = coo_matrix((np.ones(len(a)), (a, b)), shape=(len(names), len(names)))
    n_parts, part = connected_components(joined, directed=False)
    shown = np.sort(np.argsort(-np.bincount(codes), kind="stable")[:_MOST_DRAWN])
    shown = shown[np.argsort(part[shown], kind="stable")]
    place = {int(code): i for i, code in enumerate(shown)}
    weights: dict[tuple[int, int], int] = {}
    for first, second in zip(a.tolist(), b.tolist(), strict=True):
        if first in place and second in place:
            key = (min(place[first], place[second]), max(place[first], place[second]))
            weights[key] = weights.get(key, 0) + 1
    return {
        "nodes": [[str(names[code]), int(part[code])] for code in shown],
        "edges": [[first, second, n] for (first, second), n in weights.items()],
        "n_parts": int(n_parts),
    }


def _pace(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Answers of each person, when the last one came, and how many an hour of judging, pauses left out."""
    named = frame[frame["annotator_id"].notna() & frame["created_at"].notna()]
    rows: list[dict[str, Any]] = []
    for who, own in named.groupby("annotator_id", sort=True):
        answers = own.drop_duplicates(_ONCE)
        moments = pd.to_datetime(answers["created_at"], utc=True, format="ISO8601").sort_values()
        gaps = moments.diff().dt.total_seconds().dropna()
        working = gaps[gaps <= _PAUSE]
        per_hour = 3600.0 * len(working) / float(working.sum()) if working.sum() > 0 else None
        rows.append({"name": str(who), "n": len(moments), "per_hour": per_hour, "last": str(own["created_at"].max())})
    return sorted(rows, key=lambda row: (-row["n"], row["name"]))[:500]


def _gold(frame: pd.DataFrame, gold: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """How many gold questions each person answered rightly, with a 95 % interval."""
    right = {(entry["item_id"], entry["other_id"], aspect): value for entry in gold for aspect, value in _parts(entry)}
    asked = frame[(frame["strategy"] == "gold") & frame["annotator_id"].notna() & frame["value"].notna()]
    hits: dict[str, list[bool]] = {}
    for row in asked.to_dict("records"):
        item, other = row["item_id"], row["other_id"] if isinstance(row["other_id"], str) else None
        aspect = row["aspect"] if isinstance(row["aspect"], str) else None
        value = float(row["value"]) if row["kind"] in ("pair", "score") else row["value"]
        if (other, item, aspect) in right:
            item, other, value = other, item, 1.0 - value
        if (item, other, aspect) in right:
            wanted = right[item, other, aspect]
            hit = value in wanted if isinstance(wanted, list) else value == wanted
            hits.setdefault(str(row["annotator_id"]), []).append(hit)
    rows = []
    for name, found in sorted(hits.items()):
        share = float(np.mean(found))
        low, high = wilson(share, len(found))
        rows.append({"name": name, "share": share, "low": low, "high": high, "n": len(found)})
    return rows


def _parts(entry: Mapping[str, Any]) -> list[tuple[str | None, Any]]:
    """The right answer by aspect; one that has no aspects stands under ``None``."""
    right = entry["right"]
    if right.get("scores"):
        return [(aspect, float(rank)) for aspect, rank in right["scores"].items() if rank is not None]
    return [(None, list(right["labels"]) if right.get("labels") else right.get("value"))]


def settled(project: Project) -> Project:
    """The project with the answer of an owner alone where an owner has settled a disagreement; the newest counts."""
    frame = project.frames()["judgements"]
    by_owner = frame["source"] == ADJUDICATION
    if not by_owner.any():
        return project
    item, other = frame["item_id"].astype(str), frame["other_id"].fillna("").astype(str)
    first, second = item.where(item <= other, other), item.where(item > other, other)
    key = frame["kind"].astype(str) + "\0" + first + "\0" + second + "\0" + frame["aspect"].fillna("").astype(str)
    # Several labels of one answer share their moment; the newest answer of an owner is all of its rows.
    newest = frame["created_at"].where(by_owner).groupby(key).transform("max")
    keep = newest.isna() | (by_owner & (frame["created_at"] == newest))
    return replace(project, judgement_table=project.judgement_table.filter(pa.array(keep.to_numpy())))


def started_questions(project: Project) -> dict[tuple[str, str | None], int]:
    """How many people have answered each question, by the ids of its texts in their order."""
    answers = answer_table(project)
    people = answers.groupby("question", sort=False)["who"].nunique()
    found: dict[tuple[str, str | None], int] = {}
    for question, n in people.items():
        first, _, second = str(question).partition("\0")
        found[first, second or None] = int(n)
    return found
