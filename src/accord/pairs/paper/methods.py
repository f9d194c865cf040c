"""Every row of the tables as a function from a fold and votes to answers for the fold left out."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from accord.data.pairs import Comparisons
from accord.evaluation.metrics import cross_entropy
from accord.pairs import PreferenceRanker
from accord.pairs.baselines import (
    LogisticDifferenceRanker,
    LongerTextRanker,
    PageRankRanker,
    PairGaussianProcessClassifier,
    PairSupportVectorClassifier,
    ScoreRegressionRanker,
)
from accord.pairs.bradley_terry import BradleyTerryRanker
from accord.pairs.paper.folds import Fold
from accord.typing import FloatArray

__all__ = [
    "BASELINES",
    "Answers",
    "answers",
    "baseline_answers",
    "baseline_scores",
    "choose_voters",
    "decided",
    "gppl",
    "learn_kernel",
    "published",
    "raw_hyperparameters",
]

# Numbers of workers that a gold label may be the majority of.
_VOTERS = (1, 3, 5, 7, 9, 15, 25)
# probability that left wins for the gold pairs, score of every item of the fold
Answers = tuple[FloatArray, FloatArray]


def answers(model: Any, fold: Fold, **settings: Any) -> Answers:
    """What a fitted model says about the fold left out; ``settings`` go to ``predict_proba``."""
    X, _ = fold.test.xy()
    p = np.asarray(model.predict_proba(X, items=fold.items, **settings))
    return decided(p), np.asarray(model.score_items(fold.test_items))


def decided(p: FloatArray) -> FloatArray:
    """Probability that left wins, given that there is a winner, shape (n_pairs,)."""
    return p[:, -1] / (p[:, 0] + p[:, -1])


def _fit(model: Any, votes: Comparisons) -> Any:
    return model.fit(*votes.xy(), items=votes.items)


def raw_hyperparameters(fold: Fold, *, quick: bool = False) -> FloatArray:
    """Hyper-parameters from single workers' votes of the training folds: aggregated labels look noiseless.

    ``quick`` learns them from a quarter of the folds.
    """
    raw = fold.train(fold.corpus.crowdsample)
    if quick:
        names = np.unique(raw.groups.astype(str))
        raw = raw.subset(np.isin(raw.groups.astype(str), names[::4]))
    return learn_kernel(raw)


def learn_kernel(votes: Comparisons, **settings: Any) -> FloatArray:
    """Hyper-parameters from all votes, in few but thorough rounds."""
    ranker = PreferenceRanker(learning_items=None, max_iter=6, tol=2e-4, **{"ties": "half", "ard": False, **settings})
    return ranker.learn_hyperparameters(*votes.xy(), items=votes.items)


def gppl(fold: Fold, votes: Comparisons, theta: FloatArray | None, **settings: Any) -> PreferenceRanker:
    """Our default: sums of linear and Matérn kernels over the feature groups, and item effects."""
    model = PreferenceRanker(hyperparameters=theta, **{"ties": "half", "ard": False, **settings})
    annotator = None
    if votes.annotator is not None and votes.annotators is not None:
        annotator = votes.annotators[votes.annotator]
    return model.fit(*votes.xy(), items=votes.items, annotator=annotator)


def published(length_scales: str, inference: str = "variational") -> PreferenceRanker:
    """As published: product Matérn 3/2 over all features, 500 inducing points, linearised probit, Gamma noise prior.

    ``mlii`` learns one length-scale a feature; ``published_svi`` takes 200 votes a step, as the authors did.
    """
    return PreferenceRanker(
        kernel="matern_product",
        combine="product",
        ard=length_scales == "mlii",
        length_scales=length_scales,
        inference=inference,
        batch_size=200,
        ties="half",
        n_inducing=500,
        standardise=False,
        item_effects=False,
        max_iter=30 if length_scales == "median" else 4,
        tol=1e-4 if length_scales == "median" else 1e-3,  # of the bound, as in the authors' program
    )


def choose_voters(fold: Fold, theta: FloatArray, **settings: Any) -> int:
    """Of how many workers a gold label is the majority: what suits every fourth training fold, left out, best."""
    names = fold.corpus.folds.astype(str)
    out = fold.training & np.isin(names, np.unique(names[fold.training])[::4])
    inner = replace(fold, training=fold.training & ~out)
    model = gppl(inner, inner.train(fold.corpus.crowd_full), theta, **settings)
    gold = fold.corpus.strict.subset(out[fold.corpus.strict.left])
    X, _ = gold.xy()

    def loss(k: int) -> float:
        return cross_entropy(gold.value, decided(np.asarray(model.predict_proba(X, items=fold.items, voters=k))))

    return min(_VOTERS, key=loss)


def _bradley_terry(fold: Fold, votes: Comparisons) -> Answers:
    import warnings

    with warnings.catch_warnings():
        # That the fold left out is not joined to the others is the point of this row.
        warnings.simplefilter("ignore", UserWarning)
        model = BradleyTerryRanker().fit(*votes.xy(), items=fold.items)
    X, _ = fold.test.xy()
    table = model.rank().set_index("item_id")
    return model.predict_proba(X)[:, 1], table.loc[list(fold.test_items.ids), "score"].to_numpy(float)


def _pagerank(fold: Fold, votes: Comparisons) -> Answers:
    """PageRank on the fold's own votes: it cannot rank texts without votes."""
    own = fold.corpus.all.subset(~fold.training[fold.corpus.all.left])
    return answers(PageRankRanker().fit(*own.xy(), items=fold.items), fold)


def _fitted_answers(make: Callable[[], Any]) -> Callable[[Fold, Comparisons], Answers]:
    return lambda fold, votes: answers(_fit(make(), votes), fold)


BASELINES: dict[str, Callable[[Fold, Comparisons], Answers]] = {
    "longer": _fitted_answers(LongerTextRanker),
    "bradley_terry": _bradley_terry,
    "logistic_diff": _fitted_answers(LogisticDifferenceRanker),
    "pl_svr": _fitted_answers(ScoreRegressionRanker),
    "svm": _fitted_answers(PairSupportVectorClassifier),
    "gpc": _fitted_answers(PairGaussianProcessClassifier),
    "pagerank": _pagerank,
}
# Rows whose scores come from another model than their probabilities: the paper ranks by a regression on PageRank.
_RANKED_BY: dict[str, Callable[[], Any]] = {"svm": partial(ScoreRegressionRanker, scores="pagerank")}


def baseline_scores(row: str, fold: Fold, votes: Comparisons) -> FloatArray:
    """Scores of the fold's items by a baseline."""
    if row in _RANKED_BY:
        return np.asarray(_fit(_RANKED_BY[row](), votes).score_items(fold.test_items))
    return BASELINES[row](fold, votes)[1]


def baseline_answers(row: str, fold: Fold, votes: Comparisons) -> Answers:
    """Probabilities and scores by a baseline."""
    p, score = BASELINES[row](fold, votes)
    return p, baseline_scores(row, fold, votes) if row in _RANKED_BY else score
