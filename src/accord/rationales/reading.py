"""Reading a text as its annotator would: a word counts the more, the likelier it is to be highlighted in this text.

A word has one weight in all texts, but it may decide one and mean little in another. What predicts highlights knows
which words people mark, and beside which others they do. A class is scored by the words of a text as they are, by the
same words each times its probability of being highlighted as a reason for that class, or by both in part; texts left
out say which is best.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from accord.rationales.annotator import inside_probabilities
from accord.rationales.annotator_choice import Measured, measured
from accord.rationales.design import Columns
from accord.rationales.features import Tokens
from accord.rationales.marked_texts import MarkedTexts
from accord.typing import FloatArray, IntArray

Chains = Callable[[int], MarkedTexts]

__all__ = ["READINGS", "Reader", "Reading", "learn_reading", "reading_scores"]

# Whether words count by how likely they are to be highlighted, or all alike.
READINGS = ("highlights", "words")

# Shares that are tried, and the log loss, over all texts left out, by which one squared step from the middle of them
# must be better.
_SHARES, _MIDDLE, _DISTANCE = (0.0, 0.25, 0.5, 0.75, 1.0), 0.5, 1.0


@dataclass(frozen=True, eq=False)
class Reading:
    """How the words of a text count: each 1 − share + share · p / unit times, p being how likely it is to be marked."""

    share: float  # 0: all words count alike
    unit: float  # with which both ways of counting differ as much from text to text

    def scores(self, plain: FloatArray, by_marks: FloatArray) -> FloatArray:
        """Both ways of counting in one score a class, shape (n_texts, n_classes)."""
        return (1.0 - self.share) * plain + self.share / self.unit * by_marks


@dataclass(frozen=True, eq=False)
class Reader:
    """Some texts, and what they are read with."""

    rows: IntArray  # (n,) among all texts
    weights: FloatArray  # (n_classes, n_features)
    lexicon: FloatArray  # (3, n_words)
    table: FloatArray  # (n_habits, n_phi)


def reading_scores(
    columns: Columns, tokens: Tokens, design: Any, chains: Chains, readers: Sequence[Reader]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What texts say of each class: their words all alike, and by how likely each is to be highlighted; and the rest.

    Parameters
    ----------
    columns : Columns
    tokens : Tokens
        Of all texts.
    design : sparse matrix of shape (n_texts, n_features)
    chains : callable
        From a class to all texts with one chain each, as reasons for that class.
    readers : sequence of Reader

    Returns
    -------
    plain, by_marks, rest : array of shape (n, n_classes)
        Of the readers' texts, one reader after the other; ``rest`` is what the columns beside words and n-grams say.
    """
    n = columns.n_terms
    terms = [design[one.rows][:, :n] for one in readers]
    plain = [np.asarray(own @ one.weights[:, :n].T) for own, one in zip(terms, readers, strict=True)]
    rest = [np.asarray(design[one.rows][:, n:] @ one.weights[:, n:].T) for one in readers]
    by_marks = [np.zeros(one.shape) for one in plain]
    for label in range(plain[0].shape[1]):
        every = chains(label)
        for out, own, one in zip(by_marks, terms, readers, strict=True):
            inside = inside_probabilities(every.subset(one.rows), one.weights, one.table[:1], one.lexicon)
            out[:, label] = own.multiply(columns.marked(tokens, one.rows, inside)) @ one.weights[label, :n]
    return np.concatenate(plain), np.concatenate(by_marks), np.concatenate(rest)


def learn_reading(
    columns: Columns,
    tokens: Tokens,
    design: Any,
    chains: Chains,
    readers: Sequence[Reader],
    labels: IntArray,
    log_prior: FloatArray,
) -> tuple[Reading, Measured]:
    """The share with the smallest log loss on texts left out, of equals the one nearest to a half.

    Parameters
    ----------
    columns, tokens, design, chains
        As in :func:`reading_scores`.
    readers : sequence of Reader
        Of texts that they have not seen.
    labels : int array of shape (n_texts,)
    log_prior : array of shape (n_classes,)

    Returns
    -------
    reading : Reading
    measured : Measured
        With the scale and the drift that suit it.
    """
    plain, by_marks, rest = reading_scores(columns, tokens, design, chains, readers)
    n_words = np.concatenate([_known_words(design[one.rows], one.weights, columns.n_words) for one in readers])
    truth = labels[np.concatenate([one.rows for one in readers])]
    spread, by_marks_spread = (float((s - s.mean(axis=1, keepdims=True)).std()) for s in (plain, by_marks))
    known = spread > 0 and by_marks_spread > 0
    unit = by_marks_spread / spread if known else 1.0
    tried: dict[float, tuple[Reading, Measured]] = {}
    for share in _SHARES if known else (0.0,):
        reading = Reading(share, unit)
        scores = reading.scores(plain, by_marks) + rest
        tried[share] = reading, measured(scores, n_words, truth, log_prior, 1, doubtful=True)

    def cost(share: float) -> float:
        return tried[share][1].log_loss + _DISTANCE / len(truth) * ((share - _MIDDLE) / _SHARES[1]) ** 2

    return tried[min(tried, key=cost)]


def _known_words(design: Any, weights: FloatArray, n_words: int) -> FloatArray:
    """How many words of each text have weights, shape (n_texts,)."""
    known = (weights[:, :n_words] != 0).any(axis=0)
    return np.asarray(sp.csr_matrix(design)[:, :n_words] @ known.astype(np.float64)).ravel()
