"""Many items without features: the posterior of their scores through its sparse precision alone.

Without features every item is its own effect, f ~ N(0, s I), and the posterior N(μ, Λ⁻¹) has the precision
Λ = I/s + T₂, as sparse as the votes. Nothing is factorised: the mean is the solution of Λ μ = T₁ by conjugate
gradients, and draws are solutions for random right-hand sides, since T₂ = Σ w (e_i − e_j)(e_i − e_j)ᵀ:

    Λ x = e/√s + Σ √w ξ (e_i − e_j),  e, ξ ~ N(0, 1)   ⇒   x ~ N(0, Λ⁻¹)

Variances come from a few draws, of which only what the neighbours add is an estimate. Covariances of two items are
left out of the variance of their difference, which is therefore a little too large.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from accord.pairs.process.kernels import Inputs, Kernel
from accord.pairs.process.likelihoods import Preference, expectation
from accord.pairs.process.posterior import Sites, Votes, item_sites, start_sites
from accord.pairs.voters import Voters
from accord.typing import FloatArray, IntArray

__all__ = ["SparseScorer", "conditioned_variance", "fit_sparse", "solve", "sparse_draws"]

_FEW_DRAWS, _ROUNDS, _STEPS = 24, 12, 2
_MOST_DRAWS = 200


def solve(precision: sp.csr_array, right: FloatArray, *, tol: float = 1e-5, max_iter: int = 300) -> FloatArray:
    """Λ⁻¹ b for every column of b, shape (n, k), by conjugate gradients with the diagonal as preconditioner."""
    inverse = 1.0 / precision.diagonal()[:, None]
    x = inverse * right
    residual = right - precision @ x
    z = inverse * residual
    p, rho = z, np.einsum("ij,ij->j", residual, z)
    goal = tol**2 * np.maximum(np.einsum("ij,ij->j", right, right), 1e-300)
    for _ in range(max_iter):
        if (np.einsum("ij,ij->j", residual, residual) <= goal).all():
            break
        q = precision @ p
        step = rho / np.maximum(np.einsum("ij,ij->j", p, q), 1e-300)
        x = x + step * p
        residual = residual - step * q
        z = inverse * residual
        new = np.einsum("ij,ij->j", residual, z)
        p, rho = z + new / np.maximum(rho, 1e-300) * p, new
    return x


def sparse_draws(precision: sp.csr_array, prior: float, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Draws from N(0, Λ⁻¹), shape (n_draws, n); ``prior`` is the precision that the prior gives every item."""
    n = precision.shape[0]
    upper = sp.triu(precision, k=1).tocoo()
    pull = np.sqrt(-upper.data)[:, None] * rng.standard_normal((upper.data.size, n_draws))
    ends = sp.csr_array((np.ones(2 * upper.data.size), (np.concatenate([upper.row, upper.col]),
                         np.arange(2 * upper.data.size))), shape=(n, 2 * upper.data.size))  # fmt: skip
    right = ends @ np.concatenate([pull, -pull]) + np.sqrt(prior) * rng.standard_normal((n, n_draws))
    return solve(precision, right, tol=1e-3).T


def conditioned_variance(precision: sp.csr_array, draws: FloatArray) -> FloatArray:
    """Variances from few draws: var(xᵢ) = 1/Λᵢᵢ + var(E[xᵢ | rest]), of which only the last term is estimated."""
    diagonal = precision.diagonal()
    expected = draws - (precision @ draws.T).T / diagonal  # E[xᵢ | rest] = xᵢ − (Λx)ᵢ/Λᵢᵢ
    return np.asarray(1.0 / diagonal + np.mean(expected**2, axis=0))


