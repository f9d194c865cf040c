"""Scores of any items under a fitted process, with their uncertainty."""

from dataclasses import dataclass

import numpy as np

from accord.pairs.process.kernels import Inputs, Kernel
from accord.pairs.process.posterior import pair_dots, solve_lower
from accord.typing import FloatArray, IntArray

__all__ = ["Scorer"]


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
        between = self.kernel.block(x.take(left), x.take(right), paired=True).value(self.theta)
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
