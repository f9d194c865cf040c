"""Stacked evidence: log-odds of text classifiers, strictly out of fold, as further node features.

The comments of one thread are always in the same fold, so no classifier ever scores a comment whose thread it has
seen. New comments get the mean log-odds of the fold classifiers.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from accord.errors import InputError
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["StackedLogits", "group_folds"]

_MAX_LOG_ODDS = 6.0
_WORD_OR_MARK = r"[^\W_]+(?:'[^\W_]+)?|[?!.:;)(@]"


def group_folds(groups: AnyArray, n_folds: int, rng: np.random.Generator) -> IntArray:
    """A fold for each row; rows of one group share it, and folds have about equal numbers of groups."""
    _, codes = np.unique(np.asarray(groups), return_inverse=True)
    n_groups = int(codes.max(initial=-1)) + 1
    if n_groups < n_folds:
        raise InputError(f"out-of-fold features need at least {n_folds} threads; there are {n_groups}.")
    return rng.permutation(np.arange(n_groups) % n_folds)[codes.ravel()]


def _linear(strength: float) -> Callable[[int], Any]:
    return lambda seed: LogisticRegression(C=strength, max_iter=300, tol=1e-4, random_state=seed)


def _trees(seed: int) -> Any:
    return HistGradientBoostingClassifier(
        max_iter=150,
        learning_rate=0.06,
        max_leaf_nodes=15,
        min_samples_leaf=30,
        l2_regularization=5.0,
        random_state=seed,
    )


LEARNERS: Mapping[str, Callable[[int], Any]] = {
    "words": _linear(2.0),
    "characters": _linear(2.0),
    "vectors": _linear(0.001),
    "trees": _trees,
}


class StackedLogits(BaseEstimator):
    """Out-of-fold log-odds of word, character, vector and tree classifiers.

    Parameters
    ----------
    n_folds : int
    random_state : int
    """

    def __init__(self, *, n_folds: int = 5, random_state: int = 0) -> None:
        self.n_folds = n_folds
        self.random_state = random_state

    def fit_transform(
        self, texts: AnyArray, dense: FloatArray, y: AnyArray, groups: AnyArray, *, vectors: FloatArray | None = None
    ) -> FloatArray:
        """Train the fold classifiers; the out-of-fold log-odds of the training rows, shape (n_rows, n_outputs).

        Parameters
        ----------
        texts : array of shape (n_rows,)
            Cleaned texts.
        dense : array of shape (n_rows, n_dense)
            What the trees see.
        y, groups : array of shape (n_rows,)
        vectors : array of shape (n_rows, n_dims), optional
        """
        self.words_ = TfidfVectorizer(
            ngram_range=(1, 2), min_df=2, sublinear_tf=True, dtype=np.float32, token_pattern=_WORD_OR_MARK
        )
        self.characters_ = TfidfVectorizer(
            analyzer="char_wb", ngram_range=(2, 5), min_df=5, sublinear_tf=True, dtype=np.float32, max_features=150_000
        )
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise InputError(f"stacked features need two labels or more; the training threads have {self.classes_}.")
        views = {"words": self.words_.fit_transform(texts), "characters": self.characters_.fit_transform(texts)}
        views |= self._dense_views(dense, vectors)
        self.names_ = tuple(name for name in LEARNERS if name in views)
        folds = group_folds(groups, self.n_folds, np.random.default_rng(self.random_state))
        outputs, self.models_ = [], {}
        for name in self.names_:
            view = views[name]
            log_odds, models = np.zeros((len(y), self._n_columns)), []
            for fold in range(self.n_folds):
                held = folds == fold
                model = LEARNERS[name](self.random_state).fit(view[~held], y[~held])
                log_odds[held] = self._log_odds(model, view[held])
                models.append(model)
            self.models_[name] = models
            outputs.append(log_odds)
        return np.hstack(outputs)

    def transform(self, texts: AnyArray, dense: FloatArray, *, vectors: FloatArray | None = None) -> FloatArray:
        """Mean log-odds of the fold classifiers for new rows, shape (n_rows, n_outputs)."""
        views = self._views(texts, dense, vectors)
        if "vectors" in self.names_ and vectors is None:
            raise InputError("the features were fitted with sentence vectors; give vectors= for the new threads too.")
        means = [
            np.mean([self._log_odds(model, views[name]) for model in self.models_[name]], axis=0)
            for name in self.names_
        ]
        return np.hstack(means)

    @property
    def output_names(self) -> tuple[str, ...]:
        """A name for each output column."""
        if self._n_columns == 1:
            return self.names_
        return tuple(f"{name}={label}" for name in self.names_ for label in self.classes_)

    @property
    def _n_columns(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _views(self, texts: AnyArray, dense: FloatArray, vectors: FloatArray | None) -> dict[str, Any]:
        views = {"words": self.words_.transform(texts), "characters": self.characters_.transform(texts)}
        return views | self._dense_views(dense, vectors)

    def _dense_views(self, dense: FloatArray, vectors: FloatArray | None) -> dict[str, Any]:
        return {"trees": dense} if vectors is None else {"trees": dense, "vectors": vectors}

    def _log_odds(self, model: Any, view: Any) -> FloatArray:
        """Log-odds of each label against the rest (of the second label, if there are two), for all known labels.

        A label that a fold never saw has probability 0 there; the bound keeps its log-odds finite.
        """
        p = np.zeros((view.shape[0], len(self.classes_)))
        p[:, np.searchsorted(self.classes_, model.classes_)] = model.predict_proba(view)
        p = p[:, 1:] if len(self.classes_) == 2 else p
        bound = 1.0 / (1.0 + np.exp(_MAX_LOG_ODDS))
        p = np.clip(p, bound, 1.0 - bound)
        return np.asarray(np.log(p) - np.log1p(-p))
