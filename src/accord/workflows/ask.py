"""Say which questions are worth asking next."""

import random
from collections.abc import Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from accord.data.project import Project
from accord.data.task import Beliefs, Task
from accord.errors import InputError, did_you_mean
from accord.fitting.asking import Asking, least_certain, pick_texts
from accord.store.models import SavedModel
from accord.texts.similar import weighted_words
from accord.typing import BoolArray, FloatArray, IntArray, ObjectArray, Progress
from accord.workflows.collecting.mix import REASONS, TextMix
from accord.workflows.judged import people_only
from accord.workflows.kinds import task_of, trained
from accord.workflows.looked_at import looked_at, part_of
from accord.workflows.predict import check_match

__all__ = ["STRATEGIES", "Askable", "ask", "ask_texts", "askable", "informative_texts"]

# How texts are chosen; of pairs and of highlights the rooms have ways of their own.
STRATEGIES = ("information", "uncertainty", "coverage", "random")
_DEFAULTS = {"aspects": "random"}  # where information was not shown to help: see docs/asking.md
_FLOOR = 0.15  # share of random questions among those that are chosen by what the model knows
_GIVEN = 200  # answered texts whose words are compared with those that are looked at
_PAIRS = ("bald", "uncertainty", "transfer")


@dataclass(frozen=True, eq=False)
class Askable:
    """The texts of a project that can be asked about, one entry each: comments of threads, not their questions."""

    ids: ObjectArray
    texts: ObjectArray
    groups: ObjectArray
    given: BoolArray  # whether everything is answered
    counts: IntArray  # judgements


def askable(project: Project) -> Askable:
    """The texts of a project that can be asked about."""
    table = project.item_table
    columns = {name: np.array(table.column(name).to_pylist(), dtype=object) for name in ("item_id", "text", "group_id")}
    ids = columns["item_id"]
    kept = ids != columns["group_id"] if project.kind == "threads" else np.ones(len(ids), dtype=bool)
    judged = project.answered()
    judged = judged[judged["kind"].isin(["score" if project.kind == "aspects" else "label"]) & judged["value"].notna()]
    if project.kind == "aspects":
        judged = judged.drop_duplicates(["item_id", "aspect"])
    counts = pd.Series(ids).map(judged["item_id"].astype(str).value_counts()).fillna(0).to_numpy(np.int64)
    n_whole = max(1, judged["aspect"].nunique()) if project.kind == "aspects" else 1
    texts = np.array([text if isinstance(text, str) else "" for text in columns["text"]], dtype=object)
    groups = np.array([group if isinstance(group, str) else "" for group in columns["group_id"]], dtype=object)
    return Askable(ids[kept], texts[kept], groups[kept], (counts >= n_whole)[kept], counts[kept])


def ask(
    saved: SavedModel | None,
    project: Project,
    *,
    n: int,
    strategy: str | None = None,
    seed: int = 0,
    progress: Progress,
) -> pd.DataFrame:
    """The ``n`` questions most worth asking next; without a saved model one is trained first.

    Of pairs: ``left, right, gain, p_left``. Of the other kinds: ``item_id, strategy, propensity, gain, why``, and
    ``aspect`` where one aspect of the text tells most. Where nothing can be learnt yet, the texts are those that cover
    the project best, and ``strategy`` says so.
    """
    if n < 1:
        raise InputError(f"the number of questions must be at least 1; got {n}.")
    task = task_of(project.kind)
    allowed = _PAIRS if project.kind == "pairs" else STRATEGIES
    if strategy is not None and strategy not in allowed:
        meant = did_you_mean(strategy, allowed)
        raise InputError(f"a strategy for {project.kind} is one of {', '.join(allowed)}; got {strategy!r}.{meant}")
    if saved is not None:
        check_match(saved, project)
    if task.beliefs is None:
        choose, how = task.must(task.ask, "ask"), () if strategy is None else (strategy,)
        if saved is None:
            return choose(trained(project, {}, progress), project, n, *how)
        return saved.use(choose, project, n, *how)
    people = people_only(project)  # what judges answered is still to be asked of people
    way = strategy or _DEFAULTS.get(project.kind, "information")
    if saved is not None:
        return saved.use(lambda model: ask_texts(model, people, n, way, seed=seed))
    model = None
    if strategy not in ("coverage", "random"):
        try:
            model = trained(project, {}, progress)
        except InputError:  # too few judgements, or of one label only
            way = "coverage"
    return ask_texts(model, people, n, way, seed=seed)


