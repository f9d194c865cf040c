"""What the words of a text say about its label, and the words of its neighbours: ridge regression, exactly left out.

The score of text i is ``own · (x_i − x̄) + mixed · (z_i − z̄)``, where z_i is the mean of the features of the texts
within two links of i, scaled to length 1: what simplified graph convolution reads. Which of the two a model has is its
*view*. The weights are trained beside a bias, which is no part of the score: how frequent labels are is the
calibration's to say. For the same reason features are centred by their means over all texts, x̄ and z̄: what all texts
have in common would be a second bias.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg

from accord.fitting.calibration import fit_platt
from accord.fitting.folds import group_folds
from accord.fitting.optimise import minimise_lbfgs
from accord.links.ridge import indicator_targets, ridge_dual
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = [
    "VIEWS",
    "Calibration",
    "Content",
    "HeldOut",
    "MixedRidge",
    "fit_calibration",
    "fit_contents",
    "label_columns",
    "label_shares",
    "mixing",
    "silent_content",
    "step_along",
]

# Whether a model reads the words of the text itself, and those within two links of it.
VIEWS: dict[str, tuple[bool, bool]] = {"own": (True, False), "both": (True, True), "mixed": (False, True)}
STRENGTHS = (0.1, 1.0)
# Strengths are compared on no more texts than this: it takes seconds for thousands.
MAX_TRIED = 1600
# So many texts of each label, for each label, count as seen where texts have no words.
PRIOR_TEXTS = 5.0
# Slopes of ridge scores lie around this one, where scores have a standard deviation of 1; its deviation is of the
# logarithm. How large scores are says little about how right they are: many rare words make all of them small.
SLOPE, SLOPE_DEVIATION, OFFSET_DEVIATION = 0.5, 0.7, 0.2
# So many texts of each label count as seen where the shares of labels are told by those that have one.
SHARE_TEXTS = 2.0
_ALIKE = 1e-9


def mixing(X: sp.csr_matrix, ends: IntArray, weights: FloatArray, *, block: int = 1024) -> sp.csr_matrix:
    """The matrix M of shape (n_texts, n_texts) with z = M x: two symmetric steps along links, rows of length 1.

    Parameters
    ----------
    X : sparse matrix of shape (n_texts, n_features)
    ends : int array of shape (n_pairs, 2)
    weights : float array of shape (n_pairs,)
    block : int
        Texts whose lengths are computed at a time; bounds memory, not the result.
    """
    step = step_along(len_of(X), ends, weights)
    two = sp.csr_matrix(step @ step)
    length = np.concatenate(
        [
            np.sqrt(np.asarray((two[start : start + block] @ X).power(2).sum(axis=1)).ravel())
            for start in range(0, len_of(X), block)
        ]
        or [np.empty(0)]
    )
    return sp.csr_matrix(sp.diags(1.0 / np.where(length > 0.0, length, 1.0)) @ two)


def len_of(X: Any) -> int:
    """Number of rows of an array or a sparse matrix."""
    return int(X.shape[0])


def step_along(n: int, ends: IntArray, weights: FloatArray) -> sp.csr_matrix:
    """D^(−½) A D^(−½), where A holds the weights of the links, and 1 on its diagonal."""
    i, j = ends[:, 0], ends[:, 1]
    both = sp.coo_matrix((np.tile(weights, 2), (np.concatenate([i, j]), np.concatenate([j, i]))), shape=(n, n)).tocsr()
    both = both + sp.eye(n, format="csr")
    degree = np.asarray(both.sum(axis=1)).ravel()
    scale = sp.diags(1.0 / np.sqrt(degree))
    return sp.csr_matrix(scale @ both @ scale)


@dataclass(frozen=True, eq=False)
class MixedRidge:
    """Ridge weights of a text's own features and of those within two links; ``None`` where the view has none."""

    own: FloatArray | None  # (n_scores, n_features)
    mixed: FloatArray | None  # (n_scores, n_features)
    middle: FloatArray  # (n_scores,) what the weights say of the mean text

    @classmethod
    def around(
        cls, centre: tuple[FloatArray, FloatArray], own: FloatArray | None, mixed: FloatArray | None
    ) -> "MixedRidge":
        """The model whose scores are 0 for a text of mean features."""
        held = [weights @ mean for mean, weights in zip(centre, (own, mixed), strict=True) if weights is not None]
        return cls(own, mixed, np.asarray(sum(held)))

    def scores(self, X: sp.csr_matrix, mix: sp.csr_matrix | None) -> FloatArray:
        """Scores of all texts, shape (n_texts,) of the second label for two labels, else (n_texts, n_labels)."""
        parts = [] if self.own is None else [X @ self.own.T]
        if self.mixed is not None and mix is not None:
            parts.append(mix @ (X @ self.mixed.T))
        scores = np.asarray(sum(parts) - self.middle)
        return scores[:, 0] if scores.shape[1] == 1 else scores


