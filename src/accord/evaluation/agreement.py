"""How much annotators agree beyond chance, and how sure that is.

Every measure is a function of sums over texts, so that its interval comes from drawing texts again (the bootstrap over
texts): annotators agree on some texts and not on others, and that is what another sample of texts would change. Where
they agree equally on all texts, fully for instance, every sample is the same, and drawing again would claim to be sure
after two texts. The interval is then the Wilson interval of the share of agreement, carried over to the measure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import cohen_kappa_score

from accord.errors import InputError
from accord.typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = [
    "Answers",
    "Estimate",
    "agreement_table",
    "cohen_kappa",
    "fleiss_kappa",
    "gwet_ac1",
    "krippendorff_alpha",
    "pairwise_kappas",
    "wilson",
]

Level = Literal["nominal", "ordinal", "interval"]
_RESAMPLES = 2000
_CELLS = 4_000_000  # numbers that one step of the bootstrap holds at once


class Estimate(NamedTuple):
    """A figure with its 95 % interval, and the number of texts or answers behind it; NaN where nothing can be said."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, eq=False)
class Answers:
    """Who answered which question how, as codes.

    Parameters
    ----------
    question, who, value : int array of shape (n_answers,)
        Codes from 0; one person answers one question once.
    names : sequence
        What the codes of values stand for, in their order where they have one.
    text : int array of shape (n_questions,), optional
        The text that each question belongs to, which is drawn again as a whole; by default each is its own.
    weight : float array of shape (n_questions,), optional
        How much of its text a question is, such as a length.
    """

    question: IntArray
    who: IntArray
    value: IntArray
    names: Sequence[Any]
    text: IntArray | None = None
    weight: FloatArray | None = None

    @property
    def n_questions(self) -> int:
        """How many questions there are, answered or not."""
        return len(self.text) if self.text is not None else int(self.question.max(initial=-1)) + 1

    def counts(self) -> FloatArray:
        """How often each value was given to each question, shape (n_questions, n_values)."""
        counts = np.zeros((self.n_questions, len(self.names)))
        np.add.at(counts, (self.question, self.value), 1.0)
        return counts

    def where(self, rows: BoolArray) -> "Answers":
        """Some of the answers."""
        return Answers(self.question[rows], self.who[rows], self.value[rows], self.names, self.text, self.weight)

    def against(self, place: int) -> "Answers":
        """The same answers as one value or any other."""
        same = (self.value == place).astype(np.int64)
        return Answers(self.question, self.who, same, (False, True), self.text, self.weight)


def cohen_kappa(first: AnyArray, second: AnyArray) -> float:
    """Cohen's κ of two annotators who labelled the same items: 1 is full agreement, 0 that of chance.

    NaN where only one label occurs, so that agreement beyond chance is not defined.

    Examples
    --------
    >>> round(cohen_kappa(["a", "a", "b", "b"], ["a", "a", "b", "a"]), 3)
    0.5
    """
    first, second = np.asarray(first), np.asarray(second)
    if len(first) != len(second) or not len(first):
        raise InputError(f"both annotators need a label an item; they have {len(first)} and {len(second)}.")
    if np.unique(np.concatenate([first, second])).size == 1:
        return float("nan")
    return float(cohen_kappa_score(first, second))


def fleiss_kappa(counts: AnyArray) -> float:
    """Fleiss's κ of many annotators, the same number for every item; NaN where only one label occurs.

    Parameters
    ----------
    counts : int array of shape (n_items, n_labels)
        How many annotators gave each label to each item.

    Examples
    --------
    >>> round(fleiss_kappa([[3, 0], [0, 3], [2, 1]]), 3)
    0.55
    """
    counts = np.asarray(counts, dtype=np.float64)
    if counts.ndim != 2:
        raise InputError(f"Fleiss's kappa needs a table of items by labels; this has shape {counts.shape}.")
    raters = counts.sum(axis=1)
    if not len(counts) or raters[0] < 2 or (raters != raters[0]).any():
        raise InputError(
            "Fleiss's kappa needs the same number of labels, two or more, for every item; there are from "
            f"{raters.min(initial=np.inf):g} to {raters.max(initial=0):g}. Use krippendorff_alpha."
        )
    return float(_kappa(_Sums.of(counts).total[None])[0])


def gwet_ac1(counts: AnyArray) -> float:
    """Gwet's AC1, which stays high where nearly all answers are the same label and κ falls.

    Parameters
    ----------
    counts : int array of shape (n_items, n_labels)
        How many annotators gave each label to each item; the number of annotators may vary.

    Examples
    --------
    >>> round(gwet_ac1([[3, 0], [3, 0], [2, 1]]), 3)
    0.723
    """
    return float(_ac1(_Sums.of(np.asarray(counts, dtype=np.float64)).total[None])[0])


