"""Active learning (Figure 7 of [SG18]): accuracy by number of votes asked for, by way of choosing them.

The pool is the gold votes of some training folds, as published; the gold votes of the fold left out test. The kernel's
hyper-parameters are learnt once, from single workers' votes of the other training folds, so that none of the pool's
votes is known beforehand. Gold votes are surer than single workers', so the scale of the scores does not stay: while
votes are few it is doubled or halved whenever that raises the bound.

The rows ``cold_random`` and ``cold_gppl`` start cold, as the paper did: no vote is known beforehand, the
hyper-parameters are those that the features alone give, and the pool is the gold votes of all training folds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from accord.data.pairs import Comparisons
from accord.engines.numerics import cholesky
from accord.pairs.feature_groups import FeatureGroups
from accord.pairs.paper.folds import Fold, classification
from accord.pairs.paper.methods import learn_kernel
from accord.pairs.paper.results import Results
from accord.pairs.process.kernel_design import design_kernel, starting_point
from accord.pairs.process.kernels import Inputs
from accord.pairs.process.likelihoods import Ballots, Preference
from accord.pairs.process.posterior import Prior, Sites, Votes, infer, jittered, solve_lower, start_sites
from accord.pairs.questions import STRATEGIES, pick_pairs, transfer
from accord.pairs.replay import replay_votes
from accord.typing import FloatArray, IntArray

__all__ = ["CHECKPOINTS", "Setting", "active_results", "cold_setting", "prepare_setting", "simulate"]

CHECKPOINTS = (50, 100, 200, 400)
_FIRST, _BATCH = 10, 5
# Pairs that information is to carry over to, and up to how many votes the scale is learnt.
_OTHERS, _SCALED = 200, 100
# strategy → row
_ROWS = {"random": "random", "uncertainty": "uncertainty", "bald": "gppl", "transfer": "transfer"}
_COLD = {"random": "cold_random", "bald": "cold_gppl"}


def active_results(
    fold: Fold, *, seeds: Sequence[int] = (0, 1, 2), checkpoints: Sequence[int] = CHECKPOINTS
) -> Results:
    """Accuracy and cross-entropy by strategy and number of votes, means over seeds; ``gppl`` chooses by BALD."""
    warm, cold = prepare_setting(fold), cold_setting(fold)
    found = Results()
    every = [(warm, *one) for one in _ROWS.items()] + [(cold, *one) for one in _COLD.items()]
    for setting, strategy, row in every:
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
    raw, gold = corpus.crowdsample, corpus.strict
    theta = learn_kernel(fold.train(raw.subset(known[raw.left])))
    return Setting(fold, _gram(fold, theta), gold.subset((fold.training & ~known)[gold.left]))


def cold_setting(fold: Fold) -> Setting:
    """The hyper-parameters that the features alone give, and all training folds as the pool."""
    gold = fold.corpus.strict
    return Setting(fold, _gram(fold, None), gold.subset(fold.training[gold.left]))


def _gram(fold: Fold, theta: FloatArray | None) -> FloatArray:
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
    return kernel.block(items).value(starting_point(kernel) if theta is None else theta)


def simulate(
    setting: Setting, *, strategy: str, seed: int, checkpoints: Sequence[int] = CHECKPOINTS
) -> dict[int, dict[str, float]]:
    """Metrics on the fold left out after each number of votes.

    Batches are of five votes, or a tenth of the votes so far if that is more.

    Parameters
    ----------
    strategy : {"random", "uncertainty", "bald", "transfer"}
    seed : int
        Of the first ten votes, which are random for every strategy, and of all others for ``random``.
    """
    rng = np.random.default_rng(seed)
    pool, test = setting.pool, setting.fold.test
    left, right, value = pool.left.astype(np.int64), pool.right.astype(np.int64), pool.value.astype(np.float64)
    groups = setting.fold.corpus.folds

    def pick(belief: Belief, free: IntArray, n: int) -> IntArray:
        a, b = left[free], right[free]
        mean, variance = belief.differences(a, b)
        if strategy == "transfer":
            some = rng.permutation(left.size)[:_OTHERS]
            covariance = belief.covariance(a, b, left[some], right[some])
            # What is to be learnt is what carries over to another fold.
            covariance[groups[a][:, None] == groups[left[some]]] = 0.0
            gain = transfer(mean, variance, *belief.differences(left[some], right[some]), covariance)
        else:
            gain = STRATEGIES[strategy](Preference(), mean, variance, 0.0)
        return free[pick_pairs(gain, a, b, n)]

    def step(n: int) -> int:
        return min([max(_BATCH, n // 10), *(c - n for c in checkpoints if c > n)]) if n < max(checkpoints) else 0

    replayed = replay_votes(
        np.arange(left.size),
        rng.permutation(left.size)[:_FIRST],
        learn=lambda belief, asked, new: (belief or Belief.first(setting.gram)).given(
            left[asked], right[asked], value[asked]
        ),
        step=step,
        rng=rng,
        pick=None if strategy == "random" else pick,
    )
    results: dict[int, dict[str, float]] = {}
    for asked, belief in replayed:
        if asked.size in checkpoints:
            p = Preference().probability(*belief.differences(test.left, test.right))[:, 0]
            results[asked.size] = classification(test.value.astype(np.float64), p)
    return results


@dataclass(frozen=True, eq=False)
class Belief:
    """Posterior over the scores of all items, from votes between a few of them."""

    gram: FloatArray  # (n_items, n_items) prior covariance at a scale of 1
    scale: float
    design: FloatArray  # (n_items, n_seen) A
    mean: FloatArray  # (n_items,)
    half: FloatArray  # (n_items, n_seen) A C^−½
    sites: Sites

    @classmethod
    def first(cls, gram: FloatArray) -> "Belief":
        """Before any vote."""
        nothing = np.zeros((len(gram), 0))
        return cls(gram, 1.0, nothing, np.zeros(len(gram)), nothing, Sites(np.zeros(0), np.zeros(0)))

    def given(self, left: IntArray, right: IntArray, value: FloatArray) -> "Belief":
        """With these votes, of which the first are those that were known before."""
        seen, place = np.unique(np.concatenate([left, right]), return_inverse=True)
        votes = Votes(place[: left.size], place[left.size :], Ballots.of(value), np.ones(left.size), seen.size)
        sites = self.sites.followed_by(start_sites(votes).after(self.sites.precision.size))
        own = self.gram[np.ix_(seen, seen)]
        fits = []
        for scale in self.scale * np.array([1.0, 2.0, 0.5] if left.size <= _SCALED else [1.0]):
            root = cholesky(jittered(scale * own, 1e-6))
            prior = Prior(root, root, np.zeros(left.size), np.zeros(0))
            fits.append((root, infer(prior, votes, Preference(), sites=sites, tol=0.02), float(scale)))
        root, found, scale = max(fits, key=lambda fit: fit[1].bound)
        design = solve_lower(root, scale * self.gram[seen])
        half = solve_lower(found.factor, design)
        return Belief(self.gram, scale, design.T, design.T @ found.mean, half.T, found.sites)

    def differences(self, left: IntArray, right: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the differences of scores, each of shape (n_pairs,)."""
        prior = self.gram[left, left] + self.gram[right, right] - 2.0 * self.gram[left, right]
        carried, kept = self.design[left] - self.design[right], self.half[left] - self.half[right]
        variance = self.scale * prior - np.einsum("ij,ij->i", carried, carried) + np.einsum("ij,ij->i", kept, kept)
        return self.mean[left] - self.mean[right], np.maximum(variance, 0.0)

    def covariance(self, left: IntArray, right: IntArray, a: IntArray, b: IntArray) -> FloatArray:
        """Covariance of the differences of one list of pairs with those of another, shape (n_pairs, n_others)."""
        items = self.scale * (self.gram[:, a] - self.gram[:, b])
        items -= self.design @ (self.design[a] - self.design[b]).T
        items += self.half @ (self.half[a] - self.half[b]).T
        return np.asarray(items[left] - items[right])
