"""People: how each annotator judges, from the judgements alone."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from accord.data.project import Project
from accord.evaluation.agreement import wilson
from accord.workflows.collecting.quality import ADJUDICATION

__all__ = ["Annotator", "annotators", "with_others"]

_FAST_MS = 700.0


@dataclass(frozen=True)
class Annotator:
    """What the answers of one person show.

    ``agreement`` is the share of their answers that equal the majority of the others on the same question, where
    others answered it; ``low`` and ``high`` bound it with 95 % (Wilson). ``left_share`` is the share of decided votes
    that went to the text shown left. Each is ``None`` where nothing can be said.
    """

    name: str
    n_answers: int
    n_shared: int
    agreement: float | None
    low: float | None
    high: float | None
    n_sided: int
    left_share: float | None
    left_low: float | None
    left_high: float | None
    median_ms: float | None
    fast_share: float | None


def annotators(project: Project) -> list[Annotator]:
    """Everybody who judged, most answers first; an owner who settles a disagreement is not one who judges."""
    frame = project.frames()["judgements"]
    frame = frame[frame["kind"].isin(["pair", "label", "score"]) & frame["annotator_id"].notna()]
    frame = frame[frame["value"].notna() & (frame["source"] != ADJUDICATION)].copy()
    if frame.empty:
        return []
    # A pair means the same whichever text is named first: order the two ids and turn the vote with them.
    swap = (frame["kind"] == "pair") & (frame["item_id"] > frame["other_id"].fillna(""))
    numeric = pd.to_numeric(frame["value"], errors="coerce")
    answer = frame["value"].astype(str).mask(frame["kind"] == "pair", numeric.map("{:g}".format))
    answer = answer.mask(swap, (1.0 - numeric).map("{:g}".format))
    first = frame["item_id"].mask(swap, frame["other_id"])
    second = frame["other_id"].fillna("").mask(swap, frame["item_id"])
    key = first + "\0" + second + "\0" + frame["aspect"].fillna("")
    table = pd.DataFrame({"who": frame["annotator_id"], "key": key, "answer": answer})
    table = table.drop_duplicates(["who", "key"], keep="last")
    agreed = with_others(table)
    left_won = _left_won(frame, numeric)
    times = pd.to_numeric(frame["response_ms"], errors="coerce")
    out = []
    once = ["item_id", "other_id", "created_at"]  # the rows of one answer about several aspects, or of several labels
    for who, rows in frame.groupby("annotator_id", sort=True):
        shared = agreed[table["who"] == who].dropna()
        sided = left_won.loc[rows.index].dropna()
        answers = rows.drop_duplicates(once)
        took = times.loc[answers.index].dropna()
        share = float(shared.mean()) if len(shared) else None
        left = float(sided.mean()) if len(sided) else None
        low, high = (None, None) if share is None else wilson(share, len(shared))
        left_low, left_high = (None, None) if left is None else wilson(left, len(sided))
        out.append(
            Annotator(
                name=str(who), n_answers=len(answers), n_shared=len(shared), agreement=share,
                low=low, high=high, n_sided=len(sided), left_share=left, left_low=left_low, left_high=left_high,
                median_ms=float(took.median()) if len(took) else None,
                fast_share=float((took < _FAST_MS).mean()) if len(took) else None,
            )
        )  # fmt: skip
    return sorted(out, key=lambda person: (-person.n_answers, person.name))


def with_others(table: pd.DataFrame) -> "pd.Series[float]":
    """1 where a row's answer is the majority of the others on its question, ½ where it ties, 0 elsewhere; NaN alone.

    The table has ``who``, ``key`` (the question) and ``answer``, one row a person and question.
    """
    counts = table.groupby(["key", "answer"])["who"].transform("size") - 1
    asked = table.groupby("key")["who"].transform("size") - 1
    tally = table.groupby(["key", "answer"]).size().rename("n").reset_index()
    tally = tally.sort_values(["key", "n"], ascending=[True, False])
    top = tally.groupby("key")["n"].agg(first="first", second=lambda n: n.iloc[1] if len(n) > 1 else 0)
    own = counts + 1
    first, second = table["key"].map(top["first"]), table["key"].map(top["second"])
    # The best any other answer got: the runner-up where the person's answer leads, else the leader.
    rival = second.where(own == first, first)
    share = pd.Series(np.select([counts > rival, counts == rival], [1.0, 0.5], 0.0), index=table.index)
    return share.where(asked > 0)


def _left_won(frame: pd.DataFrame, value: "pd.Series[float]") -> "pd.Series[float]":
    """1 where the text shown left won, 0 where the other did; NaN for undecided votes and unknown order."""
    shown = frame["shown_left_id"].fillna("")
    won = value.where(shown == frame["item_id"], 1.0 - value)
    known = (frame["kind"] == "pair") & ((shown == frame["item_id"]) | (shown == frame["other_id"])) & (value != 0.5)
    return won.where(known)
