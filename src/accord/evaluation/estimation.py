"""Valid figures from few answers of people and many of judges: prediction-powered and doubly robust estimates.

What is wanted is the mean of people's answers over N units (texts, or pairs). Judges answer all of them, f, with biases
nobody knows; people answer some, y. With λ = 0 the estimate below is that of people alone; with λ = 1 judges are
trusted up to their mean error, which people's answers measure. λ is tuned so that the interval is shortest [ADZ23]:

    θ = mean(λ f) + mean over answers of w (y − λ f),   w = 1 / (N π)

π is the probability with which the answer's unit was drawn. Where a unit is never drawn twice, π is that among those
left, and what was answered before is added to each term: it is known [FGR21]. Where questions were chosen by what was
known before, the terms are martingale differences, and the interval holds whatever the judges do [ZC24]. λ is learnt on
other answers than those it is used on, so that tuning does not shorten the interval by chance.

Where people answered every unit, nothing is left to be drawn: the units' own means count, and judges add nothing.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from accord.errors import InputError
from accord.typing import FloatArray, IntArray

__all__ = ["FEWEST", "Estimate", "estimate_covered", "estimate_mean"]

_FOLDS = 5
FEWEST = 10  # answers of people
_LARGEST = 0.25  # variance of an answer between 0 and 1


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval, and the same from people alone."""

    value: float
    low: float
    high: float
    people: float
    people_low: float
    people_high: float
    n_people: int
    n_units: int
    power: float  # λ: how much judges count, 0 to 1

    @property
    def gain(self) -> float:
        """Answers of people that judges are worth, as a share of those there are."""
        return ((self.people_high - self.people_low) / max(self.high - self.low, 1e-300)) ** 2 - 1.0


def estimate_mean(
    judged: FloatArray,
    unit: IntArray,
    answer: FloatArray,
    propensity: FloatArray | None = None,
    *,
    load: FloatArray | None = None,
    anew: bool = True,
    level: float = 0.95,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Estimate:
    """The mean of people's answers over all units, or a weighted sum of them.

    Parameters
    ----------
    judged : float array of shape (n_units,)
        What judges say of each unit; not a number where they say nothing.
    unit : int array of shape (n_answers,)
        The unit of each answer of a person, in the order of asking.
    answer : float array of shape (n_answers,)
    propensity : float array of shape (n_answers,), optional
        The probability with which the draw that led to the answer gave its unit; by default units were drawn evenly.
    load : float array of shape (n_units,), optional
        The sum Σ load·y is wanted instead of the mean.
    anew : bool
        Whether each draw was from all units. If not, it was from those that were not answered before.
    level : float
    bounds : (float, float)
        Between which the figure lies for certain.
    """
    n_units, n = judged.size, unit.size
    _require_enough(n)
    if propensity is not None and not ((propensity > 0) & (propensity <= 1)).all():
        row = int(np.argmin((propensity > 0) & (propensity <= 1)))
        raise InputError(f"a propensity is a probability above 0; that of answer {row + 1} is {propensity[row]}.")
    if propensity is None and not anew:
        propensity = 1.0 / (n_units - np.arange(n))
    whole = load is not None
    load = np.full(n_units, 1.0 / n_units) if load is None else load
    known = np.isfinite(judged)
    said = np.where(known, judged, judged[known].mean() if known.any() else 0.0)
    weight = load[unit] * (n_units if propensity is None else 1.0 / propensity)
    answers, shift = weight * answer, weight * said[unit]
    if not anew:
        answers, shift = answers + _before(load[unit] * answer), shift + _before(load[unit] * said[unit])
    total = float(load @ said)
    # A mean is meant of all units like these, of which there might be others; a sum is of these alone.
    spread, more = (0.0, 0.0) if whole else (float(np.var(said)) / n_units, n / n_units)
    fold = np.arange(n) % _FOLDS
    power = np.empty(n)
    for k in range(_FOLDS):  # the terms of one fold use λ of the others
        power[fold == k] = _power(answers[fold != k], shift[fold != k], more)
    terms = answers - power * (shift - total)
    effective = float(np.abs(weight).sum()) ** 2 / max(float(weight @ weight), 1e-300)  # equal weights worth these
    value, half = _interval(terms, effective, level, float(np.mean(power)) ** 2 * spread)
    alone, alone_half = _interval(answers, effective, level, 0.0)
    low, high = bounds
    return Estimate(
        float(np.clip(value, low, high)),
        float(np.clip(value - half, low, high)),
        float(np.clip(value + half, low, high)),
        float(np.clip(alone, low, high)),
        float(np.clip(alone - alone_half, low, high)),
        float(np.clip(alone + alone_half, low, high)),
        n,
        n_units,
        float(np.mean(power)),
    )


def estimate_covered(unit: IntArray, answer: FloatArray, load: FloatArray, *, level: float = 0.95) -> Estimate:
    """The sum Σ load·y of answers between 0 and 1 of which people gave at least one to every unit.

    Parameters
    ----------
    unit : int array of shape (n_answers,)
    answer : float array of shape (n_answers,)
    load : float array of shape (n_units,)
    level : float
    """
    n, n_units = unit.size, load.size
    _require_enough(n)
    counts = np.bincount(unit, minlength=n_units)
    mean = np.bincount(unit, answer, minlength=n_units) / counts
    squares = np.bincount(unit, (answer - mean[unit]) ** 2, minlength=n_units)
    # Few answers to a unit tell little of their variance: one more counts for which it is the largest there is.
    variance = (squares + _LARGEST) / counts
    quantile = float(student.ppf(0.5 + 0.5 * level, n - 1))
    value, half = float(load @ mean), quantile * float(np.sqrt(np.sum(load**2 * variance / counts)))
    figures = (value, value - half, value + half)
    return Estimate(*figures, *figures, n, n_units, 0.0)


def _require_enough(n: int) -> None:
    if n < FEWEST:
        are = "is" if n == 1 else "are"
        raise InputError(f"an estimate needs at least {FEWEST} answers of people; there {are} {n}. Ask for more.")


def _before(values: FloatArray) -> FloatArray:
    """The sum of the values before each."""
    return np.concatenate([[0.0], np.cumsum(values)[:-1]])


def _power(answers: FloatArray, shift: FloatArray, more: float) -> float:
    """λ of the shortest interval: Cov(wy, wf) / Var(wf), less where there are few units beside those answered."""
    apart = shift - shift.mean()
    square = float(apart @ apart)
    if square <= 0.0:
        return 0.0
    return float(np.clip(float(apart @ (answers - answers.mean())) / square / (1.0 + more), 0.0, 1.0))


def _interval(terms: FloatArray, effective: float, level: float, more: float) -> tuple[float, float]:
    """The mean and half the width of its interval."""
    freedom = max(min(effective, terms.size) - 1.0, 1.0)
    variance = terms.var(ddof=1) / terms.size * (1.0 + 1.0 / freedom) + more
    return float(terms.mean()), float(student.ppf(0.5 + 0.5 * level, freedom) * np.sqrt(variance))
