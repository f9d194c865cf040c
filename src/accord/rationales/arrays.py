"""Tokens, classes and highlights as the arrays of the model."""

from typing import Any

import numpy as np

from accord.rationales.annotator import MarkedTexts
from accord.rationales.features import Tokens, Vocabulary, transition_table
from accord.rationales.highlights import Annotation
from accord.typing import IntArray

__all__ = ["marked_texts", "nothing_marked"]


def marked_texts(
    tokens: Tokens,
    vocabulary: Vocabulary,
    design: Any,
    codes: IntArray,
    annotations: list[Annotation],
    *,
    n_classes: int,
    n_annotators: int,
    transitions: str,
) -> MarkedTexts:
    """The arrays of the model.

    Parameters
    ----------
    tokens : Tokens
    vocabulary : Vocabulary
    design : sparse matrix of shape (n_texts, n_features)
        Its first columns are the vocabulary's words.
    codes : int array of shape (n_texts,)
        Classes.
    annotations : list of (row, annotator, tags)
    n_classes, n_annotators : int
    transitions : str
        The set of transition features.
    """
    words = [vocabulary.codes(tokens.strings[row]) for row, _, _ in annotations]
    places = [tokens.places_of(row) for row, _, _ in annotations]
    contexts, features = transition_table(np.concatenate([*places, np.zeros(0, dtype=np.int64)]), transitions)
    return MarkedTexts(
        design=design,
        labels=codes,
        n_classes=n_classes,
        n_words=vocabulary.n_words,
        words=np.concatenate([*words, np.zeros(0, dtype=np.int32)]),
        contexts=contexts,
        tags=np.concatenate([*(tags for _, _, tags in annotations), np.zeros(0, dtype=bool)]),
        offsets=np.cumsum([0, *map(len, words)]).astype(np.int64),
        chain_text=np.array([row for row, _, _ in annotations], dtype=np.int64),
        chain_annotator=np.array([annotator for _, annotator, _ in annotations], dtype=np.int64),
        n_annotators=n_annotators,
        transition_features=features,
    )


def nothing_marked(tokens: Tokens) -> list[Annotation]:
    """Annotations of every text in which no token is highlighted."""
    return [(row, 0, np.zeros(len(strings), dtype=bool)) for row, strings in enumerate(tokens.strings)]
