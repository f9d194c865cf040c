"""Stochastic variational inference for millions of votes ([HBWP13], [HMG15], [SG18] eq. 5).

Whitened inducing points, mini-batches of votes, natural-parameter steps λ ← (1 − ρ) λ + ρ λ̂ with
ρ = (t + delay)^−forgetting, where λ̂ scales the batch up to all votes. Memory is O(M² + M · batch): features of the
items of one batch are all that is ever expanded.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from accord.inference.gaussian_process import Votes, jittered, solve_lower
from accord.inference.kernels import Inputs, Kernel
from accord.inference.likelihoods import Preference, expectation
from accord.inference.numerics import cholesky
from accord.typing import FloatArray

__all__ = ["StochasticPosterior", "stochastic_inference"]

_STEPS, _MOST_EPOCHS = 1000, 5


@dataclass(frozen=True, eq=False)
class StochasticPosterior:
    """q(v) = N(mean, (factor factorᵀ)⁻¹) on whitened inducing points."""

    root: FloatArray  # (m, m)
    mean: FloatArray  # (m,)
    factor: FloatArray  # (m, m)
    n_steps: int
    residual: float  # mean absolute change of the scores of the inducing points in the last tenth of the steps


def stochastic_inference(
    kernel: Kernel,
    theta: FloatArray,
    x: Inputs,
    z: Inputs,
    votes: Votes,
    likelihood: Preference,
    *,
    rng: np.random.Generator,
    batch_size: int = 2000,
    n_epochs: int | None = None,
    forgetting: float = 0.7,
    delay: float = 1.0,
    progress: Callable[[int, int], None] | None = None,
) -> StochasticPosterior:
    """Posterior of the inducing points ``z`` by mini-batches.

    Parameters
    ----------
    kernel, theta, x, z, votes, likelihood
        As in :func:`~accord.inference.gaussian_process.infer`.
    batch_size : int
        Votes a step.
    n_epochs : int or None
        How often every vote is seen; ``None`` takes about a thousand steps, but sees no vote more than five times.
    forgetting, delay : float
        Step sizes ρ_t = (t + delay)^−forgetting.
    progress : callable, optional
        Called with (steps done, steps in all).
    """
    root = cholesky(jittered(kernel.block(z).value(theta), 1e-6))
    m, n_votes = z.n, votes.left.size
    precision: FloatArray = np.eye(m)
    factor: FloatArray = np.eye(m)
    shift, mean = np.zeros(m), np.zeros(m)
    batches = max(1, -(-n_votes // batch_size))
    if n_epochs is None:
        n_epochs = min(_MOST_EPOCHS, -(-_STEPS // batches))
    total, t = batches * n_epochs, 0
    earlier = np.zeros(m)
    for _ in range(n_epochs):
        for batch in np.array_split(rng.permutation(n_votes), batches):
            a, b = votes.left[batch], votes.right[batch]
            seen, place = np.unique(np.concatenate([a, b]), return_inverse=True)
            i, j = place[: a.size], place[a.size :]
            near = x.take(seen)
            cross = kernel.block(near, z).value(theta)
            own = kernel.diagonal(theta, near)
            between = kernel.block(near.take(i), near.take(j), paired=True).value(theta)
            rows = solve_lower(root, (cross[i] - cross[j]).T).T
            half = solve_lower(factor, rows.T)
            residual = own[i] + own[j] - 2.0 * between - np.einsum("ij,ij->i", rows, rows)
            difference = rows @ mean
            variance = np.maximum(residual, 0.0) + np.einsum("ij,ij->j", half, half) + 1e-10
            _, slope, curve = expectation(likelihood, difference, variance, votes.value[batch])
            weight = votes.weight[batch] * (n_votes / batch.size)
            rate = (t + delay) ** -forgetting if total > 1 else 1.0
            rate = min(rate, 1.0)
            # λ̂ = natural parameters of the prior and of the batch, scaled up to all votes
            precision = (1.0 - rate) * precision + rate * (np.eye(m) + rows.T @ (rows * (weight * curve)[:, None]))
            shift = (1.0 - rate) * shift + rate * (rows.T @ (weight * (slope + curve * difference)))
            factor = cholesky(precision)
            mean = scipy.linalg.cho_solve((factor, True), shift, check_finite=False)
            t += 1
            if t == total - max(1, total // 10):
                earlier = root @ mean
            if progress is not None:
                progress(t, total)
    return StochasticPosterior(root, mean, factor, t, float(np.mean(np.abs(root @ mean - earlier))))
