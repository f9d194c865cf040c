"""Labels and scores of judges beside those of people: how each judge departs from people, and what is learnt from them.

People are the anchor: where a person judged a text, judges change nothing. Where judges alone did, their answers are
translated by how they answer where people did (:mod:`accord.fitting.judged_labels`), and count if they are sure enough.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from accord.data.project import JUDGEMENTS, Project, with_schema
from accord.evaluation.agreement import wilson
from accord.fitting.judged_labels import JudgedLabels, judged_labels
from accord.typing import FloatArray

__all__ = [
    "BY_JUDGES",
    "Judged",
    "disputed",
    "doubtful",
    "judge_names",
    "judged",
    "judged_votes",
    "learning_project",
    "learnt_from",
    "people_only",
    "soft_labels",
]

BY_JUDGES = "judges"  # whose answers those are that judges give together
_SURE = 0.8  # probability from which a label of judges counts
_SHARPER = 0.5  # share of a score's variance that may be left for it to count
_Z = 1.645  # of a 90 % interval
_LEAST_SHARED = 3  # answers on texts that people answered too, from which a judge's scale is told


@dataclass(frozen=True, eq=False)
class Judged:
    """How judges answer one thing (the labels, or one aspect), measured against people."""

    what: str  # "labels" or "score: ASPECT"
    judges: pd.DataFrame  # annotator, family, n_answers, n_shared, agreement, low, high; of scores also bias and scale
    confusion: pd.DataFrame  # annotator, people, says, probability, low, high, n
    gain: float  # nats by which judges' answers beat knowing nothing, of a text that people answered
    gain_error: float
    used: bool  # whether anything is learnt from judges
    soft: pd.DataFrame  # item_id, given (by people), p.<answer>

    @property
    def n_added(self) -> int:
        """Number of texts that judges alone answered, and whose answer counts."""
        return int(_counts(self).sum())


def judge_names(project: Project) -> dict[str, str]:
    """The judges of a project and the family of each."""
    table = project.judges()
    return dict(zip(table["annotator_id"], table["family"], strict=True))


def people_only(project: Project, *, may_be_none: bool = False) -> Project:
    """The project without what judges answered; the project itself where nobody is a judge.

    Where everybody is a judge nothing would be left to learn from: then it is the project itself too, unless
    ``may_be_none``.
    """
    judges = set(judge_names(project))
    who = project.judgement_table.column("annotator_id").to_pylist() if judges else []
    kept = [name not in judges for name in who]
    if all(kept) or not (any(kept) or may_be_none):
        return project
    return replace(project, judgement_table=project.judgement_table.filter(pa.array(kept)))


def disputed(project: Project) -> list[tuple[str, ...]]:
    """Texts, or pairs of texts, that no person answered and judges answer differently, the most divided first."""
    families = judge_names(project)
    frame = project.answered()
    frame = frame[frame["kind"].isin(["pair", "label", "score"]) & frame["value"].notna()]
    by_judge = frame["annotator_id"].isin(families)
    if not by_judge.any():
        return []
    answers = _answers(frame)
    asked = set(answers["question"][~by_judge.to_numpy()])
    own = answers[by_judge.to_numpy() & ~answers["question"].isin(asked).to_numpy()]
    share = own.groupby("question", sort=True)["answer"].value_counts(normalize=True)
    most = share.groupby(level="question", sort=True).max().sort_values(kind="stable")
    return list(dict.fromkeys(tuple(name for name in key[:2] if name) for key in most[most < 1.0].index))


def doubtful(project: Project) -> list[tuple[str, ...]]:
    """Texts that judges alone answered and whose answers are not to be relied on, the least sure first.

    However well judges agree, their answers tell little where people who were asked the like answered otherwise.
    """
    found = []
    for one in judged(project):
        columns = [name for name in one.soft if str(name).startswith("p.")]
        sure = one.soft[columns].max(axis=1).to_numpy()
        unsure = ~one.soft["given"].to_numpy(bool) & ~_counts(one).to_numpy(bool)
        found += list(zip(sure[unsure], one.soft["item_id"][unsure].astype(str), strict=True))
    return [(name,) for name in dict.fromkeys(name for _, name in sorted(found))]


def _answers(frame: pd.DataFrame) -> pd.DataFrame:
    """The ``question`` of each judgement, one for both orders of a pair, and the ``answer`` turned with it."""
    first, second = frame["item_id"].astype(str), frame["other_id"].fillna("").astype(str)
    swap = (frame["kind"] == "pair") & (first > second)
    number = pd.to_numeric(frame["value"], errors="coerce")
    question = zip(first.mask(swap, second), second.mask(swap, first), frame["aspect"].fillna(""), strict=True)
    answer = (
        frame["value"].astype(str).mask(frame["kind"] == "pair", number.mask(swap, 1.0 - number).map("{:g}".format))
    )
    return pd.DataFrame({"question": list(question), "answer": answer})


def judged_votes(project: Project) -> pd.DataFrame | None:
    """How often each judge votes as most people do on the same pair, with 90 % intervals; None without such judges."""
    families = judge_names(project)
    frame = project.answered()
    frame = frame[(frame["kind"] == "pair") & frame["value"].notna()]
    by_judge = frame["annotator_id"].isin(families).to_numpy()
    if not by_judge.any() or by_judge.all():
        return None
    answers = _answers(frame)
    item, pairs = pd.factorize(answers["question"])
    code, values = pd.factorize(answers["answer"])
    people = np.zeros((len(pairs), len(values)))
    np.add.at(people, (item[~by_judge], code[~by_judge]), 1.0)
    names = sorted(set(frame["annotator_id"][by_judge]))
    judge = pd.Categorical(frame["annotator_id"][by_judge], names).codes.astype(np.int64)
    return _judge_table(names, families, people, item[by_judge], judge, code[by_judge], scores=False)


def judged(project: Project) -> list[Judged]:
    """How the judges of a project answer what people answer: its labels, and each aspect's scores."""
    families = judge_names(project)
    frame = project.answered()
    frame = frame[frame["kind"].isin(["label", "score"]) & frame["value"].notna()]
    if not families or not frame["annotator_id"].isin(families).any():
        return []
    aspect = frame["aspect"].astype(object)
    score = frame["kind"] == "score"
    what = np.where(score, "score: " + aspect.fillna("").astype(str), "labels")
    found = []
    for name, rows in frame.groupby(what, sort=False):
        if rows["annotator_id"].isin(families).any():
            n_ranks = int(project.settings.get("n_ranks", 5)) if str(name) != "labels" else 0
            found.append(_judged(str(name), rows, families, n_ranks))
    return found


