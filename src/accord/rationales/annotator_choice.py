"""Choosing C and σ_θ² inside the training texts.

Both are counted in units of the texts: C in units of one over the tokens of a marked text, because a text's highlights
are as many tags as it has tokens; σ_θ² in units of one over the known words of a text, because a text's score is a sum
over them. So one grid serves reviews of 700 words and posts of 25.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from accord.engines.numerics import log_normalise
from accord.fitting.optimise import minimise_lbfgs
from accord.rationales.annotator import Strengths, class_maps, class_scores
from accord.rationales.annotator_fit import Start, fit_joint
from accord.rationales.marked_texts import MarkedTexts
from accord.scale.workers import Workers
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "Choice",
    "Measured",
    "choose_strengths",
    "inner_folds",
    "left_out_parts",
    "measured",
    "middle_strengths",
]

# A candidate in steps of √10 from the middle, which is in units of the texts: of C, of σ_θ².
Step = tuple[int, int]
_C, _VARIANCE, _STEP = 7.0, 10.0, 10.0**0.5
# Highlights of few texts must count more each. While word weights and habits are small, each grows with the other, by a
# factor of about a quarter of C σ_θ² σ_φ² times the pull of the highlights; where that is below one, both stay near
# zero, and highlights say nothing at any nearby C. So the middle of C is at least where the product without the quarter
# has this value, and at most so many times its unit.
_PULL, _MOST_UNITS = 3.0, 30.0
_FIRST, _FARTHEST, _NONE = (-1, 0, 1), 4, -99
# A prior on the steps, because few texts left out cannot tell far from farther: log loss, in all and at least in the
# mean, by which one squared step from the middle must be better. Leaving the highlights out counts as three steps.
_DISTANCE, _LEAST_DISTANCE = 0.2, 5e-4
_LOG_SCALES = np.linspace(-5.0, 3.0, 65)
# Texts are left out in folds until this many were, or all; with fewer texts they are left out again in other folds.
_LEFT_OUT, _LARGEST_FOLD, _MOST_REPEATS = 320, 500, 5


@dataclass(frozen=True, eq=False)
class Choice:
    """The strengths chosen, and how each candidate did on texts left out."""

    strengths: Strengths
    scale: float  # factor of the class scores with which the probabilities of texts left out are right
    drift: FloatArray  # (n_classes,) what each known word adds to the scores, so that they are right on average
    candidates: FloatArray  # (n_candidates, 2) C and σ_θ²
    accuracy: FloatArray  # (n_candidates,)
    log_loss: FloatArray  # (n_candidates,) mean a text, after scaling and drift
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
    if theta_variance is None:
        theta_variance = _VARIANCE / max(1.0, n_words)
    if C is None:
        unit = _C / max(1.0, n_tokens)
        least = _PULL / max(theta_variance * base.phi_variance * _pull(texts), 1e-300)
        C = float(np.clip(least, unit, _MOST_UNITS * unit))
    return replace(base, C=C, theta_variance=theta_variance)


def _pull(texts: MarkedTexts) -> float:
    """How much the highlights speak for words: squares of how often a word was highlighted beyond the average word.

    Summed over words and classes as word weights are, each in units of how large its weight may get.
    """
    cells = np.repeat(texts.chain_class * (texts.n_words + 1), np.diff(texts.offsets)) + texts.words
    beyond = texts.tags - (texts.tags.mean() if len(texts.tags) else 0.0)
    counts = np.bincount(cells, beyond, texts.n_classes * (texts.n_words + 1)).reshape(texts.n_classes, -1)
    by_weight = class_maps(texts.n_classes).T @ counts[:, :-1]
    ease = 1.0 if texts.ease is None else texts.ease[: texts.n_words]
    return float(((by_weight * ease) ** 2).sum())


def choose_strengths(
    texts: MarkedTexts,
    base: Strengths,
    *,
    folds: IntArray,
    C: float | None = None,
    theta_variance: float | None = None,
    emissions: str = "bounded",
    free: BoolArray | None = None,
    value_tol: float = 1e-4,
    workers: Workers | None = None,
) -> Choice:
    """The strengths with the smallest log loss on texts left out, of equals those nearest to the middle of the grid.

    One of the candidates is to leave the highlights out. The search goes from the best candidate to its neighbours
    until none of them is better.

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
    by_C, by_variance = C is None and texts.n_chains > 0, theta_variance is None

    def strengths(step: Step) -> Strengths:
        return replace(
            base,
            C=(0.0 if step[0] == _NONE else middle.C * _STEP ** step[0]) if C is None else C,
            theta_variance=middle.theta_variance * _STEP ** step[1] if theta_variance is None else theta_variance,
        )

    common = _Inside(texts, folds, free, {"emissions": emissions, "value_tol": value_tol})
    parts = [(repeat, fold) for repeat, row in enumerate(folds) for fold in np.unique(row[row >= 0]).tolist()]
    tried: dict[Step, Measured] = {}
    across: tuple[int, ...] = (_NONE, 0) if by_C else (0,) if texts.n_chains and C != 0 else (_NONE,)
    fresh = [(one, two) for one in across for two in (_FIRST[:: 1 if one == 0 else -1] if by_variance else (0,))]
    with (workers or Workers()).open(parts, common=common) as opened:
        while fresh:
            results = opened.map(_left_out, [strengths(step) for step in fresh], what="choosing strengths")
            truth, n_words = (np.concatenate([found[k] for found in results]) for k in (0, 1))
            for place, step in enumerate(fresh):
                scores = np.concatenate([found[place] for _, _, found in results])
                tried[step] = measured(scores, n_words, truth, texts.log_prior, len(folds))
            best = min(tried, key=lambda step: (tried[step].log_loss + _far(step, texts.n_texts), step))
            around = _neighbours(best, by_C=by_C, by_variance=by_variance)
            fresh = [step for step in around if step not in tried and _within(step)]
    chosen = [strengths(step) for step in tried]
    accuracy, log_loss = np.array([(one.accuracy, one.log_loss) for one in tried.values()]).T
    candidates = np.array([(one.C, one.theta_variance) for one in chosen])
    at_edge = not all(map(_within, around))
    scale, drift = tried[best].scale, tried[best].drift
    return Choice(strengths(best), scale, drift, candidates, accuracy, log_loss, at_edge)


