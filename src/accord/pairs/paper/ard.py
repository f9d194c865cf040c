"""The model as published, and what its length-scales say about each group of features (Table 4 of [SG18])."""

from collections.abc import Callable

import numpy as np

from accord.data.pairs import Comparisons
from accord.pairs import PreferenceRanker
from accord.pairs.paper.folds import Fold, classification, errors, ranking
from accord.pairs.paper.methods import answers, published
from accord.pairs.paper.results import Results
from accord.typing import FloatArray

__all__ = ["length_scale_ratios", "median_results", "mlii_results", "seed_results", "svi_results"]

# [SG18] calls a length-scale shortened below this.
_SHORT = 0.99
# Groups whose features are reported one by one: n-grams differ between folds, and a vector's entries have no names.
_SINGLE = ("length", "surface")
# How often the published model is fitted with other inducing points, as in section 5 of [SG18].
_SEEDS = 20


def median_results(fold: Fold, _: Callable[[], FloatArray]) -> Results:
    """Row ``gppl_median``: length-scales by the median heuristic."""
    return _published_rows(fold, "gppl_median", lambda: published("median"))


def svi_results(fold: Fold, _: Callable[[], FloatArray]) -> Results:
    """Row ``gppl_svi``: the same by mini-batches."""
    return _published_rows(fold, "gppl_svi", lambda: published("median", "published_svi"))


def mlii_results(fold: Fold, _: Callable[[], FloatArray]) -> Results:
    """Row ``gppl_mlii``: one length-scale a feature, and what they say about each group of features."""
    found = Results()

    def report(model: PreferenceRanker) -> None:
        for group, ratio in length_scale_ratios(model).items():
            short = {"shortest": float(ratio.min()), "shortened": float(np.mean(ratio < _SHORT))}
            found["ard", group] = {"median": float(np.median(ratio)), **short}
            if group in _SINGLE:
                names = fold.feature_names[(fold.items.feature_groups or {})[group]]
                for name, one in zip(names, ratio.tolist(), strict=True):
                    found["ard_features", name] = {"ratio": one}

    return _published_rows(fold, "gppl_mlii", lambda: published("mlii"), report) | found


def seed_results(fold: Fold, _: Callable[[], FloatArray]) -> Results:
    """How much the accuracy of the published model depends on the seed of its inducing points, on one fold."""
    votes = fold.train(fold.corpus.strict)
    found = []
    for seed in range(_SEEDS):
        model = _fitted(published("median").set_params(random_state=seed), votes)
        found.append(classification(fold.test.value, answers(model, fold)[0])["accuracy"])
    return Results(
        {("seeds", "gppl_median"): {"accuracy": float(np.mean(found)), "deviation": float(np.std(found, ddof=1))}}
    )


def _published_rows(
    fold: Fold,
    row: str,
    make: Callable[[], PreferenceRanker],
    report: Callable[[PreferenceRanker], None] | None = None,
) -> Results:
    """One published model on all three sets of votes; ``report`` looks at the one that learnt from decided labels."""
    corpus, found = fold.corpus, Results()
    model = _fitted(make(), fold.train(corpus.strict))
    p = answers(model, fold)[0]
    found["strict", row], found["errors", row] = classification(fold.test.value, p), errors(fold, p)
    if report is not None:
        report(model)
    model = _fitted(make(), fold.train(corpus.all))
    found["rank", row] = ranking(fold.gold, answers(model, fold)[1])
    p, score = answers(_fitted(make(), fold.train(corpus.crowdsample)), fold)
    found["crowd", row] = {**classification(fold.test.value, p), **ranking(fold.gold, score)}
    return found


def _fitted(model: PreferenceRanker, votes: Comparisons) -> PreferenceRanker:
    return model.fit(*votes.xy(), items=votes.items)


def length_scale_ratios(model: PreferenceRanker) -> dict[str, FloatArray]:
    """Each group's learnt length-scales divided by the medians that they started from."""
    lengths = model.kernel_.lengths(model.theta_)
    bases = model.kernel_.lengths(np.zeros_like(model.theta_))
    names = model.feature_groups_
    return {names[part]: lengths[term, part] / bases[term, part] for term, part in lengths}
