"""A few more votes, added to a posterior that is there: what they cost does not grow with the votes before.

The new votes' differences z have the joint distribution N(m, S) under the present posterior, so their sites follow from
a problem as small as they are few. The factor of C takes them in by rotations, one rank a vote, and with it as the
curvature a few Newton steps find the mean again.
"""

from dataclasses import replace

import numpy as np
import scipy.linalg
from numba import njit

from accord.engines.convergence import iterate
from accord.engines.numerics import cholesky
from accord.pairs.process.likelihoods import Preference, expectation
from accord.pairs.process.posterior import Posterior, Sites, Votes, solve_lower, start_sites, sum_by
from accord.typing import FloatArray

__all__ = ["add_votes", "cholesky_update"]

_MAX_CLIMBS, _TOL = 10, 1e-3


@njit(cache=True, error_model="numpy")
def _rotate(factor: FloatArray, rows: FloatArray) -> None:
    n, k = factor.shape[0], rows.shape[0]
    cosine, sine = np.empty((k, n)), np.empty((k, n))
    for i in range(n):
        for r in range(k):
            x = rows[r, i]
            for j in range(i):
                old = factor[i, j]
                factor[i, j] = cosine[r, j] * old + sine[r, j] * x
                x = cosine[r, j] * x - sine[r, j] * old
            length = np.hypot(factor[i, i], x)
            cosine[r, i], sine[r, i] = factor[i, i] / length, x / length
            factor[i, i] = length


def cholesky_update(factor: FloatArray, rows: FloatArray) -> FloatArray:
    """Lower Cholesky factor of L Lᵀ + Rᵀ R, row by row in O(n²) for each row of R.

    Parameters
    ----------
    factor : array of shape (n, n)
        L.
    rows : array of shape (k, n)
        R.
    """
    updated = np.array(factor, dtype=np.float64, order="C")
    _rotate(updated, np.ascontiguousarray(rows, dtype=np.float64))
    return updated


def add_votes(
    design: FloatArray, posterior: Posterior, votes: Votes, more: Votes, likelihood: Preference
) -> tuple[Posterior, Votes]:
    """The posterior with ``more`` votes taken in, and all votes.

    Curvatures of the earlier votes stay; the mean is exact for the curvatures and variances that there are.

    Parameters
    ----------
    design : array of shape (n_items, m)
        A of the items, which must carry them whole (the items are the inducing points).
    posterior : Posterior
        Of ``votes`` alone, without absolute scores.
    votes, more : Votes
    likelihood : Preference
    """
    sites, variance = _new_sites(design, posterior, more, likelihood)
    rows = design[more.left] - design[more.right]
    factor = cholesky_update(posterior.factor, np.sqrt(sites.precision)[:, None] * rows)
    everyone = votes.followed_by(more)
    a, b, weight = everyone.left, everyone.right, everyone.weight
    spread = np.append(posterior.vote_variance, variance)

    def slopes(mean: FloatArray) -> tuple[FloatArray, FloatArray]:
        f = design @ mean
        difference = f[a] - f[b]
        return difference, weight * expectation(likelihood, difference, spread, everyone.ballots)[1]

    def climb(mean: FloatArray) -> FloatArray:
        # ∂ bound / ∂ m = Aᵀ Σ ± slope − m, and C is about minus its curvature
        _, slope = slopes(mean)
        uphill = design.T @ (sum_by(a, slope, everyone.n_items) - sum_by(b, slope, everyone.n_items)) - mean
        return mean + scipy.linalg.cho_solve((factor, True), uphill, check_finite=False)

    shift = posterior.factor @ (posterior.factor.T @ posterior.mean) + rows.T @ sites.shift  # Aᵀ T₁
    start = scipy.linalg.cho_solve((factor, True), shift, check_finite=False)
    mean, convergence = iterate(climb, start, max_iter=_MAX_CLIMBS, tol=_TOL)
    difference, slope = slopes(mean)
    precision = np.append(posterior.sites.precision, sites.precision)
    updated = replace(
        posterior,
        mean=mean,
        factor=factor,
        sites=Sites(precision, slope + precision * difference),
        vote_mean=difference,
        vote_variance=spread,
        bound=float("nan"),
        convergence=convergence,
    )
    return updated, everyone


def _new_sites(
    design: FloatArray, posterior: Posterior, votes: Votes, likelihood: Preference
) -> tuple[Sites, FloatArray]:
    """Sites and variances of votes that come on top of a posterior."""
    rows = design[votes.left] - design[votes.right]
    half = solve_lower(posterior.factor, rows.T)
    before, covariance = rows @ posterior.mean, half.T @ half

    def joint(sites: Sites) -> tuple[FloatArray, FloatArray]:
        # (S⁻¹ + W)⁻¹ = S − S W^½ (I + W^½ S W^½)⁻¹ W^½ S
        root = np.sqrt(sites.precision)
        scaled = root[:, None] * covariance
        taken = solve_lower(cholesky(np.eye(root.size) + scaled * root), scaled)
        after = covariance - taken.T @ taken
        return before + after @ (sites.shift - sites.precision * before), np.maximum(np.diag(after), 1e-10)

    def step(state: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
        difference, variance = joint(Sites(*state))
        _, slope, curve = expectation(likelihood, difference, variance, votes.ballots)
        curve = np.maximum(curve, 1e-6)
        # Half-way steps: whole ones can swing to and fro where the prior is wide.
        return (
            0.5 * (state[0] + votes.weight * curve),
            0.5 * (state[1] + votes.weight * (slope + curve * difference)),
        )

    first = start_sites(votes)
    found, _ = iterate(step, (first.precision, first.shift), max_iter=100, tol=1e-6)
    return Sites(*found), joint(Sites(*found))[1]