def krippendorff_alpha(values: AnyArray, *, level: Level = "nominal") -> float:
    """Krippendorff's α: any number of annotators, any overlap, missing values allowed.

    Parameters
    ----------
    values : array of shape (n_annotators, n_items)
        Missing values are NaN, or ``None`` among labels that are not numbers.
    level : {"nominal", "ordinal", "interval"}
        What a distance between two values means: whether they differ, how many values of the data lie between them,
        or their squared difference.

    Returns
    -------
    alpha : float
        1 − observed / expected disagreement; NaN where no two different values can be paired.

    Examples
    --------
    >>> round(krippendorff_alpha([[1, 2, 3, 3], [1, 2, 3, 2]], level="ordinal"), 3)
    0.79
    """
    table = np.asarray(values, dtype=object)
    missing = np.array([v is None or v != v for v in table.ravel()], dtype=bool).reshape(table.shape)
    if table.ndim != 2 or missing.all():
        raise InputError(
            f"alpha needs a table of annotators by items with values; this has shape {table.shape}, "
            f"{int((~missing).sum())} values."
        )
    names, value = np.unique(
        table[~missing].astype(str) if _mixed(table[~missing]) else table[~missing], return_inverse=True
    )
    who, item = np.nonzero(~missing)
    counts = Answers(item, who, value, list(names)).counts()
    if not (counts.sum(axis=1) >= 2).any():
        raise InputError("alpha needs an item that two annotators judged; there is none. Let some items overlap.")
    return float(_alpha(_Sums.of(counts).total[None], level, list(names))[0])


def _mixed(values: AnyArray) -> bool:
    """Whether values of several types stand in one table, which have no order among themselves."""
    return len({isinstance(value, str) for value in values.tolist()}) > 1


def agreement_table(answers: Answers, *, level: Level = "nominal", random_state: int = 0) -> pd.DataFrame:
    """Every measure that the answers allow, with its 95 % interval from drawing texts again.

    Parameters
    ----------
    answers : Answers
    level : {"nominal", "ordinal", "interval"}
        What distances between values mean for Krippendorff's α.

    Returns
    -------
    DataFrame
        ``measure, value, low, high, n``: n is the number of questions that two people or more answered.

    Examples
    --------
    >>> import numpy as np
    >>> who, question = np.repeat([0, 1], 4), np.tile(np.arange(4), 2)
    >>> table = agreement_table(Answers(question, who, np.array([0, 1, 0, 1, 0, 1, 0, 0]), ["no", "yes"]))
    >>> table["measure"].tolist()
    ["Krippendorff's α", "Gwet's AC1", "Fleiss's κ", 'plain agreement']
    """
    sums = _Sums.of(answers.counts(), answers.text, answers.weight)
    n = int((np.bincount(answers.question, minlength=1) >= 2).sum())
    drawn = np.vstack([sums.total, *sums.resampled(np.random.default_rng(random_state))]) if n else sums.total[None]
    kinds = {
        "Krippendorff's α": _alpha(drawn, level, answers.names),
        "Gwet's AC1": _ac1(drawn),
        "Fleiss's κ": _kappa(drawn),
        "plain agreement": _plain(drawn),
    }
    raters = np.unique(np.bincount(answers.question)[np.unique(answers.question)])
    if len(raters) > 1:
        del kinds["Fleiss's κ"]  # it is not defined where questions have different numbers of answers
    shares, chances = sums.agreement_by_text(), _chances(sums.total[None])
    rows = [(name, *_interval(figures, n, shares, chances[name])) for name, figures in kinds.items()]
    return pd.DataFrame(rows, columns=["measure", "value", "low", "high", "n"])


def pairwise_kappas(answers: Answers, *, n_pairs: int = 200, random_state: int = 0) -> pd.DataFrame:
    """Cohen's κ of the pairs of people who share most questions, with intervals.

    Parameters
    ----------
    answers : Answers
    n_pairs : int
        Most pairs that are shown.

    Returns
    -------
    DataFrame
        ``first, second`` (codes of people), ``value, low, high, n``; n is the number of shared questions.
    """
    given: dict[int, dict[int, int]] = {}
    for question, who, value in zip(
        *(part.tolist() for part in (answers.question, answers.who, answers.value)), strict=True
    ):
        given.setdefault(who, {})[question] = value
    shared = [(a, b, sorted(given[a].keys() & given[b].keys())) for a, b in combinations(sorted(given), 2)]
    shared = sorted((row for row in shared if row[2]), key=lambda row: -len(row[2]))[:n_pairs]
    rng, rows = np.random.default_rng(random_state), []
    for a, b, questions in shared:
        joint = np.zeros((len(questions), len(answers.names), len(answers.names)))
        first, second = ([given[one][question] for question in questions] for one in (a, b))
        joint[np.arange(len(questions)), first, second] = 1.0
        flat = joint.reshape(len(questions), -1)
        draws = rng.multinomial(len(questions), np.full(len(questions), 1 / len(questions)), size=_RESAMPLES)
        figures, chance = _cohen(np.vstack([flat.sum(axis=0), draws @ flat]), len(answers.names))
        same = np.equal(first, second).astype(np.float64)
        rows.append((a, b, *_interval(figures, len(questions), same, chance)))
    return pd.DataFrame(rows, columns=["first", "second", "value", "low", "high", "n"])


