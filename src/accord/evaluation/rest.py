"""How often a model is right on the texts that nobody has judged, though the judged ones were not drawn evenly.

The model's own probabilities say how often it expects to be right there. Questions that were drawn at random among all
that were open, whatever the model knew, say how far that is wrong. Let z be right (1 or 0) minus the probability of
being right, by models that have not seen the text's answer. When the t-th answer came, a question at random among the
N − t open ones estimates the sum of z over all N texts without bias:

    Z_t = z of all that were answered before + (N − t) · z_t

The mean of these over the random questions, less the z of all that are answered, is the sum over the rest [FGR21].
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from accord.errors import InputError
from accord.typing import BoolArray, FloatArray

__all__ = ["Rest", "rest_accuracy"]

_FEWEST = 10


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

    @property
    def sentence(self) -> str:
        """In words."""
        return (
            f"On the {self.n_rest:,} texts that nobody has judged the model is right in about {100 * self.value:.0f} % "
            f"of cases ({100 * self.low:.0f} to {100 * self.high:.0f} %, from {self.n_random:,} questions at random); "
            f"by its own probabilities it would be {100 * self.expected:.0f} %."
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
    half = float(student.ppf(0.5 + 0.5 * level, n_random - 1)) * np.sqrt(spread) / n_rest
    low, high = np.clip([value - half, value + half], 0.0, 1.0)
    return Rest(float(np.clip(value, 0.0, 1.0)), float(low), float(high), expected, n_random, n_rest, level)
