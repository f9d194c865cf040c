"""Sigmoids that make the probabilities of a thread model true, from threads that it was not trained on."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from accord.errors import InputError
from accord.fitting.calibration import fit_platt, log_probabilities
from accord.fitting.folds import group_folds
from accord.threads.features.edges import ThreadEdges
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["calibrated", "fit_sigmoids"]

_TINY = 1e-12


def fit_sigmoids(
    model: Any, table: pd.DataFrame, y: AnyArray, thread: IntArray, edges: ThreadEdges | None
) -> FloatArray:
    """Slopes and offsets of the log-odds of comments in threads that are held out, fold by fold.

    Parameters
    ----------
    model : ThreadClassifier
        Its settings and ``classes_`` are read; it is not changed.
    table : DataFrame of shape (n_comments, n_features)
    y : array of shape (n_comments,)
        ``None`` where a comment has no label.
    thread : int array of shape (n_comments,)
        The number of the thread of each comment, in an order that names do not decide.
    edges : ThreadEdges, optional
        As in ``fit``.
    """
    folds = group_folds(thread, n_folds=model.n_folds, random_state=model.random_state)
    p = np.zeros((len(y), len(model.classes_)))
    seen = ~pd.isna(y)
    for fold in range(model.n_folds):
        held = folds == fold
        if len(set(y[~held & seen])) < 2:
            raise InputError(
                f"calibrate=True trains on {model.n_folds - 1} of {model.n_folds} parts of the threads, and each such "
                "training needs two labels; one has a single label. Give more labelled threads, or leave calibrate out."
            )
        part = clone(model).set_params(calibrate=False)
        part.fit(table[~held], y[~held], groups=thread[~held], edges=edges)
        found = part.predict_proba(table[held], groups=thread[held], edges=edges)
        p[np.ix_(held, np.searchsorted(model.classes_, part.classes_))] = found
    codes = np.searchsorted(model.classes_, y[seen])
    return fit_platt(_log_odds(p[seen]), codes, n_labels=len(model.classes_))


def calibrated(p: FloatArray, sigmoids: FloatArray) -> FloatArray:
    """Probabilities after the sigmoids, same shape."""
    return np.exp(log_probabilities(_log_odds(p), sigmoids))


def _log_odds(p: FloatArray) -> FloatArray:
    """Log-odds of the second of two labels, or of each label against the rest."""
    p = np.clip(p[:, 1:] if p.shape[1] == 2 else p, _TINY, 1.0 - _TINY)
    return np.asarray(np.log(p) - np.log1p(-p))
