"""What the classifier sees of a text: words, n-grams, vectors, given features and an intercept, as columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from accord.data.columns import check_finite
from accord.data.tables import as_frame, is_table, row_names
from accord.errors import InputError
from accord.rationales.features import Tokens, Vocabulary
from accord.texts.vectors import FittedVectors
from accord.texts.words import WordAnalyser
from accord.typing import FloatArray, IntArray, ObjectArray

__all__ = ["WORD_PRIORS", "Columns", "Units", "given_features"]

# How large the weights of words may get beside each other.
WORD_PRIORS = ("idf", "flat")

_MANY_TOKENS = 1_000_000


def given_features(features: Any, *, ids: Any = None, n_texts: int | None = None) -> Any:
    """Columns beside the words as a sparse matrix of finite numbers, shape (n_texts, n_extra).

    ``ids`` are what an error calls the rows; another number of rows than ``n_texts`` is refused.
    """
    table = as_frame(features) if is_table(features) else None
    try:
        matrix = sp.csr_matrix(features if table is None else table.to_numpy(), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "features must be a matrix of numbers with one row a text; they hold something else."
        ) from None
    if n_texts is not None and matrix.shape[0] != n_texts:
        raise InputError(f"features must have one row a text; there are {matrix.shape[0]} rows and {n_texts} texts.")
    named = row_names(features) if ids is None else ids
    check_finite(matrix, ids=named, names=None if table is None else table.columns)
    return matrix


def _grams(tokens: Tokens, n: int, longest: int) -> list[list[str]]:
    """The runs of ``n`` tokens of each text."""
    if n == 1:
        return tokens.strings
    return [[gram for _, gram in tokens.n_grams(row, n, longest)] for row in range(tokens.n_texts)]


def _largest(rows: IntArray, codes: IntArray, values: FloatArray, n_rows: int, vocabulary: Vocabulary) -> Any:
    """The largest value of each type in each row, sparse, shape (n_rows, n_words)."""
    known = codes < vocabulary.n_words
    cells = rows[known] * vocabulary.n_words + codes[known]
    order = np.lexsort((values[known], cells))
    cells, values = cells[order], values[known][order]
    last = np.append(cells[1:] != cells[:-1], True) if len(cells) else np.zeros(0, dtype=bool)
    where = np.divmod(cells[last], max(1, vocabulary.n_words))
    return sp.csr_matrix((values[last], where), shape=(n_rows, vocabulary.n_words))


@dataclass(frozen=True, eq=False)
class Units:
    """What is taken off the columns of given features, and what they are then divided by."""

    centre: FloatArray  # (n_extra,)
    scale: FloatArray  # (n_extra,)

    @classmethod
    def of(cls, x: Any) -> "Units":
        """The units in which a column of training features counts about as much as a word.

        A column of which most entries are not 0 is a measurement, with a zero point and a unit of its own: it is
        counted from its mean, in standard deviations. One of which most are 0 is there or not, as words are: entries
        that are there have the size 1. Dense rows of one length, such as vectors of texts, only get the length 1.
        """
        n, d = x.shape
        columns = sp.csc_matrix(x)
        columns.eliminate_zeros()
        there = np.diff(columns.indptr)
        squares = np.sort(np.asarray(columns.multiply(columns).sum(axis=1)).ravel())
        if 2 * columns.nnz > n * d and squares[0] > (1.0 - 1e-6) * squares[-1]:
            return cls(np.zeros(d), np.full(d, np.sqrt(squares[-1])))
        centre, scale = np.zeros(d), np.ones(d)
        for column in np.flatnonzero(there):
            # In order, so that sums do not depend on the order of the rows.
            values = np.sort(columns.data[columns.indptr[column] : columns.indptr[column + 1]])
            if 2 * len(values) > n:
                values = np.sort(np.append(values, np.zeros(n - len(values))))
                centre[column] = values.mean()
            spread = np.sqrt(np.mean((values - centre[column]) ** 2))
            scale[column] = spread if spread > 1e-9 * np.abs(values).max() else 1.0
        return cls(centre, scale)

    def convert(self, x: Any) -> Any:
        """Features in these units, sparse, shape (n_texts, n_extra)."""
        moved = np.flatnonzero(self.centre)
        rows, columns = np.repeat(np.arange(x.shape[0]), len(moved)), np.tile(moved, x.shape[0])
        taken_off = sp.csr_matrix((self.centre[columns], (rows, columns)), shape=x.shape)
        return sp.csr_matrix((sp.csr_matrix(x) - taken_off).multiply(1.0 / self.scale))


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of the design, in this order: words, n-grams, vectors, given features, intercept."""

    words: list[ObjectArray]  # word types, then the n-grams of each length
    longest: int  # run of words
    vectors: FittedVectors | None
    vector_length: float
    n_extra: int
    intercept: bool
    repeats: bool = False  # whether a word that occurs n times counts 1 + log n times
    units: Units | None = None  # of the given features

    @classmethod
    def learn(
        cls,
        tokens: Tokens,
        *,
        vocabulary: Any,
        min_count: int | str,
        longest: int,
        vectors: Any,
        features: Any,
        intercept: bool,
        repeats: bool = False,
    ) -> "Columns":
        """The columns of training texts; the parameters are settings of :class:`~accord.RationaleClassifier`."""
        least = (1 if len(tokens.spans) <= _MANY_TOKENS else 2) if min_count == "auto" else int(min_count)
        words = []
        for n in range(1, max(longest, WordAnalyser.longest if any(tokens.unspaced) else 1) + 1):
            words.append(Vocabulary.count(_grams(tokens, n, longest), min_count=least).words)
        if vocabulary is not None:
            words[0] = np.array(list(vocabulary), dtype=object)
        elif not len(words[0]):
            raise InputError(
                f"the texts must share words; none occurs {least} times in them. Lower min_count, or give a vocabulary."
            )
        return cls(
            words,
            longest,
            None if vectors is None else FittedVectors.of(vectors),
            # As long as a row of words is on average, so that the two count alike.
            float(np.sqrt(np.mean([len(set(strings)) for strings in tokens.strings]))),
            0 if features is None else int(np.shape(features)[1]),
            intercept,
            repeats,
            None if features is None else Units.of(features),
        )

    @property
    def n_words(self) -> int:
        """Number of word types."""
        return len(self.words[0])

    @property
    def n_terms(self) -> int:
        """Number of words and n-grams."""
        return sum(len(words) for words in self.words)

    @cached_property
    def vocabularies(self) -> list[Vocabulary]:
        """The words, then the n-grams of each length."""
        return [Vocabulary(words) for words in self.words]

    def design(self, tokens: Tokens, texts: Sequence[str], features: Any, vectors: Any) -> Any:
        """One row a text, sparse; ``vectors`` is the setting of the estimator."""
        parts = [
            vocabulary.presence(_grams(tokens, n, self.longest), repeats=self.repeats)
            for n, vocabulary in enumerate(self.vocabularies, 1)
        ]
        if self.vectors is not None:
            parts.append(sp.csr_matrix(self.vector_length * self.vectors.encode(vectors, texts)))
        shape = (tokens.n_texts, 0) if features is None else np.shape(features)
        if shape != (tokens.n_texts, self.n_extra):
            raise InputError(
                f"features must have the shape ({tokens.n_texts}, {self.n_extra}), as in fit; they have "
                f"{None if features is None else shape}."
            )
        if features is not None:
            parts.append(sp.csr_matrix(features) if self.units is None else self.units.convert(features))
        if self.intercept:
            parts.append(sp.csr_matrix(np.ones((tokens.n_texts, 1))))
        return sp.hstack(parts, format="csr")

    def usual_features(self, n_texts: int) -> FloatArray | None:
        """Given features of texts of which none are known, shape (n_texts, n_extra); ``None`` where there are none."""
        if not self.n_extra:
            return None
        return np.tile(np.zeros(self.n_extra) if self.units is None else self.units.centre, (n_texts, 1))

    def marked(self, tokens: Tokens, rows: IntArray, inside: FloatArray) -> Any:
        """How likely each word and n-gram is to be highlighted in some texts, sparse, shape (len(rows), n_terms).

        Of a word that occurs several times its largest probability, of a run of words the mean of theirs.

        Parameters
        ----------
        tokens : Tokens
        rows : int array
            Of the texts.
        inside : array
            Probability of each of their tokens, text after text.
        """
        lengths = np.diff(tokens.offsets)[rows]
        ends = np.cumsum(lengths)
        parts = []
        for n, vocabulary in enumerate(self.vocabularies, 1):
            text: list[IntArray] = [np.zeros(0, dtype=np.int64)]
            code: list[IntArray] = [np.zeros(0, dtype=np.int64)]
            p = [np.zeros(0)]
            for place, row in enumerate(rows):
                own = inside[ends[place] - lengths[place] : ends[place]]
                grams = tokens.n_grams(row, n, self.longest) if n > 1 else []
                known = vocabulary.codes([gram for _, gram in grams] if n > 1 else tokens.strings[row])
                first = np.array([start for start, _ in grams], dtype=np.int64) if n > 1 else np.arange(len(known))
                totals = np.concatenate([[0.0], np.cumsum(own)])
                code.append(known)
                text.append(np.full(len(known), place))
                p.append((totals[first + n] - totals[first]) / n)
            parts.append(_largest(np.concatenate(text), np.concatenate(code), np.concatenate(p), len(rows), vocabulary))
        return sp.hstack(parts, format="csr")

    def ease(self, design: Any) -> FloatArray:
        """How large each column's weight may get beside those of the others, shape (n_columns,).

        Of a word or n-gram that n of N training texts hold, 1 + log (1 + N)/(1 + n), as tf-idf counts it, times a
        factor with which the words of a text may say as much in all as with equal weights; of all other columns 1.
        """
        n_texts, n_columns = design.shape
        n_words = self.n_terms
        squares = np.asarray(design[:, :n_words].power(2).sum(axis=0)).ravel()
        seen = np.bincount(design[:, :n_words].indices, minlength=n_words)
        idf = 1.0 + np.log((1.0 + n_texts) / (1.0 + seen))
        out = np.ones(n_columns)
        out[:n_words] = idf * np.sqrt(squares.sum() / max(float(squares @ idf**2), 1e-300))
        return out

    def reasons(self, tokens: Tokens, row: FloatArray, effects: FloatArray) -> list[tuple[Any, ...]]:
        """What the columns of one text add: reason, effect, kind, and first and last token of each occurrence.

        Parameters
        ----------
        tokens : Tokens
            Of the one text.
        row : array of shape (n_columns,)
            Of its design.
        effects : array of shape (n_columns,)
            What a one in each column adds.
        """
        out: list[tuple[Any, ...]] = []
        offset = 0
        for n, vocabulary in enumerate(self.vocabularies, 1):
            grams = tokens.n_grams(0, n, self.longest)
            codes = vocabulary.codes([gram for _, gram in grams])
            out += [
                (
                    gram,
                    float(row[offset + code] * effects[offset + code]),
                    "word" if n == 1 else "n-gram",
                    place,
                    place + n - 1,
                )
                for (place, gram), code in zip(grams, codes, strict=True)
                if code < vocabulary.n_words
            ]
            offset += vocabulary.n_words
        added = row[offset:] * effects[offset:]
        sizes = [0 if self.vectors is None else len(self.vectors.probe), self.n_extra, int(self.intercept)]
        for kind, part in zip(
            ("vectors", "features", "intercept"), np.split(added, np.cumsum(sizes)[:-1]), strict=True
        ):
            if part.any():
                out.append((f"({kind})", float(part.sum()), kind, None, None))
        return out
