"""Words and phrases of texts that take a side: word presence, weighted n-grams, and the phrases around stance words."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils.validation import check_is_fitted

from accord.texts.words import WordAnalyser, tokens
from accord.typing import ObjectArray

__all__ = [
    "STANCE_WORDS",
    "StanceNgrams",
    "open_vocabulary",
    "stance_text",
    "text_features",
    "window_words",
    "word_options",
]

# Words with which people say which side they are on.
STANCE_WORDS = ("support", "oppose", "opposition", "opposed", "vote", "voting", "against", "urge", "favor")


class StanceNgrams(TransformerMixin, BaseEstimator):
    """Weighted presence of the n-grams that contain a stance word.

    Parameters
    ----------
    words : sequence of str
        The stance words.
    shortest, longest : int
        Lengths of the n-grams.
    min_df : int
        Texts that an n-gram must stand in.
    token_pattern : str, optional
        What counts as a word; the words and signs of :func:`accord.texts.words.tokens` by default.
    """

    def __init__(
        self,
        *,
        words: Sequence[str] = STANCE_WORDS,
        shortest: int = 2,
        longest: int = 4,
        min_df: int = 2,
        token_pattern: str | None = None,
    ) -> None:
        self.words = words
        self.shortest = shortest
        self.longest = longest
        self.min_df = min_df
        self.token_pattern = token_pattern

    def fit(self, X: Any, y: Any = None) -> "StanceNgrams":
        """Learn the n-grams of some texts; labels are not used."""
        self.vectoriser_ = None
        phrases = self._phrases(X)
        # An n-gram is written as one word, so that the vectoriser needs no function of ours.
        vectoriser = TfidfVectorizer(
            token_pattern=r"\S+", lowercase=False, binary=True, min_df=min(self.min_df, max(len(phrases), 1))
        )
        if any(phrases):
            try:
                self.vectoriser_ = vectoriser.fit(phrases)
            except ValueError:  # no n-gram stands in min_df texts: the texts have no stance vocabulary
                self.vectoriser_ = None
        return self

    def transform(self, X: Any) -> sp.csr_matrix:
        """Unit-length weighted n-grams, shape (n_texts, n_ngrams)."""
        check_is_fitted(self, "vectoriser_")
        if self.vectoriser_ is None:
            return sp.csr_matrix((len(X), 1))
        return sp.csr_matrix(self.vectoriser_.transform(self._phrases(X)))

    def get_feature_names_out(self, input_features: Any = None) -> ObjectArray:
        """The n-grams, their words parted by blanks."""
        check_is_fitted(self, "vectoriser_")
        if self.vectoriser_ is None:
            return np.array(["none"], dtype=object)
        return np.array([name.replace("_", " ") for name in self.vectoriser_.get_feature_names_out()], dtype=object)

    def _phrases(self, texts: Any) -> list[str]:
        stance, pattern = frozenset(self.words), self.token_pattern
        find = None if pattern is None else re.compile(pattern)
        told = (tokens(text, marks=True) if find is None else find.findall(text.lower()) for text in texts)
        return [" ".join(_ngrams(words, stance, self.shortest, self.longest)) for words in told]


def _ngrams(words: list[str], stance: frozenset[str], shortest: int, longest: int) -> Iterator[str]:
    for place, word in enumerate(words):
        if word in stance:
            for length in range(shortest, longest + 1):
                for start in range(max(0, place - length + 1), min(place, len(words) - length) + 1):
                    yield "_".join(words[start : start + length])


def word_options(longest: int, token_pattern: str | None) -> dict[str, Any]:
    """Options of scikit-learn's vectorisers: words and runs of words up to ``longest``, in any script by default."""
    if token_pattern is not None:
        return {"ngram_range": (1, longest), "token_pattern": token_pattern}
    return {"analyzer": WordAnalyser(1, longest, marks=True)}


def window_words(*, token_pattern: str | None = None) -> Pipeline:
    """Presence of each word and word pair of the windows of a pair, scaled to length 1."""
    return make_pipeline(CountVectorizer(binary=True, **word_options(2, token_pattern)), Normalizer())


def text_features(*, token_pattern: str | None = None) -> TfidfVectorizer:
    """Weighted words and word pairs, every text scaled to length 1."""
    return TfidfVectorizer(sublinear_tf=True, **word_options(2, token_pattern))


def open_vocabulary(*, token_pattern: str | None = None) -> Pipeline:
    """Weighted words and word pairs for comparing texts with each other; a word never seen before counts as rare.

    A closed vocabulary would make new texts look more alike than those it was learned from.
    """
    hashed = HashingVectorizer(n_features=2**18, alternate_sign=False, norm=None, **word_options(2, token_pattern))
    return make_pipeline(hashed, TfidfTransformer(sublinear_tf=True))


def stance_text(*, stance_weight: float = 0.5, token_pattern: str | None = None) -> FeatureUnion:
    """Weighted words and word pairs beside the stance n-grams, whose inner product counts ``stance_weight``."""
    return FeatureUnion(
        [("words", text_features(token_pattern=token_pattern)), ("stance", StanceNgrams(token_pattern=token_pattern))],
        transformer_weights={"words": 1.0, "stance": stance_weight**0.5},
    )
