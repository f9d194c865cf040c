"""The experiment in parts, each a function from one fold and the kernel to be learnt for it to figures."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from accord.pairs.paper.active import active_results
from accord.pairs.paper.ard import median_results, mlii_results, seed_results, svi_results
from accord.pairs.paper.folds import Fold, classification, errors, ranking, some_folds, split
from accord.pairs.paper.methods import (
    BASELINES,
    Answers,
    answers,
    baseline_answers,
    baseline_scores,
    choose_voters,
    decided,
    gppl,
    learn_kernel,
    raw_hyperparameters,
)
from accord.pairs.paper.results import Results
from accord.pairs.paper.scaling import scaling_results
from accord.typing import FloatArray

__all__ = ["PARTS", "QUICK_PARTS", "Part"]

_QUICK_FOLDS = 5  # from which a quick run learns what takes long
# Hyper-parameters learnt for a fold, when they are asked for.
Learnt = Callable[[], FloatArray]


def _six(fold: Fold, given: Answers) -> dict[str, float]:
    return {**classification(fold.test.value, given[0]), **ranking(fold.gold, given[1])}


def _baseline_rows(fold: Fold, rows: Iterable[str]) -> Results:
    corpus, found = fold.corpus, Results()
    strict, everything, crowd = (fold.train(votes) for votes in (corpus.strict, corpus.all, corpus.crowdsample))
    for row in rows:
        p = BASELINES[row](fold, strict)[0]
        found["strict", row], found["errors", row] = classification(fold.test.value, p), errors(fold, p)
        found["rank", row] = ranking(fold.gold, baseline_scores(row, fold, everything))
        found["crowd", row] = _six(fold, baseline_answers(row, fold, crowd))
    return found


def _default_rows(fold: Fold, learnt: Learnt) -> Results:
    """Our default on all three sets of votes, beside what people would use instead."""
    corpus, theta = fold.corpus, learnt()
    found = _baseline_rows(fold, ("longer", "logistic_diff"))
    found["rank", "pagerank"] = ranking(fold.gold, baseline_scores("pagerank", fold, fold.train(corpus.all)))
    strict = answers(gppl(fold, fold.train(corpus.strict), theta), fold)
    found["strict", "gppl"], found["errors", "gppl"] = (
        classification(fold.test.value, strict[0]),
        errors(fold, strict[0]),
    )
    found["rank", "gppl"] = ranking(fold.gold, answers(gppl(fold, fold.train(corpus.all), theta), fold)[1])
    crowd = fold.train(corpus.crowdsample)
    found["crowd", "gppl"] = _six(fold, answers(gppl(fold, crowd, theta, ties="margin"), fold))
    found["crowd", "gppl_half"] = _six(fold, answers(gppl(fold, crowd, theta), fold))
    return found


def _crowd_rows(fold: Fold, _: Learnt) -> Results:
    """Every worker's vote: taken as they come, by majority, by MACE, and with each worker's reliability learnt.

    The kernel is learnt from every worker's vote, too. Gold labels are what several workers agreed on, so the rows
    ``/majority`` read the model of single votes as the majority of k workers, k chosen in the training folds; the table
    ``votes`` is about the fold's single votes, undecided ones left out.
    """
    corpus = fold.corpus
    full = fold.train(corpus.crowd_full)
    theta = learn_kernel(full, ties="margin")
    models = {
        "majority_vote": gppl(fold, full, theta, ties="margin", aggregate="majority"),
        "mace": gppl(fold, fold.train(corpus.all), theta, ties="margin"),
    }
    found = Results()
    for row, reliability in (("gppl_full", "equal"), ("gppl_reliability", "learned")):
        settings = {"ties": "margin", "reliability": reliability}
        models[row] = gppl(fold, full, theta, **settings)
        k = choose_voters(fold, theta, **settings)
        found["crowd", f"{row}/majority"] = _six(fold, answers(models[row], fold, voters=k)) | {"voters": float(k)}
    own = corpus.crowd_full.subset(~fold.training[corpus.crowd_full.left])
    own = own.subset(own.value != 0.5)
    for row, model in models.items():
        found["crowd", row] = _six(fold, answers(model, fold))
        single = decided(model.predict_proba(own.xy()[0], items=fold.items, attentive=False))
        found["votes", row] = classification(own.value, single)
    return found


def _feature_rows(fold: Fold, learnt: Learnt) -> Results:
    """Our default on fewer features, with kernels of their own."""
    found = Results()
    for features in ("glove", "ling"):
        other = split(fold.corpus, fold.name, features)
        model = gppl(other, other.train(fold.corpus.strict), raw_hyperparameters(other))
        p, row = answers(model, other)[0], f"gppl/{features}"
        found["strict", row], found["errors", row] = classification(fold.test.value, p), errors(fold, p)
    return found


def _quick_rows(fold: Fold, learnt: Learnt) -> Results:
    """Every other row, from a few folds only."""
    names = np.unique(fold.corpus.folds.astype(str))
    few = some_folds(fold.corpus, {fold.name, *names[:: len(names) // _QUICK_FOLDS]})
    full, published = split(few, fold.name), split(few, fold.name, "ling+glove")
    found = _baseline_rows(full, ("bradley_terry", "pl_svr", "svm", "gpc"))
    for rows, own in (
        (_crowd_rows, full),
        (_feature_rows, full),
        (median_results, published),
        (svi_results, published),
        (mlii_results, published),
    ):
        found.update(rows(own, learnt))
    return found


@dataclass(frozen=True)
class Part:
    """A part of the experiment: on which folds it runs (every first, second, fourth …) and what it computes."""

    every: int
    rows: Callable[[Fold, Learnt], Results]
    features: str = "full"  # the feature set of the fold that it gets


# In the order in which a full run takes them: what matters most first.
PARTS: dict[str, Part] = {
    "default": Part(1, _default_rows),
    "crowd": Part(1, _crowd_rows),
    "median": Part(1, median_results, "ling+glove"),
    "svi": Part(1, svi_results, "ling+glove"),
    "regression": Part(1, lambda fold, _: _baseline_rows(fold, ("bradley_terry", "pl_svr"))),
    "classifiers": Part(1, lambda fold, _: _baseline_rows(fold, ("svm", "gpc"))),
    "features": Part(1, _feature_rows),
    "scaling": Part(8, scaling_results),
    "seeds": Part(32, seed_results, "ling+glove"),
    "active": Part(1, lambda fold, _: active_results(fold)),
    "mlii": Part(1, mlii_results, "ling+glove"),  # some 10,000 length-scales: a minute a fold
}
QUICK_PARTS: dict[str, Part] = {
    "default": Part(1, _default_rows),
    "active": Part(3, lambda fold, _: active_results(fold, seeds=(0,))),
    "others": Part(3, _quick_rows),
}
