"""Whom to ask: a question goes to the person who answers it best, and to everybody now and then.

How well somebody answers is how often they say what others, or an owner, said about the same question, drawn towards
the mean of all; where texts have groups, inside the group, drawn towards the person's own mean. What an answer of such
a person tells is the capacity of a channel that is right so often. Whoever has answered much today gets less. A share
of the questions goes to anybody at random, so that nobody is left out and the figures about people stay honest.
"""

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd

from accord.data.project import Project
from accord.errors import InputError
from accord.typing import FloatArray
from accord.workflows.agree import answer_table
from accord.workflows.collecting.people import with_others
from accord.workflows.judged import judge_names

__all__ = ["FLOOR", "Answerer", "Sent", "answerers", "capacity", "group_of", "number_of_answers", "send", "with_people"]

FLOOR = 0.15  # share of the questions that go to anybody
_BEFORE = 10.0  # answers that the mean of all counts as, and the mean of a person inside a group
_UNKNOWN = 0.8  # how often people are taken to be right where nothing is known of anybody
_ADJUDICATION = "adjudication"


@dataclass(frozen=True)
class Answerer:
    """Somebody who can be asked.

    Attributes
    ----------
    name : str
    is_judge : bool
        Whether it is a program.
    reliability : float
        How often they answer as others do, drawn towards the mean of all.
    n_shared : int
        Answers that could be compared.
    n_done, n_today : int
        Answers, all and those of today.
    groups : mapping
        The reliability inside each group of texts of which something is known.
    done : set
        The questions that were answered: the ids of their texts.
    """

    name: str
    is_judge: bool
    reliability: float
    n_shared: int
    n_done: int
    n_today: int
    groups: Mapping[str, float] = field(default_factory=dict)
    done: Set[frozenset[str]] = frozenset()

    def in_group(self, group: str | None) -> float:
        """How reliable they are about texts of a group."""
        return self.reliability if group is None else self.groups.get(group, self.reliability)


@dataclass(frozen=True)
class Sent:
    """Whom a question goes to, how probable that was, and why."""

    name: str | None
    propensity: float | None
    why: str


def answerers(project: Project, *, names: Sequence[str] | None = None, today: str | None = None) -> list[Answerer]:
    """Everybody who judged in a project and every judge of it, by name; or those named, who may be new.

    ``today`` is a day as in 2026-01-31, by default the present one (UTC).
    """
    judges = judge_names(project)
    table = answer_table(project)
    known = sorted({*table["who"].astype(str), *judges}) if names is None else list(names)
    right = _right(table, project)
    mean = float((right.dropna().sum() + _BEFORE * _UNKNOWN) / (right.notna().sum() + _BEFORE))
    groups = group_of(project)
    day = today or f"{datetime.now(UTC):%Y-%m-%d}"
    is_today = table["at"].fillna("").astype(str).str[:10] == day
    found = []
    by_name = dict(tuple(table.groupby(table["who"].astype(str), sort=False)))
    for name in known:
        own = by_name.get(name, table.iloc[:0])
        hits = right.loc[own.index].dropna()
        reliability = float((hits.sum() + _BEFORE * mean) / (len(hits) + _BEFORE))
        first = own["question"].str.partition("\0")[0] if len(own) else own["question"]
        drawn = {}
        for group, inside in hits.groupby(first.loc[hits.index].map(groups)) if groups and len(hits) else ():
            drawn[str(group)] = float((inside.sum() + _BEFORE * reliability) / (len(inside) + _BEFORE))
        done = frozenset(frozenset(filter(None, question.split("\0"))) for question in own["question"].unique())
        n_today = own[is_today.loc[own.index]]["question"].nunique()
        found.append(Answerer(name, name in judges, reliability, len(hits), len(done), n_today, drawn, done))
    return found


def group_of(project: Project) -> dict[str, str]:
    """The group of each text, where there are several."""
    names = (project.item_table.column(column).to_pylist() for column in ("item_id", "group_id"))
    found = {str(name): str(group) for name, group in zip(*names, strict=True) if group is not None}
    return found if 1 < len(set(found.values())) <= len(found) / 2 else {}


def _right(table: pd.DataFrame, project: Project) -> "pd.Series[float]":
    """How far each answer is that of an owner who settled the question, or else of most others; NaN alone."""
    if table.empty:
        return pd.Series(dtype=float)
    rows = pd.DataFrame(
        {
            "who": table["who"].astype(str),
            "key": table["what"].astype(str) + "\0" + table["question"].astype(str),
            "answer": table["answer"].astype(str),
        }
    )
    rows = rows.drop_duplicates(["who", "key"], keep="last")
    found = with_others(rows)
    frame = project.answered()
    source = frame.loc[table.index, "source"].astype(object) if len(table) else pd.Series(dtype=object)
    settled = rows.loc[rows.index.isin(source.index[source == _ADJUDICATION])].drop_duplicates("key", keep="last")
    if len(settled):
        said = rows["key"].map(settled.set_index("key")["answer"])
        found = found.mask(said.notna(), (rows["answer"] == said).astype(float))
        found = found.mask(rows.index.isin(settled.index))  # an owner is not compared with themselves
    return found.reindex(table.index)


