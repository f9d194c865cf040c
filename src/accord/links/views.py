"""Ridge regression of the views that a text can be read by, the strength of each chosen by texts that were left out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg

from accord.fitting.folds import group_folds
from accord.links.content import VIEWS, Calibration, Content, MixedRidge, fit_calibration, len_of
from accord.links.ridge import indicator_targets, ridge_dual
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["fit_contents"]

STRENGTHS = (0.1, 1.0)
# Strengths are compared on no more texts than this: it takes seconds for thousands.
MAX_TRIED = 1600


def fit_contents(
    X: sp.csr_matrix,
    mix: sp.csr_matrix | None,
    codes: IntArray,
    groups: AnyArray,
    order: IntArray,
    *,
    views: Sequence[str],
    n_labels: int,
    max_gram: int = 4000,
    folds: IntArray | None = None,
    by_piece: IntArray | None = None,
    n_folds: int = 5,
    seed: int = 0,
) -> list[Content]:
    """Ridge regression of some views, the strength of each chosen by the log loss of left-out texts.

    Parameters
    ----------
    X : sparse matrix of shape (n_texts, n_features)
    mix : sparse matrix of shape (n_texts, n_texts), optional
        See :func:`~accord.links.content.mixing`; needed by every view but "own".
    codes : int array of shape (n_texts,)
        −1 for a text without a label, which takes part through its neighbours only.
    groups : array of shape (n_texts,)
        Texts that are left out together.
    order : int array of shape (n_texts,)
        Positions in an order that does not depend on the order of rows; strengths are tried on the first labelled ones.
    max_gram : int
        Most labelled texts for which left-out scores are exact; beyond, the model is fitted ``n_folds`` times more.
    folds : int array of shape (n_texts,), optional
        Also fit without each of these folds, 0 … ``n_folds`` − 1.
    by_piece : int array of shape (n_texts,), optional
        And without each of these.
    """
    read = mix if any(VIEWS[view][1] for view in views) else None
    words = _Words(X, read, _means(X, read), max_gram)
    labelled = order[codes[order] >= 0]
    tried = np.sort(labelled[:MAX_TRIED])
    tried = tried if len(np.unique(codes[tried])) == n_labels else np.sort(labelled[:max_gram])
    fit = _Fit(words, codes, groups, np.flatnonzero(codes >= 0), tried, n_labels, n_folds, seed)
    return [fit.content(view, folds, by_piece) for view in views]


@dataclass(frozen=True, eq=False)
class _Words:
    """What the views read, counted from its means."""

    X: sp.csr_matrix
    mix: sp.csr_matrix | None  # None where no view reads the words of neighbours
    centre: tuple[FloatArray, FloatArray]
    max_gram: int

    def grams(self, at: IntArray) -> tuple[FloatArray, FloatArray]:
        """Inner products of own and of mixed features, less their means."""
        own, mixed = self._products(at)
        towards = self.X @ np.column_stack(self.centre)
        own = _centred(own, towards[at, 0], float(self.centre[0] @ self.centre[0]))
        if self.mix is None:
            return own, mixed
        return own, _centred(mixed, self.mix[at] @ towards[:, 1], float(self.centre[1] @ self.centre[1]))

    def _products(self, at: IntArray) -> tuple[FloatArray, FloatArray]:
        inside = self.X[at]
        if self.mix is None:
            return (inside @ inside.T).toarray(), np.zeros((0, 0))
        # z_i · z_j = Σ_ab M_ia (x_a · x_b) M_jb, over the texts near some labelled one.
        part = self.mix[at]
        near = np.unique(np.concatenate([part.indices, at]))
        words, part = self.X[near], part[:, near]
        if len(near) > self.max_gram:
            spread = part @ words
            return (inside @ inside.T).toarray(), (spread @ spread.T).toarray()
        products = (words @ words.T).toarray()
        own = np.searchsorted(near, at)
        return products[np.ix_(own, own)], np.asarray(part @ (part @ products).T)

    def from_dual(self, view: str, at: IntArray, weights: FloatArray) -> MixedRidge:
        """The model of a view whose weights are sums over texts."""
        own, mixed = VIEWS[view]
        total = weights.sum(axis=0)
        return MixedRidge.around(
            self.centre,
            (self.X[at].T @ weights).T - np.outer(total, self.centre[0]) if own else None,
            (self.X.T @ (self.mix[at].T @ weights)).T - np.outer(total, self.centre[1])
            if mixed and self.mix is not None
            else None,
        )

    def primal(self, view: str, at: IntArray, targets: FloatArray, strength: float) -> MixedRidge:
        """Weights by conjugate gradients on (ZᵀZ + λI) w = Zᵀt, where Z, with its mean taken off, is never formed."""
        own, mixed = VIEWS[view]
        X, p = self.X, self.X.shape[1]
        parts = [X[at]] if own else []
        around = self.mix[at] if mixed and self.mix is not None else None
        n = p * (own + mixed) + 1
        middle = np.concatenate([each for each, held in zip(self.centre, (own, mixed), strict=True) if held])

        def forward(w: FloatArray) -> FloatArray:
            out = np.full(len(at), w[-1] - middle @ w[:-1])
            for part in parts:
                out += part @ w[:p]
            return out if around is None else out + around @ (X @ w[-1 - p : -1])

        def backward(t: FloatArray) -> FloatArray:
            near = [] if around is None else [X.T @ (around.T @ t)]
            both = np.concatenate([*(part.T @ t for part in parts), *near])
            return np.append(both - t.sum() * middle, t.sum())

        normal = LinearOperator((n, n), matvec=lambda w: backward(forward(w)) + strength * w, dtype=np.float64)
        solved = np.array([cg(normal, backward(t), rtol=1e-6, maxiter=1000)[0] for t in targets.T])
        return MixedRidge.around(self.centre, solved[:, :p] if own else None, solved[:, -1 - p : -1] if mixed else None)


@dataclass(frozen=True, eq=False)
class _Fit:
    """Texts with labels, and what all views need of them."""

    words: _Words
    codes: IntArray
    groups: AnyArray
    rows: IntArray  # texts with a label
    tried: IntArray  # those on which strengths are compared
    n_labels: int
    n_folds: int
    seed: int

    @property
    def whole(self) -> bool:
        """Whether the inner products of all texts with a label are formed."""
        return len(self.rows) <= self.words.max_gram

    @cached_property
    def all_grams(self) -> tuple[FloatArray, ...]:
        return self.words.grams(self.rows)

    @cached_property
    def tried_grams(self) -> tuple[FloatArray, ...]:
        if not self.whole:
            return self.words.grams(self.tried)
        inside = np.searchsorted(self.rows, self.tried)
        return tuple(part[np.ix_(inside, inside)] if part.size else part for part in self.all_grams)

    def content(self, view: str, folds: IntArray | None, by_piece: IntArray | None) -> Content:
        """A view with the strength that left-out texts like best."""
        rows = self.rows
        inner = _kernel(view, self.tried_grams)
        attempts = {each: self._attempt(self.tried, inner, each) for each in STRENGTHS}
        strength = min(STRENGTHS, key=lambda each: attempts[each][0])
        product = _kernel(view, self.all_grams) if self.whole else np.empty((0, 0))
        parted = self._parted(folds)
        by_fold = () if parted is None else tuple(self._without(view, strength, product, parted))
        if self.whole:
            tried_all = len(self.tried) == len(rows)
            _, calibration, weights, left = attempts[strength] if tried_all else self._attempt(rows, product, strength)
            model = self.words.from_dual(view, rows, weights)
        else:
            assert parted is not None  # too many texts for exact left-out scores
            model = self.words.primal(view, rows, self._targets(rows), strength)
            left = np.stack(by_fold)[parted, rows]
            calibration = fit_calibration(left, self.codes[rows], n_labels=self.n_labels, is_ridge=True)
        scores = model.scores(self.words.X, self.words.mix)
        scores[rows] = left
        in_pieces = () if by_piece is None else tuple(self._without(view, strength, product, by_piece[rows]))
        return Content(view, model, calibration, scores, by_fold if folds is not None else (), in_pieces)

    def _targets(self, at: IntArray) -> FloatArray:
        return indicator_targets(self.codes[at], self.n_labels)

    def _parted(self, folds: IntArray | None) -> IntArray | None:
        """The fold of each text with a label, where the model is to be fitted without each."""
        if folds is not None:
            return np.asarray(folds[self.rows])
        if self.whole:
            return None
        names = np.asarray(self.groups[self.rows], dtype=str)
        return group_folds(names, n_folds=min(self.n_folds, len(np.unique(names))), random_state=self.seed)

    def _attempt(
        self, at: IntArray, kernel: FloatArray, strength: float
    ) -> tuple[float, Calibration, FloatArray, FloatArray]:
        """Log loss of left-out texts, the calibration of their scores, weights and these scores."""
        weights, left_out = ridge_dual(kernel, self._targets(at), self.groups[at], strength=strength, with_bias=False)
        left = left_out[:, 0] if left_out.shape[1] == 1 else left_out
        codes = self.codes[at]
        calibration = fit_calibration(left, codes, n_labels=self.n_labels, is_ridge=True)
        loss = -float(np.mean(calibration.log_p(left)[np.arange(len(at)), codes]))
        return loss, calibration, weights, left

    def _without(self, view: str, strength: float, product: FloatArray, parted: IntArray) -> Iterator[FloatArray]:
        """Scores of all texts by models trained without each fold."""
        for fold in range(self.n_folds):
            kept = np.flatnonzero(parted != fold)
            at = self.rows[kept]
            if self.whole:
                regular = product[np.ix_(kept, kept)] + strength * np.eye(len(kept))
                weights = scipy.linalg.solve(regular, self._targets(at), assume_a="pos")
                part = self.words.from_dual(view, at, weights)
            else:
                part = self.words.primal(view, at, self._targets(at), strength)
            yield part.scores(self.words.X, self.words.mix)


def _kernel(view: str, parts: Sequence[FloatArray]) -> FloatArray:
    return np.asarray(sum(part for part, held in zip(parts, VIEWS[view], strict=True) if held) + 1.0)


def _means(X: sp.csr_matrix, mix: sp.csr_matrix | None) -> tuple[FloatArray, FloatArray]:
    """Mean features of the texts themselves, and of what stands within two links of them (0 without ``mix``)."""
    each = np.full(len_of(X), 1.0 / max(len_of(X), 1))
    return np.asarray(X.T @ each), np.asarray(X.T @ (mix.T @ each)) if mix is not None else np.zeros(X.shape[1])


def _centred(products: FloatArray, towards: FloatArray, length: float) -> FloatArray:
    """(x_i − x̄)·(x_j − x̄) from x_i·x_j, x_i·x̄ and x̄·x̄."""
    return np.asarray(products - towards[:, None] - towards[None, :] + length)
