"""Refit: learn from a stored project's judgements, keep the results, and fill the queue of next questions."""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from accord.data.project import Project
from accord.data.tables import plain
from accord.errors import InputError
from accord.pairs.stability import pieces
from accord.store import connections, judgements, projects, questions, scores
from accord.store import people as people_store
from accord.store.database import Database
from accord.store.gold import gold_rows
from accord.store.projects import StoredProject
from accord.workflows.ask import askable, informative_texts
from accord.workflows.ask_kinds import label_or_highlight
from accord.workflows.collecting.judges import judge_summary
from accord.workflows.collecting.large import Parts, parts
from accord.workflows.collecting.mix import PairMix, TextMix
from accord.workflows.collecting.people import annotators
from accord.workflows.collecting.quality import quality, settled, started_questions
from accord.workflows.collecting.reasons import kept, with_reasons
from accord.workflows.costs import costs_of
from accord.workflows.exchange import project_of
from accord.workflows.judged import disputed, learning_project, people_only
from accord.workflows.kinds import task_of
from accord.workflows.who import answerers, group_of, number_of_answers, send

__all__ = ["DEFAULT_MIX", "Fitted", "Refit", "refit"]

# Shares of the ways in which the next question is chosen; a project's settings may hold another mix.
# ``judges`` asks people what judges answer differently; where there are no such questions the others share its part.
DEFAULT_MIX: Mapping[str, float] = {
    "informative": 0.65,
    "coverage": 0.17,
    "random": 0.15,
    "repeat": 0.03,
    "judges": 0.15,
}