def soft_labels(project: Project) -> pd.DataFrame:
    """The probability of each label of each text: ``item_id, given, p.<label>``; of people where they answered."""
    for one in judged(project):
        if one.what == "labels":
            return one.soft
    item, label = project.given_labels()
    if not len(item):
        return pd.DataFrame({"item_id": [], "given": []})
    table = pd.crosstab(item, label.astype(str), normalize="index")
    ids = project.item_table.column("item_id").to_numpy()[table.index.to_numpy()]
    table = table.add_prefix("p.").reset_index(drop=True)
    table.insert(0, "item_id", ids)
    table.insert(1, "given", True)
    table.columns.name = None
    return table


def learning_project(project: Project) -> Project:
    """What models of labels and scores learn from: people's answers, and those of judges that are sure enough.

    Votes have a model of their own, and highlights of judges stay: each annotator has a way of marking of its own.
    """
    found = judged(project)
    if not found or project.kind == "pairs":
        return project
    rows: dict[str, list[Any]] = {name: [] for name in ("kind", "item_id", "aspect", "value")}
    for one in found:
        kept = one.soft[_counts(one)]
        columns = [name for name in kept if str(name).startswith("p.")]
        p, answers = kept[columns].to_numpy(float), [str(name)[2:] for name in columns]
        if one.what == "labels":
            values = [answers[k] for k in p.argmax(axis=1)]
        else:
            values = [f"{rank:g}" for rank in np.floor(p @ np.array(answers, dtype=float) + 0.5)]
        rows["item_id"] += list(kept["item_id"])
        rows["value"] += values
        rows["kind"] += ["label" if one.what == "labels" else "score"] * len(kept)
        rows["aspect"] += [None if one.what == "labels" else one.what.removeprefix("score: ")] * len(kept)
    families, table = judge_names(project), project.judgement_table
    who, kind = (table.column(name).to_pylist() for name in ("annotator_id", "kind"))
    own = [name not in families or what == "span" for name, what in zip(who, kind, strict=True)]
    added = with_schema({**rows, "annotator_id": [BY_JUDGES] * len(rows["kind"])}, JUDGEMENTS)
    people = table.filter(pa.array(own)).select(JUDGEMENTS.names).cast(JUDGEMENTS)
    return replace(project, judgement_table=pa.concat_tables([people, added]))


