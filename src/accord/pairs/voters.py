"""How often each voter answers at random.

A voter's rate of random answers is one of a few values, 0 and 1 among them, whose shares among all voters are learnt:

    P(answer | z, voter) = (1 − ε) P(answer | z) + ε c,   ε = RATES[k] with probability share_k

so that voters of whom little is known are judged by the company they are in. A continuous prior fails both ways: it
finds no random voters where there are many, and sees some where there are none.

Where it is known which item was shown on the left, an attentive voter may also lean to that side more or less than all
voters together do, again by one of a few values with learnt shares.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import binom

from accord.data.pairs import Comparisons
from accord.engines.numerics import normalise_log
from accord.pairs.process.likelihoods import Preference
from accord.pairs.process.posterior import Votes, sum_by
from accord.typing import FloatArray, IntArray

__all__ = [
    "PLAIN",
    "RATES",
    "SHARES_PRIOR",
    "SIDED",
    "Habits",
    "Voters",
    "majority",
    "majority_answer",
    "rate_intervals",
]

RATES = (0.0, 0.1, 0.3, 0.6, 1.0)
# Worth almost five voters, four of them attentive; of the others most answer at random always.
SHARES_PRIOR = np.array([4.0, 0.1, 0.1, 0.1, 0.5])
# Own leans of attentive voters, in units of the score.
_LEANS = (-1.6, -0.8, -0.4, 0.4, 0.8, 1.6)


@dataclass(frozen=True, eq=False)
class Habits:
    """What voters may be like: rates of random answers with the lean that goes with each, and the prior of shares."""

    rates: tuple[float, ...]
    leans: tuple[float, ...]
    prior: FloatArray

    def by_rate(self, belief: FloatArray) -> FloatArray:
        """Probability of each of ``RATES``, whatever the lean, shape (n_voters, 5)."""
        return np.stack([belief[:, np.array(self.rates) == rate].sum(axis=1) for rate in RATES], axis=1)


PLAIN = Habits(RATES, (0.0,) * len(RATES), SHARES_PRIOR)
SIDED = Habits(
    RATES + (0.0,) * len(_LEANS),
    PLAIN.leans + _LEANS,
    np.append(SHARES_PRIOR, np.full(len(_LEANS), 0.1)),
)


@dataclass(frozen=True, eq=False)
class Voters:
    """Who gave how many of which votes, and what is believed of each of them.

    Parameters
    ----------
    voter, row : int arrays of shape (n_cells,)
        Each voter and each distinct vote that he or she gave; voter −1 is not known.
    weight : float array of shape (n_cells,)
        How often.
    belief : float array of shape (n_voters, n_rates)
        Probability of each rate.
    shares : float array of shape (n_rates,)
        Share of each rate among all voters.
    n_rows : int
        Number of distinct votes.
    prior : float array of shape (n_rates,)
        How many voters of each rate the shares start from.
    """

    voter: IntArray
    row: IntArray
    weight: FloatArray
    belief: FloatArray
    shares: FloatArray
    n_rows: int
    prior: FloatArray

    @classmethod
    def of(
        cls,
        voter: IntArray,
        row: IntArray,
        weight: FloatArray,
        belief: FloatArray,
        n_rows: int,
        prior: FloatArray = SHARES_PRIOR,
    ) -> "Voters":
        """The voters of raw votes: ``voter``, ``row`` and ``weight`` are of shape (n_raw,)."""
        key = (voter.astype(np.int64) + 1) * n_rows + row
        cells, place = np.unique(key, return_inverse=True)
        total = np.bincount(place, weight, cells.size).astype(np.float64)
        voters = cls(cells // n_rows - 1, cells % n_rows, total, belief, prior, n_rows, prior)
        return replace(voters, shares=voters.expected_shares())

    @staticmethod
    def first_belief(n_voters: int, prior: FloatArray = SHARES_PRIOR) -> FloatArray:
        """What is believed before there are votes, shape (n_voters, n_rates)."""
        return np.tile(prior / prior.sum(), (n_voters, 1))

    def expected_shares(self) -> FloatArray:
        """Shares of the rates among the voters, with their prior, shape (n_rates,)."""
        return (self.belief.sum(axis=0) + self.prior) / (len(self.belief) + self.prior.sum())

    def row_shares(self) -> FloatArray:
        """Probability of each rate, averaged over the votes of each row, shape (n_rows, n_rates)."""
        believed = np.vstack([self.belief, self.shares])[self.voter]  # −1 reads the shares of all voters
        parts = [sum_by(self.row, self.weight * column, self.n_rows) for column in believed.T]
        total = np.maximum(sum_by(self.row, self.weight, self.n_rows), 1e-300)
        return np.stack(parts, axis=1) / total[:, None]

    def update(self, likelihood: Preference, mean: FloatArray, variance: FloatArray, votes: Votes) -> "Voters":
        """What is believed of the voters given the differences of scores, and the shares that follow.

        Parameters
        ----------
        likelihood : Preference
        mean, variance : arrays of shape (n_rows,)
            Of the difference of the two scores of each row.
        votes : Votes
        """
        logs = likelihood.answered(mean, variance, votes.ballots)
        known = self.voter >= 0
        cells = self.weight[known, None] * logs[self.row[known]]
        total = np.stack([sum_by(self.voter[known], column, len(self.belief)) for column in cells.T], axis=1)
        belief = normalise_log(total + np.log(self.shares), axis=1)
        updated = replace(self, belief=belief)
        return replace(updated, shares=updated.expected_shares())


def rate_intervals(belief: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Ends of the interval that holds each voter's rate of random answers with at least the probability ``level``.

    Each of ``RATES`` stands for all rates that are nearer to it than to another of them. So the interval has a width
    also where all of the belief is at one of them: 10 % stands for rates from 5 % to 20 %.

    Parameters
    ----------
    belief : array of shape (n_voters, 5)
        Probability of each of ``RATES``.
    level : float

    Returns
    -------
    low, high : arrays of shape (n_voters,)

    Examples
    --------
    >>> low, high = rate_intervals(np.array([[0.0, 1.0, 0.0, 0.0, 0.0]]), 0.9)
    >>> print(low.round(2), high.round(2))
    [0.05] [0.2]
    """
    middles = 0.5 * (np.array(RATES)[1:] + np.array(RATES)[:-1])
    edges = np.concatenate([[0.0], middles, [1.0]])
    reached, tail = np.cumsum(belief, axis=1), 0.5 * (1.0 - level)
    first, last = (np.argmax(reached >= share - 1e-12, axis=1) for share in (tail, 1.0 - tail))
    return edges[first], edges[last + 1]