# The queue holds twice as many questions as were answered since the last refit, within these bounds.
_FEWEST, _MOST = 120, 2_000
# A model is trained from nothing, and its settings learnt anew, once there are half as many judgements again.
_GROWTH = 1.5
_LOOKED = 2_000  # texts that questions are chosen among; nobody waits for a refit
_AT_ONCE = 2_000  # rows of results that are made at once


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model and the judgements that it has seen, for the next refit to start from."""

    model: Any
    seen: frozenset[str]
    n_trained: int  # how many judgements there were when it was last trained from nothing


@dataclass(frozen=True, eq=False)
class Refit:
    """What a refit did."""

    model_version: int
    n_judgements: int
    seconds: float
    n_questions: int
    fitted: Fitted | None
    is_warm: bool


def refit(database: Database, project_id: int, *, rng: random.Random, last: Fitted | None = None) -> Refit | None:
    """Fit the model of a stored project to the judgements that stand; ``None`` where the project is gone.

    With ``last``, what the refit before this one left, a model that can add judgements starts from there.
    """
    started = time.perf_counter()
    with database.read() as connection:
        stored = projects.get_project(connection, project_id)
        if stored is None:
            return None
        newest = judgements.newest(connection, [project_id]).get(project_id, 0)
        before = scores.get_scores(connection, project_id)
        n_new = judgements.rows_after(connection, project_id, before.last_judgement if before else 0)
        project = project_of(connection, stored)
        keys = projects.keys_by_id(connection, project_id)
        counts = judgements.votes_per_item(connection, project_id)
        asked_for = connections.wants_model(connection, project_id)
        members = {person.name: person.id for person, _ in people_store.members(connection, project_id)}
        right = gold_rows(connection, project_id)
    n_judgements = project.counts["judgements"]
    judged, project = project, settled(project)
    fitted, is_warm = None, False
    learnt, asked = learning_project(project), disputed(project)
    if project.kind != "pairs":  # the model of pairs learns from people's votes by itself
        project = people_only(project)
    part = parts(project)
    try:
        fitted, is_warm = _fit(part, last, learnt)
        frame, summary = _results(fitted.model, part)
    except InputError as error:
        # Too few judgements, or of one kind only: the page says so, and asking goes on.
        frame, summary = pd.DataFrame(), {"waiting": str(error)}
    of_judges, own = judge_summary(judged), people_only(judged, may_be_none=True)
    people = [asdict(person) for person in annotators(own)]
    if of_judges is not None:  # what judges have answered may still be asked of people
        asked = list(dict.fromkeys([*asked, *of_judges.pop("doubtful")]))
        counts = _answers_by_text(own, keys)
    size = min(_MOST, max(_FEWEST, 2 * n_new))
    queue = _choose(stored, project, part, fitted.model if fitted else None, keys, counts, asked, size, rng)
    if stored.settings.get("by_reliability"):
        queue = _shared_out(queue, stored, own, keys, members, rng)
    packed = connections.pack_model(fitted.model, part.seen) if asked_for and fitted is not None else None
    explained = kept(fitted.model if fitted else None, part.seen)
    seconds = time.perf_counter() - started
    # Nothing is computed while the database is locked for writing.
    version = scores.put_scores(
        database,
        project_id,
        n_judgements=n_judgements,
        last_judgement=newest,
        seconds=seconds,
        result={"summary": summary, "people": people, "quality": quality(own, right), "judges": of_judges},
        rows=with_reasons(_rows(frame, keys), fitted.model if fitted else None, part.seen),
    )
    with database.write() as connection:
        scores.keep_model(connection, project_id, explained, version=version)
        if packed is not None:
            connections.keep_model(connection, project_id, packed, version=str(version))
        questions.refill(connection, project_id, [{**question, "model_version": version} for question in queue])
    return Refit(version, n_judgements, seconds, len(queue), fitted, is_warm)


def _answers_by_text(project: Project, keys: Mapping[str, int]) -> dict[int, int]:
    """The number of answers about each text, by key."""
    frame = project.answered()
    names = pd.concat([frame["item_id"], frame["other_id"]]).dropna()
    return {keys[str(name)]: int(n) for name, n in names.value_counts().items() if str(name) in keys}


def _fit(part: Parts, last: Fitted | None, learnt: Project) -> tuple[Fitted, bool]:
    """The fitted model, and whether it started from the last one; ``learnt`` has what models of labels learn from."""
    project = part.seen
    ids = project.judgement_table.column("judgement_id")
    present = frozenset(ids.to_pylist())
    # A judgement that was taken back cannot be taken out of a model.
    if last is not None and last.seen <= present and len(present) <= _GROWTH * last.n_trained:
        update = task_of(project.kind).update
        if update is not None:
            mask = pc.invert(pc.is_in(ids, pa.array(sorted(last.seen), pa.string())))
            model = update(last.model, project, replace(project, judgement_table=project.judgement_table.filter(mask)))
            if model is not None:
                return Fitted(model, present, last.n_trained), True
    source = project if project.kind == "pairs" else learnt
    model = task_of(project.kind).train(source, part.settings, lambda what, done, total: None)
    return Fitted(model, present, len(present)), False


def _results(model: Any, part: Parts) -> tuple[pd.DataFrame, dict[str, Any]]:
    """One row of results a text (or aspect of a text), and what is said of the whole."""
    project = part.ranked
    task = task_of(project.kind)
    frame = (task.rank or task.predict)(model, project)
    if project.kind != "pairs":
        return frame, {}
    return frame, {**_summary(model, project, frame), "left_out": part.n_left_out}


def _rows(frame: pd.DataFrame, keys: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """The results as the pages read them, one row a text, a few at a time: there may be hundreds of thousands."""
    frame = frame.dropna(axis="columns", how="all")
    rows = (
        {"key": keys.get(str(row.get("item_id"))), **{str(name): plain(value) for name, value in row.items()}}
        for start in range(0, len(frame), _AT_ONCE)
        for row in frame.iloc[start : start + _AT_ONCE].to_dict("records")
    )
    return _one_row_a_text(rows) if "aspect" in frame else rows


def _one_row_a_text(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows of one aspect each, a text's one after the other, as rows of one text: each aspect's figures by its name."""
    for item_id, aspects in groupby(rows, key=lambda row: row["item_id"]):
        text: dict[str, Any] = {}
        for row in aspects:
            text = text or {"key": row["key"], "item_id": item_id, "p_all_equal": row.get("p_all_equal"), "aspects": {}}
            text["aspects"][row["aspect"]] = {name: row.get(name) for name in ("rank", "probability", "given")}
        yield text


