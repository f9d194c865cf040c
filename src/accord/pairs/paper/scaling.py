"""Experiment 2 of [SG18]: time and accuracy against the numbers of items, inducing points and features, on one fold."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from accord.data.pairs import Comparisons
from accord.pairs import PreferenceRanker
from accord.pairs.paper.folds import Fold, classification, split
from accord.pairs.paper.methods import answers
from accord.pairs.paper.results import Results
from accord.typing import FloatArray

__all__ = ["scaling_results"]

_ITEMS = (100, 200, 300, 400, 500)
_POINTS = (50, 100, 200, 400, 800)
_FEATURES = (30, 300, 3000, 10_000)


def scaling_results(fold: Fold, _: Callable[[], FloatArray]) -> Results:
    """Rows ``items@N`` (exact), ``items_svi@N`` (100 points, mini-batches), ``points@M`` and ``features@D``."""
    rng, found = np.random.default_rng(0), Results()
    glove = split(fold.corpus, fold.name, "glove")
    votes = glove.train(fold.corpus.strict)
    groups = np.asarray(votes.items.groups)
    # Items of whole folds, one fold after the other: votes stay inside a fold.
    order = np.argsort(
        rng.permutation(np.unique(groups).size)[np.unique(groups, return_inverse=True)[1]], kind="stable"
    )
    for n in _ITEMS:
        chosen = np.isin(np.arange(groups.size), order[:n])
        part = votes.subset(chosen[votes.left] & chosen[votes.right])
        found["scaling", f"items@{n}"] = _measure(glove, part)
        found["scaling", f"items_svi@{n}"] = _measure(glove, part, inference="svi", n_inducing=100, batch_size=200)
    for n in _POINTS:
        found["scaling", f"points@{n}"] = _measure(glove, votes, n_inducing=n)
    full = split(fold.corpus, fold.name, "ling+glove")
    everything = full.train(fold.corpus.strict)
    columns = rng.permutation(full.items.features.shape[1]) if full.items.features is not None else np.zeros(0, int)
    for n in _FEATURES:
        some = np.sort(columns[:n])
        fewer = replace(full, items=_with_columns(full.items, some), feature_names=full.feature_names[some])
        part = Comparisons(fewer.training_items, everything.left, everything.right, everything.value)
        settings = {"kernel": "matern_product", "combine": "product", "item_effects": False, "standardise": False}
        found["scaling", f"features@{n}"] = _measure(fewer, part, n_inducing=500, **settings)
    return found


def _with_columns(items: Any, columns: Any) -> Any:
    return items.with_features(items.features[:, columns], {"features": slice(0, columns.size)})


def _measure(fold: Fold, votes: Comparisons, **settings: Any) -> dict[str, float]:
    model = PreferenceRanker(length_scales="median", **settings)
    start = time.process_time()
    model.fit(*votes.xy(), items=votes.items)
    seconds = time.process_time() - start
    return {"seconds": seconds, "accuracy": classification(fold.test.value, answers(model, fold)[0])["accuracy"]}
