"""Which kind of question to ask: what each tells about the other texts, by the second that it takes.

An answer is one or more readings of log odds: a label reads those of its text; a highlight also those of the words that
are expected to be marked, which are few and tell more about other texts. As in :mod:`accord.fitting.asking` log odds
are a Gaussian process whose covariance is the likeness of words, and nothing is fitted again for a candidate. Both
kinds are measured in nats about the answers of the texts without one, so that they can be compared.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cholesky, solve_triangular

from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["Options", "marked_words", "pick_options", "stressed", "word_rates"]

_VARIANCE, _FEWEST = 4.0, 1e-3  # as in accord.fitting.asking
_FINALISTS = 200  # options that are looked at again after each choice
_BEFORE = 2.0  # highlighted texts that the rate of a word is taken to have been counted in before any
_STRESS = 5.0  # how much a word counts that is always marked, beside one that never is


@dataclass(frozen=True, eq=False)
class Options:
    """Questions among which is chosen, each with one or two readings.

    Attributes
    ----------
    readings : sparse array of shape (n_readings, n_words)
        Words whose log odds are read; rows of length 1 or 0.
    precision : array of shape (n_readings,)
        Of each reading, in units of 1 / variance.
    first, second : int arrays of shape (n_options,)
        The readings of each question; ``second`` is −1 where it has one alone, and ``first`` where it repeats one that
        was given.
    text : int array of shape (n_options,)
        The text that a question is about: of each text one question is chosen.
    seconds : array of shape (n_options,)
    """

    readings: sp.csr_array
    precision: FloatArray
    first: IntArray
    second: IntArray
    text: IntArray
    seconds: FloatArray


def word_rates(words: sp.csr_array, marked: sp.csr_array) -> FloatArray:
    """How often each word is marked where it occurs in a highlighted text, drawn towards the mean, shape (n_words,).

    Parameters
    ----------
    words, marked : sparse arrays of shape (n_highlighted, n_words)
        The words of the highlighted texts, and those of their highlights.
    """
    there = np.asarray((words > 0).sum(axis=0), dtype=float).ravel()
    inside = np.asarray((marked > 0).sum(axis=0), dtype=float).ravel()
    usual = inside.sum() / max(there.sum(), 1.0)
    return (inside + _BEFORE * usual) / (np.maximum(there, inside) + _BEFORE)


def stressed(words: sp.csr_array, rates: FloatArray) -> sp.csr_array:
    """The texts with those words stressed that are marked more often than most, rows of length 1 or 0."""
    return _unit(words @ sp.diags_array(1.0 + _STRESS * np.maximum(rates - rates.min(), 0.0)))


def marked_words(words: sp.csr_array, rates: FloatArray) -> sp.csr_array:
    """The words that are expected to be marked in each text, rows of length 1 or 0."""
    return _unit(words @ sp.diags_array(rates))


def _unit(words: sp.csr_array) -> sp.csr_array:
    size = np.sqrt(np.asarray(words.power(2).sum(axis=1)).ravel())
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
    return sp.csr_array(sp.diags_array(scale) @ words)


def pick_options(
    options: Options,
    given: sp.csr_array,
    given_precision: FloatArray,
    targets: sp.csr_array,
    target_precision: FloatArray,
    target_text: IntArray,
    n: int,
    *,
    stands_for: float = 1.0,
    allowed: BoolArray | None = None,
) -> tuple[IntArray, FloatArray, FloatArray]:
    """The ``n`` questions that tell most by the second, best first, and what each tells, in nats.

    Each is chosen as if those before it were answered. The third array has what another question about the same text
    would have told, in nats a second, and is not a number where there was none.

    Parameters
    ----------
    options : Options
    given : sparse array of shape (n_given, n_words)
        Readings that were made, with their precisions.
    given_precision : array of shape (n_given,)
    targets : sparse array of shape (n_targets, n_words)
        Texts whose answers are to be known, their precisions, and which text each is.
    target_precision : array of shape (n_targets,)
    target_text : int array of shape (n_targets,)
    n : int
    stands_for : float
        How many texts without an answer each target stands for.
    allowed : bool array of shape (n_options,), optional
    """
    told = _Readings(options, given, given_precision, targets, target_precision, target_text, stands_for)
    open_ = np.ones(len(options.text), dtype=bool) if allowed is None else allowed.copy()
    keep = np.flatnonzero(open_)
    if keep.size > max(_FINALISTS, 3 * n):
        rate = told.gain(keep) / options.seconds[keep]
        keep = np.sort(keep[np.argsort(-rate, kind="stable")[: max(_FINALISTS, 3 * n)]])
    chosen: list[int] = []
    gains: list[float] = []
    rivals: list[float] = []
    while len(chosen) < n and keep.size:
        gain = told.gain(keep)
        rate = gain / options.seconds[keep]
        best = int(np.argmax(rate))
        one = int(keep[best])
        others = rate[(options.text[keep] == options.text[one]) & (keep != one)]
        chosen.append(one)
        gains.append(float(gain[best]))
        rivals.append(float(others.max()) if others.size else np.nan)
        told.answer(one)
        keep = keep[options.text[keep] != options.text[one]]
    return np.array(chosen, dtype=np.int64), np.array(gains), np.array(rivals)


class _Readings:
    """Covariances of readings with targets and among each other, given what was answered."""

    def __init__(
        self,
        options: Options,
        given: sp.csr_array,
        given_precision: FloatArray,
        targets: sp.csr_array,
        target_precision: FloatArray,
        target_text: IntArray,
        stands_for: float,
    ) -> None:
        self._options, self._share = options, stands_for
        self._own = options.text[:, None] == target_text
        words = options.readings
        noise = np.diag(1.0 / np.maximum(given_precision, _FEWEST))
        root = cholesky(_VARIANCE * (given @ given.T).toarray() + noise, lower=True)
        seen = solve_triangular(root, _VARIANCE * (given @ words.T).toarray(), lower=True)
        there = solve_triangular(root, _VARIANCE * (given @ targets.T).toarray(), lower=True)
        self._among = _VARIANCE * (words @ words.T).toarray() - seen.T @ seen
        self._covariance = _VARIANCE * (words @ targets.T).toarray() - seen.T @ there
        self._noise = 1.0 / np.maximum(options.precision, _FEWEST)
        length = np.asarray(targets.power(2).sum(axis=1)).ravel()
        self._total = _VARIANCE * length - (there**2).sum(axis=0) + 1.0 / np.maximum(target_precision, _FEWEST)

    def gain(self, rows: IntArray) -> FloatArray:
        """What each of these questions tells, in nats, shape (n_rows,)."""
        first, second = self._options.first[rows], self._options.second[rows]
        a = self._among[first, first] + self._noise[first]
        ca = self._covariance[first]
        explained = ca**2 / a[:, None]
        two = np.flatnonzero(second >= 0)
        if two.size:  # Cholesky of the two readings: the second tells what is left of it beside the first
            b = second[two]
            across = self._among[first[two], b]
            left = self._among[b, b] + self._noise[b] - across**2 / a[two]
            cb = self._covariance[b] - (across / a[two])[:, None] * ca[two]
            explained[two] += cb**2 / np.maximum(left, 1e-9)[:, None]
        share = np.minimum(explained / self._total, 1.0 - 1e-9)
        share[self._own[rows]] = 0.0  # what an answer tells about its own text helps no other
        return self._share * (-0.5 * np.log1p(-share)).sum(axis=1)

    def answer(self, option: int) -> None:
        """Take one question as answered."""
        for row in (self._options.first[option], self._options.second[option]):
            if row >= 0:
                scale = self._among[row, row] + self._noise[row]
                column, told = self._among[:, row].copy(), self._covariance[row].copy()
                self._total = np.maximum(self._total - told**2 / scale, 1e-9)
                self._covariance -= np.outer(column / scale, told)
                self._among -= np.outer(column, column) / scale