def _summary(model: Any, project: Project, ranking: pd.DataFrame) -> dict[str, Any]:
    """How settled the ranking is; what is not finite is left out."""
    wanted = project.settings.get("stop", {})
    state = model.stability(project.items(), top=int(wanted.get("top", 1)), sure=float(wanted.get("sure", 0.95)))
    figures = {name: value for name, value in asdict(state).items() if value is not None and np.isfinite(value)}
    people = model.annotators_
    voters = [] if people is None else people.to_dict("records")
    votes = project.comparisons()
    ends = {"least": float(ranking["low"].min()), "most": float(ranking["high"].max())}
    counts = {"n_votes": len(votes.left), "n_questions": int(ranking["group"].nunique(dropna=False))}
    return {**figures, **ends, **counts, "missing_joins": pieces(votes), "voters": voters}


def _choose(
    stored: StoredProject,
    project: Project,
    part: Parts,
    model: Any,
    keys: Mapping[str, int],
    counts: Mapping[int, int],
    asked: Sequence[tuple[str, ...]],
    size: int,
    rng: random.Random,
) -> list[dict[str, Any]]:
    mix = {**DEFAULT_MIX, **stored.settings.get("mix", {})}
    if stored.kind == "pairs":
        queue = _choose_pairs(project, part, model, keys, counts, asked, mix, size, rng)
    else:
        queue = _choose_texts(project, model, keys, asked, mix, size, rng, by_cost=bool(stored.settings.get("by_cost")))
    overlap = int(stored.settings.get("overlap") or 0)
    return _shared(queue, people_only(project, may_be_none=True), keys, overlap) if overlap else queue


def _shared(
    queue: list[dict[str, Any]], project: Project, keys: Mapping[str, int], overlap: int
) -> list[dict[str, Any]]:
    """The queue where each question is for a number of people: those that some have answered first, and no others."""
    n_people = {
        frozenset(keys[name] for name in names if name is not None): n
        for names, n in started_questions(project).items()
    }
    begun = [sorted(texts) for texts, n in n_people.items() if n < overlap]
    first = [
        {"item": texts[0], "other": texts[1] if len(texts) == 2 else None, "strategy": "overlap", "propensity": None}
        for texts in begun
    ]
    rest = [row for row in queue if frozenset({row["item"], row["other"]} - {None}) not in n_people]
    return [*first[: len(queue)], *rest]


def _shared_out(
    queue: list[dict[str, Any]],
    stored: StoredProject,
    project: Project,
    keys: Mapping[str, int],
    members: Mapping[str, int],
    rng: random.Random,
) -> list[dict[str, Any]]:
    """The queue with whom each question is meant for (:mod:`accord.workflows.who`), and how probable that was."""
    if stored.settings.get("who") == "owners" or len(members) < 2:
        return queue
    names = {key: name for name, key in keys.items()}
    groups = group_of(project)
    asked = [
        (
            frozenset(names[key] for key in (row["item"], row["other"]) if key is not None),
            groups.get(names[row["item"]]),
        )
        for row in queue
    ]
    people = answerers(project, names=sorted(members))
    quota = stored.settings.get("quota")
    sent = send(
        asked,
        people,
        np.random.default_rng(rng.randrange(2**31)),
        quota=None if quota is None else int(quota),
        n_answers=number_of_answers(project),
    )
    return [
        {**row, "meant_for": None if one.name is None else members[one.name], "person_propensity": one.propensity}
        for row, one in zip(queue, sent, strict=True)
    ]