def capacity(reliability: float | FloatArray, n_answers: int = 2) -> FloatArray:
    """What an answer tells that is right so often and else any other, in shares of a sure one; 0 at chance or below.

    Examples
    --------
    >>> capacity([0.5, 0.9, 1.0]).round(2).tolist()
    [0.0, 0.53, 1.0]
    """
    r = np.clip(np.asarray(reliability, dtype=float), 1.0 / n_answers, 1.0)
    wrong = np.where(r < 1.0, (1.0 - r) * np.log(np.where(r < 1.0, (1.0 - r) / (n_answers - 1), 1.0)), 0.0)
    return np.asarray(1.0 + (r * np.log(r) + wrong) / np.log(n_answers))


def send(
    questions: Sequence[tuple[frozenset[str], str | None]],
    people: Sequence[Answerer],
    rng: np.random.Generator,
    *,
    quota: int | None = None,
    n_answers: int = 2,
    floor: float = FLOOR,
) -> list[Sent]:
    """Whom each question goes to; a question that nobody is left for goes to nobody.

    Parameters
    ----------
    questions : sequence of (ids of the texts, group of the text or None)
        The most informative first.
    people : sequence of Answerer
    rng : numpy.random.Generator
    quota : int, optional
        Most answers of one person; programs have none.
    n_answers : int
        How many different answers there are.
    floor : float
        Share of the questions that go to anybody who may be asked.
    """
    load = np.array([person.n_today for person in people], dtype=float)
    left = np.array(
        [np.inf if quota is None or person.is_judge else quota - person.n_done for person in people], dtype=float
    )
    fair = max((load.sum() + len(questions)) / max(len(people), 1), 1.0)
    sent = []
    for texts, group in questions:
        may = np.array([texts not in person.done for person in people], dtype=bool) & (left > 0)
        if not may.any():
            sent.append(Sent(None, None, "everybody has answered it, or has given all answers asked of one person"))
            continue
        r = np.array([person.in_group(group) for person in people])
        worth = np.where(may, (capacity(r, n_answers) + 1e-9) * fair / (fair + load), -np.inf)
        best = int(np.argmax(worth))
        one = int(rng.choice(np.flatnonzero(may))) if rng.random() < floor else best
        propensity = floor / may.sum() + (1.0 - floor) * (one == best)
        n = people[one].n_shared
        known = f"right in about {100 * r[one]:.0f} of 100 ({n:,} compared)" if n else "not compared with anybody yet"
        given = int(load[one]) - people[one].n_today
        why = f"{known}; answers today: {people[one].n_today:,}" + (f"; asked above: {given:,}" if given else "")
        sent.append(Sent(people[one].name, float(propensity), why if one == best else f"drawn at random; {why}"))
        load[one] += 1
        left[one] -= 1
    return sent


def with_people(table: pd.DataFrame, project: Project, *, seed: int = 0, today: str | None = None) -> pd.DataFrame:
    """Questions of :func:`accord.workflows.ask.ask` with ``who``, ``who_propensity`` and ``who_why``."""
    people = answerers(project, today=today)
    if not people:
        raise InputError(
            "--who needs judgements whose annotator is known; this project has none. Import them with annotator_id."
        )
    groups = group_of(project)
    names: list[list[Hashable]] = (
        table[["left", "right"]].to_numpy(object).tolist() if "left" in table else [[name] for name in table["item_id"]]
    )
    questions = [(frozenset(map(str, texts)), groups.get(str(texts[0]))) for texts in names]
    quota = project.settings.get("quota")
    sent = send(
        questions,
        people,
        np.random.default_rng(seed),
        quota=None if quota is None else int(quota),
        n_answers=number_of_answers(project),
    )
    columns: dict[str, list[Any]] = {
        "who": [one.name for one in sent],
        "who_propensity": [one.propensity for one in sent],
        "who_why": [one.why for one in sent],
    }
    return table.assign(**columns)


def number_of_answers(project: Project) -> int:
    """How many different answers a question of a project has."""
    if project.kind == "pairs":
        return 2
    if project.kind == "aspects":
        return int(project.settings.get("n_ranks", 5))
    return max(2, len(set(project.given_labels()[1].tolist())))
