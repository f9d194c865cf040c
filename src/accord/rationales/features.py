"""Texts as the model of the annotator sees them: word types, places between words, and highlighted tokens."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product, repeat
from typing import Any

import numpy as np
import scipy.sparse as sp

from accord.data.rationales import whitespace_tokens
from accord.errors import InputError
from accord.texts.rows import as_texts
from accord.texts.words import WordAnalyser, is_unspaced, token_spans
from accord.texts.words import tokens as words_of
from accord.typing import IntArray, ObjectArray

__all__ = [
    "NONTERMINALS",
    "TOKENISERS",
    "TRANSITION_SETS",
    "Tokens",
    "Vocabulary",
    "read_tokens",
    "transition_names",
    "transition_table",
]

Tokeniser = Callable[[str], tuple[list[str], IntArray]]
Constituent = tuple[str, int, int]
Parser = Callable[[list[str]], Iterable[Constituent]]


def _words(text: str) -> tuple[list[str], IntArray]:
    """Words and punctuation marks of a text in any script, and their characters."""
    return words_of(text, marks=True), np.array(token_spans(text, marks=True), dtype=np.int64).reshape(-1, 2)


def _spaced(text: str) -> tuple[list[str], IntArray]:
    words, where = whitespace_tokens(text)
    return [word.lower() for word in words], where


TOKENISERS: dict[str, Tokeniser] = {"words": _words, "whitespace": _spaced}

# What transitions may depend on, [ZE08] section 5.4.
TRANSITION_SETS = ("plain", "words", "syntax")
PUNCTUATION = (",", ".", "?", "!")
STARTERS = ("no", "not", "so", "very", "quite")
NONTERMINALS = ("DOC", "TOP", "S", "SBAR", "FRAG", "PRN", "NP", "VP", "PP", "ADJP", "QP")
_LEFT = {word: code for code, word in enumerate(PUNCTUATION, 1)}
_RIGHT = {word: code for code, word in enumerate(PUNCTUATION + STARTERS, 1)}
# Marks of other scripts that do the same: the Chinese and Japanese full stop and comma, the Hindi full stop, and so on.
_SAME_MARKS = {"、": ",", "،": ",", "。": ".", "।": ".", "؟": "?", "…": "."}
_LEFT |= {mark: _LEFT[same] for mark, same in _SAME_MARKS.items()}
_RIGHT |= {mark: _RIGHT[same] for mark, same in _SAME_MARKS.items()}
# Where a text begins there is no word on the left, and where it ends none on the right: a short text, or a piece of a
# longer one, may begin or end inside a highlight far more often than highlights begin and end elsewhere.
_BEGINS, _ENDS = len(PUNCTUATION) + 1, len(PUNCTUATION + STARTERS) + 1
_PHRASE = {name: code for code, name in enumerate(NONTERMINALS, 1)}
# A place is coded by left word, right word, phrase that ends, phrase that starts, phrase that crosses; 0 is "none".
_CODE_SHAPE = (1 + _BEGINS, 1 + _ENDS, *(1 + len(_PHRASE),) * 3)
_TAGS = tuple(product("OI", "OI"))


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Word types, in sorted order; a token of any other type has the code ``n_words``."""

    words: ObjectArray  # (n_words,)

    @classmethod
    def count(cls, documents: Iterable[Sequence[str]], *, min_count: int = 4) -> "Vocabulary":
        """The types that occur ``min_count`` times or more."""
        counts = Counter(chain.from_iterable(documents))
        return cls(np.array(sorted(word for word, n in counts.items() if n >= min_count), dtype=object))

    @property
    def n_words(self) -> int:
        """Number of types."""
        return self.words.size

    @cached_property
    def _places(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.words)}

    def codes(self, tokens: Sequence[str]) -> IntArray:
        """The type of each token, shape (n_tokens,)."""
        return np.fromiter(map(self._places.get, tokens, repeat(self.n_words)), np.int32, len(tokens))

    def presence(self, documents: Sequence[Sequence[str]], *, repeats: bool = False) -> sp.csr_matrix:
        """Which types occur in which documents, zeros and ones, shape (n_documents, n_words).

        With ``repeats`` a type that occurs n times has 1 + log n.
        """
        found = [np.unique(self.codes(tokens), return_counts=True) for tokens in documents]
        rows = [row[row < self.n_words] for row, _ in found]
        ends = np.cumsum([0, *map(len, rows)])
        columns = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int32)
        values = np.ones(len(columns))
        if repeats and rows:  # the code of unknown types is the last
            values += np.log(np.concatenate([counts[: len(row)] for row, (_, counts) in zip(rows, found, strict=True)]))
        return sp.csr_matrix((values, columns, ends), shape=(len(rows), self.n_words))


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of some texts, one after the other."""

    strings: list[list[str]]  # one list a text, as the vocabulary spells them
    unspaced: list[list[bool]]  # whether each token is a character of a script without spaces; [] where none is
    spans: IntArray  # (n_tokens, 2) characters
    places: IntArray  # (n_tokens + n_texts,) code of each place before a token and after a text's last one
    offsets: IntArray  # (n_texts + 1,)

    @property
    def n_texts(self) -> int:
        """Number of texts."""
        return len(self.strings)

    def of(self, text: int) -> IntArray:
        """Character spans of the tokens of one text, shape (n, 2)."""
        return self.spans[self.offsets[text] : self.offsets[text + 1]]

    def n_grams(self, text: int, n: int, longest: int) -> list[tuple[int, str]]:
        """The runs of ``n`` tokens of one text, as (first token, run).

        Words make runs up to ``longest``, joined by spaces; characters of scripts without spaces make runs up to
        three, because two or three of them are a word.
        """
        words, unspaced = self.strings[text], self.unspaced[text]
        starts = range(len(words) - n + 1)
        if not unspaced:
            return [(i, " ".join(words[i : i + n])) for i in starts] if n <= longest else []
        whole = [all(unspaced[i : i + n]) for i in starts]
        return [
            (i, ("" if whole[i] else " ").join(words[i : i + n]))
            for i in starts
            if n <= (max(longest, WordAnalyser.longest) if whole[i] else longest)
        ]

    def places_of(self, text: int) -> IntArray:
        """Codes of the places of one text, shape (n + 1,)."""
        return self.places[self.offsets[text] + text : self.offsets[text + 1] + text + 1]


def read_tokens(
    texts: Sequence[str],
    *,
    tokeniser: str | Tokeniser = "words",
    transitions: str = "words",
    parser: Parser | None = None,
) -> Tokens:
    """Cut texts into tokens and describe the places between them.

    Parameters
    ----------
    texts : sequence of str
    tokeniser : {"words", "whitespace"} or callable
        Words and punctuation marks of any script, or what stands between spaces, both in lower case. A callable gives
        the tokens of a text and their character spans, shape (n_tokens, 2).
    transitions : {"plain", "words", "syntax"}
        What a place is described by: nothing; the punctuation and the few words beside it, and whether the text begins
        or ends there; also the phrases that end, start and cross there.
    parser : callable, required for "syntax"
        Tokens to constituents ``(label, start, end)`` in token positions.

    Returns
    -------
    Tokens
    """
    if transitions == "syntax" and parser is None:
        raise InputError("transitions='syntax' needs a parser; give one, or use transitions='words'.")
    cut = TOKENISERS[tokeniser] if isinstance(tokeniser, str) else tokeniser
    strings: list[list[str]] = []
    unspaced: list[list[bool]] = []
    spans: list[IntArray] = [np.zeros((0, 2), dtype=np.int64)]
    places: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    for text in as_texts(texts):
        words, where = cut(text)
        strings.append(list(words))
        found = [] if text.isascii() else [is_unspaced(word) for word in words]
        unspaced.append(found if any(found) else [])
        spans.append(np.asarray(where, dtype=np.int64).reshape(-1, 2))
        places.append(_place_codes(strings[-1], transitions, parser))
    offsets = np.cumsum([0, *map(len, strings)]).astype(np.int64)
    return Tokens(strings, unspaced, np.concatenate(spans), np.concatenate(places), offsets)


def _place_codes(tokens: list[str], transitions: str, parser: Parser | None) -> IntArray:
    n = len(tokens)
    left, right = np.zeros(n + 1, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    phrases: IntArray = np.zeros((3, n + 1), dtype=np.int64)
    if transitions != "plain":
        left[1:] = [_LEFT.get(token, 0) for token in tokens]
        right[:-1] = [_RIGHT.get(token, 0) for token in tokens]
        left[0], right[n] = _BEGINS, _ENDS
    if transitions == "syntax" and parser is not None:
        phrases = _boundaries(list(parser(tokens)), n)
    return np.ravel_multi_index((left, right, *phrases), _CODE_SHAPE)


def _boundaries(constituents: list[Constituent], n: int) -> IntArray:
    """The largest phrase that ends, the largest that starts and the smallest that crosses each place, (3, n + 1)."""
    ends, starts, crosses = np.zeros((3, n + 1), dtype=np.int64)
    # From small to large, so that the largest has the last word; for crossing, from large to small.
    by_size = sorted(constituents, key=lambda phrase: phrase[2] - phrase[1])
    for label, start, end in by_size:
        if not 0 <= start < end <= n:
            raise InputError(f"a phrase must lie inside its text of {n} tokens; the parser gave {(label, start, end)}.")
        ends[end] = starts[start] = _PHRASE.get(label, 0)
    for label, start, end in reversed(by_size):
        crosses[start + 1 : end] = _PHRASE.get(label, 0)
    return np.stack([ends, starts, crosses])


def transition_names(transitions: str) -> list[str]:
    """Names of the transition features, as the paper writes them."""
    return list(_features(transitions))


def _features(transitions: str) -> dict[str, tuple[int, int, int]]:
    """Name to (transition, axis of the place's code, value there); axis −1 holds everywhere."""
    names = {f"{a}-{b}": (t, -1, 0) for t, (a, b) in enumerate(_TAGS)}
    changes = [(t, a, b) for t, (a, b) in enumerate(_TAGS) if a != b]
    if transitions != "plain":
        names |= {f"{a}({word})-{b}": (t, 0, _LEFT[word]) for t, a, b in changes for word in PUNCTUATION}
        names |= {f"{a}-{b}({word})": (t, 1, _RIGHT[word]) for t, a, b in changes for word in PUNCTUATION}
        names |= {f"O-I({word})": (1, 1, _RIGHT[word]) for word in STARTERS}
        names |= {"(begin)-I": (1, 0, _BEGINS), "I-(end)": (2, 1, _ENDS)}
    if transitions == "syntax":
        for axis, kind in enumerate("ESC", 2):
            names |= {f"{a}-{b}/{kind}={name}": (t, axis, _PHRASE[name]) for t, a, b in changes for name in _PHRASE}
    return names


def transition_table(places: IntArray, transitions: str) -> tuple[IntArray, Any]:
    """Number the kinds of places that occur, and say which features each transition has there.

    Parameters
    ----------
    places : int array of shape (n_places,)
        As in :class:`Tokens`.
    transitions : {"plain", "words", "syntax"}

    Returns
    -------
    contexts : int array of shape (n_places,)
    features : sparse matrix of shape (4 · n_contexts, n_features)
        Zeros and ones; rows are O-O, O-I, I-O, I-I of the first context, and so on.
    """
    kinds, contexts = np.unique(places, return_inverse=True)
    codes = np.stack(np.unravel_index(kinds, _CODE_SHAPE)) if len(kinds) else np.zeros((len(_CODE_SHAPE), 0))
    rows, columns = [], []
    for column, (transition, axis, value) in enumerate(_features(transitions).values()):
        where = np.arange(len(kinds)) if axis < 0 else np.flatnonzero(codes[axis] == value)
        rows.append(4 * where + transition)
        columns.append(np.full(len(where), column))
    row, column_of = np.concatenate(rows), np.concatenate(columns)
    shape = (4 * len(kinds), len(columns))
    dtype = np.uint16 if len(kinds) < 2**16 else np.int32
    return contexts.astype(dtype), sp.csr_matrix((np.ones(len(row)), (row, column_of)), shape=shape)
