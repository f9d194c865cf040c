"""Say how large a share, a mean, a win rate or a difference of ranks is, from few people and many judges."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from accord.data.project import Project
from accord.engines.numerics import sigmoid
from accord.errors import InputError
from accord.evaluation.estimation import FEWEST, Estimate, estimate_covered, estimate_mean
from accord.pairs.bradley_terry import bradley_terry
from accord.typing import FloatArray

__all__ = ["Figure", "estimate"]

_COVERED = "People answered every one of these questions, so that judges add nothing."
_ELSEWHERE = "Judges answered none of these questions; what they say of other pairs of these texts is counted."


@dataclass(frozen=True)
class Figure:
    """One figure about people's answers."""

    what: str
    estimate: Estimate
    level: float
    notes: tuple[str, ...]
    n_answers: int  # of people
    n_asked: int  # questions that people answered
    n_judged: int  # questions that judges answered
    n_questions: int

    @property
    def sentences(self) -> list[str]:
        """The figure in words."""
        found, sure = self.estimate, f"{100 * self.level:.0f} %"
        judges = f" and of judges to {self.n_judged:,} of them" if self.n_judged else ""
        sentences = [
            f"{self.what}: {found.value:.3g}, with {sure} confidence {found.low:.3g} to {found.high:.3g}, from "
            f"{self.n_answers:,} answers of people to {self.n_asked:,} of {self.n_questions:,} questions{judges}."
        ]
        if self.n_judged and not self.is_covered:
            sentences.append(
                f"From people alone it is {found.people:.3g}, {found.people_low:.3g} to {found.people_high:.3g}; "
                f"judges are worth {100 * max(found.gain, 0.0):.0f} % more answers of people."
            )
        return [*sentences, *self.notes]

    @property
    def is_covered(self) -> bool:
        """Whether people's answers to every question were counted, and nothing else."""
        return _COVERED in self.notes


def estimate(
    project: Project,
    *,
    share: str | None = None,
    mean: str | None = None,
    wins: str | None = None,
    ranks: tuple[str, str] | None = None,
    level: float = 0.95,
) -> Figure:
    """Estimate one figure with an interval that holds whatever the judges' biases are.

    Parameters
    ----------
    project : Project
        With answers of people, and of judges to most of the same questions.
    share : str, optional
        The share of texts that people give this label.
    mean : str, optional
        The mean of people's scores of this aspect.
    wins : str, optional
        In which share of votes people prefer this text to another of its group.
    ranks : (str, str), optional
        By how many places the first text stands below the second, where the rank of a text is one more than the votes
        it would lose against each other text of its group.
    level : float
        Confidence of the intervals.
    """
    wanted = [name for name, value in (("share", share), ("mean", mean), ("wins", wins), ("ranks", ranks)) if value]
    if len(wanted) != 1:
        raise InputError("an estimate is of one figure: a share, a mean, wins or ranks. Name one of them.")
    if not 0.5 <= level < 1.0:
        raise InputError(f"the confidence of an interval is between 0.5 and 1; got {level}.")
    rows = project.frames()["judgements"]
    rows = rows[(rows["status"].isna() | (rows["status"] == "done")) & rows["value"].notna()]
    rows = rows.assign(judge=rows["annotator_id"].isin(project.judges()["annotator_id"]))
    if share is not None:
        rows = rows[rows["kind"] == "label"]
        if share not in set(rows["value"]):
            raise InputError(f"nobody gave the label {share!r}; there are: {', '.join(sorted(set(rows['value'])))}.")
        rows = rows.assign(answer=(rows["value"] == share).astype(np.float64))
        return _of_texts(project, rows, f"share of {share!r}", level, (0.0, 1.0))
    if mean is not None:
        rows = rows[(rows["kind"] == "score") & (rows["aspect"] == mean)]
        if rows.empty:
            raise InputError(f"nobody scored the aspect {mean!r}. Name one that was.")
        rows = rows.assign(answer=rows["value"].astype(np.float64))
        return _of_texts(project, rows, f"mean of {mean}", level, (-np.inf, np.inf))
    rows = rows[rows["kind"] == "pair"]
    rows = rows.assign(answer=rows["value"].astype(np.float64))
    if wins is not None:
        return _of_pairs(project, rows, {wins: 1.0}, f"win rate of {wins}", level)
    assert ranks is not None  # the one that is left
    first, second = ranks
    if first == second:
        raise InputError(f"a difference of ranks is of two texts; both are {first!r}.")
    return _of_pairs(project, rows, {first: 1.0, second: -1.0}, f"rank of {first} minus rank of {second}", level)


def _of_texts(project: Project, rows: pd.DataFrame, what: str, level: float, bounds: tuple[float, float]) -> Figure:
    """A mean over the texts of a project."""
    items = project.frames()["items"]
    ids = items.loc[items["item_id"] != items["group_id"], "item_id"]
    place = pd.Series(np.arange(len(ids)), index=ids.to_numpy())
    rows = rows[rows["item_id"].isin(place.index)]
    rows = rows.assign(unit=place[rows["item_id"]].to_numpy())
    judged = np.full(len(ids), np.nan)
    said = rows[rows["judge"]].groupby("unit")["answer"].mean()
    judged[said.index.to_numpy()] = said.to_numpy()
    people = rows[~rows["judge"]]
    unit, answer, propensity, notes = _asked(people)
    # The studio asks about a text that was never judged as long as there is one.
    anew = propensity is None or len(np.unique(unit)) < len(unit)
    found = estimate_mean(judged, unit, answer, propensity, anew=anew, level=level, bounds=bounds)
    return Figure(what, found, level, notes, len(people), people["unit"].nunique(), len(said), len(ids))


