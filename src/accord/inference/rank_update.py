"""A few more votes, added to a posterior that is there: what they cost does not grow with the votes before.

The sites of the earlier votes stay as they are. The new votes' differences z have the joint distribution N(m, S) under
the present posterior, so their own sites follow from a problem as small as they are few; then the factor of C takes
them in by rotations, one rank a vote.
"""

import numpy as np
import scipy.linalg
from numba import njit

from accord.inference.fixed_point import iterate
from accord.inference.gaussian_process import Sites, Votes, solve_lower, start_sites
from accord.inference.likelihoods import Preference, expectation
from accord.inference.numerics import cholesky
from accord.typing import FloatArray

__all__ = ["add_votes", "cholesky_update"]


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
    design: FloatArray, mean: FloatArray, factor: FloatArray, votes: Votes, likelihood: Preference
) -> tuple[FloatArray, FloatArray, Sites]:
    """Mean and factor of C with more votes taken in, and the sites of these votes.

    Parameters
    ----------
    design : array of shape (n_items, m)
        A of the items, which must carry them whole (the items are the inducing points).
    mean, factor : arrays of shape (m,) and (m, m)
        The posterior without these votes.
    votes : Votes
        The votes to add.
    likelihood : Preference
    """
    rows = design[votes.left] - design[votes.right]
    half = solve_lower(factor, rows.T)
    before, covariance = rows @ mean, half.T @ half

    def posterior(sites: Sites) -> tuple[FloatArray, FloatArray]:
        # (S⁻¹ + W)⁻¹ = S − S W^½ (I + W^½ S W^½)⁻¹ W^½ S
        root = np.sqrt(sites.precision)
        scaled = root[:, None] * covariance
        inner = cholesky(np.eye(root.size) + scaled * root)
        taken = solve_lower(inner, scaled)
        after = covariance - taken.T @ taken
        return before + after @ (sites.shift - sites.precision * before), np.maximum(np.diag(after), 1e-10)

    def step(state: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
        difference, variance = posterior(Sites(*state))
        _, slope, curve = expectation(likelihood, difference, variance, votes.value)
        # Half-way steps: whole ones can swing to and fro where the prior is wide.
        return (
            0.5 * (state[0] + votes.weight * curve),
            0.5 * (state[1] + votes.weight * (slope + curve * difference)),
        )

    first = start_sites(votes)
    found, _ = iterate(step, (first.precision, first.shift), max_iter=100, tol=1e-6)
    sites = Sites(*found)
    shift = factor @ (factor.T @ mean) + rows.T @ sites.shift  # Aᵀ T₁
    updated = cholesky_update(factor, np.sqrt(sites.precision)[:, None] * rows)
    return scipy.linalg.cho_solve((updated, True), shift, check_finite=False), updated, sites
