"""Stacked evidence: log-odds of text classifiers, strictly out of fold, as further node features.

The comments of one thread are always in the same fold, so no classifier ever scores a comment whose thread it has
seen. New comments get the mean log-odds of the fold classifiers.

The last classifier, ``blend``, sees what the others say. For fold k it learns from log-odds of classifiers that have
seen neither fold k nor the fold of the comment, so that no label of fold k reaches it on any way.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from accord.errors import InputError
from accord.fitting.folds import group_folds
from accord.texts.words import WordAnalyser
from accord.typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["StackedLogits"]

_MAX_LOG_ODDS = 6.0
_FEW_TEXTS = 200  # below so many texts every n-gram is kept


def _linear(strength: float) -> Callable[[int], Any]:
    return lambda seed: LogisticRegression(C=strength, max_iter=300, tol=1e-4, random_state=seed)


def _trees(**settings: Any) -> Callable[[int], Any]:
    return lambda seed: HistGradientBoostingClassifier(
        max_leaf_nodes=15, min_samples_leaf=30, l2_regularization=5.0, random_state=seed, **settings
    )


BLEND = "blend"
LEARNERS: Mapping[str, Callable[[int], Any]] = {
    "words": _linear(2.0),
    "characters": _linear(2.0),
    "vectors": _linear(0.001),
    "trees": _trees(max_iter=150, learning_rate=0.06),
    BLEND: _trees(max_iter=250, learning_rate=0.04, max_features=0.3),
}


class StackedLogits(BaseEstimator):
    """Out-of-fold log-odds of word, character, vector and tree classifiers, and of trees that see all of them.

    Parameters
    ----------
    learners : tuple of str
        Which of them: "words", "characters", "trees", "blend". Vectors have theirs wherever they are given.
    n_folds : int
        With two folds there is no blend: nothing is left when two are held out. There are never more folds than groups.
    random_state : int
    """

    def __init__(
        self,
        *,
        learners: tuple[str, ...] = ("words", "characters", "trees", BLEND),
        n_folds: int = 5,
        random_state: Any = 0,
    ) -> None:
        self.learners = learners
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
        y : array of shape (n_rows,)
            ``None`` where a row has no label; such rows get log-odds, and teach nothing.
        groups : array of shape (n_rows,)
        vectors : array of shape (n_rows, n_dims), optional
        """
        seen = ~pd.isna(y)
        self.classes_ = np.unique(y[seen].astype(str))
        if len(self.classes_) < 2:
            raise InputError(f"stacked features need two labels or more; the training threads have {self.classes_}.")
        y = np.where(seen, y, self.classes_[0]).astype(str)
        few = len(texts) < _FEW_TEXTS
        self.words_ = TfidfVectorizer(
            analyzer=WordAnalyser(1, 2, marks=True), min_df=1 if few else 2, sublinear_tf=True, dtype=np.float32
        )
        self.characters_ = TfidfVectorizer(
            analyzer="char_wb", ngram_range=(2, 5), min_df=1 if few else 5, sublinear_tf=True, dtype=np.float32,
            max_features=150_000,
        )  # fmt: skip
        for name, vectoriser in (("words", self.words_), ("characters", self.characters_)):
            if name in self.learners:
                vectoriser.fit(texts)
        folds = group_folds(groups, n_folds=min(self.n_folds, len(np.unique(groups))), random_state=self.random_state)
        self.n_folds_ = int(folds.max()) + 1
        views = self._views(texts, dense, vectors)
        blended = (BLEND,) if BLEND in self.learners and self.n_folds_ > 2 else ()
        self.names_ = (*views, *blended)
        self.models_: dict[str, list[Any]] = {}
        self.centres_: dict[str, list[FloatArray]] = {}
        outputs = [self._out_of_fold(name, [view] * self.n_folds_, y, folds, seen) for name, view in views.items()]
        if blended:
            inner = [self._twice_out_of_fold(name, view, y, folds, seen) for name, view in views.items()]
            known = [np.hstack([dense, *parts]) for parts in zip(*inner, strict=True)]
            outputs.append(self._out_of_fold(BLEND, known, y, folds, seen))
        return np.hstack(outputs)

    def transform(self, texts: AnyArray, dense: FloatArray, *, vectors: FloatArray | None = None) -> FloatArray:
        """Mean log-odds of the fold classifiers for new rows, shape (n_rows, n_outputs)."""
        views = self._views(texts, dense, vectors)
        if "vectors" in self.names_ and vectors is None:
            raise InputError("the features were fitted with sentence vectors; give vectors= for the new threads too.")
        means: list[FloatArray] = []
        for name in self.names_:
            view = np.hstack([dense, *means]) if name == BLEND else views[name]
            found = zip(self.models_[name], self.centres_[name], strict=True)
            means.append(np.mean([self._log_odds(model, view) - centre for model, centre in found], axis=0))
        return np.hstack(means)

    def _fitted(self, name: str, view: Any, y: AnyArray) -> tuple[Any, FloatArray]:
        """A classifier, and its mean log-odds of what it learnt from, shape (n_columns,).

        Where a comment is held out, its label is rarer in what is left. With a few threads log-odds that told the
        shares of labels would speak against the true label; those above the mean do not. Where all labels are the same
        there is nothing to learn but that.
        """
        if not len(y):
            y, view = self.classes_, np.zeros((len(self.classes_), view.shape[1]))
            model = DummyClassifier().fit(view, y)
        else:
            model = (DummyClassifier() if (y == y[0]).all() else LEARNERS[name](self.random_state)).fit(view, y)
        return model, self._log_odds(model, view).mean(axis=0)

    def _out_of_fold(
        self, name: str, views: Sequence[Any], y: AnyArray, folds: IntArray, seen: BoolArray
    ) -> FloatArray:
        """Log-odds of each row from the classifier that has not seen its fold k and works on ``views[k]``."""
        log_odds = np.zeros((len(y), self._n_columns))
        self.models_[name], self.centres_[name] = [], []
        for fold, view in enumerate(views):
            held = folds == fold
            model, centre = self._fitted(name, view[~held & seen], y[~held & seen])
            log_odds[held] = self._log_odds(model, view[held]) - centre
            self.models_[name].append(model)
            self.centres_[name].append(centre)
        return log_odds

    def _twice_out_of_fold(self, name: str, view: Any, y: AnyArray, folds: IntArray, seen: BoolArray) -> FloatArray:
        """For each fold k, log-odds of classifiers that have seen neither k nor the fold of the row.

        For rows of fold k itself it is the mean of all those classifiers. Shape (n_folds, n_rows, n_columns).
        """
        log_odds = np.zeros((self.n_folds_, len(y), self._n_columns))
        for k, j in combinations(range(self.n_folds_), 2):
            in_k, in_j = folds == k, folds == j
            taught = seen & ~(in_k | in_j)
            model, centre = self._fitted(name, view[taught], y[taught])
            on_k, on_j = (self._log_odds(model, view[held]) - centre for held in (in_k, in_j))
            log_odds[j, in_k], log_odds[k, in_j] = on_k, on_j
            log_odds[k, in_k] += on_k / (self.n_folds_ - 1)
            log_odds[j, in_j] += on_j / (self.n_folds_ - 1)
        return log_odds

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
        views: dict[str, Any] = {}
        if "words" in self.learners:
            views["words"] = self.words_.transform(texts)
        if "characters" in self.learners:
            views["characters"] = self.characters_.transform(texts)
        if vectors is not None:
            views["vectors"] = vectors
        return views | ({"trees": dense} if "trees" in self.learners else {})

    def word_effects(self, text: str) -> dict[str, FloatArray]:
        """What each word of a text adds to the scores of the word classifiers, one number an output of theirs."""
        row = self.words_.transform([text])
        weights = np.zeros((self._n_columns, row.shape[1]))
        for model in self.models_["words"]:
            if isinstance(model, LogisticRegression):
                own = np.vstack([-model.coef_, model.coef_]) if len(model.classes_) == 2 else model.coef_
                spread = np.zeros((len(self.classes_), row.shape[1]))
                spread[np.searchsorted(self.classes_, model.classes_)] = own
                weights += (spread[1:] if self._n_columns == 1 else spread) / len(self.models_["words"])
        names = self.words_.get_feature_names_out()
        return {str(names[k]): value * weights[:, k] for k, value in zip(row.indices, row.data, strict=True)}

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
