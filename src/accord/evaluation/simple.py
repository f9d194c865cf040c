"""What people would pick instead: plain models of texts, with their strengths chosen inside the training texts."""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeCV

from accord.fitting.folds import group_folds
from accord.texts.words import WordAnalyser
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["logistic_regression", "majority", "ridge_ranks", "usual_ranks"]

_STRENGTHS = (0.1, 1.0, 10.0, 100.0)
_INNER_FOLDS = 3


def majority(codes: IntArray, n_labels: int, n_tests: int) -> FloatArray:
    """The shares of labels in the training texts as everybody's probabilities, shape (n_tests, n_labels)."""
    shares = (np.bincount(codes, minlength=n_labels) + 1.0) / (len(codes) + n_labels)
    return np.tile(shares, (n_tests, 1))


def logistic_regression(
    texts: Sequence[str], codes: IntArray, groups: AnyArray, n_labels: int, tests: Sequence[str]
) -> FloatArray:
    """Logistic regression on tf-idf of words and word pairs, its C by cross-validation over whole groups.

    Returns
    -------
    array of shape (n_tests, n_labels)
        Labels that no training text has get a share as of one text in a thousand.
    """
    present = np.unique(codes)
    if len(present) < 2:
        return majority(codes, n_labels, len(tests))
    words = TfidfVectorizer(analyzer=WordAnalyser(1, 2), sublinear_tf=True)
    x = words.fit_transform(texts)
    strength = _chosen(x, codes, groups)
    model = LogisticRegression(C=strength, max_iter=1000).fit(x, codes)
    p = np.full((len(tests), n_labels), 1e-3)
    p[:, model.classes_] = model.predict_proba(words.transform(tests))
    return p / p.sum(axis=1, keepdims=True)


def _chosen(x: AnyArray, codes: IntArray, groups: AnyArray) -> float:
    n_groups = len(np.unique(groups))
    if n_groups < 2 * _INNER_FOLDS:
        return 1.0
    folds = group_folds(groups, n_folds=_INNER_FOLDS)
    losses = np.zeros(len(_STRENGTHS))
    for fold in range(_INNER_FOLDS):
        train, test = folds != fold, folds == fold
        if len(np.unique(codes[train])) < 2:
            return 1.0
        for place, strength in enumerate(_STRENGTHS):
            model = LogisticRegression(C=strength, max_iter=1000).fit(x[train], codes[train])
            p = np.full((int(test.sum()), int(codes.max()) + 1), 1e-3)
            p[:, model.classes_] = model.predict_proba(x[test])
            losses[place] -= np.log(p[np.arange(len(p)), codes[test]] / p.sum(axis=1)).sum()
    return _STRENGTHS[int(losses.argmin())]


def ridge_ranks(texts: Sequence[str], ranks: IntArray, n_ranks: int, tests: Sequence[str]) -> FloatArray:
    """Ridge regression of one aspect's ranks on tf-idf, as probabilities of ranks, shape (n_tests, n_ranks).

    The spread around the prediction is that of the left-out training errors.
    """
    if len(np.unique(ranks)) < 2:
        return usual_ranks(ranks, n_ranks, len(tests))
    words = TfidfVectorizer(analyzer=WordAnalyser(1, 2), sublinear_tf=True)
    x = words.fit_transform(texts)
    model = RidgeCV(alphas=[0.1, 1.0, 10.0, 100.0]).fit(x, ranks)
    spread = np.sqrt(max(-float(model.best_score_), 0.05))
    edges = np.concatenate([[-np.inf], np.arange(1, n_ranks) + 0.5, [np.inf]])
    ends = ndtr((edges[None, :] - model.predict(words.transform(tests))[:, None]) / spread)
    return np.asarray(np.diff(ends, axis=1))


def usual_ranks(ranks: IntArray, n_ranks: int, n_tests: int) -> FloatArray:
    """How often each rank was given, as everybody's probabilities, shape (n_tests, n_ranks)."""
    return majority(np.asarray(ranks) - 1, n_ranks, n_tests)
