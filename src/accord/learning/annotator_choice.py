"""Choosing C and σ_θ² inside the training texts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from accord.learning.annotator_fit import Start, fit_joint
from accord.learning.annotator_model import MarkedTexts, Strengths, class_loss, class_maps
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "C_GRID",
    "PLAIN_VARIANCE_GRID",
    "VARIANCE_GRID",
    "Choice",
    "candidate_grid",
    "choose_strengths",
    "inner_folds",
]

# Where good strengths lie: with highlights, and for classes alone.
C_GRID = (0.01, 0.03)
VARIANCE_GRID = (0.003, 0.01, 0.03)
PLAIN_VARIANCE_GRID = (0.001, 0.003, 0.01, 0.03, 0.1, 1.0)


@dataclass(frozen=True, eq=False)
class Choice:
    """The strengths chosen, and how each candidate did on texts left out."""

    strengths: Strengths
    candidates: list[Strengths]
    accuracy: FloatArray  # (n_candidates,)
    log_loss: FloatArray  # (n_candidates,) mean per text


def inner_folds(labels: IntArray, n_folds: int, rng: np.random.Generator) -> IntArray:
    """A fold for each text, every class spread evenly, shape (n_texts,)."""
    folds = np.empty(len(labels), dtype=np.int64)
    position = 0
    for label in np.unique(labels):
        rows = rng.permutation(np.flatnonzero(labels == label))
        folds[rows] = (position + np.arange(len(rows))) % n_folds
        position += len(rows)
    return folds


def candidate_grid(like: Strengths, *, C: Sequence[float], theta_variance: Sequence[float]) -> list[Strengths]:
    """All combinations, ordered so that neighbours differ in one value by one step."""
    grid = []
    for row, c in enumerate(C):
        variances = theta_variance if row % 2 else theta_variance[::-1]
        grid += [replace(like, C=c, theta_variance=variance) for variance in variances]
    return grid


def choose_strengths(
    texts: MarkedTexts,
    candidates: Sequence[Strengths],
    *,
    folds: IntArray,
    emissions: str = "bounded",
    free: BoolArray | None = None,
    value_tol: float = 1e-6,
) -> Choice:
    """The candidate with the best accuracy on texts left out; the smaller log loss decides between equals.

    Parameters
    ----------
    texts : MarkedTexts
    candidates : sequence of Strengths
        Neighbours in this list should be similar: each fit starts where the one before it ended.
    folds : int array of shape (n_texts,)
        Inner folds. Keep them many: strengths chosen on half of the texts are too weak for all of them.
    emissions, free, value_tol
        As in :func:`~accord.learning.annotator_fit.fit_joint`.

    Returns
    -------
    Choice
    """
    right, losses = np.zeros(len(candidates)), np.zeros(len(candidates))
    maps = class_maps(texts.n_classes)
    for fold in np.unique(folds):
        test = texts.subset(folds == fold)
        train, columns = texts.subset(folds != fold).compact()
        kept = None if free is None else free[columns]
        start: Start | None = None
        for place, strengths in enumerate(candidates):
            fit = fit_joint(train, strengths, emissions=emissions, start=start, free=kept, value_tol=value_tol)
            start = (fit.theta, fit.phi) if len(train.chain_text) else None
            weights = maps @ fit.expanded(columns, texts.n_features).theta
            right[place] += np.sum(np.argmax(test.design @ weights.T, axis=1) == test.labels)
            losses[place] += class_loss(test, weights)[0]
    accuracy, log_loss = right / texts.n_texts, losses / texts.n_texts
    best = min(range(len(candidates)), key=lambda place: (-accuracy[place], log_loss[place]))
    return Choice(candidates[best], list(candidates), accuracy, log_loss)
