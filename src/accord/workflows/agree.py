"""Say how much the people of a project agree, beyond chance and with intervals."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from accord.data.project import Project
from accord.errors import InputError
from accord.evaluation.agreement import Answers, Level, agreement_table, pairwise_kappas, wilson
from accord.workflows.agree_spans import highlights
from accord.workflows.judged import judge_names, people_only

__all__ = ["Agreement", "JudgeAgreement", "agree", "agree_judges", "answer_table"]


_INTERVAL = "Krippendorff's α (interval)"


@dataclass(frozen=True, eq=False)
class Agreement:
    """How much people agree about one thing: the votes, the labels, the highlights, or one aspect."""

    what: str
    level: Level
    measures: pd.DataFrame  # measure, value, low, high, n
    labels: pd.DataFrame  # label, value, low, high, n: α of each label against the others
    people: pd.DataFrame  # annotator_id, n_answers, agreement, low, high, n_shared, repeats, same_again, drift, …
    pairs: pd.DataFrame  # first, second, value, low, high, n: Cohen's κ

    @property
    def n_shared(self) -> int:
        """How many questions two or more people answered."""
        return int(self.measures["n"].iloc[0])


def agree(project: Project, *, random_state: int = 0) -> list[Agreement]:
    """The agreement about each thing that people judged in a project; judgements without a name are left out.

    Judges are measured against people instead.
    """
    found = []
    project = people_only(project)
    table = answer_table(project)
    for what, rows in table.groupby("what", sort=False):
        found.append(_agreement(str(what), rows, random_state))
    marks = highlights(project)
    if marks is not None:
        found.append(Agreement("highlights", "nominal", marks.measures, marks.labels, marks.people, pd.DataFrame()))
    if not found:
        raise InputError(
            "agreement needs judgements whose annotator is known; this project has none. Import them with annotator_id."
        )
    return found


@dataclass(frozen=True, eq=False)
class JudgeAgreement:
    """How steady each judge is about one thing, and Cohen's κ of judges with people and with each other."""

    what: str
    judges: pd.DataFrame  # annotator_id, n_answers, …, same_again, again_low, again_high, n_again, drift, …
    pairs: pd.DataFrame  # first, second, value, low, high, n


def agree_judges(project: Project, *, pairs: bool = True, random_state: int = 0) -> list[JudgeAgreement]:
    """Whether judges answer again as before, and late as early, beside people's answers; nothing without judges.

    The questions that people answered are the anchor items of drift: ``drift`` is by how much more often a judge
    answers them as most people do in the later half of its answers to them than in the earlier half. Without ``pairs``
    κ of each two is left out.
    """
    names = set(judge_names(project))
    table = answer_table(project) if names else pd.DataFrame(columns=["what", "who"])
    found = []
    for what, rows in table.groupby("what", sort=False):
        by_judge = rows["who"].isin(names)
        if not by_judge.any():
            continue
        ordered = rows.sort_values("at", kind="stable")
        last = ordered.drop_duplicates(["who", "question"], keep="last")
        own, people = (part[part["who"].isin(names) == kind] for part, kind in ((last, True), (last, False)))
        tally = people.groupby(["question", "answer"]).size()
        most = tally[tally == tally.groupby(level="question").transform("max")]
        share = 1.0 / most.groupby(level="question").transform("size")  # where people tie, each answer is right in part
        asked = own["question"].isin(people["question"])
        given = pd.MultiIndex.from_frame(own[["question", "answer"]])
        hits = pd.Series(share.reindex(given).fillna(0.0).to_numpy(), index=own.index)
        judges = _people(ordered[ordered["who"].isin(names)], own, hits.where(asked))
        kappas = _kappas(last, str(what), names, random_state) if pairs else pd.DataFrame()
        found.append(JudgeAgreement(str(what), judges, kappas))
    return found


def _kappas(last: pd.DataFrame, what: str, names: set[str], random_state: int) -> pd.DataFrame:
    """Cohen's κ of each two of whom one is named."""
    answers, everybody = _coded(last, _level(what))
    table = _named(pairwise_kappas(answers, random_state=random_state), everybody)
    return table[table["first"].isin(names) | table["second"].isin(names)].reset_index(drop=True)


def answer_table(project: Project) -> pd.DataFrame:
    """Votes, labels and scores, one row an answer.

    ``what`` is what was judged (votes, labels, or an aspect), ``question`` the same for everybody who was asked the
    same, ``who``, ``answer``, ``at``. A vote means the same whichever text
    is named first: the two ids are put in order and the vote is turned with them.
    """
    frame = project.answered()
    kinds = frame["kind"].isin(["pair", "label", "score"])
    frame = frame[kinds & frame["annotator_id"].notna() & frame["value"].notna()]
    is_pair = frame["kind"] == "pair"
    swap = is_pair & (frame["item_id"].astype(str) > frame["other_id"].astype(str))
    number = pd.to_numeric(frame["value"], errors="coerce")
    turned = number.mask(swap, 1.0 - number)
    first, second = frame["item_id"].astype(str), frame["other_id"].fillna("").astype(str)
    names = {0.0: "second", 0.5: "undecided", 1.0: "first"}
    aspect = frame["aspect"].fillna("").astype(str)
    what = np.select([is_pair, frame["kind"] == "score"], ["votes", "score: " + aspect], "labels")
    return pd.DataFrame(
        {
            "what": what,
            "question": np.where(swap, second + "\0" + first, first + "\0" + second),
            "who": frame["annotator_id"].astype(str),
            "answer": frame["value"].astype(str).mask(is_pair, turned.map(names)),
            "at": frame["created_at"].fillna("").astype(str),
        }
    )