def _choose_pairs(
    project: Project,
    part: Parts,
    model: Any,
    keys: Mapping[str, int],
    counts: Mapping[int, int],
    disputed: Sequence[tuple[str, ...]],
    mix: Mapping[str, float],
    size: int,
    rng: random.Random,
) -> list[dict[str, Any]]:
    """Draw pairs from the mix; the propensity of a pair is its probability under one draw from the whole mix."""
    groups: dict[Any, list[int]] = {}
    names = (project.item_table.column(name).to_pylist() for name in ("item_id", "group_id"))
    for item_id, group in zip(*names, strict=True):
        groups.setdefault(group, []).append(keys[item_id])
    informative: list[tuple[int, int]] = []
    if model is not None and any(len(pool) > 1 for pool in groups.values()):
        task = task_of("pairs")
        asked = task.must(task.ask, "ask")(model, part.seen, size)
        informative = [(keys[str(a)], keys[str(b)]) for a, b in zip(asked["left"], asked["right"], strict=True)]
    columns = (project.judgement_table.column(name).to_pylist() for name in ("kind", "item_id", "other_id"))
    voted = [(keys[a], keys[b]) for kind, a, b in zip(*columns, strict=True) if kind == "pair"]
    divided = [(keys[names[0]], keys[names[1]]) for names in disputed[:size] if len(names) == 2]
    drawn = PairMix(list(groups.values()), counts, informative, voted, mix, divided)
    if not drawn.n_pairs:
        return []
    queue: list[dict[str, Any]] = []
    taken: set[frozenset[int]] = set()
    for _ in range(4 * size):
        way, pair = drawn.draw(rng)
        if frozenset(pair) in taken:
            continue
        taken.add(frozenset(pair))
        row = {"item": pair[0], "other": pair[1], "strategy": way, "propensity": drawn.propensity(pair)}
        drawn.count(pair)
        queue.append(row)
        if len(queue) == min(size, drawn.n_pairs):
            break
    return queue


def _choose_texts(
    project: Project,
    model: Any,
    keys: Mapping[str, int],
    disputed: Sequence[tuple[str, ...]],
    shares: Mapping[str, float],
    size: int,
    rng: random.Random,
    *,
    by_cost: bool = False,
) -> list[dict[str, Any]]:
    """Draw texts: those whose answers tell most, those nobody has judged, and some at random.

    They are drawn among the texts without a judgement while there are any, and then among all. The propensity of a text
    is its probability among those that were not drawn before it. With ``by_cost``, a highlight is asked for where it
    tells more by the second than a label.
    """
    found, task = askable(project), task_of(project.kind)
    if not len(found.ids):
        return []
    texts = [keys[str(name)] for name in found.ids]
    free = np.flatnonzero(found.counts == 0)
    free = free if free.size else np.arange(len(texts))
    informative: list[int] = []
    seed = rng.randrange(2**31)
    asks: dict[int, str] = {}
    if by_cost and project.kind == "rationales" and model is not None and not found.given.all():
        best = label_or_highlight(
            task, model, project, found.ids, found.texts, found.given, ~found.given, size, costs_of(project), seed=seed
        )
        names, asks = [one.item_id for one in best], {keys[one.item_id]: one.question for one in best}
    else:
        names, _ = informative_texts(task, model, project, found, size, seed=seed, least=_LOOKED)
    informative = [keys[name] for name in names]
    if not informative and model is not None and task.ask is not None:
        try:  # every text has its label: highlights remain
            informative = [keys[str(name)] for name in task.ask(model, project, size)["item_id"]]
        except InputError:
            informative = []
    open_ = {texts[place] for place in free}
    lists = {"informative": informative, "judges": [keys[names[0]] for names in disputed]}
    ahead = {way: [key for key in dict.fromkeys(those) if key in open_] for way, those in lists.items()}
    mix = TextMix([texts[place] for place in free], found.counts[free], found.groups[free], ahead, shares)
    drawn = [mix.draw(rng) for _ in range(min(size, free.size))]
    rows: list[dict[str, Any]] = [
        {"item": key, "other": None, "strategy": way, "propensity": p} for way, key, p in drawn
    ]
    if not asks:
        return rows
    return [{**row, "asks": None if asks.get(row["item"]) == "highlight" else "label"} for row in rows]
