"""Fitting the model of the annotator: joint L-BFGS, or the paper's alternation."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from accord.engines.convergence import Convergence, iterate
from accord.errors import InputError
from accord.fitting.optimise import Loss, Optimum, minimise_lbfgs
from accord.rationales.annotator import Habits, Strengths, class_maps, loss
from accord.rationales.marked_texts import MarkedTexts
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "EMISSION_RULES",
    "FITS",
    "AnnotatorFit",
    "Coordinates",
    "fit_alternating",
    "fit_classes",
    "fit_habits",
    "fit_joint",
    "starting_habits",
    "with_habits",
]

# How the emission weights may move.
EMISSION_RULES = ("bounded", "tied", "free")

# Emission weights are of the order of 10, word weights of the order of 0.1: L-BFGS moves φ/40 beside θ, or less where
# word weights may be large.
_EMISSION_SCALE, _EMISSION_SHARE = 40.0, 7.0

Start = tuple[FloatArray, Habits]


@dataclass(frozen=True, eq=False)
class AnnotatorFit:
    """Fitted weights, and the value of the minimised loss."""

    theta: FloatArray  # (n_rows, n_features)
    habits: Habits
    value: float
    convergence: Convergence

    def class_weights(self, n_classes: int) -> FloatArray:
        """One weight vector a class, shape (n_classes, n_features)."""
        return class_maps(n_classes) @ self.theta

    def expanded(self, columns: IntArray, n_features: int) -> "AnnotatorFit":
        """The fit of compact texts among all ``n_features`` columns, of which ``columns`` were kept."""
        theta = np.zeros((len(self.theta), n_features))
        theta[:, columns] = self.theta
        return replace(self, theta=theta)


def starting_habits(texts: MarkedTexts, strengths: Strengths | None = None) -> Habits:
    """Where φ starts: relevance and irrelevance 12, O-I and I-O −3, the rest 0; nobody deviates."""
    n = 2 + len(texts.thresholds)
    phi = np.zeros(n + texts.n_transitions)
    phi[:2], phi[n + 1 : n + 3] = 12.0, -3.0
    n_biased = texts.n_chains if strengths is not None and strengths.bias_variance > 0 else 0
    return Habits(phi, np.zeros((texts.n_habits - 1, len(phi))), np.zeros(n_biased), n)


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The flat vector of habits that L-BFGS moves, in units in which the loss is about as curved as by θ."""

    merge: FloatArray  # (n_phi, n_moved) which entries of φ move together
    common: FloatArray  # (n_moved,) units
    deviations: FloatArray  # (n_habits - 1, n_moved)
    bias: FloatArray  # (n_bias,)
    n_emissions: int
    bounded: bool

    @classmethod
    def of(cls, texts: MarkedTexts, habits: Habits, strengths: Strengths, emissions: str) -> "Coordinates":
        if emissions not in EMISSION_RULES:
            raise InputError(f"emissions must be one of {', '.join(EMISSION_RULES)}; it is {emissions!r}.")
        n_phi, n = len(habits.common), habits.n_emissions
        merge = np.eye(n_phi)
        if emissions == "tied":
            merge[1, 0] = 1.0
            merge = np.delete(merge, 1, axis=1)
        # A transition's curvature is about n p (1 − p), with p its share of the transitions from the same tag.
        keyed = texts.keyed
        counts = keyed.counts.transitions.reshape(-1, 2, 2)
        spread = counts * (1.0 - counts / np.maximum(counts.sum(axis=2, keepdims=True), 1.0))
        curvature = strengths.C * (keyed.transitions_transposed @ spread.ravel()).reshape(texts.n_habits, -1)
        inside = strengths.C * np.bincount(keyed.habit, keyed.counts.inside, texts.n_habits)
        by_person = np.concatenate([np.repeat(inside[:, None], n, axis=1), curvature], axis=1)
        prior = strengths.prior_weight
        in_all = by_person.sum(axis=0) + prior / strengths.phi_variance
        unit = 1.0 / np.sqrt(strengths.theta_variance)
        common = unit / np.sqrt(in_all)
        common[:n] = min(_EMISSION_SCALE, _EMISSION_SHARE * unit)
        deviations = unit / np.sqrt(by_person[1:] + prior / strengths.deviation_variance)
        share = strengths.C * keyed.counts.by_chain + prior / max(strengths.bias_variance, 1e-9)
        first = merge.argmax(axis=0)
        return cls(
            merge,
            common[first],
            deviations[:, first],
            (unit / np.sqrt(share))[: len(habits.bias)],
            n,
            emissions == "bounded",
        )

    @property
    def n_common(self) -> int:
        return len(self.common)

    def pack(self, habits: Habits) -> FloatArray:
        mean = self.merge.T / self.merge.sum(axis=0)[:, None]
        common = mean @ habits.common
        if self.bounded:
            common[: self.n_emissions] = np.maximum(common[: self.n_emissions], 0.0)
        deviations = habits.deviations @ mean.T / self.deviations
        return np.concatenate([common / self.common, deviations.ravel(), habits.bias / self.bias])

    def unpack(self, vector: FloatArray) -> Habits:
        end = self.n_common + self.deviations.size
        deviations = vector[self.n_common : end].reshape(self.deviations.shape) * self.deviations
        return Habits(
            self.merge @ (vector[: self.n_common] * self.common),
            deviations @ self.merge.T,
            vector[end:] * self.bias,
            self.n_emissions,
        )

    def pack_gradient(self, gradient: Habits) -> FloatArray:
        deviations = gradient.deviations @ self.merge * self.deviations
        return np.concatenate(
            [(gradient.common @ self.merge) * self.common, deviations.ravel(), gradient.bias * self.bias]
        )

    def minimise(self, loss: Loss, start: FloatArray, **stop: Any) -> Optimum:
        """The best vector whose last entries are habits.

        Bounds make every step of L-BFGS expensive and hardly ever bind, so they are set only where the best vector
        without them breaks one.
        """
        best = minimise_lbfgs(loss, start, **stop)
        first = len(start) - self.n_common - self.deviations.size - len(self.bias)
        if not self.bounded or (best.weights[first : first + self.n_emissions] >= 0).all():
            return best
        free = (None, None)
        bounds = [free] * first + [(0.0, None)] * self.n_emissions
        return minimise_lbfgs(loss, start, bounds=bounds + [free] * (len(start) - len(bounds)), **stop)


