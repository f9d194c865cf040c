"""Votes of people and judges before they are learnt from: whole votes, families, copies, and what is odd about them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from accord.data.pairs import Comparisons
from accord.data.tables import as_frame, require_columns
from accord.errors import InputError
from accord.pairs.anchored import JudgedVotes
from accord.pairs.style import Covariates

__all__ = ["families_of", "judged_votes", "odd_judges", "one_sided", "repeated_votes", "without_copies"]

# Answers from which two judges that never differ are taken for copies, and one that never changes for a machine
# without chance: honest votes agree that often by chance only where every pair is easy.
_LEAST_ALIKE = 30


def repeated_votes(votes: Comparisons) -> Comparisons:
    """Each vote as often as its weight says."""
    if votes.weight is None:
        return votes
    weight = votes.weight.astype(np.float64)
    if (weight != np.round(weight)).any():
        row = int(np.argmax(weight != np.round(weight)))
        raise InputError(
            f"a ranking with judges counts whole votes; vote {row + 1} has the weight {weight[row]:g}. Leave the "
            "weights out, or rank without judges."
        )
    return votes.subset(np.repeat(np.arange(votes.n_votes), weight.astype(np.int64)))


def families_of(judges: Any, votes: Comparisons) -> dict[str, str]:
    """The family of each judge that voted."""
    frame = as_frame(judges)
    require_columns(frame, ["annotator_id"], what="judges")
    family = frame["family"] if "family" in frame else frame["annotator_id"]
    named = {
        str(name): str(name) if pd.isna(kin) else str(kin)
        for name, kin in zip(frame["annotator_id"], family, strict=True)
    }
    voted = set() if votes.annotators is None else set(votes.annotators)
    return {name: kin for name, kin in named.items() if name in voted}


def without_copies(votes: Comparisons, families: Mapping[str, str]) -> tuple[Comparisons, list[str]]:
    """The votes without those that only repeat other votes of judges, and what was left out in words.

    Votes are taken to be independent given what a judge sees. A judge that gives the very answers of another adds
    nothing, and neither does the same answer of a judge to the same question again if it never changes its mind. Where
    every vote of a judge is there twice, or k times, its rows were written k times.
    """
    if votes.annotators is None or votes.annotator is None or not families:
        return votes, []
    judge = np.array([str(name) in families for name in votes.annotators] + [False])[votes.annotator]
    swap = votes.left > votes.right
    frame = pd.DataFrame({
        "row": np.arange(votes.n_votes), "who": votes.annotator,
        "pair": np.where(swap, votes.right, votes.left) * votes.items.n_items + np.where(swap, votes.left, votes.right),
        "side": 0 if votes.shown is None else np.where(swap, -votes.shown, votes.shown),
        "value": np.where(swap, 1.0 - votes.value, votes.value),
    })[judge]  # fmt: skip
    dropped, notes = [], []
    repeats = frame.groupby(["who", "pair", "side"])["value"].agg(["size", "nunique"]).reset_index()
    for who in np.unique(repeats["who"].to_numpy(np.int64)).tolist():
        own = repeats[repeats["who"] == who]
        n = int((own["size"] - 1).sum())
        if n >= _LEAST_ALIKE and (own["nunique"] == 1).all():
            mine = frame[frame["who"] == who]
            dropped.append(mine.loc[mine.duplicated(["pair", "side"]), "row"].to_numpy())
            notes.append(
                f"{votes.annotators[who]} was asked {n:,} times again and always answered alike: each of its answers "
                "counts once."
            )
    cells = frame.groupby(["who", "pair", "side", "value"])["row"].agg(list).reset_index()
    for who in np.unique(cells["who"].to_numpy(np.int64)).tolist():
        own = cells[cells["who"] == who]
        k = int(np.gcd.reduce(own["row"].map(len).to_numpy()))
        if k > 1 and len(own) >= _LEAST_ALIKE and not (repeats.loc[repeats["who"] == who, "nunique"] == 1).all():
            dropped.append(np.concatenate([rows[: len(rows) - len(rows) // k] for rows in own["row"]]))
            notes.append(
                f"every vote of {votes.annotators[who]} is there {k} times, or a multiple of it, as if its rows were "
                f"written {k} times: they count once."
            )
    said = frame.groupby(["who", "pair"], as_index=False)["value"].mean()
    answer = said.groupby(["pair", "value"]).ngroup().to_numpy()
    codes, names = pd.factorize(said["who"], sort=True)
    ones = np.ones(len(said))
    alike = csr_array((ones, (codes, answer)), shape=(names.size, answer.max(initial=0) + 1))
    asked = csr_array((ones, (codes, pd.factorize(said["pair"])[0])))
    shared = (asked @ asked.T).tocoo()
    same = (alike @ alike.T).tocsr()
    copies: set[int] = set()
    for one, other, n in sorted(zip(shared.row.tolist(), shared.col.tolist(), shared.data.tolist(), strict=True)):
        if one < other and not {one, other} & copies and n >= _LEAST_ALIKE and same[one, other] == n:
            first, second = (one, other) if (codes == one).sum() >= (codes == other).sum() else (other, one)
            copies.add(second)
            rows = frame[frame["who"] == names[second]]
            shares = set(said.loc[codes == first, "pair"])
            dropped.append(rows.loc[rows["pair"].isin(shares), "row"].to_numpy())
            notes.append(
                f"{votes.annotators[names[second]]} gives the answer of {votes.annotators[names[first]]} to every one "
                f"of {int(n):,} pairs that both judged: these answers count once."
            )
    if not dropped:
        return votes, []
    left = votes.subset(np.setdiff1d(np.arange(votes.n_votes), np.concatenate(dropped)))
    table = left.to_table()  # anew, so that a judge of whom nothing is left is no annotator
    again = Comparisons.from_xy(
        *left.xy(), left.items, annotator=table["annotator_id"], shown_left=table.get("shown_left_id")
    )
    return again, notes


def odd_judges(record: JudgedVotes, judges: Sequence[str]) -> list[str]:
    """Judges of which next to nothing can be learnt, in words."""
    by_people = np.zeros(record.n_items, dtype=bool)
    by_people[record.left[record.voter == 0]] = by_people[record.right[record.voter == 0]] = True
    notes = []
    for place, name in enumerate(judges):
        rows = record.voter == 1 + place
        if (record.value[rows] == 0.5).all():
            notes.append(f"every vote of {name} is a draw, which tells nothing about the order of the texts.")
        elif by_people.any() and not (by_people[record.left[rows]] | by_people[record.right[rows]]).any():
            notes.append(
                f"{name} and people voted on no text in common, so that nothing ties it to people. Ask people about "
                "some of its texts."
            )
    return notes


def one_sided(votes: Comparisons, judges: Sequence[str]) -> list[str]:
    """Judges that always choose the text that is named first, or second, where nobody says how texts were shown."""
    if votes.shown is not None or votes.annotators is None or votes.annotator is None:
        return []
    notes = []
    for name in judges:
        value = votes.value[votes.annotator == int(np.flatnonzero(votes.annotators == name)[0])]
        if value.size >= _LEAST_ALIKE and value[0] != 0.5 and (value == value[0]).all():
            place = "first" if value[0] == 1.0 else "second"
            notes.append(
                f"{name} chooses the text that is named {place} in all of its {value.size:,} votes. If that is how "
                "texts were shown, a column shown_left tells the position from the texts."
            )
    return notes


def judged_votes(
    votes: Comparisons, families: Mapping[str, str], covariates: Covariates
) -> tuple[JudgedVotes, list[str], list[str]]:
    """The votes as the sampler takes them, the people and the judges."""
    names = [] if votes.annotators is None else [str(name) for name in votes.annotators]
    judges, people = [name for name in names if name in families], [name for name in names if name not in families]
    place = {name: place for place, name in enumerate(judges)}
    who = np.array([1 + place[name] if name in place else 0 for name in names] + [0])
    place = {name: place for place, name in enumerate(people)}
    person = np.array([place.get(name, -1) for name in names] + [-1])
    annotator = np.full(votes.n_votes, -1) if votes.annotator is None else votes.annotator
    kin = {name: place for place, name in enumerate(dict.fromkeys(families[name] for name in judges))}
    record = JudgedVotes(
        votes.left.astype(np.int64),
        votes.right.astype(np.int64),
        votes.value.astype(np.float64),
        who[annotator],
        person[annotator],
        np.ascontiguousarray(covariates.values / covariates.units),
        np.array([name == "position" for name in covariates.names], dtype=bool),
        np.array([kin[families[name]] for name in judges], dtype=np.int64),
        votes.items.n_items,
        len(people),
    )
    return record, people, judges
