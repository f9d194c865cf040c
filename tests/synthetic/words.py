"""Made-up words, and texts whose words lean to one side."""

from itertools import product

import numpy as np

from accord.typing import AnyArray, ObjectArray

__all__ = ["leaning_texts", "made_up_words", "numbered"]

_ONSETS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z")
_VOWELS = ("a", "e", "i", "o", "u")


def made_up_words(n: int) -> list[str]:
    """The first ``n`` words of a fixed list of different pronounceable ones."""
    syllables = ["".join(pair) for pair in product(_ONSETS, _VOWELS)]
    words: list[str] = []
    length = 2
    while len(words) < n:
        words += [
            "".join(parts) for parts, _ in zip(product(syllables, repeat=length), range(n - len(words)), strict=False)
        ]
        length += 1
    return words


def leaning_texts(
    rng: np.random.Generator, leaning: AnyArray, *, n_words: int = 12, n_types: int = 60, prefix: str = ""
) -> ObjectArray:
    """Texts of ``n_words`` words each, shape (n,): the more one leans to 1, the more words of the second half it has.

    Parameters
    ----------
    rng : Generator
    leaning : array of shape (n,)
        The chance of each word to come from the second half of the vocabulary, in [0, 1].
    n_words, n_types : int
        Words a text, and words to choose from.
    prefix : str
        Put before every word, so that vocabularies of different topics differ.
    """
    leaning = np.asarray(leaning, dtype=np.float64)
    vocabulary = np.array([prefix + word for word in made_up_words(n_types)], dtype=object)
    half = n_types // 2
    second = rng.random((len(leaning), n_words)) < leaning[:, None]
    types = rng.integers(0, half, second.shape) + half * second
    texts = np.empty(len(leaning), dtype=object)
    texts[:] = [" ".join(row) for row in vocabulary[types]]
    return texts


def numbered(prefix: str, n: int) -> ObjectArray:
    """Ids ``prefix0001`` … of equal length, shape (n,)."""
    width = len(str(max(n, 1)))
    ids = np.empty(n, dtype=object)
    ids[:] = [f"{prefix}{place:0{width}d}" for place in range(1, n + 1)]
    return ids
