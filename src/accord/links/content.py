"""What the words of a text say about its label, and the words of its neighbours: scores and their calibration.

The score of text i is ``own · (x_i − x̄) + mixed · (z_i − z̄)``, where z_i is the mean of the features of the texts
within two links of i, scaled to length 1: what simplified graph convolution reads. Which of the two a model has is its
*view*. The weights are trained beside a bias, which is no part of the score: how frequent labels are is the
calibration's to say. For the same reason features are centred by their means over all texts, x̄ and z̄: what all texts
have in common would be a second bias.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from accord.fitting.calibration import fit_platt
from accord.fitting.optimise import minimise_lbfgs
from accord.typing import FloatArray, IntArray

__all__ = [
    "VIEWS",
    "Calibration",
    "Content",
    "HeldOut",
    "MixedRidge",
    "fit_calibration",
    "label_columns",
    "label_shares",
    "mixing",
    "silent_content",
    "step_along",
]

# Whether a model reads the words of the text itself, and those within two links of it.
VIEWS: dict[str, tuple[bool, bool]] = {"own": (True, False), "both": (True, True), "mixed": (False, True)}
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
