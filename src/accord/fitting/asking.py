"""Which text to ask about: how much one answer tells about the others.

Answers hang together in two ways. Texts with the same words have similar log odds: these are taken as a Gaussian
process with the words' similarity as covariance, given what was answered so far. And texts that are linked, or stand in
one thread, pull each other. What an answer tells about the other answers is, in both, either their mutual information
[BKF23], or how many labels of the others it is expected to put right; it is computed from the current posterior,
without fitting anything again.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cholesky, solve_triangular
from scipy.special import expit, ndtr, ndtri, owens_t

from accord.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "Asking",
    "agreement_information",
    "label_margin",
    "label_precision",
    "least_certain",
    "pick_texts",
    "put_right",
]

_VARIANCE = 4.0  # of the log odds of a text of which nothing is known
_VARIANCE_OF_LABELS = 10.0  # the same where labels that are put right are counted
_GIVEN_PRECISION = 0.2  # of an answer that was given: p(1 − p) of a text that the model is fairly sure of
_TARGETS, _LABELLED, _CANDIDATES = 300, 500, 2_000
_FINALISTS = 400  # candidates that are looked at again after each choice
_IN_TURN = 64  # texts that are chosen one after the other; more than these follow in the order of the last gains
_UNSURE, _LEAST_UNSURE = 3, 60  # texts that are weighed: so many times as many as asked for, or so many
_WIDE, _LEAST_WIDE = 2, 150  # the same where labels that are put right are counted
_MOST_EXPLAINED = 0.998  # of the variance of one text by the answer of another
_TIE = 1e-9  # how much its own doubt counts where two texts tell the same, or nothing
_FEWEST = 1e-3  # precision, so that no noise is infinite


@dataclass(frozen=True, eq=False)
class Asking:
    """What is known of the texts that may be asked about.

    Attributes
    ----------
    words : sparse array of shape (n_texts, n_words)
        Rows of length 1, or 0 where a text has no words.
    precision : array of shape (n_texts,)
        What an answer tells about the log odds (or rank) behind it, in units of 1 / variance.
    given, allowed : bool arrays of shape (n_texts,)
        Texts that are answered, and those that may be asked about where not all may be.
    ends : int array of shape (n_pairs, 2)
        Texts that pull each other.
    shared : array of shape (n_pairs,)
        What the answers of such two tell about each other, in nats.
    stands_for : float
        How many texts without an answer each of these stands for, where they are a part of a larger number.
    seconds : array of shape (n_texts,), optional
        How long each question takes; what tells most by the second is asked first. Equal without it.
    margin : array of shape (n_texts,), optional
        Log odds of the likeliest label against the next one. With it, what an answer tells is the number of other
        labels that it is expected to put right; without it, information in nats.
    """

    words: sp.csr_array
    precision: FloatArray
    given: BoolArray
    ends: IntArray
    shared: FloatArray
    allowed: BoolArray | None = None
    stands_for: float = 1.0
    seconds: FloatArray | None = None
    margin: FloatArray | None = None


def label_margin(p: FloatArray) -> FloatArray:
    """Log odds of the likeliest label against the next, from probabilities of shape (n_texts, n_labels ≥ 2)."""
    best = -np.sort(-np.maximum(p, 1e-12), axis=1)
    return np.asarray(np.log(best[:, 0] / best[:, 1]))


def put_right(z: FloatArray, explained: FloatArray) -> FloatArray:
    """By how much an answer lowers the probability that the label of another text is wrong.

    The log odds of the other text are ``z`` standard deviations from 0, so that its label is wrong with probability
    Φ(−z). After a reading that explains a share ρ² of their variance the label is that of the new mean, and wrong with
    probability 2 T(z, √(1 − ρ²) / ρ), where T is Owen's function: the probability that two normal variables with
    correlation ρ, the new mean and the log odds themselves, lie on different sides of 0.

    Examples
    --------
    >>> put_right(np.array([0.0, 1.0, 1.0]), np.array([1.0, 1.0, 0.0])).round(3).tolist()
    [0.5, 0.159, 0.0]
    """
    slope = np.sqrt(1.0 / np.maximum(explained, 1e-12) - 1.0)
    return np.maximum(ndtr(-z) - 2.0 * owens_t(z, slope), 0.0)


def label_precision(p: FloatArray) -> FloatArray:
    """Precision of a label about its log odds, from probabilities of shape (n_texts, n_labels): p(1 − p) of two."""
    return np.asarray(0.5 * (1.0 - (p * p).sum(axis=1)))


def least_certain(uncertainty: FloatArray, n: int, *, wide: bool = False) -> IntArray:
    """Rows of the texts among which ``n`` are chosen by what they tell: the least certain ones, several times as many.

    The most informative of all texts were no better than random ones on development data; of these, they were. With
    ``wide`` there are at least 150 of them, for counting labels that are put right.
    """
    times, least = (_WIDE, _LEAST_WIDE) if wide else (_UNSURE, _LEAST_UNSURE)
    return np.argsort(-uncertainty, kind="stable")[: max(times * n, least)]


def agreement_information(p: FloatArray, ends: IntArray, equal: FloatArray) -> FloatArray:
    """What the labels of two texts tell about each other at least, in nats, shape (n_pairs,).

    This is the information in whether the two agree: how far the probability of it, ``equal``, is from what it would be
    if the two had nothing to do with each other.
    """
    apart = np.clip((p[ends[:, 0]] * p[ends[:, 1]]).sum(axis=1), 1e-12, 1.0 - 1e-12)
    equal = np.clip(equal, 1e-12, 1.0 - 1e-12)
    told = equal * np.log(equal / apart) + (1.0 - equal) * np.log((1.0 - equal) / (1.0 - apart))
    return np.maximum(told, 0.0)


def pick_texts(asking: Asking, n: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """The ``n`` texts to ask about, best by the second first, and what each tells about the others.

    That is information in nats, or where there are margins, the number of labels that are expected to be put right.
    Each of the first is chosen as if those before it were answered already. Texts that pull one that was chosen are
    passed over as long as there are others. Among very many texts some are looked at: a part at random, and those whose
    answers are least certain or pull the most others.
    """
    unknown = np.flatnonzero(~asking.given)
    free = unknown if asking.allowed is None else unknown[asking.allowed[unknown]]
    n = min(n, free.size)
    pulled = np.zeros(len(asking.given))
    for side in (0, 1):
        pulled += np.bincount(
            asking.ends[:, side], weights=_shared(asking, asking.ends[:, 1 - side]), minlength=pulled.size
        )
    rows = free
    if free.size > max(_CANDIDATES, 2 * n):
        best = [
            free[np.argsort(-score[free], kind="stable")[: _CANDIDATES // 4]] for score in (asking.precision, pulled)
        ]
        rows = np.unique(np.concatenate([*best, rng.choice(free, max(_CANDIDATES, 2 * n), replace=False)]))
    told = _ByWords(asking, rows, unknown, rng)
    time = np.ones(rows.size) if asking.seconds is None else asking.seconds[rows]
    if rows.size > max(_FINALISTS, 2 * n):
        kept = np.sort(np.argsort(-(told.gain() + pulled[rows]) / time, kind="stable")[: max(_FINALISTS, 2 * n)])
        rows, time = rows[kept], time[kept]
        told.keep(kept)
    neighbours = _neighbours(asking.ends, len(asking.given))
    open_, passed = np.ones(rows.size, dtype=bool), np.zeros(rows.size, dtype=bool)
    place = np.full(len(asking.given), -1)
    place[rows] = np.arange(rows.size)
    chosen: list[int] = []
    gains: list[float] = []
    for _ in range(min(n, _IN_TURN)):
        gain = told.gain() + pulled[rows]
        usable = open_ & ~passed if (open_ & ~passed).any() else open_
        best_one = int(np.argmax(np.where(usable, (gain + _TIE * asking.precision[rows]) / time, -np.inf)))
        chosen.append(int(rows[best_one]))
        gains.append(float(gain[best_one]))
        open_[best_one] = False
        near = place[neighbours.indices[slice(*neighbours.indptr[rows[best_one] : rows[best_one] + 2])]]
        passed[near[near >= 0]] = True
        told.answer(best_one)
    if n > len(chosen):
        gain = told.gain() + pulled[rows]
        more = np.argsort(np.where(open_, -gain / time, np.inf), kind="stable")[: n - len(chosen)]
        chosen, gains = [*chosen, *rows[more].tolist()], [*gains, *gain[more].tolist()]
    return np.array(chosen, dtype=np.int64), np.array(gains)


def _shared(asking: Asking, others: IntArray) -> FloatArray:
    """What an answer tells about one text that it pulls, shape (n_pairs,)."""
    if asking.margin is None:
        return asking.shared
    z = ndtri(np.minimum(expit(asking.margin[others]), 1.0 - 1e-12))
    # Two normal variables with information I have the squared correlation 1 − exp(−2 I).
    return put_right(z, np.minimum(-np.expm1(-2.0 * asking.shared), _MOST_EXPLAINED))


def _neighbours(ends: IntArray, n: int) -> sp.csr_array:
    ones = np.ones(2 * len(ends), dtype=np.int8)
    both = np.concatenate([ends, ends[:, ::-1]])
    return sp.csr_array((ones, (both[:, 0], both[:, 1])), shape=(n, n))


class _ByWords:
    """What an answer about each candidate tells about other texts that share words with it."""

    def __init__(self, asking: Asking, rows: IntArray, free: IntArray, rng: np.random.Generator) -> None:
        targets = free if free.size <= _TARGETS else rng.choice(free, _TARGETS, replace=False)
        given = np.flatnonzero(asking.given)
        given = given if given.size <= _LABELLED else rng.choice(given, _LABELLED, replace=False)
        self._share = asking.stands_for * free.size / max(targets.size, 1)
        self._own = rows[:, None] == targets
        self._margin = None if asking.margin is None else asking.margin[targets]
        self._prior = _VARIANCE if asking.margin is None else _VARIANCE_OF_LABELS
        words = asking.words
        self._words = words[rows]
        here, there = words[given], words[targets]
        noise = 1.0 / np.maximum(asking.precision, _FEWEST)
        root = cholesky(self._prior * (here @ here.T).toarray() + np.eye(given.size) / _GIVEN_PRECISION, lower=True)
        self._seen = solve_triangular(root, self._prior * (here @ self._words.T).toarray(), lower=True)
        seen = solve_triangular(root, self._prior * (here @ there.T).toarray(), lower=True)
        self._covariance = self._prior * (self._words @ there.T).toarray() - self._seen.T @ seen
        length = np.asarray(words.power(2).sum(axis=1)).ravel()
        self._variance = self._prior * length[rows] - (self._seen**2).sum(axis=0)
        self._noise = noise[rows]
        self._total = self._prior * length[targets] - (seen**2).sum(axis=0)  # of log odds, or of answers
        self._total = np.maximum(self._total, 1e-9) if self._margin is not None else self._total + noise[targets]
        self._answered = np.zeros((0, rows.size))

    def gain(self) -> FloatArray:
        """In nats or labels, for all texts without an answer, shape (n_rows,)."""
        square = self._covariance**2 / ((self._variance + self._noise)[:, None] * self._total)
        square[self._own] = 0.0  # what an answer tells about its own text helps no other
        if self._margin is None:
            return self._share * (-0.5 * np.log1p(-np.minimum(square, 1.0 - 1e-9))).sum(axis=1)
        z = np.abs(self._margin) / np.sqrt(self._total)
        return self._share * put_right(z, np.minimum(square, _MOST_EXPLAINED)).sum(axis=1)

    def keep(self, rows: IntArray) -> None:
        """Drop the other candidates."""
        self._words, self._own, self._covariance = self._words[rows], self._own[rows], self._covariance[rows]
        self._seen, self._answered = self._seen[:, rows], self._answered[:, rows]
        self._variance, self._noise = self._variance[rows], self._noise[rows]

    def answer(self, row: int) -> None:
        """Take one candidate as answered."""
        with_it = self._prior * (self._words @ self._words[[row]].T).toarray()[:, 0]
        with_it -= self._seen.T @ self._seen[:, row]
        with_it -= self._answered.T @ self._answered[:, row]
        step = with_it / np.sqrt(self._variance[row] + self._noise[row])
        told = self._covariance[row] / np.sqrt(self._variance[row] + self._noise[row])
        self._covariance -= np.outer(step, told)
        self._variance = np.maximum(self._variance - step**2, 0.0)
        self._total = np.maximum(self._total - told**2, 1e-9)
        self._answered = np.vstack([self._answered, step])