def _minimise(
    texts: MarkedTexts,
    start: Start,
    strengths: Strengths,
    at: Coordinates | None,
    *,
    move_theta: bool = True,
    free: BoolArray | None = None,
    **stop: Any,
) -> AnnotatorFit:
    """The best θ, the best habits (where ``at`` says how they move), or both together."""
    theta, habits = start
    n = theta.size if move_theta else 0

    def parts(vector: FloatArray) -> Start:
        return (
            vector[:n].reshape(theta.shape) if move_theta else theta,
            habits if at is None else at.unpack(vector[n:]),
        )

    def flat(vector: FloatArray) -> tuple[float, FloatArray]:
        value, by_theta, by_habits = loss(texts, *parts(vector), strengths, free)
        moved = np.zeros(0) if at is None else at.pack_gradient(by_habits)
        return value, np.concatenate([by_theta.ravel()[:n], moved])

    first = np.concatenate([theta.ravel()[:n], np.zeros(0) if at is None else at.pack(habits)])
    best = minimise_lbfgs(flat, first, **stop) if at is None else at.minimise(flat, first, **stop)
    return AnnotatorFit(*parts(best.weights), best.value, best.convergence)


def fit_classes(
    texts: MarkedTexts,
    theta_variance: float,
    *,
    start: FloatArray | None = None,
    free: BoolArray | None = None,
    max_iter: int = 500,
    tol: float = 1e-3,
    value_tol: float = 1e-8,
) -> AnnotatorFit:
    """The log-linear classifier alone (C = 0): convex, the start of every fit."""
    first = np.zeros((class_maps(texts.n_classes).shape[1], texts.n_features)) if start is None else start
    stop: dict[str, Any] = {"max_iter": max_iter, "tol": tol, "value_tol": value_tol}
    return _minimise(texts, (first, starting_habits(texts)), Strengths(0.0, theta_variance), None, free=free, **stop)


