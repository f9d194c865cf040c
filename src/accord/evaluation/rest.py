"""How often a model is right on the texts that nobody has judged, though the judged ones were not drawn evenly.

The model's own probabilities say how often it expects to be right there. Questions that were drawn at random among all
that were open, whatever the model knew, say how far that is wrong. Let z be right (1 or 0) minus the probability of
being right, by models that have not seen the text's answer. When the t-th answer came, a question at random among the
N − t open ones estimates the sum of z over all N texts without bias:

    Z_t = z of all that were answered before + (N − t) · z_t

The mean of these over the random questions, less the z of all that are answered, is the sum over the rest [FGR21].

The interval holds every accuracy from which the estimate is not too far away, by the error that it would have if that
accuracy were the true one (the score interval, Wilson's for plain shares). Where few of the answers are wrong, the
error that they show by themselves is too small, and an interval made of it lies too high.

What more answers would add is read off models that learnt from a quarter and a half of the answers: errors are taken to
fall with a power of their number, to a floor.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from accord.errors import InputError
from accord.evaluation.agreement import wilson
from accord.typing import BoolArray, FloatArray

__all__ = ["Forecast", "Rest", "forecast_gain", "rest_accuracy"]

_FEWEST = 10
_RESAMPLES, _WIDER = 1_000, 1.5
_LITTLE, _WIDE = 0.01, 0.03  # of accuracy: a gain that is not worth asking for, and an interval that tells nothing


@dataclass(frozen=True)
class Forecast:
    """What more answers would add to the accuracy on the rest, with its interval."""

    n_more: int
    value: float
    low: float
    high: float

    @property
    def sentence(self) -> str:
        """In words."""
        shown = f"{100 * max(self.low, 0.0):.1f} to {100 * max(self.high, 0.0):.1f}"
        if self.high <= _LITTLE:
            return f"{self.n_more:,} more answers would change little (at most {100 * max(self.high, 0.0):.1f} points)."
        if self.low <= 0.0 and self.high > _WIDE:
            return f"What {self.n_more:,} more answers would add cannot be told yet ({shown} points)."
        return f"{self.n_more:,} more answers would add about {100 * self.value:.1f} points on average ({shown})."


@dataclass(frozen=True)
class Rest:
    """The accuracy on texts without a judgement, with its interval."""

    value: float
    low: float
    high: float
    expected: float  # by the model's own probabilities
    n_random: int
    n_rest: int
    level: float = 0.95
    forecast: Forecast | None = None

    @property
    def sentence(self) -> str:
        """In words."""
        more = "" if self.forecast is None else f" {self.forecast.sentence}"
        return (
            f"On the {self.n_rest:,} texts that nobody has judged the model is right in about {100 * self.value:.0f} % "
            f"of cases ({100 * self.low:.0f} to {100 * self.high:.0f} %, from {self.n_random:,} questions at random); "
            f"by its own probabilities it would be {100 * self.expected:.0f} %.{more}"
        )


def rest_accuracy(
    is_random: BoolArray, right: FloatArray, sure: FloatArray, rest_sure: FloatArray, *, level: float = 0.95
) -> Rest:
    """Estimate the accuracy on the rest.

    Parameters
    ----------
    is_random : bool array of shape (n_answers,)
        Which answers, in the order of asking, were to questions drawn at random among the open ones.
    right, sure : arrays of shape (n_answers,)
        Whether the model is right about each, and how sure it is, without having seen the answer.
    rest_sure : array of shape (n_rest,)
        How sure the model is of each text without an answer.
    level : float
    """
    n, n_random, n_rest = len(right), int(is_random.sum()), len(rest_sure)
    if n_random < _FEWEST:
        raise InputError(
            f"an estimate for the rest needs at least {_FEWEST} answers to random questions; there are {n_random}."
        )
    if not n_rest:
        raise InputError("an estimate for the rest needs texts without a judgement; all are judged.")
    z = np.asarray(right, dtype=np.float64) - sure
    before = np.concatenate([[0.0], np.cumsum(z)[:-1]])
    totals = (before + (n + n_rest - np.arange(n)) * z)[is_random]
    expected = float(np.mean(rest_sure))
    value = expected + (float(totals.mean()) - float(z.sum())) / n_rest
    # Few answers may all be right: one more of each sort keeps the interval from closing.
    more = (n + n_rest) * np.array([1.0 - expected, -expected])
    spread = float(np.concatenate([totals, totals.mean() + more]).var(ddof=1))
    spread *= (1.0 + 1.0 / (n_random - 1.0)) / n_random
    value = float(np.clip(value, 0.0, 1.0))
    usual = (n_random * value + 1.0) / (n_random + 2.0)
    worth = usual * (1.0 - usual) * n_rest**2 / spread  # plain answers, right or wrong, that would tell as much
    low, high = wilson(value, worth, float(student.ppf(0.5 + 0.5 * level, n_random - 1)))
    return Rest(value, low, high, expected, n_random, n_rest, level)


def forecast_gain(
    sizes: Sequence[float], wrong: FloatArray, now: Rest, n_answers: int, n_more: int, *, random_state: int = 0
) -> Forecast:
    """What ``n_more`` answers would add to the accuracy on the rest.

    The error of models is taken as c + a · n⁻ᵇ of the number n of answers that they learnt from, with an unknown floor
    c and an exponent b that so few models cannot tell: it is drawn from 0.3 to 1.2. The interval is from such draws and
    from answers drawn again with replacement. Texts that were asked about are harder than the rest: the gain is smaller
    there as the error is.

    Parameters
    ----------
    sizes : sequence of float
        Numbers of answers that models learnt from, the last of them the largest, at least two.
    wrong : array of shape (n_answers, n_sizes)
        How wrong each of them is about the answers, which it has not seen, from 0 to 1.
    now : Rest
        The accuracy on the rest after all answers.
    n_answers, n_more : int
    random_state : int
        Of the draws.
    """
    rng = np.random.default_rng(random_state)
    weights = rng.multinomial(len(wrong), np.full(len(wrong), 1.0 / len(wrong)), size=_RESAMPLES) / len(wrong)
    errors = weights @ wrong
    exponent = rng.uniform(0.3, 1.2, _RESAMPLES)
    x = np.asarray(sizes, dtype=np.float64)[None, :] ** -exponent[:, None]
    x -= x.mean(axis=1, keepdims=True)
    factor = (errors * x).sum(axis=1) / (x * x).sum(axis=1)
    fall = float(n_answers) ** -exponent - float(n_answers + n_more) ** -exponent
    easier = min((1.0 - now.value) / max(float(wrong[:, -1].mean()), 0.5 / len(wrong)), 1.0)
    gain = easier * factor * fall
    tail = 0.5 * (1.0 - now.level)
    middle = float(gain.mean())
    # Answers drawn again do not show how models vary with what they learnt from: simulated intervals were too short.
    low, high = middle + _WIDER * (np.quantile(gain, [tail, 1.0 - tail]) - middle)
    return Forecast(n_more, max(middle, 0.0), float(low), float(high))
