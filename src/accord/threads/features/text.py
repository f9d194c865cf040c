"""The texts of a thread made comparable: normalised, tokenised, counted as n-grams."""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from accord.data.columns import frozen
from accord.texts.words import tokens
from accord.typing import BoolArray, IntArray

__all__ = ["Tokens", "clean_text", "ngram_counts", "tokenise"]

_TAG = re.compile(r"<[^<>]{1,400}>|\[img_assist[^\[\]]*\]")
_REPLY_SUBJECT = re.compile(r"^\s*re\s*:\s*", re.IGNORECASE)
_REPEATED_MARK = re.compile(r"([!?.])(?:\s*\1)+")
_REPEATED_LETTER = re.compile(r"([^\W\d_])\1{2,}")


def clean_text(text: str) -> str:
    """One text in lower case, without HTML, reply marks, repeated ``!?.`` and letters repeated three times or more.

    Escaped HTML is unescaped twice, because forum dumps often escape it once more.
    """
    text = html.unescape(html.unescape(text))
    text = _TAG.sub(" ", text)
    text = _REPLY_SUBJECT.sub("", text)
    text = _REPEATED_MARK.sub(r"\1", text)
    text = _REPEATED_LETTER.sub(r"\1\1", text)
    return " ".join(text.lower().split())


@dataclass(frozen=True, eq=False)
class Tokens:
    """Documents as one flat array of word codes: document d has ``codes[offsets[d]:offsets[d + 1]]``."""

    codes: IntArray  # (n_tokens,), int32
    offsets: IntArray  # (n_docs + 1,)
    words: tuple[str, ...]  # the word of each code

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return self.offsets.size - 1

    @property
    def lengths(self) -> IntArray:
        """Number of tokens of each document, shape (n_docs,)."""
        return np.diff(self.offsets)

    def without(self, drop: BoolArray) -> "Tokens":
        """The same documents without the words for which ``drop``, of shape (n_words,), is true."""
        keep = ~drop[self.codes]
        kept = np.concatenate([[0], np.cumsum(keep)])
        return Tokens(frozen(self.codes[keep]), frozen(kept[self.offsets]), self.words)

    def without_stop_words(self) -> "Tokens":
        """The same documents without English stop words."""
        return self.without(np.array([word in ENGLISH_STOP_WORDS for word in self.words], dtype=bool))

    def as_strings(self) -> list[str]:
        """Each document as a string of one character a token, for libraries that compare strings.

        Code points of surrogates are stepped over; more words than code points cannot occur in memory.
        """
        points = self.codes.astype(np.int64) + 1
        points[points >= 0xD800] += 0x800
        text = points.astype("<u4").tobytes().decode("utf-32-le")
        return [text[a:b] for a, b in zip(self.offsets[:-1], self.offsets[1:], strict=True)]


def tokenise(cleaned: Sequence[str] | Iterable[str]) -> Tokens:
    """Documents, already cleaned, as word codes in order of first appearance."""
    lists = [tokens(text) for text in cleaned]
    offsets = np.concatenate([[0], np.cumsum([len(words) for words in lists], dtype=np.int64)]).astype(np.int64)
    flat = np.array([token for words in lists for token in words], dtype=object)
    codes, names = pd.factorize(flat)
    return Tokens(frozen(codes.astype(np.int32)), frozen(offsets), tuple(map(str, names)))


def ngram_counts(tokens: Tokens, n_max: int) -> list[sp.csr_matrix]:
    """Counts of the word n-grams of each document, one matrix for each n = 1 … ``n_max``.

    An n-gram's column is the pair (column of its first n − 1 words, its last word), numbered anew for each n.
    """
    codes, document = tokens.codes.astype(np.int64), np.repeat(np.arange(tokens.n_docs), tokens.lengths)
    grams, owner, starting, matrices = codes, document, codes, []
    for n in range(1, n_max + 1):
        if n > 1:
            n_starts = max(len(document) - n + 1, 0)
            inside = document[n - 1 :] == document[:n_starts]
            pairs = starting[:n_starts] * (len(tokens.words) + 1) + codes[n - 1 :]
            owner = document[n - 1 :][inside]
            grams = pd.factorize(pairs[inside])[0]
            starting = np.full(len(document), -1, dtype=np.int64)
            starting[:n_starts][inside] = grams
        n_columns = len(tokens.words) if n == 1 else int(grams.max(initial=-1)) + 1
        counts = sp.csr_matrix((np.ones(len(grams)), (owner, grams)), shape=(tokens.n_docs, n_columns))
        counts.sort_indices()
        matrices.append(counts)
    return matrices