@dataclass(frozen=True, eq=False)
class Calibration:
    """Log probabilities that are linear in the scores, up to normalisation."""

    slopes: FloatArray  # (n_labels,)
    offsets: FloatArray  # (n_labels,)

    def log_p(self, scores: FloatArray) -> FloatArray:
        """Shape (n_texts, n_labels)."""
        logits = self.slopes * label_columns(scores) + self.offsets
        return np.asarray(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))


def label_columns(scores: FloatArray) -> FloatArray:
    """One column a label; a single score of the second of two labels stands against 0."""
    return scores if scores.ndim == 2 else np.column_stack([np.zeros(len(scores)), scores])


def label_shares(codes: IntArray, n_labels: int, more: float = SHARE_TEXTS) -> FloatArray:
    """Log shares of the labels, as if ``more`` texts of each had been seen besides, shape (n_labels,)."""
    count = np.bincount(codes, minlength=n_labels) + more
    return np.asarray(np.log(count / count.sum()))


def fit_calibration(scores: FloatArray, codes: IntArray, *, n_labels: int, is_ridge: bool) -> Calibration:
    """Probabilities of labels from left-out scores.

    For ridge scores one slope and one offset a label, drawn to ½ over the deviation of the scores and to the shares of
    the labels, so that a dozen texts give no certainty. For scores of other classifiers: Platt's sigmoid for two
    labels, and the same slope and offsets, drawn to nothing but the shares, for more.
    """
    if n_labels == 2 and not is_ridge:
        slope, offset = fit_platt(scores, codes)[:, 0]
        return Calibration(np.array([0.0, slope]), np.array([0.0, offset]))
    columns = label_columns(scores)
    share = label_shares(codes, n_labels)
    size = _size(scores) if is_ridge else max(float(np.std(columns - columns.mean(axis=1, keepdims=True))), 1e-12)
    columns = columns / size
    target = np.eye(n_labels)[codes]
    draw = 1.0 / SLOPE_DEVIATION**2 if is_ridge else 0.01

    def loss(w: FloatArray) -> tuple[float, FloatArray]:
        slope, away = np.exp(w[0]), w[0] - np.log(SLOPE)
        logits = share + slope * columns + w[1:]
        log_p = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        error = np.exp(log_p) - target
        value = -float(np.sum(log_p * target)) + 0.5 * draw * away**2
        value += 0.5 * float(w[1:] @ w[1:]) / OFFSET_DEVIATION**2
        first = slope * float(np.sum(error * columns)) + draw * away
        return value, np.concatenate([[first], error.sum(axis=0) + w[1:] / OFFSET_DEVIATION**2])

    start = np.concatenate([[np.log(SLOPE)], np.zeros(n_labels)])
    w = minimise_lbfgs(loss, start, tol=1e-9, bounds=[(-8.0, 6.0)] + [(None, None)] * n_labels).weights
    return Calibration(np.full(n_labels, np.exp(w[0]) / size), share + w[1:])


