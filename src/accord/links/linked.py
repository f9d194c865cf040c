"""What classifiers of linked texts have in common: reading rows, labels and known labels."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from accord.data.links import Links
from accord.errors import InputError
from accord.links.features.words import LinkedTexts, linked_texts
from accord.typing import AnyArray, IntArray, ObjectArray

__all__ = ["LinkedClassifier", "check_classifier", "check_vectoriser", "read_words"]


class LinkedClassifier(ClassifierMixin, BaseEstimator, ABC):
    """A classifier whose rows are texts and which is told the links among them."""

    classes_: AnyArray
    vectoriser_: Any
    n_features_in_: int

    def fit(self, X: Any, y: Any, *, links: Links | None = None, groups: Any = None, ids: Any = None) -> Any:
        """Fit on texts with known labels.

        Parameters
        ----------
        X : table or array
            See :func:`~accord.links.features.words.linked_texts`.
        y : array of shape (n_texts,)
        links : Links, optional
            Links between any texts; those among the rows of X are used.
        groups : array of shape (n_texts,), optional
            The debate or thread of each text.
        ids : array of shape (n_texts,), optional
            Needed when X is an array.
        """
        self._check_settings()
        texts = linked_texts(X, links=links, groups=groups, ids=ids)
        self.classes_, codes = _encode(y, texts)
        self.feature_names_: ObjectArray | None = texts.names
        self._fit_texts(texts, codes)
        return self

    def predict(
        self, X: Any, *, links: Links | None = None, groups: Any = None, ids: Any = None, known: Any = None
    ) -> AnyArray:
        """Labels, shape (n_texts,).

        Parameters
        ----------
        X, links, groups, ids
            As in :meth:`fit`.
        known : array of shape (n_texts,), optional
            Labels that are known for certain, missing (``None`` or NaN) elsewhere; they hold, and they inform the rest.
        """
        texts = self._read(X, links=links, groups=groups, ids=ids)
        return np.asarray(self.classes_[self._labels(texts, self._known(known, texts))])

    @abstractmethod
    def _check_settings(self) -> None:
        """Refuse settings that mean nothing."""

    @abstractmethod
    def _fit_texts(self, texts: LinkedTexts, codes: IntArray) -> None:
        """Fit on texts whose labels are ``classes_[codes]``."""

    @abstractmethod
    def _labels(self, texts: LinkedTexts, known: IntArray | None) -> IntArray:
        """Codes of the labels, shape (n_texts,); ``known`` has −1 where nothing is known."""

    def _read(self, X: Any, *, links: Links | None, groups: Any, ids: Any) -> LinkedTexts:
        """The rows to predict, with the features of training."""
        check_is_fitted(self, "n_features_in_")
        texts = linked_texts(X, links=links, groups=groups, ids=ids)
        if texts.is_text and self.vectoriser_ is None:
            raise InputError("the model was fitted on features; it cannot read texts. Give features.")
        if not texts.is_text and self.vectoriser_ is not None:
            raise InputError(
                "the model was fitted on texts; it cannot read features. Give a table with a column 'text'."
            )
        return texts if texts.is_text else texts.with_features(self.feature_names_, self.n_features_in_)

    def _features(self, texts: LinkedTexts) -> sp.csr_matrix:
        return sp.csr_matrix(self.vectoriser_.transform(texts.content) if texts.is_text else texts.content)

    def _known(self, known: Any, texts: LinkedTexts) -> IntArray | None:
        if known is None:
            return None
        labels = np.asarray(known, dtype=object)
        if labels.shape != (texts.n_texts,):
            raise InputError(f"known must have one entry a text ({texts.n_texts}); it has the shape {labels.shape}.")
        given = np.full(len(labels), -1, dtype=np.int64)
        places = {label: place for place, label in enumerate(self.classes_.tolist())}
        for row, label in enumerate(labels):
            if not pd.isna(label):
                if label not in places:
                    raise InputError(
                        f"a known label must be one that was trained; row {row + 1} has {label!r}. "
                        f"Use one of {', '.join(map(str, places))}, or leave it empty."
                    )
                given[row] = places[label]
        return given


def check_classifier(name: str, value: Any) -> None:
    """Refuse a setting that is no classifier with scores; ``None`` stands for the default."""
    _check_methods(name, value, "classifier", ("decision_function", "predict_proba"))


def check_vectoriser(name: str, value: Any) -> None:
    """Refuse a setting that does not turn texts into features; ``None`` stands for the default."""
    _check_methods(name, value, "transformer", ("transform",))


def _check_methods(name: str, value: Any, what: str, scores: tuple[str, ...]) -> None:
    is_estimator = not isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "get_params")
    if value is not None and not (is_estimator and any(hasattr(value, method) for method in scores)):
        raise InputError(
            f"{name} must be a scikit-learn {what} with {' or '.join(scores)}; got {value!r}. "
            "Leave it out for the default."
        )


def read_words(read: Callable[[Any], Any], texts: ObjectArray, *, what: str) -> Any:
    """What the fit of a vectoriser makes of texts; texts in which it finds nothing are refused."""
    try:
        return read(texts)
    except ValueError as error:
        raise InputError(
            f"{what} must have words to learn from; the vectoriser finds none in these {len(texts)} ({error}). "
            "Give some with words."
        ) from error


def _encode(y: Any, texts: LinkedTexts) -> tuple[AnyArray, IntArray]:
    labels = np.asarray(y)
    if labels.shape != (texts.n_texts,):
        raise InputError(f"y must have one label a text; there are {texts.n_texts} texts and shape {labels.shape}.")
    missing = pd.isna(labels)
    if missing.any():
        raise InputError(
            f"every training text needs a label; row {int(np.argmax(missing)) + 1} has none. "
            "Leave it out, and give it to predict with known="
        )
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise InputError(f"training needs two labels or more; all {len(codes)} texts are {str(classes[0])!r}.")
    return classes, codes