def _agreement(what: str, rows: pd.DataFrame, random_state: int) -> Agreement:
    level = _level(what)
    ordered = rows.sort_values("at", kind="stable")
    last = ordered.drop_duplicates(["who", "question"], keep="last")
    answers, people = _coded(last, level)
    measures = agreement_table(answers, level=level, random_state=random_state)
    if level == "ordinal":  # distances between scores as numbers, beside those between ranks
        interval = agreement_table(answers, level="interval", random_state=random_state).head(1)
        measures = pd.concat([measures.head(1), interval.assign(measure=_INTERVAL), measures.iloc[1:]])
        measures = measures.reset_index(drop=True)
    return Agreement(
        what,
        level,
        measures,
        _labels(answers, random_state),
        _people(ordered, last, majority_agreement(last)),
        _named(pairwise_kappas(answers, random_state=random_state), people),
    )


def _level(what: str) -> Level:
    return "ordinal" if what.startswith("score: ") else "nominal"


def _coded(last: pd.DataFrame, level: Level) -> tuple[Answers, list[str]]:
    """One answer a person and question as codes, and the names of the people."""
    values = sorted(map(str, last["answer"].unique()), key=float if level == "ordinal" else None)
    people = sorted(last["who"].unique())
    answers = Answers(
        pd.factorize(last["question"])[0],
        pd.Categorical(last["who"], people).codes.astype(np.int64),
        pd.Categorical(last["answer"], values).codes.astype(np.int64),
        values,
    )
    return answers, people


def _labels(answers: Answers, random_state: int) -> pd.DataFrame:
    """Krippendorff's α of each value against all others."""
    rows = []
    for place, name in enumerate(answers.names):
        table = agreement_table(answers.against(place), random_state=random_state).iloc[0]
        rows.append((name, table["value"], table["low"], table["high"], int((answers.value == place).sum())))
    return pd.DataFrame(rows, columns=["label", "value", "low", "high", "n"])


def _named(pairs: pd.DataFrame, people: list[str]) -> pd.DataFrame:
    names = np.array(people, dtype=object)
    return pairs.assign(first=names[pairs["first"].astype(int)], second=names[pairs["second"].astype(int)])


def _people(ordered: pd.DataFrame, last: pd.DataFrame, agreed: "pd.Series[float]") -> pd.DataFrame:
    """How often each person answers as the majority of the others, again as before, and late as early."""
    before = ordered.groupby(["who", "question"])["answer"].shift()
    repeated = ordered["answer"].eq(before).astype(float)
    is_repeat = ordered.duplicated(["who", "question"])
    rows = []
    for who, own in last.groupby("who", sort=True):
        shared = agreed.loc[own.index].dropna()
        again = repeated[is_repeat & (ordered["who"] == who)]
        share = _share(shared)
        at = own.loc[shared.index, "at"].to_numpy()
        half = len(at) // 2
        # The order of a file is no time, and neither is the one moment in which a file was read.
        known = (at != "").all() and half > 0 and at[half - 1] != at[half]
        drift = _drift(shared) if known else (float("nan"),) * 3
        rows.append((who, len(own), *share, len(shared), *_share(again), len(again), *drift))
    names = ["annotator_id", "n_answers", "agreement", "low", "high", "n_shared"]
    names += ["same_again", "again_low", "again_high", "n_again", "drift", "drift_low", "drift_high"]
    return pd.DataFrame(rows, columns=names)


def majority_agreement(table: pd.DataFrame) -> "pd.Series[float]":
    """1 where an answer is the majority of the others on its question, ½ where it ties, 0 elsewhere; NaN alone."""
    counts = table.groupby(["question", "answer"])["who"].transform("size") - 1
    asked = table.groupby("question")["who"].transform("size") - 1
    tally = table.groupby(["question", "answer"]).size().rename("n").reset_index()
    tally = tally.sort_values(["question", "n"], ascending=[True, False])
    first = tally.groupby("question")["n"].first()
    second = tally.groupby("question")["n"].nth(1)
    second = pd.Series(second.to_numpy(), index=tally.loc[second.index, "question"]).reindex(first.index).fillna(0)
    top, runner = table["question"].map(first), table["question"].map(second)
    # The best any other answer got: the runner-up where the person's answer leads, else the leader.
    rival = runner.where(counts + 1 == top, top)
    share = pd.Series(np.select([counts > rival, counts == rival], [1.0, 0.5], 0.0), index=table.index)
    return share.where(asked > 0)


def _share(hits: "pd.Series[float]") -> tuple[float, float, float]:
    if not len(hits):
        return float("nan"), float("nan"), float("nan")
    share = float(hits.mean())
    return (share, *wilson(share, len(hits)))


def _drift(shared: "pd.Series[float]") -> tuple[float, float, float]:
    """Agreement in the later half of a person's answers less that in the earlier half (Newcombe's interval)."""
    half = len(shared) // 2
    if half < 5:
        return float("nan"), float("nan"), float("nan")
    early, late = _share(shared.iloc[:half]), _share(shared.iloc[half:])
    down = np.hypot(late[0] - late[1], early[2] - early[0])
    up = np.hypot(late[2] - late[0], early[0] - early[1])
    difference = late[0] - early[0]
    return difference, float(difference - down), float(difference + up)
