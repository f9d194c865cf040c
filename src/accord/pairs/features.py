"""Features of arguments, in named groups: words, word classes, surface, characters, vectors.

``ling`` follows [SG18]: presence of lemma (or token) uni- and bigrams, counts of word-class 1–3-grams and surface
features. ``ext`` is what works best here: surface features and tf-idf of words and characters; vectors are added by
:mod:`accord.texts.vectors`. Lengths say most, so they are a group of their own; surface features are cut off at
three standard deviations, so that one odd text does not stretch their scale.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.utils.validation import check_is_fitted

from accord.data.documents import Items
from accord.errors import InputError
from accord.pairs.feature_groups import hstack_groups
from accord.texts.surface import LENGTHS, coarse_tags, surface_features, surface_names, words
from accord.typing import FloatArray, ObjectArray

__all__ = ["ArgumentFeatures", "NGrams", "lemmas"]


def lemmas(text: str) -> list[str]:
    """Lower-case lemmas (tokens where simplemma is not installed)."""
    tokens = [token.lower() for token in words(text)]
    if find_spec("simplemma") is None:
        return tokens
    from simplemma import lemmatize

    return [lemmatize(token, lang="en") for token in tokens]


def _lower_words(text: str) -> list[str]:
    return [token.lower() for token in words(text)]


_UNITS: dict[str, Callable[[str], list[str]]] = {"words": _lower_words, "lemmas": lemmas, "tags": coarse_tags}


@dataclass(frozen=True)
class NGrams:
    """Texts to their n-grams of words, lemmas or word classes; a class, so that a saved model holds no function."""

    unit: str
    longest: int

    def __call__(self, text: str) -> list[str]:
        """All n-grams up to the longest, with their repetitions."""
        units = _UNITS[self.unit](text)
        return [" ".join(units[i : i + n]) for n in range(1, self.longest + 1) for i in range(len(units) - n + 1)]


_SETS: dict[str, tuple[str, ...]] = {
    "surface": ("surface",),
    "base": ("surface12", "words", "characters"),
    "ext": ("surface", "words", "characters"),
    "ling": ("lemmas", "tags", "surface"),
}
_MOST_DEVIATIONS = 3.0


def _limits(columns: FloatArray) -> FloatArray:
    """Least and greatest value allowed in each column, shape (2, n_columns)."""
    if not len(columns):
        return np.stack([np.full(columns.shape[1], -np.inf), np.full(columns.shape[1], np.inf)])
    centre, spread = columns.mean(axis=0), columns.std(axis=0)
    # Of a feature that never varied nothing is known about its scale.
    reach = np.where(spread > 0.0, _MOST_DEVIATIONS * spread, np.inf)
    return np.stack([centre - reach, centre + reach])


class ArgumentFeatures(TransformerMixin, BaseEstimator):
    """Texts to a feature matrix with named groups.

    Parameters
    ----------
    features : {"ext", "base", "ling", "surface"}
        Which groups.
    vectors : mapping of name to callable, optional
        Further groups: each a function from a list of texts to an array of shape (n_texts, n_dimensions), such as
        :class:`~accord.texts.vectors.WordVectors` or the ``encode`` method of an installed sentence encoder.
    min_count : int
        Words and n-grams that occur in fewer texts are left out.

    Attributes
    ----------
    groups_ : dict of name to slice
    limits_ : array of shape (2, n_surface_features)
        Least and greatest value that each surface feature may take.
    """

    def __init__(
        self,
        *,
        features: str = "ext",
        vectors: Mapping[str, Callable[[list[str]], FloatArray]] | None = None,
        min_count: int = 2,
    ) -> None:
        self.features = features
        self.vectors = vectors
        self.min_count = min_count

    def fit(self, texts: Sequence[str] | ObjectArray, y: Any = None) -> "ArgumentFeatures":
        """Learn the vocabularies."""
        self.fit_transform(texts)
        return self

    def fit_transform(self, texts: Sequence[str] | ObjectArray, y: Any = None) -> sp.csr_array:
        """Learn the vocabularies and return the features, shape (n_texts, n_features)."""
        if self.features not in _SETS:
            raise InputError(f"features must be one of {', '.join(_SETS)}; got {self.features!r}.")
        texts = list(texts)
        count = min(self.min_count, max(len(texts), 1))
        makers = {
            "words": TfidfVectorizer(analyzer=NGrams("words", 2), sublinear_tf=True, min_df=count),
            "characters": TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True, min_df=count),
            "lemmas": CountVectorizer(analyzer=NGrams("lemmas", 2), binary=True, min_df=count),
            "tags": CountVectorizer(analyzer=NGrams("tags", 3), min_df=count),
        }
        self.vectorisers_ = {}
        for name in _SETS[self.features]:
            if name in makers:
                try:
                    self.vectorisers_[name] = makers[name].fit(texts)
                except ValueError:  # no text has a word that occurs often enough: the group is empty
                    self.vectorisers_[name] = None
        surface = surface_features(texts, extended=self._extended)
        self.limits_ = _limits(surface)
        return self._transform(texts, surface)

    def transform(self, texts: Sequence[str] | ObjectArray) -> sp.csr_array:
        """Features of texts, shape (n_texts, n_features)."""
        check_is_fitted(self, "vectorisers_")
        texts = list(texts)
        return self._transform(texts, surface_features(texts, extended=self._extended))

    @property
    def _extended(self) -> bool:
        return "surface12" not in _SETS[self.features]

    def _transform(self, texts: list[str], surface: FloatArray) -> sp.csr_array:
        parts: dict[str, Any] = {}
        for name in _SETS[self.features]:
            if name in self.vectorisers_:
                vectoriser = self.vectorisers_[name]
                if vectoriser is not None:
                    parts[name] = sp.csr_array(vectoriser.transform(texts), dtype=np.float64)
            else:
                is_length = np.isin(surface_names(extended=self._extended), LENGTHS)
                clipped = np.clip(surface, *self.limits_)
                parts["length"], parts["surface"] = clipped[:, is_length], clipped[:, ~is_length]
        for name, encode in (self.vectors or {}).items():
            parts[name] = np.asarray(encode(texts), dtype=np.float64)
        matrix, self.groups_ = hstack_groups(parts)
        return sp.csr_array(matrix)

    def items(self, items: Items) -> Items:
        """The same items with these features."""
        if items.texts is None:
            raise InputError("features of arguments are made from texts; these items have none.")
        return items.with_features(self.transform(items.texts), self.groups_)

    def get_feature_names_out(self, input_features: Any = None) -> ObjectArray:
        """A name a column; vectors are numbered."""
        check_is_fitted(self, "groups_")
        names: list[str] = []
        for group, part in self.groups_.items():
            if group in ("length", "surface"):
                columns = surface_names(extended=self._extended)
                names += [name for name in columns if (name in LENGTHS) == (group == "length")]
            elif self.vectorisers_.get(group) is not None:
                names += [f"{group}:{name}" for name in self.vectorisers_[group].get_feature_names_out()]
            else:
                names += [f"{group}[{k}]" for k in range(part.stop - part.start)]
        return np.array(names, dtype=object)