def majority(votes: Comparisons) -> Comparisons:
    """One vote a pair, the answer that most people gave; where two answers are equally frequent, undecided."""
    n, swap = votes.items.n_items, votes.left > votes.right
    left, right = np.where(swap, votes.right, votes.left), np.where(swap, votes.left, votes.right)
    weight = np.ones(votes.n_votes) if votes.weight is None else votes.weight
    pairs, place = np.unique(left.astype(np.int64) * n + right, return_inverse=True)
    lead = sum_by(place, weight * np.where(swap, -1.0, 1.0) * (2.0 * votes.value - 1.0), pairs.size)
    value = np.where(lead > 0, 1.0, np.where(lead < 0, 0.0, 0.5))
    return Comparisons(votes.items, (pairs // n).astype(np.int32), (pairs % n).astype(np.int32), value)


def majority_answer(
    likelihood: Preference, mean: FloatArray, variance: FloatArray, n_voters: int, rate: float = 0.0
) -> FloatArray:
    """Probability that the majority of some voters is for left, undecided, for right, shape (n_pairs, 3).

    The voters answer independently once the difference z ~ N(mean, variance) of the scores is known.

    Parameters
    ----------
    likelihood : Preference
    mean, variance : arrays of shape (n_pairs,)
    n_voters : int
    rate : float
        Their rate of random answers.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(32)
    total, none = np.zeros((mean.size, 3)), np.zeros(mean.size)
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        p = likelihood.probability(mean + node * np.sqrt(variance), none, rate=rate)
        left = p[:, 0] / np.maximum(p[:, 0] + p[:, 2], 1e-300)
        for decided in range(n_voters + 1):
            among = binom.pmf(decided, n_voters, 1.0 - p[:, 1])
            ahead = binom.sf(decided // 2, decided, left)  # more than half
            even = binom.pmf(decided // 2, decided, left) if decided % 2 == 0 else none
            total += weight * among[:, None] * np.stack([ahead, even, 1.0 - ahead - even], axis=1)
    return np.clip(total, 0.0, 1.0)
