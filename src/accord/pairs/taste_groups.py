"""Groups of voters with like tastes: a mixture of Gaussians over what is believed of each voter's amounts.

What is known of a voter is a Gaussian posterior under the prior N(0, α). Divided by that prior it is what the votes
said, L(v); under a group N(μ, S) the evidence of a voter is ∫ N(v; μ, S) L(v) dv, so that voters of whom little is
known join no group for sure and move none. The number of groups is that of the lowest Bayesian information criterion.
"""

from dataclasses import dataclass

import numpy as np

from accord.engines.numerics import normalise_log
from accord.typing import FloatArray

__all__ = ["TasteGroups", "find_groups"]

_LEAST = 1e-4  # variance inside a group, relative to that of all voters
_MOST_STEPS = 200


@dataclass(frozen=True, eq=False)
class TasteGroups:
    """Groups of voters, the largest first."""

    share: FloatArray  # (n_groups,) of voters
    centre: FloatArray  # (n_groups, k) amounts
    belief: FloatArray  # (n_voters, n_groups) probability of each group
    criterion: float  # BIC; lower is better


def _given(
    precision: FloatArray, pull: FloatArray, centre: FloatArray, inside: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log evidence of every voter under one group, with the mean and the variances of the voter's amounts."""
    total = precision + np.diag(1.0 / inside)
    shift = pull + centre / inside
    covariance = np.linalg.inv(total)
    mean = np.einsum("pab,pb->pa", covariance, shift)
    log = 0.5 * (np.einsum("pa,pa->p", shift, mean) - np.sum(centre**2 / inside) - np.log(inside).sum())
    return log - 0.5 * np.linalg.slogdet(total)[1], mean, np.einsum("paa->pa", covariance)


def _mixture(precision: FloatArray, pull: FloatArray, start: FloatArray, spread: FloatArray) -> TasteGroups:
    """Expectation maximisation from centres; all groups are as wide."""
    centre, share, inside = start, np.full(len(start), 1.0 / len(start)), spread / len(start)
    last = -np.inf
    belief: FloatArray = np.ones((len(pull), len(start)))
    for _ in range(_MOST_STEPS):
        parts = [_given(precision, pull, each, inside) for each in centre]
        logs = np.stack([log for log, _, _ in parts], axis=1) + np.log(share)
        evidence = float(np.logaddexp.reduce(logs, axis=1).sum())
        belief = normalise_log(logs, axis=1)
        means, variances = (np.stack([part[k] for part in parts], axis=1) for k in (1, 2))
        size = np.maximum(belief.sum(axis=0), 1e-9)
        if len(centre) > 1:  # one group is the prior itself, around nothing
            centre = np.einsum("pg,pgk->gk", belief, means) / size[:, None]
        square = np.einsum("pg,pgk->k", belief, (means - centre) ** 2 + variances) / len(pull)
        inside, share = np.maximum(square, _LEAST * spread), size / size.sum()
        if evidence - last < 1e-4 * len(pull):
            break
        last = evidence
    n_parameters = (len(centre) - 1) * (1 + centre.shape[1])
    order = np.argsort(-share, kind="stable")
    criterion = n_parameters * np.log(len(pull)) - 2.0 * evidence
    return TasteGroups(share[order], centre[order], belief[:, order], float(criterion))


def find_groups(
    amounts: FloatArray, covariance: FloatArray, spread: FloatArray, *, most: int, rng: np.random.Generator
) -> TasteGroups:
    """Groups of voters by their amounts of each taste.

    Parameters
    ----------
    amounts, covariance : arrays of shape (n_voters, k) and (n_voters, k, k)
        The posterior of every voter.
    spread : array of shape (k,)
        α, the variances of the prior under which it was found.
    most : int
        Most groups.
    """
    inverse = np.linalg.inv(covariance)
    pull = np.einsum("pab,pb->pa", inverse, amounts)
    precision = inverse - np.diag(1.0 / spread)
    best = _mixture(precision, pull, np.zeros((1, spread.size)), spread)
    # Voters of whom most is known lie where groups are.
    known = np.argsort(-np.sum((amounts**2) / spread, axis=1), kind="stable")[: max(10 * most, 50)]
    for n_groups in range(2, min(most, len(amounts)) + 1):
        for _ in range(3):
            start = amounts[rng.choice(known, n_groups, replace=False)]
            found = _mixture(precision, pull, start, spread)
            best = found if found.criterion < best.criterion else best
    return best
