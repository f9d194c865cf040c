"""Scores of any items under a fitted process, with their uncertainty."""

from dataclasses import dataclass

import numpy as np

from accord.engines.numerics import cholesky
from accord.pairs.process.kernels import Inputs, Kernel
from accord.pairs.process.posterior import jittered, pair_dots, solve_lower
from accord.typing import FloatArray, IntArray

__all__ = ["Scorer"]

# A variance below this share of the prior's counts as carried by the inducing points.
_CARRIED, _MOST_RESIDUAL = 1e-4, 1500
_PAIRS_AT_ONCE = 8_192  # pairs of texts with many features take much memory


@dataclass(frozen=True, eq=False)
class Scorer:
    """The process conditioned on votes: f(x) = A(x) v, v ~ N(mean, C⁻¹), plus what A does not carry.

    Parameters
    ----------
    kernel, theta : the kernel and its parameters
    points : Inputs
        The inducing points.
    root : array of shape (m, m)
        Cholesky factor of their prior covariance.
    mean : array of shape (m,)
    factor : array of shape (m, m)
        Cholesky factor of C.
    """

    kernel: Kernel
    theta: FloatArray
    points: Inputs
    root: FloatArray
    mean: FloatArray
    factor: FloatArray

    def _halves(self, x: Inputs) -> tuple[FloatArray, FloatArray]:
        design = solve_lower(self.root, self.kernel.block(x, self.points).value(self.theta).T)
        return np.ascontiguousarray(design.T), np.ascontiguousarray(solve_lower(self.factor, design).T)

    def dual(self) -> FloatArray:
        """Weights α of the inducing points, f̂(x) = k(x, z) α, shape (m,)."""
        return solve_lower(self.root, self.mean, transposed=True)

    def score(self, x: Inputs) -> FloatArray:
        """Posterior mean of every item's score, shape (n_items,)."""
        return np.asarray(self.kernel.block(x, self.points).value(self.theta) @ self.dual())

    def variance(self, x: Inputs) -> FloatArray:
        """Posterior variance of every item's score, shape (n_items,)."""
        design, half = self._halves(x)
        prior = self.kernel.diagonal(self.theta, x)
        explained = np.einsum("ij,ij->i", design, design) - np.einsum("ij,ij->i", half, half)
        return np.maximum(prior - explained, 0.0)

    def draw(self, n_draws: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draws of v, shape (n_draws, m), and the scale of the prior that goes with each, which is 1."""
        noise = rng.standard_normal((self.mean.size, n_draws))
        return (self.mean[:, None] + solve_lower(self.factor, noise, transposed=True)).T, np.ones(n_draws)

    def draw_scores(self, x: Inputs, whitened: FloatArray, scale: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Joint draws of the items' scores for draws of v, shape (n_draws, n_items).

        What the inducing points do not carry is added: jointly for up to ``_MOST_RESIDUAL`` items, item by item above.
        """
        design = solve_lower(self.root, self.kernel.block(x, self.points).value(self.theta).T).T
        draws = whitened @ design.T
        own = self.kernel.diagonal(self.theta, x)
        left = own - np.einsum("ij,ij->i", design, design)
        open_ = np.flatnonzero(left > _CARRIED * own)
        if open_.size > _MOST_RESIDUAL:
            noise = rng.standard_normal((len(draws), open_.size)) * np.sqrt(left[open_])
        elif open_.size:
            rest = x.take(open_)
            block = self.kernel.block(rest).value(self.theta) - design[open_] @ design[open_].T
            noise = rng.standard_normal((len(draws), open_.size)) @ cholesky(jittered(block, 1e-6)).T
        else:
            return draws
        draws[:, open_] += scale[:, None] * noise
        return draws

    def covariance(self, x: Inputs) -> FloatArray:
        """Posterior covariance of the items' scores, shape (n_items, n_items)."""
        design, half = self._halves(x)
        return self.kernel.block(x).value(self.theta) - design @ design.T + half @ half.T

    def differences(self, x: Inputs, left: IntArray, right: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of f_left − f_right for pairs of the items of ``x``, each of shape (n_pairs,)."""
        design, half = self._halves(x)
        mean = design @ self.mean
        item = self.kernel.diagonal(self.theta, x)
        item = item - np.einsum("ij,ij->i", design, design) + np.einsum("ij,ij->i", half, half)
        between = np.empty(left.size)
        for first in range(0, left.size, _PAIRS_AT_ONCE):
            a, b = (x.take(side[first : first + _PAIRS_AT_ONCE]) for side in (left, right))
            between[first : first + _PAIRS_AT_ONCE] = self.kernel.block(a, b, paired=True).value(self.theta)
        between = between - pair_dots(design, left, right) + pair_dots(half, left, right)
        variance = np.maximum(item[left] + item[right] - 2.0 * between, 0.0)
        # An item against itself has no difference, whatever the item effect.
        variance[left == right] = 0.0
        return mean[left] - mean[right], variance

    def shared(self, x: Inputs, left: IntArray, right: IntArray, others: tuple[IntArray, IntArray]) -> FloatArray:
        """Covariance of f_left − f_right with the same differences of other pairs, shape (n_pairs, n_others)."""
        a, b = others
        design, half = self._halves(x)
        items = self.kernel.block(x, x.take(a)).value(self.theta) - self.kernel.block(x, x.take(b)).value(self.theta)
        items -= design @ (design[a] - design[b]).T
        items += half @ (half[a] - half[b]).T
        return np.asarray(items[left] - items[right])
