"""Active learning (Figure 7 of [SG18]): accuracy by number of votes asked for, by way of choosing them.

Nothing is known at first, so the kernel is the one the ranker starts from. A fold's pool is the single workers' votes
of the other folds; the gold votes of the fold left out test. All kernel values are computed once a fold.
"""

from collections.abc import Sequence

import numpy as np

from accord.experiments.pairs.folds import Fold, classification
from accord.features.groups import FeatureGroups
from accord.inference.gaussian_process import Prior, Votes, infer, jittered, solve_lower
from accord.inference.kernels import Inputs
from accord.inference.likelihoods import Preference
from accord.inference.numerics import cholesky
from accord.learning.acquisition import STRATEGIES, pick_pairs
from accord.learning.kernel_design import design_kernel, starting_point
from accord.typing import FloatArray, IntArray

__all__ = ["CHECKPOINTS", "gram_of", "simulate"]

CHECKPOINTS = (50, 100, 200, 400)
_BATCH = 10


def gram_of(fold: Fold, *, variance: float = 1.0) -> FloatArray:
    """Prior covariance of all items' scores, shape (n_items, n_items)."""
    rng = np.random.default_rng(0)
    groups = FeatureGroups.of(fold.training_items.features, fold.items.feature_groups)
    training = Inputs(groups.parts(fold.training_items.features), np.arange(int(fold.training.sum())))
    kernel = design_kernel(
        training, groups.names, families="linear+matern", combine="sum", ard=False, item_effects=True, rng=rng
    )
    items = Inputs(groups.parts(fold.items.features), np.arange(fold.items.n_items))
    theta = starting_point(kernel)
    theta[kernel.is_variance] += np.log(variance)
    return kernel.block(items).value(theta)


def simulate(
    fold: Fold, gram: FloatArray, *, strategy: str, seed: int, checkpoints: Sequence[int] = CHECKPOINTS
) -> dict[int, dict[str, float]]:
    """Metrics on the fold left out after each number of votes.

    Parameters
    ----------
    strategy : {"random", "uncertainty", "bald"}
    seed : int
        Of the first batch, which is random for every strategy, and of all others for ``random``.
    """
    rng = np.random.default_rng(seed)
    corpus = fold.corpus.crowdsample
    pool = corpus.subset(fold.training[corpus.left])
    left, right, value = pool.left.astype(np.int64), pool.right.astype(np.int64), pool.value.astype(np.float64)
    open_ = np.ones(left.size, dtype=bool)
    asked = rng.permutation(left.size)[:_BATCH]
    results: dict[int, dict[str, float]] = {}
    test, likelihood = fold.test, Preference()
    while True:
        open_[asked] = False
        design, mean, half = _posterior(gram, left[asked], right[asked], value[asked], likelihood)
        if asked.size in checkpoints:
            p = likelihood.probability(*_differences(gram, design, mean, half, test.left, test.right))[:, 0]
            results[asked.size] = classification(test.value.astype(np.float64), p)
        if asked.size >= max(checkpoints):
            return results
        free = np.flatnonzero(open_)
        if strategy == "random":
            new = rng.permutation(free)[:_BATCH]
        else:
            gain = STRATEGIES[strategy](*_differences(gram, design, mean, half, left[free], right[free]))
            new = free[pick_pairs(gain, left[free], right[free], _BATCH)]
        asked = np.concatenate([asked, new])


def _posterior(
    gram: FloatArray, left: IntArray, right: IntArray, value: FloatArray, likelihood: Preference
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A, f̂ and A C^−½ of all items, from votes between a few of them."""
    seen, place = np.unique(np.concatenate([left, right]), return_inverse=True)
    votes = Votes(place[: left.size], place[left.size :], value, np.ones(left.size), seen.size)
    root = cholesky(jittered(gram[np.ix_(seen, seen)], 1e-6))
    prior = Prior(root, root, np.zeros(left.size), np.zeros(0))
    found = infer(prior, votes, likelihood, tol=0.01)
    design = solve_lower(root, gram[seen])
    half = solve_lower(found.factor, design)
    return design.T, design.T @ found.mean, half.T


def _differences(
    gram: FloatArray, design: FloatArray, mean: FloatArray, half: FloatArray, left: IntArray, right: IntArray
) -> tuple[FloatArray, FloatArray]:
    prior = gram[left, left] + gram[right, right] - 2.0 * gram[left, right]
    carried, kept = design[left] - design[right], half[left] - half[right]
    variance = prior - np.einsum("ij,ij->i", carried, carried) + np.einsum("ij,ij->i", kept, kept)
    return mean[left] - mean[right], np.maximum(variance, 0.0)