def _asked(people: pd.DataFrame) -> tuple[Any, Any, Any, tuple[str, ...]]:
    """People's answers as draws of units, with the probabilities of the draws where all are known."""
    if len(people) and people["propensity"].notna().all():
        columns = [people[name].to_numpy() for name in ("unit", "answer", "propensity")]
        return columns[0].astype(np.int64), columns[1], columns[2], ()
    mean = people.groupby("unit")["answer"].mean()
    if len(people) >= FEWEST > len(mean):
        raise InputError(
            f"an estimate needs people's answers to at least {FEWEST} questions; their {len(people):,} answers are to "
            f"{len(mean)}. Ask about others."
        )
    note = "It is taken that people were asked about questions drawn at random, because no propensities are stored."
    return mean.index.to_numpy(np.int64), mean.to_numpy(np.float64), None, (note,)


def _of_pairs(project: Project, rows: pd.DataFrame, texts: dict[str, float], what: str, level: float) -> Figure:
    """A sum over the pairs of some texts with all others of their group; the other text's win counts for a rank."""
    items = project.items()
    places = items.positions(list(texts), what="text")
    groups = items.groups
    if groups is not None and len({groups[place] for place in places}) > 1:
        raise InputError("ranks are compared inside one group; these two texts are of different ones.")
    inside = np.arange(items.n_items) if groups is None else np.flatnonzero(groups == groups[places[0]])
    ranks = len(texts) == 2
    load: dict[tuple[int, int], float] = {}
    constant = 0.0
    for text, sign in zip(places.tolist(), texts.values(), strict=True):
        for other in inside.tolist():
            if other == text:
                continue
            key, turn = ((text, other), 1.0) if text < other else ((other, text), -1.0)
            # y is the chance that the first of the key wins; a rank counts losses, a win rate wins
            weight = -sign if ranks else sign / (inside.size - 1)
            load[key] = load.get(key, 0.0) + weight * turn
            constant += (sign if ranks else 0.0) if turn > 0 else (0.0 if ranks else weight)
    keys = list(load)
    unit_of = {key: place for place, key in enumerate(keys)}
    left, right = (items.positions(rows[name].to_numpy(object)) for name in ("item_id", "other_id"))
    swap = left > right
    low, high = np.where(swap, right, left), np.where(swap, left, right)
    answer = np.where(swap, 1.0 - rows["answer"].to_numpy(), rows["answer"].to_numpy())
    unit = [unit_of.get(key, len(keys)) for key in zip(low.tolist(), high.tolist(), strict=True)]
    rows = rows.assign(answer=answer, unit=unit, low=low, high=high)
    by_judges = rows[rows["judge"]]
    judged, loads = _judged(by_judges, keys, items.n_items), np.array([load[key] for key in keys])
    people = rows[~rows["judge"]]
    own = people[people["unit"] < len(keys)]
    n_judged = len(set(by_judges["unit"]) - {len(keys)})
    counts = (len(own), own["unit"].nunique(), n_judged, len(keys))
    bounds = (-np.inf, np.inf) if ranks else (0.0, 1.0)
    drawn = len(people) > 0 and people["propensity"].notna().all()
    if not drawn and own["unit"].nunique() == len(keys):
        found = estimate_covered(own["unit"].to_numpy(np.int64), own["answer"].to_numpy(), loads, level=level)
        said = (_COVERED,) if n_judged else ()
        return Figure(what, _moved(found, constant, bounds), level, said, *counts)
    if drawn:  # every draw counts, also those of other pairs
        judged, loads = np.append(judged, 0.5), np.append(loads, 0.0)
    asked, answers, propensity, notes = _asked(people if drawn else own)
    # An even vote is the middle, whichever text of a pair is named first.
    found = estimate_mean(judged - 0.5, asked, answers - 0.5, propensity, load=loads, level=level)
    constant += 0.5 * float(loads.sum())
    if len(by_judges) and not n_judged:
        notes = (*notes, _ELSEWHERE)
    return Figure(what, _moved(found, constant, bounds), level, notes, *counts)


def _judged(rows: pd.DataFrame, keys: list[tuple[int, int]], n_items: int) -> FloatArray:
    """What judges expect of each pair, also of those they were not asked about: by Bradley–Terry on their votes."""
    if rows.empty:
        return np.full(len(keys), 0.5)
    columns = (rows[name].to_numpy() for name in ("low", "high", "answer"))
    scores = bradley_terry(*columns, n_items=n_items, rng=np.random.default_rng(0)).mean
    first, second = np.array(keys).T
    return sigmoid(scores[first] - scores[second])


def _moved(found: Estimate, constant: float, bounds: tuple[float, float]) -> Estimate:
    names = ("value", "low", "high", "people", "people_low", "people_high")
    moved = {name: float(np.clip(getattr(found, name) + constant, *bounds)) for name in names}
    return Estimate(**moved, n_people=found.n_people, n_units=found.n_units, power=found.power)
