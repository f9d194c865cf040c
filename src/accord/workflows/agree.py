"""Say how much the people of a project agree, beyond chance and with intervals."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from accord.data.project import Project
from accord.errors import InputError
from accord.evaluation.agreement import Answers, Level, agreement_table, pairwise_kappas, wilson
from accord.workflows.judged import people_only

__all__ = ["Agreement", "agree", "answer_table"]


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
    spans = _span_answers(project)
    if spans is not None:
        found.append(spans)
    if not found:
        raise InputError(
            "agreement needs judgements whose annotator is known; this project has none. Import them with annotator_id."
        )
    return found


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
    level: Level = "ordinal" if what.startswith("score: ") else "nominal"
    ordered = rows.sort_values("at", kind="stable")
    last = ordered.drop_duplicates(["who", "question"], keep="last")
    values = sorted(map(str, last["answer"].unique()), key=float if level == "ordinal" else None)
    people = sorted(last["who"].unique())
    answers = Answers(
        pd.factorize(last["question"])[0],
        pd.Categorical(last["who"], people).codes.astype(np.int64),
        pd.Categorical(last["answer"], values).codes.astype(np.int64),
        values,
    )
    measures = agreement_table(answers, level=level, random_state=random_state)
    return Agreement(
        what,
        level,
        measures,
        _labels(answers, values, random_state),
        _people(ordered, last),
        _named(pairwise_kappas(answers, random_state=random_state), people),
    )


def _labels(answers: Answers, values: list[str], random_state: int) -> pd.DataFrame:
    """Krippendorff's α of each value against all others."""
    rows = []
    for place, name in enumerate(values):
        table = agreement_table(answers.against(place), random_state=random_state).iloc[0]
        rows.append((name, table["value"], table["low"], table["high"], int((answers.value == place).sum())))
    return pd.DataFrame(rows, columns=["label", "value", "low", "high", "n"])


def _named(pairs: pd.DataFrame, people: list[str]) -> pd.DataFrame:
    names = np.array(people, dtype=object)
    return pairs.assign(first=names[pairs["first"].astype(int)], second=names[pairs["second"].astype(int)])


def _people(ordered: pd.DataFrame, last: pd.DataFrame) -> pd.DataFrame:
    """How often each person answers as the majority of the others, again as before, and late as early."""
    agreed = majority_agreement(last)
    before = ordered.groupby(["who", "question"])["answer"].shift()
    repeated = ordered["answer"].eq(before).astype(float)
    is_repeat = ordered.duplicated(["who", "question"])
    rows = []
    for who, own in last.groupby("who", sort=True):
        shared = agreed.loc[own.index].dropna()
        again = repeated[is_repeat & (ordered["who"] == who)]
        share = _share(shared)
        known = (own["at"] != "").all()  # the order of a file is no time
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


def _span_answers(project: Project) -> Agreement | None:
    """Agreement about highlights: every stretch of a text that people mark or do not mark is a question.

    Stretches count by their length, so that α is that of marked and unmarked characters ([KMRB16], |uα). Who marked
    nothing in a text has read it if a span without start and end says so.
    """
    frame = project.answered()
    spans = frame[(frame["kind"] == "span") & frame["annotator_id"].notna()]
    items = project.items()
    if spans.empty or items.texts is None:
        return None
    readers = spans.groupby("item_id", observed=True)["annotator_id"].agg(lambda who: sorted(set(map(str, who))))
    people = sorted({who for names in readers for who in names})
    code = {name: place for place, name in enumerate(people)}
    marked = {
        str(item): list(
            zip(own["start"].astype(int), own["end"].astype(int), own["annotator_id"].astype(str), strict=True)
        )
        for item, own in spans[spans["start"].notna()].groupby("item_id", observed=True)
    }
    rows: list[tuple[int, int, int]] = []  # question, who, value
    stretches: list[tuple[int, int]] = []  # text, length
    for place, (item, text) in enumerate(zip(items.ids, items.texts, strict=True)):
        own, names = marked.get(str(item), []), readers.get(item, [])
        if len(names) < 2:
            continue
        cuts = sorted({0, len(str(text)), *(start for start, _, _ in own), *(end for _, end, _ in own)})
        for start, end in pairwise(cuts):
            here = {who for a, b, who in own if a <= start and end <= b}
            rows += [(len(stretches), code[name], int(name in here)) for name in names]
            stretches.append((place, end - start))
    if not stretches:
        return None
    question, who, value = np.array(rows, dtype=np.int64).T
    texts, lengths = np.array(stretches, dtype=np.int64).T
    answers = Answers(question, who, value, ["not marked", "marked"], texts, lengths.astype(np.float64))
    measures = agreement_table(answers)
    n = [len({text for text, names in readers.items() if name in names}) for name in people]
    nothing = pd.DataFrame(columns=["label", "value", "low", "high", "n"])
    return Agreement(
        "highlights",
        "nominal",
        measures[measures["measure"] != "Fleiss's κ"],
        nothing,
        pd.DataFrame({"annotator_id": people, "n_answers": n}),
        pd.DataFrame(),
    )
