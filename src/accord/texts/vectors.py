"""Vectors of texts: means of word vectors from a local file, and a cache for slow encoders."""

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from accord.errors import InputError, MissingDataError
from accord.texts.surface import words
from accord.typing import FloatArray

__all__ = ["CachedEncoder", "WordVectors"]


class WordVectors:
    """Mean vector of a text's words that have one.

    Parameters
    ----------
    words : list of str
        Lower case.
    vectors : array of shape (n_words, n_dimensions)
    """

    def __init__(self, words: list[str], vectors: FloatArray) -> None:
        if len(words) != len(vectors):
            raise InputError(f"every word needs a vector; there are {len(words)} words and {len(vectors)} vectors.")
        self._place = {word: place for place, word in enumerate(words)}
        self._vectors = np.asarray(vectors, dtype=np.float64)

    @classmethod
    def from_file(cls, path: str | Path) -> "WordVectors":
        """Vectors of a text file in GloVe's or word2vec's format, or of an ``.npz`` with ``words`` and ``vectors``."""
        path = Path(path)
        if not path.is_file():
            raise MissingDataError(f"word vectors are read from a file; there is no {path}.")
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as arrays:
                return cls([str(word) for word in arrays["words"]], arrays["vectors"])
        names, rows = [], []
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                fields = line.rstrip().split(" ")
                if number == 0 and len(fields) == 2:
                    continue  # word2vec's header: number of words and of dimensions
                names.append(fields[0])
                try:
                    rows.append(np.array(fields[1:], dtype=np.float64))
                except ValueError:
                    raise InputError(f"line {number + 1} of {path} must be a word and numbers; it is not.") from None
        if len({row.size for row in rows}) > 1:
            raise InputError(f"all vectors of {path} must have the same length; they have not.")
        return cls(names, np.array(rows))

    def __call__(self, texts: list[str]) -> FloatArray:
        """Mean vectors, shape (n_texts, n_dimensions); zeros for a text without known words."""
        out = np.zeros((len(texts), self._vectors.shape[1]))
        for row, text in enumerate(texts):
            places = [self._place[word] for word in map(str.lower, words(text)) if word in self._place]
            if places:
                out[row] = self._vectors[places].mean(axis=0)
        return out


class CachedEncoder:
    """An encoder whose vectors are kept on disk, one file a list of texts, found by a hash of its content.

    Parameters
    ----------
    encode : callable
        A list of texts to an array of shape (n_texts, n_dimensions).
    folder : path
    name : str
        Distinguishes encoders that share a folder.
    """

    def __init__(self, encode: Callable[[list[str]], FloatArray], folder: str | Path, *, name: str) -> None:
        self._encode, self._folder, self._name = encode, Path(folder), name

    def _file(self, texts: list[str]) -> Path:
        digest = hashlib.sha256(self._name.encode())
        for text in texts:
            raw = text.encode()
            digest.update(len(raw).to_bytes(8, "little"))
            digest.update(raw)
        return self._folder / f"{digest.hexdigest()[:32]}.npy"

    def __call__(self, texts: list[str]) -> FloatArray:
        """The vectors, from disk where they are there."""
        file = self._file(texts)
        if file.is_file():
            return np.asarray(np.load(file, allow_pickle=False))
        vectors = np.asarray(self._encode(texts))
        self._folder.mkdir(parents=True, exist_ok=True)
        # Written beside and moved, so that a reader never sees half a file.
        handle, part = tempfile.mkstemp(dir=self._folder, suffix=".part")
        with os.fdopen(handle, "wb") as out:
            np.save(out, vectors)
        Path(part).replace(file)
        return vectors
