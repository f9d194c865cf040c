"""How reliable each voter is: the rate of answers given at random, by expectation maximisation.

A voter answers from the scores with probability 1 − ε and at random, all answers alike, with probability ε. A vote then
counts with the probability that it was no random answer.
"""

from dataclasses import dataclass, replace

import numpy as np

from accord.inference.gaussian_process import sum_by
from accord.inference.likelihoods import Preference
from accord.typing import FloatArray, IntArray

__all__ = ["Voters"]


@dataclass(frozen=True, eq=False)
class Voters:
    """Raw votes by voter, beside the collapsed votes they were counted into.

    Parameters
    ----------
    row : int array of shape (n_raw,)
        Which collapsed vote each raw vote belongs to.
    voter : int array of shape (n_raw,)
        Who gave it; −1 if not known, which counts in full.
    weight : float array of shape (n_raw,)
    error : float array of shape (n_voters,)
        Each voter's rate of random answers.
    prior : pair of floats
        Beta prior of the rates: pseudo-counts of random and of genuine answers.
    n_outcomes : int
        How many answers a voter chooses from: 2, or 3 with "undecided".
    """

    row: IntArray
    voter: IntArray
    weight: FloatArray
    error: FloatArray
    prior: tuple[float, float] = (1.0, 9.0)
    n_outcomes: int = 2

    def genuine(self, likelihood: Preference, mean: FloatArray, variance: FloatArray, value: FloatArray) -> FloatArray:
        """Probability that each raw vote was no random answer, shape (n_raw,)."""
        p = likelihood.probability(mean, variance)
        error = np.append(self.error, 0.0)[self.voter]  # −1 reads the appended zero
        chance = error / self.n_outcomes

        def responsibility(column: int) -> FloatArray:
            kept = (1.0 - error) * p[self.row, column]
            return kept / np.maximum(kept + chance, 1e-300)

        left, right = responsibility(0), responsibility(2)
        middle = 0.5 * (left + right) if likelihood.margin is None else responsibility(1)
        answer = value[self.row]
        return np.where(answer == 1.0, left, np.where(answer == 0.0, right, middle))

    def update(
        self, likelihood: Preference, mean: FloatArray, variance: FloatArray, value: FloatArray
    ) -> tuple["Voters", FloatArray]:
        """New rates, and the weight of each collapsed vote, shape (n_votes,)."""
        genuine = self.genuine(likelihood, mean, variance, value)
        known = self.voter >= 0
        random = np.bincount(self.voter[known], self.weight[known] * (1.0 - genuine[known]), len(self.error))
        total = np.bincount(self.voter[known], self.weight[known], len(self.error))
        a, b = self.prior
        error = (a + random) / (a + b + total)
        return replace(self, error=error), sum_by(self.row, self.weight * genuine, len(value))
