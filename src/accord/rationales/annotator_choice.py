"""Choosing C and σ_θ² inside the training texts.

Both are counted in units of the texts: C in units of one over the tokens of a marked text, because a text's highlights
are as many tags as it has tokens; σ_θ² in units of one over the known words of a text, because a text's score is a sum
over them. So one grid serves reviews of 700 words and posts of 25.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from accord.engines.numerics import log_normalise
from accord.rationales.annotator import Strengths, class_scores
from accord.rationales.annotator_fit import Start, fit_joint
from accord.rationales.marked_texts import MarkedTexts
from accord.scale.workers import Workers
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["Choice", "choose_strengths", "inner_folds", "left_out_parts", "middle_strengths"]

# In units of the texts, and in steps of √10: where the grid begins, and how far it may be widened.
_C, _VARIANCE, _STEP = 7.0, 10.0, 10.0**0.5
_C_STEPS, _VARIANCE_STEPS = (-1, 0, 1), (-2, -1, 0, 1)
_FARTHEST, _NONE = 4, -99
# A prior on the steps, because few texts left out cannot tell far from farther: log loss, in all and at least in the
# mean, by which one squared step from the middle must be better. Leaving the highlights out counts as three steps.
_DISTANCE, _LEAST_DISTANCE = 0.2, 5e-4
# Texts are left out in folds until this many were, or all; with fewer texts they are left out again in other folds.
_LEFT_OUT, _LARGEST_FOLD, _MOST_REPEATS = 320, 500, 5


@dataclass(frozen=True, eq=False)
class Choice:
    """The strengths chosen, and how each candidate did on texts left out."""

    strengths: Strengths
    scale: float  # factor of the class scores with which the probabilities of texts left out are right
    candidates: FloatArray  # (n_candidates, 2) C and σ_θ²
    accuracy: FloatArray  # (n_candidates,)
    log_loss: FloatArray  # (n_candidates,) mean a text, after scaling
    at_edge: bool  # whether the best candidate is one of the most extreme that may be tried

    @property
    def gain(self) -> float:
        """How much smaller the log loss of texts left out is with highlights than without them."""
        alone = self.candidates[:, 0] == 0
        return float(self.log_loss[alone].min() - self.log_loss[~alone].min()) if 0 < alone.sum() < len(alone) else 0.0


def inner_folds(labels: IntArray, n_folds: int, rng: np.random.Generator) -> IntArray:
    """Folds of the texts, every class spread evenly, shape (n_repeats, n_texts); −1 for a text that is not left out."""
    n = len(labels)
    repeats = int(np.clip(-(-100 // n), 1, _MOST_REPEATS))
    folds = np.full((repeats, n), -1, dtype=np.int64)
    for row in folds:
        order = np.concatenate([rng.permutation(np.flatnonzero(labels == label)) for label in np.unique(labels)])
        row[order] = np.arange(n) % n_folds
        used = int(np.clip(n_folds * _LEFT_OUT / n, 2, n_folds))
        row[row >= used] = -1
        for fold in range(used):
            row[rng.permutation(np.flatnonzero(row == fold))[_LARGEST_FOLD:]] = -1
    return folds


@dataclass(frozen=True, eq=False)
class _Inside:
    """What every fold needs."""

    texts: MarkedTexts
    folds: IntArray  # (n_repeats, n_texts)
    free: BoolArray | None
    settings: dict[str, Any]


def middle_strengths(
    texts: MarkedTexts, base: Strengths, *, C: float | None = None, theta_variance: float | None = None
) -> Strengths:
    """The middle of the grid, where nothing is known but how long the texts are."""
    n_tokens = float(np.diff(texts.offsets).mean()) if texts.n_chains else np.inf
    n_words = float(np.asarray(texts.design.power(2).sum(axis=1)).mean())
    return replace(
        base,
        C=_C / max(1.0, n_tokens) if C is None else C,
        theta_variance=_VARIANCE / max(1.0, n_words) if theta_variance is None else theta_variance,
    )


def choose_strengths(
    texts: MarkedTexts,
    base: Strengths,
    *,
    folds: IntArray,
    C: float | None = None,
    theta_variance: float | None = None,
    emissions: str = "bounded",
    free: BoolArray | None = None,
    value_tol: float = 1e-5,
    workers: Workers | None = None,
) -> Choice:
    """The strengths with the smallest log loss on texts left out, of equals those nearest to the middle of the grid.

    One of the candidates is to leave the highlights out.

    A choice at the edge of the grid widens it.

    Parameters
    ----------
    texts : MarkedTexts
    base : Strengths
        For what is not chosen.
    folds : int array of shape (n_repeats, n_texts)
        As from :func:`inner_folds`. Leave out little at a time: strengths chosen on half of the texts are too weak for
        all of them.
    C, theta_variance : float, optional
        What is given and not chosen.
    emissions, free, value_tol
        As in :func:`~accord.rationales.annotator_fit.fit_joint`.
    workers : Workers, optional
        Run the folds, one a worker.

    Returns
    -------
    Choice
    """
    middle = middle_strengths(texts, base)
    across: Sequence[int] = (_NONE, *_C_STEPS) if C is None and texts.n_chains else (_NONE,)
    down: Sequence[int] = _VARIANCE_STEPS if theta_variance is None else (0,)

    def strengths(step: tuple[int, int]) -> Strengths:
        return replace(
            base,
            C=(0.0 if step[0] == _NONE else middle.C * _STEP ** step[0]) if C is None else C,
            theta_variance=middle.theta_variance * _STEP ** step[1] if theta_variance is None else theta_variance,
        )

    common = _Inside(texts, folds, free, {"emissions": emissions, "value_tol": value_tol})
    parts = [(repeat, fold) for repeat, row in enumerate(folds) for fold in np.unique(row[row >= 0]).tolist()]
    tried: dict[tuple[int, int], tuple[float, float, float]] = {}
    with (workers or Workers()).open(parts, common=common) as opened:
        while True:
            fresh = [step for step in _to_and_fro(across, down) if step not in tried]
            results = opened.map(_left_out, [strengths(step) for step in fresh], what="choosing strengths")
            truth = np.concatenate([labels for labels, _ in results])
            for place, step in enumerate(fresh):
                scores = np.concatenate([found[place] for _, found in results])
                tried[step] = _measured(scores, truth, texts.log_prior, len(folds))
            best = min(tried, key=lambda step: (tried[step][1] + _far(step, texts.n_texts), step))
            wider = _widened(across, best[0]), _widened(down, best[1])
            at_edge = wider != (across, down)
            if not at_edge or max(abs(step) for step in (*wider[0], *wider[1]) if step != _NONE) > _FARTHEST:
                break
            across, down = wider
    chosen = [strengths(step) for step in tried]
    accuracy, log_loss, _ = np.array(list(tried.values())).T
    candidates = np.array([(one.C, one.theta_variance) for one in chosen])
    return Choice(strengths(best), tried[best][2], candidates, accuracy, log_loss, at_edge)


def _to_and_fro(across: Iterable[int], down: Sequence[int]) -> list[tuple[int, int]]:
    """The grid in an order in which neighbours are similar: each fit starts where the one before it ended."""
    return [(one, two) for place, one in enumerate(across) for two in (down[::-1] if place % 2 else down)]


def _far(step: tuple[int, int], n_texts: int) -> float:
    """What a candidate must gain in log loss to be as good as the middle of the grid."""
    return max(_DISTANCE / n_texts, _LEAST_DISTANCE) * sum(9 if one == _NONE else one * one for one in step)


def _widened(steps: Sequence[int], best: int) -> Sequence[int]:
    """One more step beyond the best, where it is the last."""
    real = [step for step in steps if step != _NONE]
    if len(real) < 2 or best == _NONE:
        return steps
    if best == max(real):
        return (*steps, best + 1)
    if best == min(real):
        return (*([_NONE] if _NONE in steps else []), best - 1, *real)
    return steps


def _measured(scores: FloatArray, truth: IntArray, log_prior: FloatArray, n_repeats: int) -> tuple[float, float, float]:
    """Accuracy, log loss after scaling, and the scale; scores (n, n_classes) are without the prior of the classes."""
    right = float((np.argmax(scores + log_prior, axis=1) == truth).mean())

    def log_loss(log_scale: float) -> float:
        log_p = log_normalise(np.exp(log_scale) * scores + log_prior)
        return -float(log_p[np.arange(len(truth)), truth].mean())

    # A standard normal prior on the logarithm of the scale, of which one text in n is worth as much.
    weight = 0.5 * n_repeats / len(truth)
    found = minimize_scalar(lambda t: log_loss(t) + weight * t * t, bounds=(-5.0, 3.0), method="bounded")
    return right, log_loss(float(found.x)), float(np.exp(found.x))


def _split(part: tuple[int, int], inside: _Inside) -> tuple[MarkedTexts, MarkedTexts, IntArray, BoolArray | None]:
    """Training texts in compact form, texts left out, the columns kept, and which of these are free."""
    repeat, fold = part
    left_out = inside.folds[repeat] == fold
    train, columns = inside.texts.subset(~left_out).compact()
    return train, inside.texts.subset(left_out), columns, None if inside.free is None else inside.free[columns]


def _left_out(
    part: tuple[int, int], shared: tuple[_Inside, list[Strengths]], rng: np.random.Generator
) -> tuple[IntArray, list[FloatArray]]:
    """Classes of the texts left out, and what each candidate scores them, without the prior of the classes."""
    inside, candidates = shared
    train, test, columns, free = _split(part, inside)
    start: Start | None = None
    scores: list[FloatArray] = []
    for strengths in candidates:
        fit = fit_joint(train, strengths, start=start, free=free, **inside.settings)
        start = (fit.theta, fit.habits)
        theta = fit.expanded(columns, test.n_features).theta
        scores.append(class_scores(test, theta) - test.log_prior)
    return test.labels, scores


def left_out_parts(
    texts: MarkedTexts,
    strengths: Strengths,
    *,
    folds: IntArray,
    emissions: str = "bounded",
    free: BoolArray | None = None,
    value_tol: float = 1e-5,
    workers: Workers | None = None,
) -> list[tuple[MarkedTexts, FloatArray]]:
    """Texts left out, fold by fold, each with the class weights (n_classes, n_features) of a model without them."""
    common = _Inside(texts, folds[:1], free, {"emissions": emissions, "value_tol": value_tol})
    parts = [(0, fold) for fold in np.unique(folds[0][folds[0] >= 0]).tolist()]
    with (workers or Workers()).open(parts, common=common) as opened:
        return opened.map(_weights_without, strengths, what="predicting highlights")


def _weights_without(
    part: tuple[int, int], shared: tuple[_Inside, Strengths], rng: np.random.Generator
) -> tuple[MarkedTexts, FloatArray]:
    inside, strengths = shared
    train, test, columns, free = _split(part, inside)
    fit = fit_joint(train, strengths, free=free, **inside.settings).expanded(columns, test.n_features)
    return test, fit.class_weights(test.n_classes)