def fit_habits(
    texts: MarkedTexts,
    theta: FloatArray,
    strengths: Strengths,
    *,
    emissions: str = "bounded",
    start: Habits | None = None,
    free: BoolArray | None = None,
    max_iter: int = 500,
    tol: float = 1e-3,
    value_tol: float = 1e-7,
) -> AnnotatorFit:
    """The annotators' habits φ given word weights θ (n_rows, n_features): convex."""
    first = starting_habits(texts, strengths) if start is None else start
    at = Coordinates.of(texts, first, strengths, emissions)
    stop: dict[str, Any] = {"max_iter": max_iter, "tol": tol, "value_tol": value_tol}
    return _minimise(texts, (theta, first), strengths, at, move_theta=False, free=free, **stop)


def fit_joint(
    texts: MarkedTexts,
    strengths: Strengths,
    *,
    emissions: str = "bounded",
    start: Start | None = None,
    free: BoolArray | None = None,
    max_iter: int = 500,
    tol: float = 1e-3,
    value_tol: float = 1e-7,
) -> AnnotatorFit:
    """θ and φ together by L-BFGS, to a local optimum.

    Parameters
    ----------
    texts : MarkedTexts
    strengths : Strengths
    emissions : {"bounded", "tied", "free"}
        Whether φ_rel and φ_antirel stay at or above zero, are equal, or may be anything.
    start : (theta, habits), optional
        By default θ is fitted to the classes first and φ starts at :func:`starting_habits`.
    free : bool array of shape (n_features,), optional
        Features without a prior.
    max_iter, tol, value_tol
        As in :func:`~accord.fitting.optimise.minimise_lbfgs`.

    Returns
    -------
    AnnotatorFit
    """
    stop: dict[str, Any] = {"max_iter": max_iter, "tol": tol, "value_tol": value_tol}
    if not (strengths.C > 0 and texts.n_chains):
        theta = None if start is None else start[0]
        return fit_classes(texts, strengths.theta_variance, start=theta, free=free, **stop)
    start = start or _start(texts, strengths, free, value_tol)
    return _minimise(texts, start, strengths, Coordinates.of(texts, start[1], strengths, emissions), free=free, **stop)


def fit_alternating(
    texts: MarkedTexts,
    strengths: Strengths,
    *,
    emissions: str = "bounded",
    start: Start | None = None,
    free: BoolArray | None = None,
    max_iter: int = 500,
    tol: float = 1e-3,
    value_tol: float = 1e-7,
    max_rounds: int = 20,
    round_tol: float = 1e-4,
) -> AnnotatorFit:
    """The paper's way: φ given θ, then θ given φ, until a round improves the loss by less than ``round_tol`` of it.

    It creeps along a ridge where φ grows while θ shrinks, and ends higher than :func:`fit_joint`.
    """
    if not (strengths.C > 0 and texts.n_chains):
        return fit_joint(texts, strengths, start=start, free=free, max_iter=max_iter, tol=tol, value_tol=value_tol)
    stop: dict[str, Any] = {"max_iter": max_iter, "tol": tol, "value_tol": value_tol}
    first = start or _start(texts, strengths, free, value_tol)

    def step(state: tuple[FloatArray, Habits, float]) -> tuple[FloatArray, Habits, float]:
        theta, habits, _ = state
        found = fit_habits(texts, theta, strengths, emissions=emissions, start=habits, free=free, **stop).habits
        best = _minimise(texts, (theta, found), strengths, None, free=free, **stop)
        return best.theta, found, best.value

    (theta, habits, value), convergence = iterate(
        step,
        (*first, np.inf),
        max_iter=max_rounds,
        tol=round_tol,
        change=lambda old, new: abs(old[2] - new[2]) / abs(new[2]),
    )
    return AnnotatorFit(theta, habits, value, convergence)


def with_habits(
    texts: MarkedTexts, fit: AnnotatorFit, strengths: Strengths, *, emissions: str = "bounded"
) -> AnnotatorFit:
    """The same word weights, with habits where highlights did not count (C = 0) but are there to be described."""
    if strengths.C > 0 or not texts.n_chains:
        return fit
    found = fit_habits(texts, fit.theta, replace(strengths, C=1.0), emissions=emissions)
    return replace(fit, habits=found.habits)


FITS: dict[str, Callable[..., AnnotatorFit]] = {"joint": fit_joint, "alternating": fit_alternating}


def _start(texts: MarkedTexts, strengths: Strengths, free: BoolArray | None, value_tol: float) -> Start:
    theta = fit_classes(texts, strengths.theta_variance, free=free, value_tol=value_tol).theta
    return theta, starting_habits(texts, strengths)
