"""Choosing C and σ_θ² inside the training texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from accord.rationales.annotator import MarkedTexts, Strengths, class_loss, class_maps
from accord.rationales.annotator_fit import Start, fit_joint
from accord.scale.workers import Workers
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["HIGHLIGHT_GRID", "PLAIN_GRID", "Choice", "choose_strengths", "inner_folds"]

_VARIANCES = (0.1, 0.03, 0.01, 0.003)
# Candidates as (C, σ_θ²). C spans the range of the paper (1/300 … 1/50) and a little more, σ_θ² what plain regression
# asks for from 200 texts to 1,600. To and fro, so that neighbours are similar.
HIGHLIGHT_GRID = tuple(
    (C, variance)
    for C, variances in ((0.003, _VARIANCES), (0.01, _VARIANCES[::-1]), (0.03, _VARIANCES))
    for variance in variances
)
# For classes alone.
PLAIN_GRID = tuple((0.0, variance) for variance in _VARIANCES)


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


def choose_strengths(
    texts: MarkedTexts,
    candidates: Sequence[Strengths],
    *,
    folds: IntArray,
    emissions: str = "bounded",
    free: BoolArray | None = None,
    value_tol: float = 1e-5,
    workers: Workers | None = None,
) -> Choice:
    """The candidate with the best accuracy on texts left out; the smaller log loss decides between equals.

    Parameters
    ----------
    texts : MarkedTexts
    candidates : sequence of Strengths
        Neighbours in this list should be similar: each fit starts where the one before it ended.
    folds : int array of shape (n_texts,)
        Inner folds, −1 for a text that is never left out. Leave out little at a time: strengths chosen on half of the
        texts are too weak for all of them.
    emissions, free, value_tol
        As in :func:`~accord.rationales.annotator_fit.fit_joint`.
    workers : Workers, optional
        Run the folds, one a worker.

    Returns
    -------
    Choice
    """
    common = (texts, list(candidates), folds, {"emissions": emissions, "value_tol": value_tol}, free)
    with (workers or Workers()).open(np.unique(folds[folds >= 0]).tolist(), common=common) as opened:
        right, losses = opened.sum(_left_out, what="choosing strengths")
    n_left_out = int((folds >= 0).sum())
    accuracy, log_loss = right / n_left_out, losses / n_left_out
    best = min(range(len(candidates)), key=lambda place: (-accuracy[place], log_loss[place]))
    return Choice(candidates[best], list(candidates), accuracy, log_loss)


def _left_out(fold: int, shared: tuple[Any, None], rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """How many texts of a fold each candidate gets right, and its summed log loss on them."""
    texts, candidates, folds, settings, free = shared[0]
    right, losses = np.zeros(len(candidates)), np.zeros(len(candidates))
    maps = class_maps(texts.n_classes)
    test = texts.subset(folds == fold)
    train, columns = texts.subset(folds != fold).compact()
    kept = None if free is None else free[columns]
    start: Start | None = None
    for place, strengths in enumerate(candidates):
        fit = fit_joint(train, strengths, start=start, free=kept, **settings)
        start = (fit.theta, fit.phi)
        theta = fit.expanded(columns, texts.n_features).theta
        right[place] = np.sum(np.argmax(test.design @ (maps @ theta).T, axis=1) == test.labels)
        losses[place] = class_loss(test, theta)[0]
    return right, losses