def _size(scores: FloatArray) -> float:
    """The standard deviation of the scores, each label's around its mean; 1 where all of them are the same."""
    found = float(np.sqrt(np.mean((scores - scores.mean(axis=0)) ** 2)))
    return found if found > _ALIKE else 1.0


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Training texts that stand for new ones."""

    rows: IntArray  # (n_held_out,)
    known: IntArray | None  # (n_texts,) labels that are known meanwhile, −1 elsewhere
    log_p: FloatArray  # (n_texts, n_labels) by content that has not seen their labels


@dataclass(frozen=True, eq=False)
class Content:
    """One way to read the words: its weights, its calibration, and the scores of the training texts."""

    view: str
    model: Any  # MixedRidge, a classifier, or None where there are no words
    calibration: Calibration
    scores: FloatArray  # (n_texts,) or (n_texts, n_labels); of labelled texts by a model trained without their group
    # The same for each fold of labelled texts: of all texts by a model trained without the fold. Where texts stand
    # among labelled ones, the scores of a text's neighbours would tell its label if they came from a model that saw it.
    by_fold: tuple[FloatArray, ...] = ()
    by_piece: tuple[FloatArray, ...] = ()  # the same for folds that keep pieces of the graph whole

    @property
    def log_p(self) -> FloatArray:
        """Log probabilities of the training texts, shape (n_texts, n_labels)."""
        return self.calibration.log_p(self.scores)

    def held_out(self, codes: IntArray, folds: IntArray, *, known: bool, in_pieces: bool = False) -> list[HeldOut]:
        """Labelled texts fold by fold, with the labels of the others known or not."""
        scores = self.by_piece if in_pieces else self.by_fold
        if not scores and not known:
            return [HeldOut(np.flatnonzero(codes >= 0), None, self.log_p)]
        return [
            HeldOut(
                np.flatnonzero((codes >= 0) & (folds == fold)),
                np.where(folds != fold, codes, -1) if known else None,
                self.calibration.log_p(scores[fold]) if scores else self.log_p,
            )
            for fold in np.unique(folds[codes >= 0])
        ]


def silent_content(codes: IntArray, n_labels: int) -> Content:
    """The content of texts without words: the shares of the labels, drawn to equal ones where few labels are known."""
    count = np.bincount(codes[codes >= 0], minlength=n_labels) + PRIOR_TEXTS * n_labels
    calibration = Calibration(np.zeros(n_labels), np.log(count / count.sum()))
    return Content("none", None, calibration, np.zeros((len(codes), n_labels)))


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
        See :func:`mixing`; needed by every view but "own".
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
    rows = np.flatnonzero(codes >= 0)
    labelled = order[codes[order] >= 0]
    tried = np.sort(labelled[:MAX_TRIED])
    tried = tried if len(np.unique(codes[tried])) == n_labels else np.sort(labelled[:max_gram])

    centre = _means(X, mix if any(VIEWS[view][1] for view in views) else None)

    def grams(at: IntArray) -> tuple[FloatArray, FloatArray]:
        """Inner products of own and of mixed features, less their means."""
        own, mixed = products(at)
        towards = X @ np.column_stack(centre)
        own = _centred(own, towards[at, 0], float(centre[0] @ centre[0]))
        if mix is None or not mixed.size:
            return own, mixed
        return own, _centred(mixed, mix[at] @ towards[:, 1], float(centre[1] @ centre[1]))

    def products(at: IntArray) -> tuple[FloatArray, FloatArray]:
        inside = X[at]
        if mix is None or not any(VIEWS[view][1] for view in views):
            return (inside @ inside.T).toarray(), np.zeros((0, 0))
        # z_i · z_j = Σ_ab M_ia (x_a · x_b) M_jb, over the texts near some labelled one.
        part = mix[at]
        near = np.unique(np.concatenate([part.indices, at]))
        words, part = X[near], part[:, near]
        if len(near) > max_gram:
            spread = part @ words
            return (inside @ inside.T).toarray(), (spread @ spread.T).toarray()
        products = (words @ words.T).toarray()
        own = np.searchsorted(near, at)
        return products[np.ix_(own, own)], np.asarray(part @ (part @ products).T)

    def kernel(view: str, parts: Sequence[FloatArray]) -> FloatArray:
        return np.asarray(sum(part for part, held in zip(parts, VIEWS[view], strict=True) if held) + 1.0)

    def attempt(at: IntArray, kernel: FloatArray, strength: float) -> tuple[float, Calibration, FloatArray, FloatArray]:
        targets = indicator_targets(codes[at], n_labels)
        weights, left_out = ridge_dual(kernel, targets, groups[at], strength=strength, with_bias=False)
        left = left_out[:, 0] if left_out.shape[1] == 1 else left_out
        calibration = fit_calibration(left, codes[at], n_labels=n_labels, is_ridge=True)
        loss = -float(np.mean(calibration.log_p(left)[np.arange(len(at)), codes[at]]))
        return loss, calibration, weights, left

    whole = len(rows) <= max_gram
    last = grams(rows if whole else tried)
    inside = np.searchsorted(rows, tried)
    first = tuple(part[np.ix_(inside, inside)] if whole and part.size else part for part in last)
    parted = np.zeros(len(rows), dtype=np.int64) if folds is None else folds[rows]
    if folds is None and not whole:
        names = np.asarray(groups[rows], dtype=str)
        parted = group_folds(names, n_folds=min(n_folds, len(np.unique(names))), random_state=seed)

    def from_dual(view: str, at: IntArray, weights: FloatArray) -> MixedRidge:
        own, mixed = VIEWS[view]
        return MixedRidge.around(
            centre,
            (X[at].T @ weights).T - np.outer(weights.sum(axis=0), centre[0]) if own else None,
            (X.T @ (mix[at].T @ weights)).T - np.outer(weights.sum(axis=0), centre[1])
            if mixed and mix is not None
            else None,
        )

    def without(view: str, strength: float, product: FloatArray, parted: IntArray) -> Iterator[FloatArray]:
        """Scores of all texts by models trained without each fold."""
        for fold in range(n_folds):
            kept = np.flatnonzero(parted != fold)
            if whole:
                regular = product[np.ix_(kept, kept)] + strength * np.eye(len(kept))
                targets = indicator_targets(codes[rows[kept]], n_labels)
                part = from_dual(view, rows[kept], scipy.linalg.solve(regular, targets, assume_a="pos"))
            else:
                part = _primal(X, mix, rows[kept], codes, view, strength, n_labels, centre)
            yield part.scores(X, mix)

    found = []
    for view in views:
        inner = kernel(view, first)
        attempts = {each: attempt(tried, inner, each) for each in STRENGTHS}
        strength = min(STRENGTHS, key=lambda each: attempts[each][0])
        product = kernel(view, last) if whole else np.empty((0, 0))
        by_fold = tuple(without(view, strength, product, parted)) if folds is not None or not whole else ()
        if whole:
            tried_all = len(tried) == len(rows)
            _, calibration, weights, left = attempts[strength] if tried_all else attempt(rows, product, strength)
            model = from_dual(view, rows, weights)
        else:
            model = _primal(X, mix, rows, codes, view, strength, n_labels, centre)
            left = np.stack(by_fold)[parted, rows]
            calibration = fit_calibration(left, codes[rows], n_labels=n_labels, is_ridge=True)
        scores = model.scores(X, mix)
        scores[rows] = left
        in_pieces = () if by_piece is None else tuple(without(view, strength, product, by_piece[rows]))
        found.append(Content(view, model, calibration, scores, by_fold if folds is not None else (), in_pieces))
    return found


def _means(X: sp.csr_matrix, mix: sp.csr_matrix | None) -> tuple[FloatArray, FloatArray]:
    """Mean features of the texts themselves, and of what stands within two links of them (0 without ``mix``)."""
    each = np.full(len_of(X), 1.0 / max(len_of(X), 1))
    return np.asarray(X.T @ each), np.asarray(X.T @ (mix.T @ each)) if mix is not None else np.zeros(X.shape[1])


def _centred(products: FloatArray, towards: FloatArray, length: float) -> FloatArray:
    """(x_i − x̄)·(x_j − x̄) from x_i·x_j, x_i·x̄ and x̄·x̄."""
    return np.asarray(products - towards[:, None] - towards[None, :] + length)


def _primal(
    X: sp.csr_matrix,
    mix: sp.csr_matrix | None,
    rows: IntArray,
    codes: IntArray,
    view: str,
    strength: float,
    n_labels: int,
    centre: tuple[FloatArray, FloatArray],
) -> MixedRidge:
    """Weights by conjugate gradients on (ZᵀZ + λI) w = Zᵀt, where Z, with its mean taken off, is never formed."""
    own, mixed = VIEWS[view]
    p = X.shape[1]
    parts: Sequence[Any] = [X[rows]] if own else []
    around = mix[rows] if mixed and mix is not None else None
    n = p * (own + mixed) + 1

    middle = np.concatenate([each for each, held in zip(centre, (own, mixed), strict=True) if held])

    def forward(w: FloatArray) -> FloatArray:
        out = np.full(len(rows), w[-1] - middle @ w[:-1])
        for part in parts:
            out += part @ w[:p]
        return out if around is None else out + around @ (X @ w[-1 - p : -1])

    def backward(t: FloatArray) -> FloatArray:
        both = np.concatenate([*(part.T @ t for part in parts), *([] if around is None else [X.T @ (around.T @ t)])])
        return np.append(both - t.sum() * middle, t.sum())

    normal = LinearOperator((n, n), matvec=lambda w: backward(forward(w)) + strength * w, dtype=np.float64)
    targets = indicator_targets(codes[rows], n_labels)
    solved = np.array([cg(normal, backward(t), rtol=1e-6, maxiter=1000)[0] for t in targets.T])
    return MixedRidge.around(centre, solved[:, :p] if own else None, solved[:, -1 - p : -1] if mixed else None)
