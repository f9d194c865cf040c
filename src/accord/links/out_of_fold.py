"""Scores of training rows by models that did not see them."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

from accord.scale.workers import Workers
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["fit_with_left_out_scores", "label_scores"]


def label_scores(classifier: Any, X: Any) -> FloatArray:
    """Real-valued scores of a fitted classifier: its decision function, else its log-odds.

    Returns
    -------
    float array of shape (n,) of the second label for two labels, else (n, n_labels)
    """
    if hasattr(classifier, "decision_function"):
        return np.asarray(classifier.decision_function(X), dtype=np.float64)
    p = np.clip(np.asarray(classifier.predict_proba(X), dtype=np.float64), 1e-12, 1.0)
    log_odds = np.log(p) - np.log(np.clip(1.0 - p, 1e-12, 1.0))
    return log_odds[:, 1] if log_odds.shape[1] == 2 else log_odds


def fit_with_left_out_scores(
    classifier: Any,
    X: Any,
    codes: AnyArray,
    groups: AnyArray,
    *,
    n_folds: int = 5,
    seed: int = 0,
    workers: Workers | None = None,
) -> tuple[Any, FloatArray]:
    """A fitted clone of a classifier, and the score of every row by a clone trained without its group.

    A classifier with a method ``out_of_group_scores(groups)`` answers at once; any other is trained ``n_folds`` times
    more, with whole groups left out. A fold whose training rows lack a label scores 0 for all.

    Parameters
    ----------
    classifier : classifier with ``decision_function`` or ``predict_proba``
    X : array or sparse matrix of shape (n, n_features)
    codes : int array of shape (n,)
        Labels 0 … n_labels − 1, all present.
    groups : array of shape (n,)
    n_folds : int
    seed : int
        Of the folds.
    workers : Workers, optional
        Run the folds, one a worker.

    Returns
    -------
    fitted : classifier
    left_out : float array of shape (n,) or (n, n_labels)
    """
    fitted = clone(classifier).fit(X, codes)
    if hasattr(fitted, "out_of_group_scores"):
        left_out = fitted.out_of_group_scores(groups)
        if left_out is not None:
            fitted.forget_training()
            return fitted, left_out
    n_labels, names = len(fitted.classes_), np.asarray(groups, dtype=str)
    left_out = np.zeros(len(codes) if n_labels == 2 else (len(codes), n_labels))
    n_groups = len(np.unique(names))
    if n_groups < 2:
        return fitted, left_out
    parts = [
        (train, test)
        for train, test in GroupKFold(min(n_folds, n_groups), shuffle=True, random_state=seed).split(X, groups=names)
        if len(np.unique(codes[train])) == n_labels
    ]
    with (workers or Workers()).open(parts, common=(classifier, X, codes)) as opened:
        scores = opened.map(_fold_scores, what="folds")
    for (_, test), found in zip(parts, scores, strict=True):
        left_out[test] = found
    return fitted, left_out


def _fold_scores(fold: tuple[IntArray, IntArray], shared: tuple[Any, None], rng: np.random.Generator) -> FloatArray:
    (train, test), (classifier, X, codes) = fold, shared[0]
    return label_scores(clone(classifier).fit(X[train], codes[train]), X[test])
