"""Bradley–Terry: P(left beats right) = σ(s_left − s_right), with a Gaussian prior on the scores.

The prior s ~ N(0, I/alpha) gives undefeated, winless and unseen items finite scores and joins the parts of a
comparison graph that is not connected. An undecided vote counts as half a win for each side. [BT52]
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import cg

from accord.inference.fixed_point import Convergence
from accord.inference.numerics import sigmoid
from accord.learning.optimise import l2_penalised, minimise_lbfgs
from accord.typing import FloatArray, IntArray

__all__ = ["Scores", "bradley_terry", "curvature", "vote_loss"]


@dataclass(frozen=True, eq=False)
class Scores:
    """The Laplace approximation of the posterior of the scores: N(mean, covariance)."""

    mean: FloatArray  # (n_items,)
    std: FloatArray  # (n_items,)
    draws: FloatArray  # (n_draws, n_items), from the approximation
    covariance: FloatArray | None  # (n_items, n_items); None where that would not fit
    convergence: Convergence

    def difference_std(self, i: IntArray, j: IntArray) -> FloatArray:
        """Standard deviation of s_i − s_j, shape (n,); without covariances an estimate from the draws."""
        if self.covariance is None:
            # E[(xᵢ − xⱼ)²] over the draws
            return np.asarray(np.sqrt(np.mean((self.draws[:, i] - self.draws[:, j]) ** 2, axis=0)))
        covariance = self.covariance
        return np.asarray(np.sqrt(np.maximum(covariance[i, i] + covariance[j, j] - 2.0 * covariance[i, j], 0.0)))


def vote_loss(
    left: IntArray, right: IntArray, value: FloatArray, weight: FloatArray, *, n_items: int
) -> Callable[[FloatArray], tuple[float, FloatArray]]:
    """Negative log-likelihood of votes and its gradient, as a function of the scores.

    Parameters
    ----------
    left, right : int array of shape (n_votes,)
    value : float array of shape (n_votes,)
        1 where left won, 0 where right won, ½ where undecided.
    weight : float array of shape (n_votes,)
    n_items : int
    """

    def loss(scores: FloatArray) -> tuple[float, FloatArray]:
        difference = scores[left] - scores[right]
        # −log p = log(1 + e^d) − y·d
        total = float(np.sum(weight * (np.logaddexp(0.0, difference) - value * difference)))
        residual = weight * (sigmoid(difference) - value)
        gradient = np.bincount(left, residual, n_items) - np.bincount(right, residual, n_items)
        return total, np.asarray(gradient, dtype=np.float64)

    return loss


def curvature(
    scores: FloatArray, left: IntArray, right: IntArray, weight: FloatArray, *, alpha: float
) -> sp.csr_matrix:
    """Second derivatives of the penalised loss, shape (n_items, n_items): a weighted graph Laplacian + alpha·I."""
    n = len(scores)
    p = sigmoid(scores[left] - scores[right])
    w = weight * p * (1.0 - p)
    rows, columns = np.concatenate([left, right, np.arange(n)]), np.concatenate([right, left, np.arange(n)])
    diagonal = np.bincount(left, w, n) + np.bincount(right, w, n) + alpha
    return sp.coo_matrix((np.concatenate([-w, -w, diagonal]), (rows, columns)), shape=(n, n)).tocsr()


def bradley_terry(
    left: IntArray,
    right: IntArray,
    value: FloatArray,
    *,
    n_items: int,
    weight: FloatArray | None = None,
    alpha: float = 0.5,
    max_iter: int = 500,
    tol: float = 1e-6,
    n_draws: int = 2000,
    largest_dense: int = 2000,
    rng: np.random.Generator,
) -> Scores:
    """Most probable scores of items and how sure they are.

    Up to ``largest_dense`` items the covariance of the Laplace approximation is computed whole; above, deviations come
    from a few draws and are estimates.
    """
    weight = np.ones(len(left)) if weight is None else np.asarray(weight, dtype=np.float64)
    value = np.asarray(value, dtype=np.float64)
    loss = l2_penalised(vote_loss(left, right, value, weight, n_items=n_items), alpha)
    optimum = minimise_lbfgs(loss, np.zeros(n_items), max_iter=max_iter, tol=tol)
    precision = curvature(optimum.weights, left, right, weight, alpha=alpha)
    if n_items <= largest_dense:
        factor = scipy.linalg.cholesky(precision.toarray(), lower=True)  # Λ = LLᵀ
        inverse = scipy.linalg.solve_triangular(factor, np.eye(n_items), lower=True)
        covariance = inverse.T @ inverse  # Λ⁻¹ = L⁻ᵀL⁻¹
        draws = rng.standard_normal((n_draws, n_items)) @ inverse
        return Scores(optimum.weights, np.sqrt(np.diag(covariance)), draws, covariance, optimum.convergence)
    draws = _sparse_draws(precision, alpha=alpha, n_draws=min(n_draws, 40), rng=rng)
    return Scores(optimum.weights, _conditioned_std(precision, draws), draws, None, optimum.convergence)


def _sparse_draws(precision: sp.csr_matrix, *, alpha: float, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Draws from N(0, Λ⁻¹), shape (n_draws, n_items), without a factor of Λ.

    Λ = BᵀB with one row of B an edge (√w at its two ends, with opposite signs) and one an item (√alpha); the solution
    of Λx = Bᵀε has the covariance Λ⁻¹BᵀBΛ⁻¹ = Λ⁻¹.
    """
    n = precision.shape[0]
    upper = sp.triu(precision, k=1).tocoo()
    root = np.sqrt(-upper.data)
    inverse_diagonal = sp.diags(1.0 / precision.diagonal())
    draws = np.empty((n_draws, n))
    for row in draws:
        pull = root * rng.standard_normal(root.size)
        target = np.bincount(upper.row, pull, n) - np.bincount(upper.col, pull, n)
        target += np.sqrt(alpha) * rng.standard_normal(n)
        row[:], _ = cg(precision, target, rtol=1e-4, maxiter=200, M=inverse_diagonal)
    return draws


def _conditioned_std(precision: sp.csr_matrix, draws: FloatArray) -> FloatArray:
    """Deviations from few draws: var(xᵢ) = 1/Λᵢᵢ + var(E[xᵢ | rest]), of which only the last term is estimated."""
    diagonal = precision.diagonal()
    expected = draws - (precision @ draws.T).T / diagonal  # E[xᵢ | rest] = xᵢ − (Λx)ᵢ/Λᵢᵢ
    return np.asarray(np.sqrt(1.0 / diagonal + np.mean(expected**2, axis=0)))