def learnt_from(project: Project) -> str:
    """How many judgements a model of the project learns from, in words; judges apart."""
    families = judge_names(project)
    n = project.counts["judgements"]
    used = learning_project(project) if project.kind != "pairs" else people_only(project)
    who = used.judgement_table.column("annotator_id").to_pylist()
    by_judges = sum(name == BY_JUDGES or name in families for name in who) if families else 0
    if len(who) == n and not by_judges:
        return f"{n:,} judgements"
    people = len(who) - by_judges
    rest = "" if len(who) == n else f"; {n:,} are in the project"
    if not people:
        return f"{by_judges:,} judgements of judges{rest}"
    return f"{people:,} judgements of people{f' and {by_judges:,} of judges' if by_judges else ''}{rest}"


def _counts(one: Judged) -> "pd.Series[bool]":
    """Which rows of the soft answers are of judges alone and sure enough to be learnt from."""
    columns = [name for name in one.soft if str(name).startswith("p.")]
    p = one.soft[columns].to_numpy(float)
    if not one.used:
        sure = np.zeros(len(p), dtype=bool)
    elif one.what == "labels":
        sure = p.max(axis=1) >= _SURE
    else:
        ranks = np.array([float(str(name)[2:]) for name in columns])
        usual = p[one.soft["given"].to_numpy(bool)].mean(axis=0)
        sure = _variance(p, ranks) <= _SHARPER * _variance(usual[None], ranks)
    return pd.Series(sure & ~one.soft["given"].to_numpy(bool), index=one.soft.index)


def _variance(p: FloatArray, ranks: FloatArray) -> FloatArray:
    return np.asarray(p @ ranks**2 - (p @ ranks) ** 2)


def _judged(what: str, rows: pd.DataFrame, families: dict[str, str], n_ranks: int) -> Judged:
    """The judges' tables for one thing; ``n_ranks`` is zero for labels."""
    value = rows["value"].astype(str)
    if n_ranks:
        number = pd.to_numeric(rows["value"], errors="coerce")
        value = np.floor(number.clip(1, n_ranks) + 0.5).astype(int).astype(str)
        answers = [str(rank) for rank in range(1, n_ranks + 1)]
    else:
        answers = sorted(value.unique())
    item, ids = pd.factorize(rows["item_id"])
    by_judge = rows["annotator_id"].isin(families).to_numpy()
    code = pd.Categorical(value, answers).codes.astype(np.int64)
    people = np.zeros((len(ids), len(answers)))
    np.add.at(people, (item[~by_judge], code[~by_judge]), 1.0)
    names = sorted(set(rows["annotator_id"][by_judge]))
    judge = pd.Categorical(rows["annotator_id"][by_judge], names).codes.astype(np.int64)
    family = pd.factorize(np.array([families[name] for name in names], dtype=object))[0]
    found = judged_labels(people, item[by_judge], judge, code[by_judge], family)
    table = _judge_table(names, families, people, item[by_judge], judge, code[by_judge], scores=bool(n_ranks))
    soft = pd.DataFrame(found.soft, columns=[f"p.{answer}" for answer in answers])
    soft.insert(0, "item_id", ids)
    soft.insert(1, "given", people.sum(axis=1) > 0)
    confusion = _confusion(names, answers, found)
    return Judged(what, table, confusion, found.gain, found.gain_error, found.power > 0.0, soft)


