"""What classifiers of linked texts have in common: reading rows, labels and known labels."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from accord.data.columns import as_column
from accord.data.labels import coded_labels, warn_of_alike
from accord.data.links import Links
from accord.errors import InputError
from accord.evaluation.metrics import accuracy_where_open
from accord.fitting.settings import check_settings
from accord.links.features.words import FeatureScale, LinkedTexts, linked_texts
from accord.typing import AnyArray, IntArray, ObjectArray

__all__ = ["CLASSIFIER", "TRANSFORMER", "LinkedClassifier", "Scikit", "read_words"]


@dataclass(frozen=True)
class Scikit:
    """A rule: an object of scikit-learn's interface with one of some methods, or ``None`` for the default."""

    what: str
    methods: tuple[str, ...]

    def allows(self, value: Any) -> bool:
        """Whether a value keeps the rule."""
        is_estimator = not isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "get_params")
        return value is None or (is_estimator and any(hasattr(value, method) for method in self.methods))

    def describe(self) -> str:
        """The rule in words."""
        return f"a scikit-learn {self.what} with {' or '.join(self.methods)}, or left out for the default"


CLASSIFIER = Scikit("classifier", ("decision_function", "predict_proba"))
TRANSFORMER = Scikit("transformer", ("transform",))


class LinkedClassifier(ClassifierMixin, BaseEstimator, ABC):
    """A classifier whose rows are texts and which is told the links among them."""

    classes_: AnyArray
    vectoriser_: Any
    n_features_in_: int
    _partly: bool = False  # whether some training texts may lack a label

    def fit(self, X: Any, y: Any, *, links: Links | None = None, groups: Any = None, ids: Any = None) -> Any:
        """Fit on texts with known labels.

        Parameters
        ----------
        X : table or array
            See :func:`~accord.links.features.words.linked_texts`.
        y : array of shape (n_texts,)
            :class:`CollectiveClassifier` takes texts without a label (``None`` or NaN) too: their words and links help.
        links : Links, optional
            Links between any texts; those among the rows of X are used.
        groups : array of shape (n_texts,), optional
            The debate or thread of each text.
        ids : array of shape (n_texts,), optional
            Needed when X is an array.
        """
        check_settings(self)
        self._check_combination()
        texts = linked_texts(X, links=links, groups=groups, ids=ids)
        self.classes_, codes = _encode(y, texts, partly=self._partly)
        warn_of_alike(self.classes_)
        self.feature_names_: ObjectArray | None = texts.names
        self.feature_scale_ = None if texts.is_text else FeatureScale.of(texts.content)
        self.linked_ = texts.pairs.n_pairs > 0
        self._fit_texts(texts, codes)
        return self

    def predict(
        self, X: Any, *, links: Links | None = None, groups: Any = None, ids: Any = None, known: Any = None
    ) -> AnyArray:
        """Labels, shape (n_texts,).

        Parameters
        ----------
        X, links, groups, ids
            As in :meth:`fit`. A model that was trained with links warns where it is given none.
        known : array of shape (n_texts,), optional
            Labels that are known for certain, missing (``None`` or NaN) elsewhere; they hold, and they inform the rest.
        """
        texts = self._read(X, links=links, groups=groups, ids=ids)
        return np.asarray(self.classes_[self._labels(texts, self._known(known, texts))])

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        links: Links | None = None,
        groups: Any = None,
        ids: Any = None,
        known: Any = None,
    ) -> float:
        """Accuracy on the texts that have a label which was not given in ``known``.

        Parameters
        ----------
        X, links, groups, ids
            As in :meth:`fit`.
        y : array of shape (n_texts,)
            True labels, missing (``None`` or NaN) where they are not known.
        sample_weight : array of shape (n_texts,), optional
            How much each row counts; by default all count the same.
        known : array of shape (n_texts,), optional
            Labels that are known for certain, missing (``None`` or NaN) elsewhere.
        """
        told = self.predict(X, links=links, groups=groups, ids=ids, known=known)
        return accuracy_where_open(told, y, known=known, sample_weight=sample_weight)

    def _check_combination(self) -> None:
        """Refuse settings that do not go together."""

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
        if texts.is_text and self.feature_scale_ is not None:
            raise InputError("the model was fitted on features; it cannot read texts. Give features.")
        if not texts.is_text and self.feature_scale_ is None:
            raise InputError(
                "the model was fitted on texts; it cannot read features. Give a table with a column 'text'."
            )
        texts = texts if texts.is_text else texts.with_features(self.feature_names_, self.n_features_in_)
        if links is None and self.linked_:
            warnings.warn(
                "the model was trained with links and is given none now: texts are labelled by their words alone. "
                "Give links=, or an empty Links record to say that there are none.",
                UserWarning,
                stacklevel=3,
            )
        return texts

    def _features(self, texts: LinkedTexts) -> sp.csr_matrix:
        if self.feature_scale_ is not None:
            return self.feature_scale_.apply(texts.content)
        if self.vectoriser_ is None:  # no text has a word
            return sp.csr_matrix((texts.n_texts, 0))
        return sp.csr_matrix(normalize(self.vectoriser_.transform(texts.content)))

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


def read_words(read: Callable[[Any], Any], texts: ObjectArray, *, what: str) -> Any:
    """What the fit of a vectoriser makes of texts; texts in which it finds nothing are refused."""
    try:
        return read(texts)
    except ValueError as error:
        raise InputError(
            f"{what} must have words to learn from; the vectoriser finds none in these {len(texts)} ({error}). "
            "Give some with words."
        ) from error


def _encode(y: Any, texts: LinkedTexts, *, partly: bool) -> tuple[AnyArray, IntArray]:
    """The labels, and the place of each text's label among them; −1 for a text without one."""
    labels = as_column(y)
    if labels.shape != (texts.n_texts,):
        raise InputError(f"y must have one label a text; there are {texts.n_texts} texts and shape {labels.shape}.")
    missing = np.asarray(pd.isna(labels))
    if missing.any() and not partly:
        raise InputError(
            f"every training text needs a label; row {int(np.argmax(missing)) + 1} has none. "
            "Leave it out, and give it to predict with known="
        )
    given = labels[~missing]
    classes, codes = coded_labels(given)
    if len(classes) < 2:
        told = f"all {len(given)} texts are {str(classes[0])!r}" if len(given) else "no text has one"
        raise InputError(f"training needs two labels or more; {told}.")
    every = np.full(len(labels), -1, dtype=np.int64)
    every[~missing] = codes
    return classes, every
