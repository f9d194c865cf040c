"""A guard against over-large variances: one multiplier of all variances, chosen by leaving groups out.

Labels aggregated from several people look noiseless, so the bound picks variances that are far too large for a new
topic. Votes stay inside their group, so the sites of one group form one block of T₂; taking the block out gives the
prediction for that group from all the others in closed form, without a refit:

    Σ₋g = Σ_gg (I − T₂ Σ_gg)⁻¹,  μ₋g = Σ₋g (Σ_gg⁻¹ μ_g − T₁)
"""

from collections.abc import Sequence

import numpy as np

from accord.pairs.process.kernels import Inputs, Kernel
from accord.pairs.process.likelihoods import Preference
from accord.pairs.process.posterior import (
    Posterior,
    Prior,
    Sites,
    Votes,
    infer,
    item_sites,
    make_prior,
    prepare,
    solve_lower,
)
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["choose_multiplier", "leave_group_out_loss"]


def leave_group_out_loss(
    prior: Prior, posterior: Posterior, votes: Votes, likelihood: Preference, groups: IntArray
) -> float:
    """Mean log loss of decided votes, each predicted from the other groups' votes only.

    The sites of the other groups are kept as they are (an approximation that is exact for Gaussian votes).

    Parameters
    ----------
    prior, posterior, votes, likelihood
        An inference with the items as their own inducing points.
    groups : int array of shape (n_items,)
        Group of every item; only votes inside one group are judged.
    """
    precision, shift = item_sites(votes, posterior.sites, None)
    half = solve_lower(posterior.factor, prior.design.T).T
    score = prior.design @ posterior.mean
    total = weight = 0.0
    vote_group = np.where(groups[votes.left] == groups[votes.right], groups[votes.left], -1)
    decided = votes.ballots.value != 0.5
    for group in np.unique(vote_group[vote_group >= 0]):
        rows = np.flatnonzero(groups == group)
        mine = np.flatnonzero((vote_group == group) & decided)
        place = np.full(votes.n_items, -1)
        place[rows] = np.arange(rows.size)
        covariance = half[rows] @ half[rows].T
        block = precision[rows][:, rows].toarray()
        # (Σ⁻¹ − T)⁻¹ = Σ (I − T Σ)⁻¹ and (Σ⁻¹ − T)⁻¹ (Σ⁻¹ μ − t) = (I − Σ T)⁻¹ (μ − Σ t)
        left_out = np.linalg.solve(
            np.eye(rows.size) - covariance @ block,
            np.column_stack([covariance, score[rows] - covariance @ shift[rows]]),
        )
        cov, mean = left_out[:, :-1], left_out[:, -1]
        i, j = place[votes.left[mine]], place[votes.right[mine]]
        variance = np.maximum(cov[i, i] + cov[j, j] - cov[i, j] - cov[j, i], 0.0)
        p = likelihood.probability(mean[i] - mean[j], variance)
        chosen = np.where(votes.ballots.value[mine] == 1.0, p[:, 0], p[:, 2]) / (p[:, 0] + p[:, 2])
        total -= float(votes.weight[mine] @ np.log(np.maximum(chosen, 1e-12)))
        weight += float(votes.weight[mine].sum())
    return total / weight


def choose_multiplier(
    kernel: Kernel,
    theta: FloatArray,
    x: Inputs,
    votes: Votes,
    likelihood: Preference,
    groups: IntArray,
    sites: Sites,
    *,
    steps: Sequence[float] = (0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625),
) -> tuple[FloatArray, float]:
    """θ with all variances multiplied by the number that predicts left-out groups best, and that number.

    Tries 1, ½, ¼ … and stops at the first that is no better than the one before.
    """
    is_variance: BoolArray = kernel.is_variance
    prepared = prepare(kernel, x, None, votes)

    def loss(multiplier: float, start: Sites) -> tuple[float, FloatArray, Sites]:
        moved = theta.copy()
        moved[is_variance] += np.log(multiplier)
        prior = make_prior(prepared, moved, votes)
        posterior = infer(prior, votes, likelihood, sites=start, tol=0.05)
        return leave_group_out_loss(prior, posterior, votes, likelihood, groups), moved, posterior.sites

    best, chosen, sites = loss(1.0, sites)
    multiplier = 1.0
    for step in steps:
        value, moved, sites = loss(step, sites)
        if value >= best:
            break
        best, chosen, multiplier = value, moved, step
    return chosen, multiplier
