"""Votes of people with two tastes beside a consensus."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.typing import FloatArray, IntArray
from synthetic.words import numbered

__all__ = ["TasteProblem", "taste_votes"]


@dataclass(frozen=True, eq=False)
class TasteProblem:
    """Votes and the truth: voter p sees f(left) − f(right) + side_p (g(left) − g(right)) + ε, ε ~ N(0, 2)."""

    votes: Comparisons
    common: FloatArray  # (n_items,) f
    taste: FloatArray  # (n_items,) g
    side: FloatArray  # (n_voters,) the first half has +, the second −

    def probability(self, voter: IntArray, left: IntArray, right: IntArray) -> FloatArray:
        """P(the voter prefers left)."""
        z = self.common[left] - self.common[right] + self.side[voter] * (self.taste[left] - self.taste[right])
        return np.asarray(ndtr(z / np.sqrt(2.0)))

    def pairs(self, n: int, rng: np.random.Generator) -> tuple[IntArray, IntArray, IntArray]:
        """Random voters and pairs."""
        m = self.common.size
        left = rng.integers(0, m, n)
        return rng.integers(0, self.side.size, n), left, (left + 1 + rng.integers(0, m - 1, n)) % m


def taste_votes(
    n_items: int = 30,
    n_voters: int = 24,
    per_voter: int = 40,
    *,
    size: float = 1.0,
    features: bool = False,
    random_state: int = 0,
) -> TasteProblem:
    """Votes of ``n_voters`` people, half of whom like what the others dislike, by ``size`` (0: all are alike)."""
    rng = np.random.default_rng(random_state)
    x = rng.standard_normal((n_items, 4))
    common, taste = (x[:, k] + 0.3 * rng.standard_normal(n_items) for k in (0, 1))
    side = size * np.where(np.arange(n_voters) < n_voters // 2, 1.0, -1.0)
    items = Items(numbered("text", n_items), features=x if features else None)
    empty = np.zeros(0, dtype=np.int64)
    problem = TasteProblem(Comparisons(items, empty, empty, np.zeros(0)), common, taste, side)
    voter, left, right = problem.pairs(n_voters * per_voter, rng)
    value = (rng.random(voter.size) < problem.probability(voter, left, right)).astype(np.float64)
    names = np.array(numbered("person", n_voters), dtype=object)
    return TasteProblem(Comparisons(items, left, right, value, voter, names), common, taste, side)
