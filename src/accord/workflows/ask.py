"""Say which questions are worth asking next."""

import random
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from accord.data.project import Project
from accord.data.task import Beliefs, Task
from accord.errors import InputError, did_you_mean
from accord.fitting.asking import Asking, least_certain, pick_texts
from accord.pairs.questions import first_pairs
from accord.store.models import SavedModel
from accord.texts.similar import weighted_words
from accord.typing import BoolArray, FloatArray, IntArray, ObjectArray, Progress
from accord.workflows.ask_kinds import Asked, choose_aspects, highlighted, label_or_highlight
from accord.workflows.collecting.mix import REASONS, TextMix
from accord.workflows.costs import QUESTIONS, Cost, costs_of
from accord.workflows.judged import people_only
from accord.workflows.kinds import task_of, trained
from accord.workflows.looked_at import looked_at, part_of
from accord.workflows.predict import check_match

__all__ = ["STRATEGIES", "Askable", "ask", "ask_texts", "askable", "informative_texts", "strategies_of"]

# How texts are chosen; of pairs and of highlights the rooms have ways of their own.
STRATEGIES = ("information", "accuracy", "uncertainty", "coverage", "random")
_DEFAULTS = {"aspects": "uncertainty"}  # where information was not shown to help: see docs/asking.md
_AMONG_ALL = ("links",)  # where any text may be the most informative one, not the least certain ones alone
_FLOOR = 0.15  # share of random questions among those that are chosen by what the model knows
_GIVEN = 200  # answered texts whose words are compared with those that are looked at
_PAIRS = ("bald", "uncertainty", "transfer")
_NOTHING = 0.01  # labels put right: too few to be a reason
_ONE_OF_THE_UNSURE = "no other label is expected to change; the model is less sure of it than of most texts"
Words = Callable[[Sequence[str]], sp.csr_array]
_NEED_MODEL = ("information", "accuracy", "uncertainty")


def strategies_of(kind: str) -> tuple[str, ...]:
    """The ways of choosing questions of a kind; of aspects no labels are put right, because their answers are ranks."""
    if kind == "pairs":
        return _PAIRS
    return tuple(name for name in STRATEGIES if kind != "aspects" or name != "accuracy")


def _default(kind: str) -> str:
    return _DEFAULTS.get(kind, "information")


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
    cost: Mapping[str, float] | None = None,
    questions: Sequence[str] | None = None,
    progress: Progress,
) -> pd.DataFrame:
    """The ``n`` questions most worth asking next; without a saved model one is trained first.

    Of pairs: ``left, right, gain, p_left, seconds``; before there is any vote, pairs that connect the texts of each
    group, and ``strategy`` says so in the place of ``gain`` and ``p_left``. Of the other kinds: ``item_id, question,
    strategy, propensity, gain, seconds, why``, and ``aspect`` where one aspect of the text tells most. Where nothing
    can be learnt yet, the texts are those that cover the project best, and ``strategy`` says so.

    ``questions`` are the kinds of question among which is chosen (:data:`~accord.workflows.costs.QUESTIONS`): the usual
    one of the project's kind, and those that ``cost`` gives the seconds of. Seconds that are not given are measured.
    """
    if n < 1:
        raise InputError(f"the number of questions must be at least 1; got {n}.")
    task = task_of(project.kind)
    asked = _asked_for(project.kind, questions, cost)
    costs = costs_of(project, cost)
    allowed = strategies_of(project.kind)
    if strategy is not None and strategy not in allowed:
        meant = did_you_mean(strategy, allowed)
        raise InputError(f"a strategy for {project.kind} is one of {', '.join(allowed)}; got {strategy!r}.{meant}")
    if saved is not None:
        check_match(saved, project)
    if saved is None and project.kind == "pairs" and not project.comparisons().n_votes and not project.marks():
        return _first_pairs(project, n, seed, costs["vote"])
    if task.beliefs is None:
        choose, how = task.must(task.ask, "ask"), () if strategy is None else (strategy,)
        more = 3 * n if costs["vote"].slope > 0 else n  # among which the quick ones are found
        if saved is None:
            table = choose(trained(project, {}, progress), project, more, *how)
        else:
            table = saved.use(choose, project, more, *how)
        return _by_the_second(table, project, costs["vote"], n)
    people = people_only(project)  # what judges answered is still to be asked of people
    way = strategy or _default(project.kind)
    if saved is not None:
        return saved.use(lambda model: ask_texts(model, people, n, way, seed=seed, costs=costs, questions=asked))
    model = None
    if strategy not in ("coverage", "random"):
        try:
            model = trained(project, {}, progress)
        except InputError:  # too few judgements, or of one label only
            way = "coverage"
    return ask_texts(model, people, n, way, seed=seed, costs=costs, questions=asked)