def _judge_table(
    names: list[str], families: dict[str, str], people: FloatArray, item: Any, judge: Any, code: Any, *, scores: bool
) -> pd.DataFrame:
    """How often each judge answers as most people do, and of scores how harsh it is and how wide its scale."""
    total = people.sum(axis=1)
    rows = []
    for place, name in enumerate(names):
        own = judge == place
        shared = own & (total[item] > 0)
        most = people[item[shared]] >= people[item[shared]].max(axis=1, keepdims=True)
        # Where people tie, each of their answers is right in part.
        hits = float((most / most.sum(axis=1, keepdims=True))[np.arange(shared.sum()), code[shared]].sum())
        n = int(shared.sum())
        share, low, high = (hits / n, *wilson(hits / n, n, _Z)) if n else (np.nan,) * 3
        row = [name, families[name], int(own.sum()), n, share, low, high]
        if scores:
            ranks = np.arange(1.0, people.shape[1] + 1.0)
            theirs = people[item[shared]] @ ranks / np.maximum(total[item[shared]], 1.0)
            row += [*_bias(1.0 + code[shared], theirs), *_scale(1.0 + code[shared], theirs)]
        rows.append(row)
    columns = ["annotator", "family", "n_answers", "n_shared", "agreement", "low", "high"]
    if scores:
        columns += ["bias", "bias_low", "bias_high", "scale", "scale_low", "scale_high"]
    return pd.DataFrame(rows, columns=columns)


def _bias(own: FloatArray, theirs: FloatArray) -> tuple[float, float, float]:
    """Mean by which a judge scores above people, with its 90 % interval; negative is harsh."""
    if own.size < _LEAST_SHARED:
        return (np.nan,) * 3
    apart = own - theirs
    mean, error = float(apart.mean()), float(_Z * apart.std(ddof=1) / np.sqrt(apart.size))
    return mean, mean - error, mean + error


def _scale(own: FloatArray, theirs: FloatArray) -> tuple[float, float, float]:
    """Standard deviation of a judge's scores over that of people's on the same texts; below 1 is a compressed scale.

    The interval is that of the deviations of two correlated samples, log-normal with variance (1 − r²)/n.
    """
    if own.size < _LEAST_SHARED or own.std() == 0.0 or theirs.std() == 0.0:
        return (np.nan,) * 3
    ratio = float(own.std() / theirs.std())
    r = float(np.corrcoef(own, theirs)[0, 1])
    error = _Z * np.sqrt(max(1.0 - r * r, 0.0) / max(own.size - 2, 1))
    return ratio, ratio * float(np.exp(-error)), ratio * float(np.exp(error))


def _confusion(names: list[str], answers: list[str], found: JudgedLabels) -> pd.DataFrame:
    """Every judge's table, one row a cell."""
    rows = [
        (name, people, says, *(float(part[j, k, m]) for part in (found.confusion, found.low, found.high, found.counts)))
        for j, name in enumerate(names)
        for k, people in enumerate(answers)
        for m, says in enumerate(answers)
    ]
    return pd.DataFrame(rows, columns=["annotator", "people", "says", "probability", "low", "high", "n"])
