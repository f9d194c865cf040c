"""How reliable each voter is, and what the outcome of each pair was: by expectation maximisation.

All votes on a pair are reports about one outcome of that pair, and only the outcome speaks of the scores. So a pair is
one observation of the scores, however many voted on it:

    z_p ~ p(z | f_i − f_j)                         the outcome of pair p, by the likelihood of the scores
    p(vote = v | z_p) = (1 − ε_u) [v = z_p] + ε_u/K   voter u answers at random, all K answers alike, at rate ε_u
    ε_u ~ Beta(a, b)

E-step: q(z_p) ∝ p(z_p | scores) Π p(vote | z_p) over the votes on p. M-step: ε_u from the expected number of random
answers, and the scores from the outcomes. Each is weighed with the probability that it is the outcome and that some
vote on the pair was genuine: if all were random, nothing is known of the pair. A pair with a single vote therefore
counts with the probability that this vote was genuine.
"""

from dataclasses import dataclass, replace

import numpy as np

from accord.engines.numerics import normalise_log
from accord.pairs.process.likelihoods import Preference
from accord.pairs.process.posterior import sum_by
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["Voters"]


@dataclass(frozen=True, eq=False)
class Voters:
    """Raw votes by voter, beside the outcomes of the pairs that they are about.

    Parameters
    ----------
    pair : int array of shape (n_raw,)
        Which pair each raw vote is about.
    answer : float array of shape (n_raw,)
        1, ½ or 0.
    voter : int array of shape (n_raw,)
        Who gave it; −1 if not known, whose rate of random answers is the expected one.
    weight : float array of shape (n_raw,)
        A vote of weight 2 counts as two.
    error : float array of shape (n_voters,)
        Each voter's rate of random answers.
    n_pairs : int
    outcomes : float array of shape (n_outcomes,)
        What a pair's outcome can be, in ascending order: 0 and 1, or 0, ½ and 1. An undecided vote on a pair that must
        have a winner is half a vote for each side, which says nothing about the winner; a pair on which nobody decided
        counts as half a vote for each side.
    prior : pair of floats
        Beta prior of the rates: pseudo-counts of random and of genuine answers.
    """

    pair: IntArray
    answer: FloatArray
    voter: IntArray
    weight: FloatArray
    error: FloatArray
    n_pairs: int
    outcomes: FloatArray
    prior: tuple[float, float] = (1.0, 9.0)

    @property
    def _telling(self) -> BoolArray:
        """Which raw votes are among the outcomes, shape (n_raw,)."""
        return np.isin(self.answer, self.outcomes)

    @property
    def _raw_error(self) -> FloatArray:
        a, b = self.prior
        return np.append(self.error, a / (a + b))[self.voter]  # −1 reads the appended rate

    def _by_pair(self, values: FloatArray) -> FloatArray:
        return sum_by(self.pair, np.where(self._telling, self.weight * values, 0.0), self.n_pairs)

    def messages(self) -> FloatArray:
        """Log probability of the votes on each pair, given its outcome, shape (n_pairs, n_outcomes)."""
        error, k = self._raw_error, self.outcomes.size
        right, wrong = np.log(1.0 - error + error / k), np.log(error / k)
        return np.stack([self._by_pair(np.where(self.answer == z, right, wrong)) for z in self.outcomes], axis=1)

    def expected_outcomes(self, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Probability of each outcome given the votes, and the same together with some vote being genuine.

        Parameters
        ----------
        p : array of shape (n_pairs, n_outcomes)
            Probability of each outcome before the votes, by the scores; it need not be normalised.

        Returns
        -------
        q, known : arrays of shape (n_pairs, n_outcomes)
        """
        messages = self.messages()
        q = normalise_log(np.log(np.maximum(p, 1e-300)) + messages, axis=1)
        all_random = self._by_pair(np.log(self._raw_error / self.outcomes.size))
        return q, -q * np.expm1(all_random[:, None] - messages)

    def row_weights(self, known: FloatArray) -> FloatArray:
        """Weights of the pairs' outcomes as votes, pair by pair, shape (n_pairs · n_outcomes,)."""
        silent = np.bincount(self.pair[self._telling], minlength=self.n_pairs) == 0
        half = np.minimum(np.bincount(self.pair, self.weight, self.n_pairs), 1.0) / self.outcomes.size
        return np.where(silent[:, None], half[:, None], known).reshape(-1)

    def first_weights(self) -> FloatArray:
        """The same from the votes alone, before there are scores."""
        return self.row_weights(self.expected_outcomes(np.ones((self.n_pairs, self.outcomes.size)))[1])

    def expected_errors(self, q: FloatArray) -> FloatArray:
        """Expected rates of random answers given the outcomes, shape (n_voters,)."""
        error, known = self._raw_error, self._telling & (self.voter >= 0)
        place = np.searchsorted(self.outcomes, self.answer[known])
        genuine = (1.0 - error) / (1.0 - error + error / self.outcomes.size)  # if the vote is the outcome
        random = 1.0 - q[self.pair[known], place] * genuine[known]
        who, weight, (a, b) = self.voter[known], self.weight[known], self.prior
        n = self.error.size
        return (a + np.bincount(who, weight * random, n)) / (a + b + np.bincount(who, weight, n))

    def update(self, likelihood: Preference, mean: FloatArray, variance: FloatArray) -> tuple["Voters", FloatArray]:
        """New rates, and the weight of every outcome of every pair.

        Parameters
        ----------
        likelihood : Preference
        mean, variance : arrays of shape (n_pairs · n_outcomes,)
            Of the difference of the two scores, pair by pair.
        """
        k = self.outcomes.size
        p = likelihood.probability(mean[::k], variance[::k])[:, ::-1]  # right, undecided, left
        q, known = self.expected_outcomes(p if k == 3 else p[:, [0, 2]])
        return replace(self, error=self.expected_errors(q)), self.row_weights(known)