def _asked_for(kind: str, questions: Sequence[str] | None, cost: Mapping[str, float] | None) -> tuple[str, ...]:
    """The kinds of question that may be asked, in the order of the table."""
    known = QUESTIONS[kind]
    for name in questions or ():
        if name not in known:
            meant = did_you_mean(name, known)
            raise InputError(f"a question of {kind} is {' or '.join(known)}; got {name!r}.{meant}")
    wanted = set(questions) if questions else {known[0], *(cost or {})}
    return tuple(name for name in known if name in wanted)


def _first_pairs(project: Project, n: int, seed: int, cost: Cost) -> pd.DataFrame:
    """Pairs to begin with: each text is met, and those of a group are connected."""
    items = project.items()
    groups = None if items.groups is None else pd.factorize(items.groups, use_na_sentinel=False)[0]
    left, right = first_pairs(items.n_items, groups, n, np.random.default_rng(seed))
    if not left.size:
        raise InputError(
            f"a pair needs two texts of one group; this project has {items.n_items} texts and no such pair. Add texts."
        )
    table = pd.DataFrame({"left": items.ids[left], "right": items.ids[right], "strategy": "coverage"})
    return _by_the_second(table, project, cost, n)


def _by_the_second(table: pd.DataFrame, project: Project, cost: Cost, n: int) -> pd.DataFrame:
    """The pairs that tell most by the second, and how long each takes."""
    sizes = dict(zip(*(project.item_table.column(name).to_pylist() for name in ("item_id", "text")), strict=True))
    lengths = [
        len(sizes.get(a) or "") + len(sizes.get(b) or "") for a, b in zip(table["left"], table["right"], strict=True)
    ]
    table = table.assign(seconds=cost.of(lengths))
    if cost.slope > 0 and "gain" in table:
        order = np.argsort(-(table["gain"] / table["seconds"]).to_numpy(), kind="stable")
        table = table.iloc[order].reset_index(drop=True)
    return table.head(n)


