"""Agreement about highlights: how much of the same words people mark, and judges beside them.

Every stretch of a text that somebody marks or does not mark is a question, and counts by its length, so that α is that
of marked and unmarked characters ([KMRB16], |uα). Who marked nothing in a text has read it if a span without start and
end says so.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from accord.data.project import Project
from accord.evaluation.agreement import Answers, agreement_table
from accord.typing import BoolArray

__all__ = ["Highlights", "highlights", "judged_highlights"]

_COLUMNS = ["annotator_id", "n_answers", "agreement", "low", "high", "n_shared"]


@dataclass(frozen=True, eq=False)
class Highlights:
    """How much people agree about highlights; ``agreement`` of a person is α with all others."""

    measures: pd.DataFrame  # measure, value, low, high, n: n is the number of texts that two or more people read
    labels: pd.DataFrame  # label, value, low, high, n: α of the marks of each label
    people: pd.DataFrame  # annotator_id, n_answers, agreement, low, high, n_shared


@dataclass(frozen=True, eq=False)
class _Marks:
    """Who marked which stretches of which texts, one row a stretch and a reader."""

    stretch: pd.Series  # places among the stretches
    who: pd.Series
    value: BoolArray
    text: np.ndarray  # of each stretch
    length: np.ndarray  # of each stretch

    def answers(self, rows: BoolArray) -> Answers:
        """Some of the marks as answers."""
        who = pd.factorize(self.who[rows])[0]
        value = self.value[rows].astype(np.int64)
        stretch = self.stretch[rows].to_numpy()
        return Answers(stretch, who, value, ["not marked", "marked"], self.text, self.length.astype(np.float64))

    def n_texts(self, rows: BoolArray) -> int:
        return int(pd.unique(self.text[self.stretch[rows].to_numpy()]).size)


def highlights(project: Project) -> Highlights | None:
    """The agreement about highlights; None where nobody highlighted, or no text was read by two people."""
    spans = _spans(project)
    marks = _marks(project, spans)
    if marks is None:
        return None
    everything = np.ones(len(marks.who), dtype=bool)
    measures = agreement_table(marks.answers(everything))
    measures = measures[measures["measure"] != "Fleiss's κ"].assign(n=marks.n_texts(everything))
    read = spans.groupby("annotator_id", observed=True)["item_id"].nunique()
    people = [
        (name, int(n), *_with_others(marks, name, set(marks.who) - {name}))
        for name, n in sorted(zip(map(str, read.index), read, strict=True))
    ]
    return Highlights(measures, _by_label(project, spans), pd.DataFrame(people, columns=_COLUMNS))


def judged_highlights(project: Project, judges: Collection[str]) -> pd.DataFrame | None:
    """α of each judge's highlights with those of people on the same texts, and how much of these each of them marks.

    Columns ``annotator, n_answers, agreement, low, high, n_shared, marked, people_marked``; None without such judges.
    """
    spans = _spans(project)
    own = [name for name in sorted(set(spans["annotator_id"])) if name in judges]
    people = set(spans["annotator_id"]) - set(own)
    if not own or not people:
        return None
    marks = _marks(project, spans)
    read = spans.groupby("annotator_id", observed=True)["item_id"].nunique()
    rows = []
    for name in own:
        figures = (np.nan, np.nan, np.nan, 0) if marks is None else _with_others(marks, name, people)
        shares = (np.nan, np.nan) if marks is None or not figures[3] else _marked(marks, name, people)
        rows.append((name, int(read[name]), *figures, *shares))
    columns = ["annotator", *_COLUMNS[1:], "marked", "people_marked"]
    return pd.DataFrame(rows, columns=columns)


def _spans(project: Project) -> pd.DataFrame:
    frame = project.answered()
    spans = frame[(frame["kind"] == "span") & frame["annotator_id"].notna()]
    return spans.assign(annotator_id=spans["annotator_id"].astype(str), item_id=spans["item_id"].astype(str))


def _by_label(project: Project, spans: pd.DataFrame) -> pd.DataFrame:
    """α of the marks of each label, where there are several; the same people read all of them."""
    rows = []
    labels = sorted(set(spans["value"].dropna().astype(str)))
    for label in labels if len(labels) > 1 else []:
        kept = (spans["value"].astype(str) == label) | spans["start"].isna()
        marks = _marks(project, spans, marked=kept.to_numpy())
        if marks is not None:
            table = agreement_table(marks.answers(np.ones(len(marks.who), dtype=bool))).iloc[0]
            n = int((kept & spans["start"].notna()).sum())
            rows.append((label, table["value"], table["low"], table["high"], n))
    return pd.DataFrame(rows, columns=["label", "value", "low", "high", "n"])


def _marks(project: Project, spans: pd.DataFrame, marked: BoolArray | None = None) -> _Marks | None:
    """The marks of texts that two or more read; with ``marked`` only those spans are marks, and all say who read."""
    items = project.items()
    if spans.empty or items.texts is None:
        return None
    readers = {str(item): sorted(set(names)) for item, names in spans.groupby("item_id")["annotator_id"]}
    own = spans if marked is None else spans[marked]
    own = own[own["start"].notna()]
    given = {str(item): rows for item, rows in own.groupby("item_id")}
    stretches: list[tuple[int, int]] = []
    rows: list[tuple[int, str, bool]] = []
    for place, (item, text) in enumerate(zip(items.ids, items.texts, strict=True)):
        names = readers.get(str(item), [])
        if len(names) < 2:
            continue
        for length, here in _cut(given.get(str(item)), len(str(text))):
            rows += [(len(stretches), name, name in here) for name in names]
            stretches.append((place, length))
    if not rows:
        return None
    stretch, who, value = zip(*rows, strict=True)
    text, lengths = np.array(stretches, dtype=np.int64).T
    return _Marks(pd.Series(stretch), pd.Series(who, dtype=object), np.array(value, dtype=bool), text, lengths)


def _cut(spans: pd.DataFrame | None, size: int) -> Iterator[tuple[int, set[str]]]:
    """The stretches of one text: the length of each, and who marked it."""
    starts, ends, names = (
        ([], [], [])
        if spans is None
        else (spans["start"].astype(int).tolist(), spans["end"].astype(int).tolist(), spans["annotator_id"].tolist())
    )
    for first, last in pairwise(sorted({0, size, *starts, *ends})):
        yield last - first, {who for a, b, who in zip(starts, ends, names, strict=True) if a <= first and last <= b}


def _with_others(marks: _Marks, name: str, others: Collection[str]) -> tuple[float, float, float, int]:
    """α over all pairs of one annotator with another on the same text, its interval and the number of texts."""
    own = (marks.who == name).to_numpy()
    mine = pd.DataFrame({"stretch": marks.stretch[own], "own": marks.value[own]})
    rest = marks.who.isin(others).to_numpy()
    theirs = pd.DataFrame({"stretch": marks.stretch[rest], "other": marks.value[rest]})
    both = mine.merge(theirs, on="stretch")
    if both.empty:
        return np.nan, np.nan, np.nan, 0
    n, place = len(both), both["stretch"].to_numpy()
    value = np.concatenate([both["own"], both["other"]]).astype(np.int64)
    answers = Answers(
        np.tile(np.arange(n), 2), np.repeat([0, 1], n), value, ["not marked", "marked"], marks.text[place],
        marks.length[place].astype(np.float64),
    )  # fmt: skip
    row = agreement_table(answers).iloc[0]
    return float(row["value"]), float(row["low"]), float(row["high"]), int(pd.unique(marks.text[place]).size)


def _marked(marks: _Marks, name: str, people: Collection[str]) -> tuple[float, float]:
    """The share of characters that an annotator marks, and that people mark of the same texts."""
    text = pd.Series(marks.text[marks.stretch.to_numpy()])
    read = {who: set(text[(marks.who == who).to_numpy()]) for who in (name, *people)}
    shared = read[name] & set().union(*(read[who] for who in people))
    length = marks.length[marks.stretch.to_numpy()].astype(np.float64)
    shares = []
    for who in ({name}, set(people)):
        rows = (marks.who.isin(who) & text.isin(shared)).to_numpy()
        shares.append(float(length[rows] @ marks.value[rows] / length[rows].sum()))
    return shares[0], shares[1]