def ask_texts(
    model: Any, project: Project, n: int, strategy: str, *, seed: int = 0, allowed: Set[str] | None = None
) -> pd.DataFrame:
    """Texts to ask about, drawn so that the probability of each draw is known; see :func:`ask`.

    With ``allowed``, the others are not asked about, but count among those that are to be known.
    """
    task, found = task_of(project.kind), askable(project)
    open_ = ~found.given & (True if allowed is None else np.isin(found.ids, list(allowed)))
    free = np.flatnonzero(open_)
    if not free.size:
        raise InputError("every text is answered already; there is none to ask about.")
    names, gains = informative_texts(task, model, project, found, n, strategy, open_=open_, seed=seed)
    shares = {"informative": 1.0 - _FLOOR, "random": _FLOOR} if len(names) else {strategy: 1.0}
    mix = TextMix(found.ids[free], found.counts[free], found.groups[free], {"informative": names}, shares)
    rng, told = random.Random(seed), dict(zip(names, gains, strict=True))
    rows = []
    for _ in range(min(n, free.size)):
        way, key, propensity = mix.draw(rng)
        way = strategy if way == "informative" else way
        rows.append((key, way, propensity, told.get(str(key), np.nan), REASONS[way]))
    table = pd.DataFrame(rows, columns=["item_id", "strategy", "propensity", "gain", "why"])
    if model is not None and task.parts is not None:
        asked = table["item_id"].tolist()
        table.insert(1, "aspect", task.parts(model, part_of(project, np.array(asked, dtype=object)), asked)["aspect"])
    return table


def informative_texts(
    task: Task,
    model: Any,
    project: Project,
    found: Askable,
    n: int,
    strategy: str = "information",
    *,
    open_: BoolArray | None = None,
    seed: int = 0,
    least: int = 0,
) -> tuple[list[str], FloatArray]:
    """The texts that a strategy would ask about, best first, and their gains.

    There are none where the strategy needs no model or has none. Of very many texts a part is looked at, drawn at
    random (:mod:`accord.workflows.looked_at`), and at least ``least``.
    """
    if model is None or task.beliefs is None or strategy not in ("information", "uncertainty"):
        return [], np.zeros(0)
    rng = np.random.default_rng(seed)
    open_ = ~found.given if open_ is None else open_
    lengths = [len(text) for text in found.texts]
    rows = looked_at(project, found.ids, lengths, found.groups, open_, rng, least=max(3 * n, least))
    part = project if rows is None else part_of(project, found.ids[rows])
    rows = np.arange(len(found.ids)) if rows is None else rows
    beliefs = _in_order(task.beliefs(model, part), found.ids[rows])
    free = np.flatnonzero(open_[rows])
    wanted = min(n + 2, free.size)  # a draw is from the first three that are left
    if strategy == "uncertainty":
        order = free[np.argsort(-beliefs.uncertainty[free], kind="stable")[:wanted]]
        return found.ids[rows[order]].tolist(), beliefs.uncertainty[order]
    unsure = np.zeros(rows.size, dtype=bool)
    unsure[free[least_certain(beliefs.uncertainty[free], wanted)]] = True
    others = np.setdiff1d(np.flatnonzero(found.given), rows)  # what was answered elsewhere is known too
    if others.size > _GIVEN:
        others = np.sort(rng.choice(others, _GIVEN, replace=False))
    rows = np.concatenate([rows, others])
    precision = np.concatenate([beliefs.precision, np.ones(others.size)])
    words = weighted_words(found.texts[rows].tolist())
    allowed = np.concatenate([unsure, np.zeros(others.size, dtype=bool)])
    share = float((~found.given).sum() / max((~found.given[rows]).sum(), 1))
    asking = Asking(words, precision, found.given[rows], beliefs.ends, beliefs.shared, allowed, share)
    chosen, gains = pick_texts(asking, wanted, rng)
    return found.ids[rows[chosen]].tolist(), gains


def _in_order(beliefs: Beliefs, ids: ObjectArray) -> Beliefs:
    """The beliefs with their texts in another order."""
    if np.array_equal(beliefs.ids, ids):
        return beliefs
    place = {name: row for row, name in enumerate(beliefs.ids)}
    rows = np.array([place[name] for name in ids], dtype=np.int64)
    back = np.empty(len(rows), dtype=np.int64)
    back[rows] = np.arange(len(rows))
    ends = back[beliefs.ends]
    return Beliefs(ids, beliefs.uncertainty[rows], beliefs.precision[rows], ends, beliefs.shared)
