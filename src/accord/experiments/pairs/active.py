"""Active learning (Figure 7 of [SG18]): accuracy by number of votes asked for, by way of choosing them.

The pool is the gold votes of some training folds, as published. The kernel's hyper-parameters are learnt once, from
gold votes too but of the other training folds, and stay: none of the pool's votes is known beforehand, and the scale
of the scores is that of gold votes. (Learnt from single workers' votes the scores are three times too small for gold
ones; then whatever is not random chooses badly.) The gold votes of the fold left out test.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from accord.data.pairs import Comparisons
from accord.experiments.pairs.folds import Fold, classification
from accord.experiments.pairs.methods import learn_kernel
from accord.experiments.pairs.results import Results
from accord.features.groups import FeatureGroups
from accord.inference.gaussian_process import Prior, Sites, Votes, infer, jittered, solve_lower, start_sites
from accord.inference.kernels import Inputs
from accord.inference.likelihoods import Preference
from accord.inference.numerics import cholesky
from accord.learning.acquisition import STRATEGIES, pick_pairs
from accord.learning.kernel_design import design_kernel
from accord.typing import FloatArray, IntArray

__all__ = ["CHECKPOINTS", "Setting", "active_results", "prepare_setting", "simulate"]

CHECKPOINTS = (50, 100, 200, 400)
_BATCH = 10
# strategy → row
_ROWS = {"random": "random", "uncertainty": "uncertainty", "bald": "gppl"}


def active_results(
    fold: Fold, *, seeds: Sequence[int] = (0, 1, 2), checkpoints: Sequence[int] = CHECKPOINTS
) -> Results:
    """Accuracy and cross-entropy by strategy and number of votes, means over seeds."""
    setting = prepare_setting(fold)
    found = Results()
    for strategy, row in _ROWS.items():
        runs = [simulate(setting, strategy=strategy, seed=seed, checkpoints=checkpoints) for seed in seeds]
        for n in checkpoints:
            metrics = {metric: float(np.mean([run[n][metric] for run in runs])) for metric in ("accuracy", "cee")}
            found["active", f"{row}@{n}"] = metrics
    return found


@dataclass(frozen=True, eq=False)
class Setting:
    """What every simulation of one fold shares: prior covariance of all items' scores, and the pool of votes."""

    fold: Fold
    gram: FloatArray  # (n_items, n_items)
    pool: Comparisons


def prepare_setting(fold: Fold, *, known_items: int = 400) -> Setting:
    """Learn the hyper-parameters from whole folds of about ``known_items`` items; the others make the pool."""
    corpus, rng = fold.corpus, np.random.default_rng(0)
    names, size = np.unique(corpus.folds[fold.training], return_counts=True)
    order = rng.permutation(names.size)
    known = fold.training & np.isin(corpus.folds, names[order[np.cumsum(size[order]) <= known_items]])
    gold = corpus.strict
    theta = learn_kernel(fold.train(gold.subset(known[gold.left])))
    return Setting(fold, _gram(fold, theta), gold.subset((fold.training & ~known)[gold.left]))


def _gram(fold: Fold, theta: FloatArray) -> FloatArray:
    """Prior covariance of all items' scores, by the ranker's own kernel of the training items."""
    groups = FeatureGroups.of(fold.training_items.features, fold.items.feature_groups)
    training = Inputs(groups.parts(fold.training_items.features), np.arange(int(fold.training.sum())))
    kernel = design_kernel(
        training,
        groups.names,
        families="linear+matern",
        combine="sum",
        ard=False,
        item_effects=True,
        rng=np.random.default_rng(0),
    )
    items = Inputs(groups.parts(fold.items.features), np.arange(fold.items.n_items))
    return kernel.block(items).value(theta)


def simulate(
    setting: Setting, *, strategy: str, seed: int, checkpoints: Sequence[int] = CHECKPOINTS
) -> dict[int, dict[str, float]]:
    """Metrics on the fold left out after each number of votes.

    Parameters
    ----------
    strategy : {"random", "uncertainty", "bald"}
    seed : int
        Of the first batch, which is random for every strategy, and of all others for ``random``.
    """
    rng = np.random.default_rng(seed)
    gram, pool = setting.gram, setting.pool
    left, right, value = pool.left.astype(np.int64), pool.right.astype(np.int64), pool.value.astype(np.float64)
    open_ = np.ones(left.size, dtype=bool)
    asked = rng.permutation(left.size)[:_BATCH]
    results: dict[int, dict[str, float]] = {}
    test, likelihood = setting.fold.test, Preference()
    sites = Sites(np.zeros(0), np.zeros(0))
    while True:
        open_[asked] = False
        design, mean, half, sites = _posterior(gram, left[asked], right[asked], value[asked], likelihood, sites)
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
    gram: FloatArray, left: IntArray, right: IntArray, value: FloatArray, likelihood: Preference, earlier: Sites
) -> tuple[FloatArray, FloatArray, FloatArray, Sites]:
    """A, f̂ and A C^−½ of all items from votes between a few of them, and the sites, begun from the earlier ones."""
    seen, place = np.unique(np.concatenate([left, right]), return_inverse=True)
    votes = Votes(place[: left.size], place[left.size :], value, np.ones(left.size), seen.size)
    root = cholesky(jittered(gram[np.ix_(seen, seen)], 1e-6))
    prior = Prior(root, root, np.zeros(left.size), np.zeros(0))
    sites = earlier.followed_by(start_sites(votes).after(earlier.precision.size))
    found = infer(prior, votes, likelihood, sites=sites, tol=0.01)
    design = solve_lower(root, gram[seen])
    half = solve_lower(found.factor, design)
    return design.T, design.T @ found.mean, half.T, found.sites


def _differences(
    gram: FloatArray, design: FloatArray, mean: FloatArray, half: FloatArray, left: IntArray, right: IntArray
) -> tuple[FloatArray, FloatArray]:
    prior = gram[left, left] + gram[right, right] - 2.0 * gram[left, right]
    carried, kept = design[left] - design[right], half[left] - half[right]
    variance = prior - np.einsum("ij,ij->i", carried, carried) + np.einsum("ij,ij->i", kept, kept)
    return mean[left] - mean[right], np.maximum(variance, 0.0)