def _neighbours(step: Step, *, by_C: bool, by_variance: bool) -> list[Step]:
    """The candidates one step away, in an order in which each is near the one before it."""
    one, two = step
    by_two = [(one, two - 1), (one, two + 1)] if by_variance else []
    return [*by_two, *([(one + 1, two), (one - 1, two)] if by_C and one != _NONE else [])]


def _within(step: Step) -> bool:
    """Whether a candidate may be tried."""
    return all(abs(one) <= _FARTHEST for one in step if one != _NONE)


def _far(step: Step, n_texts: int) -> float:
    """What a candidate must gain in log loss to be as good as the middle of the grid."""
    return max(_DISTANCE / n_texts, _LEAST_DISTANCE) * sum(9 if one == _NONE else one * one for one in step)


class Measured(NamedTuple):
    """How a candidate did on texts left out."""

    accuracy: float
    log_loss: float  # with scale and drift
    scale: float
    drift: FloatArray  # (n_classes,)


def measured(
    scores: FloatArray,
    n_words: FloatArray,
    truth: IntArray,
    log_prior: FloatArray,
    n_repeats: int,
    *,
    doubtful: bool = False,
) -> Measured:
    """What scores (n, n_classes), without the prior of the classes, say of texts with so many words (n,).

    With ``doubtful`` scale and drift are fitted as if one more text of each class, and one of the others, had the
    scores of those of the class, as Platt's scaling does: few texts that are all right cannot show that scores are
    never wrong.
    """
    right = float((np.argmax(scores + log_prior, axis=1) == truth).mean())
    length = n_words / max(float(n_words.mean()), 1.0)
    n, own = len(truth) / n_repeats, np.eye(len(log_prior))[truth]
    target = own
    if doubtful:
        doubt = (1.0 / (own.sum(axis=0) / n_repeats + 2.0))[truth][:, None]
        target = own * (1.0 - doubt) + (1.0 - own) * doubt / (len(log_prior) - 1)

    def log_p(log_scale: float, drift: FloatArray) -> FloatArray:
        return log_normalise(np.exp(log_scale) * scores + length[:, None] * drift + log_prior)

    def loss(vector: FloatArray) -> tuple[float, FloatArray]:
        found = log_p(vector[0], vector[1:])
        excess = (np.exp(found) - target) / n_repeats
        by_scale = float((excess * scores).sum()) * np.exp(vector[0])
        value = -float((target * found).sum()) / n_repeats + 0.5 * float(vector @ vector)
        return value, vector + np.append(by_scale, length @ excess)

    # Standard normal priors on the logarithm of the scale and on the drift of a text of mean length.
    drift = minimise_lbfgs(loss, np.zeros(1 + len(log_prior)), tol=1e-3 * n, max_iter=50).weights[1:]
    # The mean of the posterior of log scale: few texts left out say less against small scales than against large ones,
    # so that it is below the best scale where there is little to go by.
    losses = np.array([-float((target * log_p(one, drift)).sum()) / len(truth) for one in _LOG_SCALES])
    log_posterior = -n * losses - 0.5 * _LOG_SCALES**2
    posterior = np.exp(log_posterior - log_posterior.max())
    mean = float(posterior @ _LOG_SCALES / posterior.sum())
    log_loss = -float(log_p(mean, drift)[own == 1].mean())
    return Measured(right, log_loss, float(np.exp(mean)), drift / max(float(n_words.mean()), 1.0))


def _split(part: tuple[int, int], inside: _Inside) -> tuple[MarkedTexts, MarkedTexts, IntArray, BoolArray | None]:
    """Training texts in compact form, texts left out, the columns kept, and which of these are free."""
    repeat, fold = part
    left_out = inside.folds[repeat] == fold
    train, columns = inside.texts.subset(~left_out).compact()
    return train, inside.texts.subset(left_out), columns, None if inside.free is None else inside.free[columns]


def _left_out(
    part: tuple[int, int], shared: tuple[_Inside, list[Strengths]], rng: np.random.Generator
) -> tuple[IntArray, IntArray, list[FloatArray]]:
    """Classes and known words of the texts left out, and what each candidate scores them without the classes' prior."""
    inside, candidates = shared
    train, test, columns, free = _split(part, inside)
    start: Start | None = None
    scores: list[FloatArray] = []
    for strengths in candidates:
        fit = fit_joint(train, strengths, start=start, free=free, **inside.settings)
        start = (fit.theta, fit.habits)
        theta = fit.expanded(columns, test.n_features).theta
        scores.append(class_scores(test, theta) - test.log_prior)
    words = test.design[:, columns[columns < test.n_words]]
    return test.labels, np.asarray(words.sum(axis=1)).ravel(), scores


def left_out_parts(
    texts: MarkedTexts,
    strengths: Strengths,
    *,
    folds: IntArray,
    emissions: str = "bounded",
    free: BoolArray | None = None,
    value_tol: float = 1e-4,
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