def wilson(share: float, n: float, z: float = 1.959964) -> tuple[float, float]:
    """The Wilson interval of a share seen in ``n`` trials.

    Examples
    --------
    >>> [round(end, 3) for end in wilson(0.5, 10)]
    [0.237, 0.763]
    """
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return float(centre - half), float(centre + half)


# -- sums over texts ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Sums:
    """What every measure is made of, one row a text: coincidences, agreement, shares of labels."""

    counts: FloatArray  # (n_questions, n_values)
    text: IntArray  # (n_questions,)
    weight: FloatArray  # (n_questions,)

    @classmethod
    def of(cls, counts: FloatArray, text: IntArray | None = None, weight: FloatArray | None = None) -> "_Sums":
        n = len(counts)
        rows = counts.sum(axis=1) > 0
        text = np.arange(n) if text is None else np.asarray(text)
        weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
        return cls(counts[rows], np.unique(text[rows], return_inverse=True)[1], weight[rows])

    @property
    def n_texts(self) -> int:
        return int(self.text.max(initial=-1)) + 1

    def _of_questions(self, rows: slice | IntArray) -> FloatArray:
        """Per question: coincidences o_ck (n_values²), agreement and its weight, shares of labels and theirs."""
        counts, weight = self.counts[rows], self.weight[rows, None]
        m = counts.sum(axis=1, keepdims=True)
        paired = m >= 2
        inside = np.where(paired, 1.0 / np.maximum(m - 1.0, 1.0), 0.0)
        joint = counts[:, :, None] * counts[:, None, :] * inside[:, :, None]
        k = counts.shape[1]
        joint[:, np.arange(k), np.arange(k)] -= counts * inside
        agreed = (counts * (counts - 1.0)).sum(axis=1, keepdims=True) * inside / m
        parts = [joint.reshape(len(counts), -1), agreed, paired.astype(float), counts / m, np.ones_like(m)]
        return np.hstack(parts) * weight

    def _blocks(self) -> Iterator[IntArray]:
        """Questions by text, a few at a time, so that what is held at once stays small."""
        order = np.argsort(self.text, kind="stable")
        size = max(1, _CELLS // (self.counts.shape[1] ** 2 + 8))
        for start in range(0, len(order), size):
            yield order[start : start + size]

    @property
    def total(self) -> FloatArray:
        k = self.counts.shape[1]
        sums = np.zeros(k * k + k + 3)
        for rows in self._blocks():
            sums += self._of_questions(rows).sum(axis=0)
        return sums

    def agreement_by_text(self) -> FloatArray:
        """The share of agreement in each text that has a question with two answers or more."""
        k = self.counts.shape[1]
        agreed, paired = np.zeros(self.n_texts), np.zeros(self.n_texts)
        for rows in self._blocks():
            sums = self._of_questions(rows)
            agreed += np.bincount(self.text[rows], sums[:, k * k], minlength=self.n_texts)
            paired += np.bincount(self.text[rows], sums[:, k * k + 1], minlength=self.n_texts)
        return agreed[paired > 0] / paired[paired > 0]

    def resampled(self, rng: np.random.Generator, n: int = _RESAMPLES) -> list[FloatArray]:
        """The sums of ``n`` samples of texts, drawn with replacement; none where there is only one text."""
        if self.n_texts < 2:
            return []
        k = self.counts.shape[1]
        sums = np.zeros((n, k * k + k + 3))
        drawn = rng.multinomial(self.n_texts, np.full(self.n_texts, 1.0 / self.n_texts), size=n)
        for rows in self._blocks():
            sums += drawn[:, self.text[rows]] @ self._of_questions(rows)
        return [sums]


def _parts(sums: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, int]:
    """Coincidences (n, k, k), agreement (n,), mean shares of labels (n, k) and k from rows of sums."""
    k = round((-1 + np.sqrt(1 + 4 * (sums.shape[1] - 3))) / 2)
    joint = sums[:, : k * k].reshape(-1, k, k)
    agreed, paired = sums[:, k * k], sums[:, k * k + 1]
    shares, questions = sums[:, k * k + 2 : -1], sums[:, -1:]
    return joint, _ratio(agreed, paired), _ratio(shares, questions), k


def _ratio(over: FloatArray, under: FloatArray) -> FloatArray:
    under = np.broadcast_to(under, over.shape)
    return np.divide(over, under, out=np.full_like(over, np.nan), where=under > 0)


def _alpha(sums: FloatArray, level: str, names: Sequence[Any]) -> FloatArray:
    joint, _, _, _ = _parts(sums)
    totals = joint.sum(axis=2)
    distance = _distances(level, names, totals)
    expected = np.einsum("bc,bck,bk->b", totals, distance, totals)
    observed = (joint * distance).sum(axis=(1, 2)) * (totals.sum(axis=1) - 1.0)
    return 1.0 - _ratio(observed, expected)


def _distances(level: str, names: Sequence[Any], totals: FloatArray) -> FloatArray:
    """δ² between values, shape (n, n_values, n_values)."""
    if level == "nominal":
        return np.broadcast_to(1.0 - np.eye(len(names)), (len(totals), len(names), len(names)))
    if level == "interval":
        points = np.broadcast_to(np.array(names, dtype=np.float64), totals.shape)
    elif level == "ordinal":
        # δ_ck = Σ_{g=c..k} n_g − (n_c + n_k) / 2: the distance between mid-ranks.
        points = np.cumsum(totals, axis=1) - totals / 2.0
    else:
        raise InputError(f"the level is 'nominal', 'ordinal' or 'interval'; this is {level!r}.")
    return np.asarray((points[:, :, None] - points[:, None, :]) ** 2)


def _beyond_chance(observed: FloatArray, expected: FloatArray) -> FloatArray:
    """(observed − expected) / (1 − expected); NaN where only one label occurs, which chance gives too."""
    return _ratio(observed - expected, np.where(expected < 1.0 - 1e-12, 1.0 - expected, 0.0))


def _chances(sums: FloatArray) -> dict[str, float]:
    """The share of agreement that each measure expects by chance, from one row of sums."""
    joint, _, shares, k = _parts(sums)
    given = joint.sum(axis=2)
    n = given.sum(axis=1)
    return {
        "Krippendorff's α": float(_ratio((given * (given - 1.0)).sum(axis=1), n * (n - 1.0))[0]),
        "Gwet's AC1": float(_ac1_chance(shares, k)[0]),
        "Fleiss's κ": float(_kappa_chance(shares)[0]),
        "plain agreement": 0.0,
    }


def _kappa_chance(shares: FloatArray) -> FloatArray:
    return np.asarray((shares**2).sum(axis=1))  # P_e = Σ p_j²


def _ac1_chance(shares: FloatArray, k: int) -> FloatArray:
    return np.asarray((shares * (1.0 - shares)).sum(axis=1) / max(k - 1, 1))


def _kappa(sums: FloatArray) -> FloatArray:
    _, agreed, shares, _ = _parts(sums)
    return _beyond_chance(agreed, _kappa_chance(shares))


def _ac1(sums: FloatArray) -> FloatArray:
    _, agreed, shares, k = _parts(sums)
    return _beyond_chance(agreed, _ac1_chance(shares, k))


def _plain(sums: FloatArray) -> FloatArray:
    return _parts(sums)[1]


def _cohen(joint: FloatArray, k: int) -> tuple[FloatArray, float]:
    """κ of each row of sums, and the agreement that the first expects by chance."""
    table = joint.reshape(-1, k, k) / joint.sum(axis=1)[:, None, None]
    observed = np.trace(table, axis1=1, axis2=2)
    expected = (table.sum(axis=2) * table.sum(axis=1)).sum(axis=1)
    return _beyond_chance(observed, expected), float(expected[0])


def _interval(figures: FloatArray, n: int, shares: FloatArray, chance: float) -> Estimate:
    """The first figure with the middle 95 % of the others, which are of texts that were drawn again.

    Where the ``shares`` of agreement of all texts are the same, there is nothing to draw: the ends are then the measure
    at both ends of the Wilson interval of the share. If nobody disagreed, a disagreement is taken to be one of chance.
    """
    value = float(figures[0])
    if np.isnan(value) or len(shares) < 2:
        return Estimate(value, float("nan"), float("nan"), n)
    if np.ptp(shares) > 1e-12:
        low, high = np.quantile(figures[1:][np.isfinite(figures[1:])], [0.025, 0.975])
        return Estimate(value, float(low), float(high), n)
    agreed = min(float(shares[0]), 1.0)
    slope = (1.0 - value) / (1.0 - agreed) if agreed < 1.0 - 1e-12 else 1.0 / (1.0 - chance)
    low, high = (1.0 - slope * (1.0 - share) for share in wilson(agreed, len(shares)))
    return Estimate(value, low, high, n)
