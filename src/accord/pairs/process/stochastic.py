"""Stochastic variational inference for millions of votes ([HBWP13], [HMG15], [SG18] eq. 5).

Whitened inducing points, mini-batches of votes, natural-parameter steps λ ← (1 − ρ) λ + ρ λ̂ with
ρ = (t + delay)^−forgetting, where λ̂ scales the batch up to all votes. A batch enters only through an M × M matrix and a
vector of length M, which are sums over its votes: memory is O(M² + M · chunk), and parts of a batch may be summed
apart.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from accord.engines.numerics import cholesky
from accord.pairs.process.kernels import Inputs, Kernel
from accord.pairs.process.likelihoods import LINEARISATIONS, Ballots, Preference
from accord.pairs.process.posterior import jittered, solve_lower
from accord.typing import FloatArray, IntArray

__all__ = ["StochasticPosterior", "VoteProcess", "stochastic_posterior"]

CHUNK = 20_000
# Up to so many kernel values between items and inducing points are computed once, not for every batch anew (32 MB).
_MOST_KEPT = 4_000_000


@dataclass(frozen=True, eq=False)
class StochasticPosterior:
    """q(v) = N(mean, (factor factorᵀ)⁻¹) on whitened inducing points."""

    root: FloatArray  # (m, m)
    mean: FloatArray  # (m,)
    factor: FloatArray  # (m, m)
    n_steps: int
    residual: float  # mean absolute change of the scores of the inducing points in the last tenth of the steps


@dataclass(frozen=True, eq=False)
class VoteProcess:
    """What all votes need to know of the items and never changes: the process, and its inducing points."""

    kernel: Kernel
    theta: FloatArray
    x: Inputs  # the items
    z: Inputs  # the inducing points
    root: FloatArray  # (m, m) factor of K_zz
    likelihood: Preference
    method: str = "auto"  # how a vote becomes a Gaussian site
    cross: FloatArray | None = None  # (n_items, m) kernel values, where they are few enough to be kept

    @classmethod
    def of(
        cls, kernel: Kernel, theta: FloatArray, x: Inputs, z: Inputs, likelihood: Preference, method: str = "auto"
    ) -> "VoteProcess":
        """The process with the factor of its inducing points."""
        root = cholesky(jittered(kernel.block(z).value(theta), 1e-6))
        cross = kernel.block(x, z).value(theta) if x.n * z.n <= _MOST_KEPT else None
        return cls(kernel, theta, x, z, root, likelihood, method, cross)

    def sums(
        self, left: IntArray, right: IntArray, ballots: Ballots, weight: FloatArray, mean: FloatArray,
        factor: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:  # fmt: skip
        """Σ w a aᵀ and Σ s a over votes, with a the difference of two rows of A and w, s a vote's Gaussian site.

        Parameters
        ----------
        left, right : int array of shape (n_votes,)
            Positions of the items.
        ballots : Ballots
        weight : array of shape (n_votes,)
        mean, factor : arrays of shape (m,), (m, m)
            Where the sites are taken: q(v) = N(mean, (factor factorᵀ)⁻¹).
        """
        m = self.z.n
        precision, shift = np.zeros((m, m)), np.zeros(m)
        for first in range(0, left.size, CHUNK):
            part = slice(first, first + CHUNK)
            one, other = self._chunk(left[part], right[part], ballots.take(part), weight[part], mean, factor)
            precision += one
            shift += other
        return precision, shift

    def _chunk(
        self, a: IntArray, b: IntArray, ballots: Ballots, weight: FloatArray, mean: FloatArray, factor: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        kernel, theta = self.kernel, self.theta
        seen, place = np.unique(np.concatenate([a, b]), return_inverse=True)
        i, j = place[: a.size], place[a.size :]
        near = self.x.take(seen)
        cross = kernel.block(near, self.z).value(theta) if self.cross is None else self.cross[seen]
        own = kernel.diagonal(theta, near)
        between = kernel.block(near.take(i), near.take(j), paired=True).value(theta)
        rows = solve_lower(self.root, (cross[i] - cross[j]).T).T
        half = solve_lower(factor, rows.T)
        residual = own[i] + own[j] - 2.0 * between - np.einsum("ij,ij->i", rows, rows)
        difference = rows @ mean
        variance = np.maximum(residual, 0.0) + np.einsum("ij,ij->j", half, half) + 1e-10
        _, slope, curve = LINEARISATIONS[self.method](self.likelihood, difference, variance, ballots)
        curve = np.maximum(curve, 1e-6)
        return rows.T @ (rows * (weight * curve)[:, None]), rows.T @ (weight * (slope + curve * difference))


def stochastic_posterior(
    root: FloatArray,
    sums: Callable[[int, FloatArray, FloatArray], tuple[FloatArray, FloatArray]],
    *,
    n_steps: int,
    forgetting: float = 0.7,
    delay: float = 1.0,
    progress: Callable[[int, int], None] | None = None,
) -> StochasticPosterior:
    """Posterior of the inducing points by natural-parameter steps.

    Parameters
    ----------
    root : array of shape (m, m)
    sums : callable
        ``(step, mean, factor) -> (Σ w a aᵀ, Σ s a)`` of the step's batch, scaled up to all votes; see
        :meth:`VoteProcess.sums`.
    n_steps : int
    forgetting, delay : float
        Step sizes ρ_t = (t + delay)^−forgetting; a single step takes all.
    progress : callable, optional
        Called with (steps done, steps in all).
    """
    m = len(root)
    precision: FloatArray = np.eye(m)
    factor: FloatArray = np.eye(m)
    shift, mean, earlier = np.zeros(m), np.zeros(m), np.zeros(m)
    for t in range(n_steps):
        batch_precision, batch_shift = sums(t, mean, factor)
        rate = min((t + delay) ** -forgetting, 1.0) if n_steps > 1 else 1.0
        # λ̂ = natural parameters of the prior and of the batch, scaled up to all votes
        precision = (1.0 - rate) * precision + rate * (np.eye(m) + batch_precision)
        shift = (1.0 - rate) * shift + rate * batch_shift
        factor = cholesky(precision)
        mean = scipy.linalg.cho_solve((factor, True), shift, check_finite=False)
        if t + 1 == n_steps - max(1, n_steps // 10):
            earlier = root @ mean
        if progress is not None:
            progress(t + 1, n_steps)
    return StochasticPosterior(root, mean, factor, n_steps, float(np.mean(np.abs(root @ mean - earlier))))
