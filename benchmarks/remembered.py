"""What replays compute again and again is computed once: they fit many models on the same texts.

``remember()`` keeps what the tokenisers and vectorisers find in a text, the similarities of texts that depend on no
answer, the features of threads, and the model of the first answers, which all ways of asking begin with; ``forget()``
drops it. Nothing that a model learns changes.
"""

from dataclasses import replace
from hashlib import blake2b
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

import accord.links.estimator as links
import accord.rationales.features as rationales
import accord.threads.features.cues as cues
import accord.threads.features.table as threads
import accord.threads.features.text as thread_text
import accord.workflows.simulate as simulate
from accord.aspects.features import PhraseFeatures
from accord.texts.words import WordAnalyser

_FIRST = 20  # answers; a model of more is fitted once
_KEPT: dict = {}


def remember():
    """From now on read each text once."""
    read = WordAnalyser.__call__
    WordAnalyser.__call__ = _by_key(read, lambda self, text: (self.lowest, self.highest, self.marks, text))
    rationales.TOKENISERS["words"] = _by_key(rationales.TOKENISERS["words"], lambda text: text)
    rationales._place_codes = _by_key(rationales._place_codes, lambda tokens, *how: (tuple(tokens), *map(str, how)))
    thread_text.tokens = _by_key(thread_text.tokens, lambda text: text)
    threads.clean_text = _by_key(threads.clean_text, lambda text: text)
    for name in ("comment_cues", "style_cues", "thread_cues"):
        setattr(threads, name, _by_key(getattr(cues, name), _same_threads))
    compute = threads.ThreadFeatures._cached
    threads.ThreadFeatures._cached = _by_key(
        compute, lambda self, what, of, vectors, how: (what, self.fingerprint_, *_same_threads(of))
    )
    for name in ("stance_text", "open_vocabulary", "window_words"):
        setattr(links, name, _once(getattr(links, name)))
    links.mixing = _by_key(links.mixing, lambda X, ends, weights: (_bytes(X), ends.tobytes(), weights.tobytes()))
    links.nearest_pairs = _by_key(
        links.nearest_pairs,
        lambda vectors, groups, **how: (
            _bytes(vectors),
            tuple(groups),
            tuple(np.asarray(part).tobytes() for part in how.values()),
        ),
    )
    weigh = PhraseFeatures.transform
    PhraseFeatures.transform = _by_key(weigh, lambda self, X: (self, tuple(X)))
    simulate.task_of = _first_once(simulate.task_of)


def _first_once(task_of):
    """Tasks whose model of the first answers is fitted once."""

    def remembered(kind):
        task = task_of(kind)

        def train(part, settings, progress):
            answered = tuple(sorted(set(part.judgement_table.column("item_id").to_pylist())))
            if len(answered) > _FIRST:
                return task.train(part, settings, progress)
            name = kind, repr(settings), answered
            if name not in _KEPT:
                _KEPT[name] = task.train(part, settings, progress)
            return _KEPT[name]

        return replace(task, train=train)

    return remembered


def forget():
    """Drop what was read."""
    for kept in (_KEPT, Once.kept):
        kept.clear()


def _by_key(compute, key):
    """The same function, which computes once for each key."""

    def remembered(*given, **named):
        name = compute, key(*given, **named)
        if name not in _KEPT:
            _KEPT[name] = compute(*given, **named)
        return _KEPT[name]

    return remembered


def _bytes(matrix):
    parts = (matrix.data, matrix.indices, matrix.indptr)
    return matrix.shape, *(blake2b(part.tobytes(), digest_size=16).digest() for part in parts)


def _same_threads(of):
    questions = () if of.questions is None else tuple(of.questions)
    people = tuple(() if part is None else tuple(part) for part in (of.authors, of.askers))
    return tuple(of.texts), questions, of.offsets.tobytes(), people


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
