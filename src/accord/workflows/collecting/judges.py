"""What the studio shows of judges: how they answer beside people, their biases, and how many answers are theirs."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from accord.data.project import Project
from accord.data.tables import plain
from accord.errors import InputError
from accord.pairs.judges import AnchoredRanker, slope_sentence
from accord.workflows.agree import agree_judges
from accord.workflows.agree_spans import judged_highlights
from accord.workflows.judged import doubtful, judge_names, judged, judged_votes

__all__ = ["judge_reasons", "judge_summary"]

# Biases of judges of pairs are drawn anew with every refit, which has to stay quick.
_MOST_VOTES, _DRAWS, _BURN_IN = 6_000, 400, 200
_SHARED = 0.6  # probability that people share the view of judges, below which they are asked


def judge_summary(project: Project) -> dict[str, Any] | None:
    """What is known of the judges of a project, for its page of people; ``None`` where there are none.

    ``doubtful`` are questions that no person answered and on which what judges say is not to be relied on.
    """
    families = judge_names(project)
    frame = project.answered()
    is_judge = frame["annotator_id"].isin(families)
    if not is_judge.any():
        return None
    found: dict[str, Any] = {"n_people": int((~is_judge).sum()), "n_judges": int(is_judge.sum()), "notes": []}
    found["doubtful"] = [] if project.kind == "pairs" else doubtful(project)
    if project.kind == "pairs":
        found |= _of_pairs(project, families)
    found["steady"] = [
        {"what": one.what, **row}
        for one in agree_judges(project, pairs=False)
        for row in _records(one.judges)
        if row["n_again"] or row["drift"] is not None
    ]
    marks = judged_highlights(project, families)
    found["marks"] = [] if marks is None else _records(marks)
    parts = judged(project)
    if parts:
        found["tables"] = [
            {
                "what": one.what,
                "used": one.used,
                "n_added": one.n_added,
                "judges": _records(one.judges),
                "confusion": _records(one.confusion) if one.what == "labels" else [],
            }
            for one in parts
        ]
    return found


def _of_pairs(project: Project, families: Mapping[str, str]) -> dict[str, Any]:
    votes = project.comparisons()
    if votes.n_votes > _MOST_VOTES:
        return {"notes": [f"Biases are shown of up to {_MOST_VOTES:,} votes; for more use 'accord rank'."]}
    table = votes.to_table()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            ranker = _fitted(project)
        except InputError as error:
            return {"notes": [str(error)]}
    slopes = [slope_sentence(*row) for row in ranker.slopes_.itertuples(index=False, name=None)]
    notes = [str(warning.message) for warning in caught]
    unsure = _doubtful_pairs(ranker, table, set(families))
    beside = judged_votes(project)
    agreed = {} if beside is None else {row["annotator"]: row for row in _records(beside)}
    names = ("agreement", "low", "high", "n_shared")
    judges = [
        {**row, **{name: agreed.get(row["annotator"], {}).get(name) for name in names}}
        for row in _records(ranker.judges_)
    ]
    return {"pairs": judges, "slopes": slopes, "notes": notes, "doubtful": unsure}


def _fitted(project: Project) -> AnchoredRanker:
    votes = project.comparisons()
    table = votes.to_table()
    return AnchoredRanker(n_draws=_DRAWS, burn_in=_BURN_IN).fit(
        *votes.xy(),
        items=votes.items,
        annotator=table["annotator_id"].to_numpy(),
        judges=project.judges(),
        sample_weight=table.get("weight"),
        shown_left=table.get("shown_left_id"),
    )


def judge_reasons(project: Project, item: str) -> pd.DataFrame | None:
    """What of a text judges like or dislike beside what people see; None where that cannot be learnt.

    It cannot without votes of judges, with very many votes, or with votes that do not count whole.

    ``annotator, covariate, effect, low, high``; see :meth:`~accord.pairs.judges.AnchoredRanker.explain`.
    """
    if project.kind != "pairs" or project.counts["judgements"] > _MOST_VOTES:
        return None
    if not project.answered()["annotator_id"].isin(judge_names(project)).any():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _fitted(project).explain(item)
        except InputError:  # what the model says of the text stands without it
            return None


def _doubtful_pairs(ranker: AnchoredRanker, table: pd.DataFrame, judges: set[str]) -> list[tuple[str, ...]]:
    """Pairs that judges alone voted on and where people are expected not to share their view, those first."""
    first, second = table["left"].astype(str), table["right"].astype(str)
    swap = first > second
    votes = pd.DataFrame({
        "left": first.mask(swap, second), "right": second.mask(swap, first),
        "value": table["value"].mask(swap, 1.0 - table["value"]), "judged": table["annotator_id"].isin(judges),
    }).groupby(["left", "right"], as_index=False).agg({"value": "mean", "judged": "min"})  # fmt: skip
    votes = votes[votes["judged"].astype(bool) & (votes["value"] != 0.5)]
    if votes.empty:
        return []
    p = ranker.predict_proba(votes[["left", "right"]])[:, 1]
    shared = np.where(votes["value"] > 0.5, p, 1.0 - p)  # that a person votes as most judges do
    order = np.argsort(shared, kind="stable")
    pairs = votes[["left", "right"]].to_numpy()
    return [(str(pairs[k][0]), str(pairs[k][1])) for k in order if shared[k] < _SHARED]


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): plain(value) for name, value in row.items()} for row in table.to_dict("records")]