def ask_texts(
    model: Any,
    project: Project,
    n: int,
    strategy: str,
    *,
    seed: int = 0,
    allowed: Set[str] | None = None,
    costs: Mapping[str, Cost] | None = None,
    questions: Sequence[str] | None = None,
    least: int = 0,
    words: Words = weighted_words,
) -> pd.DataFrame:
    """Texts to ask about, drawn so that the probability of each draw is known; see :func:`ask`.

    With ``allowed``, the others are not asked about, but count among those that are to be known. Of very many texts a
    part is looked at, and at least ``least``. ``words`` reads their words; one that remembers saves time in replays.
    """
    task, found = task_of(project.kind), askable(project)
    questions = questions or QUESTIONS[project.kind][:1]
    costs = costs_of(project) if costs is None else costs
    may = np.ones(len(found.ids), dtype=bool) if allowed is None else np.isin(found.ids, list(allowed))
    open_ = may & ~found.given
    marks = project.kind == "rationales" and "highlight" in questions
    if marks:  # a text that has its label may still be highlighted
        marked = highlighted(project)
        open_ = may & ~(found.given & marked if "label" in questions else marked)
    free = np.flatnonzero(open_)
    if not free.size:
        raise InputError("every text is answered already; there is none to ask about.")
    asked: dict[str, Asked] = {}
    if marks and model is not None and strategy in ("accuracy", "information"):
        strategy = "information"  # labels and highlights are compared in nats
        best = label_or_highlight(
            task, model, project, found.ids, found.texts, found.given, open_, n, costs, questions, seed=seed
        )
        names, gains = [one.item_id for one in best], np.array([one.gain for one in best])
        asked = {one.item_id: one for one in best}
    else:
        seconds = costs[questions[0]].of([len(text) for text in found.texts])
        names, gains = informative_texts(
            task,
            model,
            project,
            found,
            n,
            strategy,
            open_=open_ & ~found.given,
            seed=seed,
            least=least,
            seconds=seconds,
            words=words,
        )
    shares = {"informative": 1.0 - _FLOOR, "random": _FLOOR} if len(names) else {strategy: 1.0}
    mix = TextMix(found.ids[free], found.counts[free], found.groups[free], {"informative": names}, shares)
    rng, told = random.Random(seed), dict(zip(names, gains, strict=True))
    place = {name: row for row, name in enumerate(found.ids)}
    rows = []
    for _ in range(min(n, free.size)):
        way, key, propensity = mix.draw(rng)
        row = place[key]
        usual = "highlight" if marks and (found.given[row] or "label" not in questions) else questions[0]
        spent = float(costs[usual].of([len(found.texts[row])])[0])
        why = REASONS[strategy if way == "informative" else way]
        if way == "informative" and strategy == "accuracy" and told[str(key)] < _NOTHING:
            why = _ONE_OF_THE_UNSURE
        if str(key) in asked:
            usual, spent = asked[str(key)].question, asked[str(key)].seconds
            why = asked[str(key)].why if way == "informative" else why
        way = strategy if way == "informative" else way
        rows.append((key, usual, way, propensity, told.get(str(key), np.nan), spent, why))
    columns = ["item_id", "question", "strategy", "propensity", "gain", "seconds", "why"]
    table = pd.DataFrame(rows, columns=columns)
    if model is not None and task.parts is not None:
        texts = table["item_id"].tolist()
        if len(questions) > 1:
            parts = choose_aspects(task, model, project, texts, costs)
            table = table.assign(question=parts["question"], gain=parts["gain"], seconds=parts["seconds"])
        else:
            parts = task.parts(model, part_of(project, np.array(texts, dtype=object)), texts)
        table.insert(1, "aspect", parts["aspect"])
    return table


def informative_texts(
    task: Task,
    model: Any,
    project: Project,
    found: Askable,
    n: int,
    strategy: str | None = None,
    *,
    open_: BoolArray | None = None,
    seed: int = 0,
    least: int = 0,
    seconds: FloatArray | None = None,
    words: Words = weighted_words,
) -> tuple[list[str], FloatArray]:
    """The texts that a strategy would ask about, best first, and their gains, which count by the second.

    Without a strategy it is the default of the kind. There are none where the strategy needs no model or has none. Of
    very many texts a part is looked at, drawn at random (:mod:`accord.workflows.looked_at`), and at least ``least``.
    """
    strategy = strategy or _default(project.kind)
    if model is None or task.beliefs is None or strategy not in _NEED_MODEL:
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
    margin = beliefs.margin if strategy == "accuracy" else None
    if strategy == "information" and project.kind in _AMONG_ALL:
        unsure[free] = True  # better than the least certain ones in replays: see docs/asking.md
    else:
        unsure[free[least_certain(beliefs.uncertainty[free], wanted, wide=margin is not None)]] = True
    others = np.setdiff1d(np.flatnonzero(found.given), rows)  # what was answered elsewhere is known too
    if others.size > _GIVEN:
        others = np.sort(rng.choice(others, _GIVEN, replace=False))
    rows = np.concatenate([rows, others])
    precision = np.concatenate([beliefs.precision, np.ones(others.size)])
    margin = None if margin is None else np.concatenate([margin, np.zeros(others.size)])
    allowed = np.concatenate([unsure, np.zeros(others.size, dtype=bool)])
    time = None if seconds is None else seconds[rows]
    share = float((~found.given).sum() / max((~found.given[rows]).sum(), 1))
    read = words(found.texts[rows].tolist())
    asking = Asking(read, precision, found.given[rows], beliefs.ends, beliefs.shared, allowed, share, time, margin)
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
    margin = None if beliefs.margin is None else beliefs.margin[rows]
    return Beliefs(ids, beliefs.uncertainty[rows], beliefs.precision[rows], ends, beliefs.shared, margin)
