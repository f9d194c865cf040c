"""The model as published, and what its length-scales say about each group of features (Table 4 of [SG18])."""

from collections.abc import Callable

import numpy as np

from accord.pairs import PreferenceRanker
from accord.pairs.paper.folds import Fold, classification, ranking, split
from accord.pairs.paper.methods import answers, published
from accord.pairs.paper.results import Results
from accord.typing import FloatArray

__all__ = ["length_scale_ratios", "published_results"]

# [SG18] calls a length-scale shortened below this.
_SHORT = 0.99


def published_results(fold: Fold, _: Callable[[], FloatArray]) -> Results:
    """Rows ``gppl_median``, ``gppl_svi`` and ``gppl_mlii`` on the published features, and the last's lengths."""
    corpus, found = fold.corpus, Results()
    other = split(corpus, fold.name, "ling+glove")
    strict, everything, crowd = (other.train(votes) for votes in (corpus.strict, corpus.all, corpus.crowdsample))
    for scales in ("median", "mlii"):
        model = published(scales).fit(*strict.xy(), items=strict.items)
        found["strict", f"gppl_{scales}"] = classification(fold.test.value, answers(model, other)[0])
        if scales == "mlii":
            for group, ratio in length_scale_ratios(model).items():
                short = {"shortest": float(ratio.min()), "shortened": float(np.mean(ratio < _SHORT))}
                found["ard", group] = {"median": float(np.median(ratio)), **short}
        model = published(scales).fit(*everything.xy(), items=everything.items)
        found["rank", f"gppl_{scales}"] = ranking(fold.gold, answers(model, other)[1])
    model = published("median", "published_svi").fit(*strict.xy(), items=strict.items)
    found["strict", "gppl_svi"] = classification(fold.test.value, answers(model, other)[0])
    model = published("median", "published_svi").fit(*everything.xy(), items=everything.items)
    found["rank", "gppl_svi"] = ranking(fold.gold, answers(model, other)[1])
    p, score = answers(published("median").fit(*crowd.xy(), items=crowd.items), other)
    found["crowd", "gppl_median"] = {**classification(fold.test.value, p), **ranking(fold.gold, score)}
    return found


def length_scale_ratios(model: PreferenceRanker) -> dict[str, FloatArray]:
    """Each group's learnt length-scales divided by the medians that they started from."""
    lengths = model.kernel_.lengths(model.theta_)
    bases = model.kernel_.lengths(np.zeros_like(model.theta_))
    names = model.feature_groups_
    return {names[part]: lengths[term, part] / bases[term, part] for term, part in lengths}
