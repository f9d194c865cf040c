"""Fitting the model of the annotator: joint L-BFGS, or the paper's alternation."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from accord.engines.convergence import Convergence, iterate
from accord.errors import InputError
from accord.fitting.optimise import minimise_lbfgs
from accord.rationales.annotator import EMISSIONS, MarkedTexts, Strengths, class_maps, loss
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["EMISSION_RULES", "AnnotatorFit", "fit_alternating", "fit_classes", "fit_joint", "fit_phi", "starting_phi"]

# How the two emission weights of an annotator may move.
EMISSION_RULES = ("bounded", "tied", "free")

# Emission weights are of the order of 10, word weights of the order of 0.1: L-BFGS moves φ/40 beside θ.
_EMISSION_SCALE = 40.0

Start = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class AnnotatorFit:
    """Fitted weights, and the value of the minimised loss."""

    theta: FloatArray  # (n_rows, n_features)
    phi: FloatArray  # (n_annotators, n_phi)
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


def starting_phi(n_annotators: int, n_phi: int) -> FloatArray:
    """Where φ starts: both emissions 12, O-I and I-O −3, the rest 0; shape (n_annotators, n_phi)."""
    phi = np.zeros((n_annotators, n_phi))
    phi[:, :2] = 12.0
    phi[:, 3:5] = -3.0
    return phi


@dataclass(frozen=True, eq=False)
class _Coordinates:
    """The flat vector that L-BFGS moves, and how it stands for θ and φ."""

    theta_shape: tuple[int, int]
    phi_shape: tuple[int, int]
    emissions: str
    scales: FloatArray  # (n_annotators, n_phi) units of φ in which the loss is about as curved as by θ

    @property
    def n_theta(self) -> int:
        return self.theta_shape[0] * self.theta_shape[1]

    @property
    def n_emissions(self) -> int:
        return 1 if self.emissions == "tied" else len(EMISSIONS)

    def pack_phi(self, phi: FloatArray) -> FloatArray:
        phi = phi / self.scales
        rates = phi[:, :2].mean(axis=1, keepdims=True) if self.emissions == "tied" else phi[:, :2]
        if self.emissions == "bounded":
            rates = np.maximum(rates, 0.0)
        return np.concatenate([rates, phi[:, 2:]], axis=1).ravel()

    def unpack_phi(self, vector: FloatArray) -> FloatArray:
        table = vector.reshape(self.phi_shape[0], -1)
        rates = np.broadcast_to(table[:, : self.n_emissions], (len(table), 2))
        return np.concatenate([rates, table[:, self.n_emissions :]], axis=1) * self.scales

    def pack_phi_gradient(self, gradient: FloatArray) -> FloatArray:
        gradient = gradient * self.scales
        rates = gradient[:, :2].sum(axis=1, keepdims=True) if self.emissions == "tied" else gradient[:, :2]
        return np.concatenate([rates, gradient[:, 2:]], axis=1).ravel()

    def phi_bounds(self) -> list[tuple[float | None, float | None]]:
        low: float | None = 0.0 if self.emissions == "bounded" else None
        row: list[tuple[float | None, float | None]] = [(low, None)] * self.n_emissions
        row += [(None, None)] * (self.phi_shape[1] - len(EMISSIONS))
        return row * self.phi_shape[0]


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
    shape = (class_maps(texts.n_classes).shape[1], texts.n_features)
    no_phi = np.zeros((texts.n_annotators, texts.n_phi))
    strengths = Strengths(0.0, theta_variance)

    def flat(vector: FloatArray) -> tuple[float, FloatArray]:
        value, by_theta, _ = loss(texts, vector.reshape(shape), no_phi, strengths, free)
        return value, by_theta.ravel()

    first = np.zeros(shape) if start is None else start
    best = minimise_lbfgs(flat, first.ravel(), max_iter=max_iter, tol=tol, value_tol=value_tol)
    return AnnotatorFit(best.weights.reshape(shape), no_phi, best.value, best.convergence)


def fit_phi(
    texts: MarkedTexts,
    theta: FloatArray,
    strengths: Strengths,
    *,
    emissions: str = "bounded",
    start: FloatArray | None = None,
    free: BoolArray | None = None,
    max_iter: int = 500,
    tol: float = 1e-3,
    value_tol: float = 1e-7,
) -> AnnotatorFit:
    """The annotators' habits φ given word weights θ (n_rows, n_features): convex."""
    first = starting_phi(texts.n_annotators, texts.n_phi) if start is None else start
    at = _coordinates(texts, theta, first, strengths, emissions)

    def flat(vector: FloatArray) -> tuple[float, FloatArray]:
        value, _, gradient = loss(texts, theta, at.unpack_phi(vector), strengths, free)
        return value, at.pack_phi_gradient(gradient)

    bounds = at.phi_bounds() if emissions == "bounded" else None
    best = minimise_lbfgs(flat, at.pack_phi(first), bounds=bounds, max_iter=max_iter, tol=tol, value_tol=value_tol)
    return AnnotatorFit(theta, at.unpack_phi(best.weights), best.value, best.convergence)


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
    start : (theta, phi), optional
        By default θ is fitted to the classes first and φ starts at :func:`starting_phi`.
    free : bool array of shape (n_features,), optional
        Features without a prior.
    max_iter, tol, value_tol
        As in :func:`~accord.fitting.optimise.minimise_lbfgs`.

    Returns
    -------
    AnnotatorFit
    """
    if not _learns_from_highlights(texts, strengths):
        theta = None if start is None else start[0]
        return fit_classes(
            texts, strengths.theta_variance, start=theta, free=free, max_iter=max_iter, tol=tol, value_tol=value_tol
        )
    theta, phi = start or _start(texts, strengths, free)
    at = _coordinates(texts, theta, phi, strengths, emissions)
    n = at.n_theta

    def flat(vector: FloatArray) -> tuple[float, FloatArray]:
        value, by_theta, by_phi = loss(
            texts, vector[:n].reshape(at.theta_shape), at.unpack_phi(vector[n:]), strengths, free
        )
        return value, np.concatenate([by_theta.ravel(), at.pack_phi_gradient(by_phi)])

    best = minimise_lbfgs(
        flat,
        np.concatenate([theta.ravel(), at.pack_phi(phi)]),
        bounds=[(None, None)] * n + at.phi_bounds() if emissions == "bounded" else None,
        max_iter=max_iter,
        tol=tol,
        value_tol=value_tol,
    )
    theta, phi = best.weights[:n].reshape(at.theta_shape), at.unpack_phi(best.weights[n:])
    return AnnotatorFit(theta, phi, best.value, best.convergence)


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
    if not _learns_from_highlights(texts, strengths):
        theta = None if start is None else start[0]
        return fit_classes(
            texts, strengths.theta_variance, start=theta, free=free, max_iter=max_iter, tol=tol, value_tol=value_tol
        )
    theta, phi = start or _start(texts, strengths, free)
    settings: dict[str, Any] = {"max_iter": max_iter, "tol": tol, "value_tol": value_tol}

    def step(state: tuple[FloatArray, FloatArray, float]) -> tuple[FloatArray, FloatArray, float]:
        fixed, moving, _ = state
        found = fit_phi(texts, fixed, strengths, emissions=emissions, start=moving, free=free, **settings).phi

        def by_theta(vector: FloatArray) -> tuple[float, FloatArray]:
            value, gradient, _ = loss(texts, vector.reshape(fixed.shape), found, strengths, free)
            return value, gradient.ravel()

        best = minimise_lbfgs(by_theta, fixed.ravel(), **settings)
        return best.weights.reshape(fixed.shape), found, best.value

    first = (theta, phi, np.inf)
    (theta, phi, value), convergence = iterate(
        step, first, max_iter=max_rounds, tol=round_tol, change=lambda old, new: abs(old[2] - new[2]) / abs(new[2])
    )
    return AnnotatorFit(theta, phi, value, convergence)


FITS: dict[str, Callable[..., AnnotatorFit]] = {"joint": fit_joint, "alternating": fit_alternating}


def _learns_from_highlights(texts: MarkedTexts, strengths: Strengths) -> bool:
    return strengths.C > 0 and len(texts.chain_text) > 0


def _start(texts: MarkedTexts, strengths: Strengths, free: BoolArray | None) -> Start:
    return fit_classes(texts, strengths.theta_variance, free=free).theta, starting_phi(texts.n_annotators, texts.n_phi)


def _coordinates(
    texts: MarkedTexts, theta: FloatArray, phi: FloatArray, strengths: Strengths, emissions: str
) -> _Coordinates:
    if emissions not in EMISSION_RULES:
        raise InputError(f"emissions must be one of {', '.join(EMISSION_RULES)}; it is {emissions!r}.")
    scales = np.full(phi.shape, _EMISSION_SCALE)
    for annotator, observed in enumerate(texts.observed):
        # A transition's curvature is about n p (1 − p), with p its share of the transitions from the same tag.
        counts = observed.counts.transitions.reshape(-1, 2, 2)
        totals = counts.sum(axis=2, keepdims=True)
        spread = counts * (1.0 - counts / np.maximum(totals, 1.0))
        curvature = strengths.C * (texts.transition_features.T @ spread.ravel()) + strengths.phi_penalty
        scales[annotator, len(EMISSIONS) :] = 1.0 / np.sqrt(strengths.theta_variance * curvature)
    return _Coordinates((theta.shape[0], theta.shape[1]), (phi.shape[0], phi.shape[1]), emissions, scales)