@dataclass(frozen=True, eq=False)
class SparseScorer:
    """Scores of items that have no features; an item that was not fitted to has the prior's.

    It answers as :class:`~accord.pairs.process.scorer.Scorer` does.
    """

    kernel: Kernel
    theta: FloatArray
    points: Inputs  # the items with votes, in ascending order of their index
    mean: FloatArray  # (n,)
    marginal: FloatArray  # (n,) variances
    precision: sp.csr_array  # (n, n)

    @property
    def prior(self) -> float:
        """Variance of a score before there are votes."""
        return float(np.exp(self.theta[0]))

    def _place(self, x: Inputs) -> IntArray:
        """Positions of items among the points; n where an item is none of them."""
        place = np.searchsorted(self.points.index, x.index)
        known = self.points.index[np.minimum(place, self.points.n - 1)] == x.index
        return np.where(known, place, self.points.n)

    def dual(self) -> FloatArray:
        """Weights α of the points, f̂(x) = k(x, z) α, shape (n,)."""
        return self.mean / self.prior

    def score(self, x: Inputs) -> FloatArray:
        """Posterior mean of every item's score, shape (n_items,)."""
        return np.append(self.mean, 0.0)[self._place(x)]

    def variance(self, x: Inputs) -> FloatArray:
        """Posterior variance of every item's score, shape (n_items,)."""
        return np.append(self.marginal, self.prior)[self._place(x)]

    def differences(self, x: Inputs, left: IntArray, right: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of f_left − f_right for pairs of the items of ``x``, each of shape (n_pairs,)."""
        score, variance = self.score(x), self.variance(x)
        return score[left] - score[right], np.where(left == right, 0.0, variance[left] + variance[right])

    def shared(self, x: Inputs, left: IntArray, right: IntArray, others: tuple[IntArray, IntArray]) -> FloatArray:
        """Covariance with other pairs' differences, shape (n_pairs, n_others): only items in common count."""
        variance = self.variance(x)
        a, b = (side[None, :] for side in others)
        i, j = left[:, None], right[:, None]
        here, there = variance[left][:, None], variance[right][:, None]
        return here * (1.0 * (i == a) - (i == b)) - there * (1.0 * (j == a) - (j == b))

    def draw(self, n_draws: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draws of the scores of the points, at most 200, and the scale of the prior that goes with each."""
        n_draws = min(n_draws, _MOST_DRAWS)
        return self.mean + sparse_draws(self.precision, 1.0 / self.prior, n_draws, rng), np.ones(n_draws)

    def draw_scores(self, x: Inputs, whitened: FloatArray, scale: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Joint draws of the items' scores for draws of the points' scores, shape (n_draws, n_items)."""
        place = self._place(x)
        drawn = whitened[:, np.minimum(place, self.points.n - 1)]
        new = np.flatnonzero(place == self.points.n)
        drawn[:, new] = np.sqrt(self.prior) * rng.standard_normal((len(drawn), new.size))
        return drawn


@dataclass(frozen=True, eq=False)
class SparseFit:
    """What was learnt."""

    variance: float
    likelihood: Preference
    voters: Voters | None
    votes: Votes
    mean: FloatArray
    marginal: FloatArray
    precision: sp.csr_array
    sites: Sites


def fit_sparse(
    votes: Votes,
    likelihood: Preference,
    voters: Voters | None,
    *,
    variance: float,
    learn_variance: bool,
    learn_bias: bool,
    rng: np.random.Generator,
    sites: Sites | None = None,
    tol: float = 1e-3,
) -> SparseFit:
    """Variational updates of the votes' sites, the variance by expectation maximisation, voters, bias and margin.

    Parameters
    ----------
    votes, likelihood, voters, sites
        As in :func:`~accord.pairs.process.evidence.fit`.
    variance : float
        Where the variance of the scores starts, and stays unless ``learn_variance``.
    learn_bias : bool
        Also learn the position bias; a margin is learnt whenever the likelihood has one.
    rng : numpy.random.Generator
    tol : float
        Largest relative change of the variance, and mean change of the scores, at which it stops.
    """
    n, a, b = votes.n_items, votes.left, votes.right
    now = start_sites(votes) if sites is None else sites
    mean: FloatArray = np.zeros(n)
    marginal: FloatArray = np.full(n, variance)
    for _ in range(_ROUNDS):
        before, old = mean, variance
        for _ in range(_STEPS):
            precision, shift = item_sites(votes, now, None)
            precision = sp.csr_array(precision + sp.diags_array(np.full(n, 1.0 / variance)))
            mean = solve(precision, shift[:, None])[:, 0]
            difference, spread = mean[a] - mean[b], marginal[a] + marginal[b]
            _, slope, curve = expectation(likelihood, difference, spread, votes.ballots)
            curve = np.maximum(curve, 1e-6)
            now = Sites(votes.weight * curve, votes.weight * (slope + curve * difference))
        marginal = conditioned_variance(precision, sparse_draws(precision, 1.0 / variance, _FEW_DRAWS, rng))
        if learn_variance:
            variance = float(np.mean(mean**2 + marginal))
        difference, spread = mean[a] - mean[b], marginal[a] + marginal[b]
        if voters is not None:
            voters = voters.update(likelihood, difference, spread, votes)
            votes = replace(votes, ballots=replace(votes.ballots, share=voters.row_shares()))
        if learn_bias or likelihood.margin > 0.0:
            likelihood = likelihood.refit(
                difference, spread, votes.ballots, votes.weight, bias=learn_bias, margin=likelihood.margin > 0.0
            )
        moved = max(abs(variance / old - 1.0), float(np.mean(np.abs(mean - before))))
        if moved < max(tol, 2e-3):
            break
    return SparseFit(variance, likelihood, voters, votes, mean, marginal, precision, now)
