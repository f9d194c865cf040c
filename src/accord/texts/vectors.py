"""Vectors of texts: sentence encoders by name or folder, means of word vectors from a file, or a function of one's own.

Every estimator that reads texts has a setting ``vectors``, which :func:`open_vectors` understands.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from accord.errors import InputError, MissingDataError, MissingDependencyError
from accord.texts.words import tokens
from accord.typing import FloatArray

__all__ = ["CachedEncoder", "FittedVectors", "WordVectors", "check_vectors", "open_vectors"]

Encoder = Callable[[list[str]], FloatArray]
_PROBE = "The quick brown fox answers one question."


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
            places = [self._place[word] for word in tokens(text) if word in self._place]
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


def open_vectors(vectors: Any) -> Encoder:
    """An encoder of texts from what people give.

    Parameters
    ----------
    vectors : str, path or callable
        A callable takes a list of texts and gives an array of shape (n_texts, n_dimensions). A file holds word vectors
        (``.txt``, ``.vec`` or ``.npz``). A folder is a saved model of model2vec or sentence-transformers, and
        ``model2vec:NAME`` or ``sentence-transformers:NAME`` one that the library finds by its name.
    """
    if callable(vectors):
        return vectors
    check_vectors(vectors)
    library, found, name = str(vectors).partition(":")
    if not found or library not in _LIBRARIES:
        library, name = "", str(vectors)
    path = Path(name)
    if not library and path.is_file():
        return WordVectors.from_file(path)
    if not library and not path.is_dir():
        raise MissingDataError(
            f"vectors {name!r} are neither a file nor a folder. For a model that a library knows by name, write "
            f"model2vec:{name} or sentence-transformers:{name}."
        )
    if not library:
        modules = path / "modules.json"  # what sentence-transformers puts together; model2vec has one static table
        static = not modules.is_file() or "StaticEmbedding" in modules.read_text(encoding="utf-8")
        library = "model2vec" if static else "sentence-transformers"
    return _LIBRARIES[library](str(name))


def check_vectors(vectors: Any) -> None:
    """Refuse a setting ``vectors`` that cannot be meant."""
    if not (callable(vectors) or isinstance(vectors, str | Path)):
        raise InputError(
            f"vectors must be the name, folder or file of an encoder, or a function of texts; got {vectors!r}."
        )


def _model2vec(name: str) -> Encoder:
    try:
        from model2vec import StaticModel
    except ImportError:
        raise MissingDependencyError(
            "vectors by model2vec need the package model2vec. Install the extra: pip install 'accord-learn[vectors]'."
        ) from None
    return _loaded(lambda: StaticModel.from_pretrained(name), name, "model2vec").encode


def _sentence_transformers(name: str) -> Encoder:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise MissingDependencyError(
            "vectors by sentence-transformers need that package. Install it: pip install sentence-transformers."
        ) from None
    return _loaded(lambda: SentenceTransformer(name), name, "sentence-transformers").encode


def _loaded(load: Callable[[], Any], name: str, library: str) -> Any:
    try:
        return load()
    except (OSError, ValueError, KeyError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(
            f"{library} cannot open the model {name!r}: {reason}. "
            "Give the folder of a model that was downloaded, or a name that the library knows."
        ) from None


_LIBRARIES: dict[str, Callable[[str], Encoder]] = {
    "model2vec": _model2vec,
    "sentence-transformers": _sentence_transformers,
}


@dataclass(frozen=True, eq=False)
class FittedVectors:
    """The encoder that a model was trained with: its name, and the vector of one sentence to know it again by.

    A model keeps this record, never the encoder itself; the encoder is opened again when texts are to be read.
    """

    name: str  # "" for a function, which has to be given again
    probe: FloatArray  # (n_dimensions,)

    @classmethod
    def of(cls, vectors: Any) -> "FittedVectors":
        """What to remember of the setting ``vectors``."""
        name = "" if callable(vectors) else str(vectors)
        return cls(name, encoded(open_vectors(vectors), [_PROBE])[0])

    def encode(self, vectors: Any, texts: Sequence[str]) -> FloatArray:
        """Vectors of texts, rows of unit length, by the encoder that the model was trained with.

        Another encoder than that is refused.
        """
        if vectors is None and not self.name:
            raise InputError("this model was trained with a function as vectors; give the same function again.")
        encoder = open_vectors(self.name if vectors is None else vectors)
        now = encoded(encoder, [_PROBE])[0]
        if now.shape != self.probe.shape or not np.allclose(now, self.probe, atol=1e-3):
            raise InputError(
                f"this model was trained with the vectors {self.name or 'of a function'!r}; those given differ "
                "from them. Give the same encoder, or train again."
            )
        return encoded(encoder, list(texts))


def encoded(encoder: Encoder, texts: list[str]) -> FloatArray:
    """Vectors of texts by an encoder, checked, as rows of unit length (zeros stay zeros)."""
    rows = np.asarray(encoder(list(texts)), dtype=np.float64)
    if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
        raise InputError(
            f"an encoder gives one row of finite numbers a text; for {len(texts)} texts it gave an array of shape "
            f"{rows.shape}."
        )
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms > 0, norms, 1.0)
