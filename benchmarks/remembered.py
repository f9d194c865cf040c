"""Words of texts that are read once: replays fit many models on the same texts, and reading takes most of the time.

``remember()`` keeps what the tokenisers and the vectorisers of links find in a text, ``forget()`` drops it. Nothing
that a model learns changes.
"""

from typing import ClassVar

from sklearn.base import BaseEstimator

import accord.links.estimator as links
import accord.rationales.features as rationales
from accord.texts.words import WordAnalyser

_WORDS, _TOKENS = {}, {}


def remember():
    """From now on read each text once."""
    read, cut = WordAnalyser.__call__, rationales.TOKENISERS["words"]

    def read_once(self, text):
        key = (self.lowest, self.highest, self.marks, text)
        if key not in _WORDS:
            _WORDS[key] = read(self, text)
        return _WORDS[key]

    def cut_once(text):
        if text not in _TOKENS:
            _TOKENS[text] = cut(text)
        return _TOKENS[text]

    WordAnalyser.__call__ = read_once
    rationales.TOKENISERS["words"] = cut_once
    for name in ("stance_text", "open_vocabulary", "window_words"):
        setattr(links, name, _once(getattr(links, name)))


def forget():
    """Drop what was read."""
    for kept in (_WORDS, _TOKENS, Once.kept):
        kept.clear()


class Once(BaseEstimator):
    """A vectoriser that is fitted once on the same texts, and reads the same texts once."""

    kept: ClassVar[dict] = {}

    def __init__(self, make=None):
        self.make = make

    def fit(self, texts, y=None):
        self.key = (self.make.__name__, tuple(texts))
        if self.key not in self.kept:
            self.kept[self.key] = self.make().fit(texts), {}
        return self

    def transform(self, texts):
        fitted, read = self.kept[self.key]
        if (key := tuple(texts)) not in read:
            read[key] = fitted.transform(texts)
        return read[key]

    def fit_transform(self, texts, y=None):
        return self.fit(texts).transform(texts)


def _once(make):
    def made():
        return Once(make)

    return made
