"""Likelihoods of votes given the difference z = f_left − f_right of two scores.

A vote is 1 (left), 0 (right) or ½ (undecided). With a margin m ≥ 0 and a position bias c, the noise of both items
integrated out ([SG18] eq. 3):

    p(left)      = Φ((z + c − m)/√2)
    p(right)     = Φ((−z − c − m)/√2)
    p(undecided) = 1 − p(left) − p(right)

Without a margin an undecided vote counts as half a vote for each side, as published.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_ndtr, ndtr

from accord.engines.numerics import inverse_mills
from accord.typing import FloatArray

__all__ = ["LINEARISATIONS", "Preference", "expectation", "linearised", "point"]

_SQRT2 = np.sqrt(2.0)
_COARSE = {"xatol": 1e-3}
# 16-point Gauss–Hermite rule for the standard normal.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(16)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True)
class Preference:
    """The probit likelihood of a vote.

    Parameters
    ----------
    bias : float
        Advantage of the item shown left, in units of the score.
    margin : float or None
        Half-width of the undecided region; ``None`` counts an undecided vote as half a vote for each side.
    """

    bias: float = 0.0
    margin: float | None = None

    def log_density(self, z: FloatArray, value: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """log p(value | z) with its first derivative and minus its second.

        Parameters
        ----------
        z : array of shape (n_votes, …)
        value : array of shape (n_votes,)
        """
        value = value.reshape(len(value), *([1] * (z.ndim - 1)))
        margin = self.margin or 0.0
        sign = np.where(value >= 0.5, 1.0, -1.0)
        u = (sign * (z + self.bias) - margin) / _SQRT2
        mills = inverse_mills(u)
        log_p, slope, curve = log_ndtr(u), sign * mills / _SQRT2, mills * (u + mills) / 2.0
        tie = np.flatnonzero(value.reshape(-1) == 0.5)
        if tie.size:
            ties = self._half if self.margin is None else self._between
            log_p[tie], slope[tie], curve[tie] = ties((z[tie] + self.bias) / _SQRT2)
        return log_p, slope, curve

    @staticmethod
    def _half(u: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        # ½ log Φ(u) + ½ log Φ(−u)
        up, down = inverse_mills(u), inverse_mills(-u)
        return (
            0.5 * (log_ndtr(u) + log_ndtr(-u)),
            0.5 * (up - down) / _SQRT2,
            0.25 * (up * (u + up) + down * (down - u)),
        )

    def _between(self, u: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        # log [Φ(h − u) − Φ(−h − u)], h = m/√2; written with |u|, where the difference does not cancel
        half = (self.margin or 0.0) / _SQRT2
        side, a = np.where(u >= 0.0, 1.0, -1.0), np.abs(u)
        top, low = half - a, -half - a
        log_top, log_low = log_ndtr(top), log_ndtr(low)
        log_p = log_top + np.log(-np.expm1(np.minimum(log_low - log_top, -1e-300)))
        # φ(top)/p and φ(low)/p
        up = np.exp(-0.5 * top**2 - 0.5 * np.log(2.0 * np.pi) - log_p)
        down = np.exp(-0.5 * low**2 - 0.5 * np.log(2.0 * np.pi) - log_p)
        slope = down - up  # ∂/∂a
        curve = slope**2 + top * up - low * down
        return log_p, side * slope / _SQRT2, curve / 2.0

    def probability(self, mean: FloatArray, variance: FloatArray) -> FloatArray:
        """p(left), p(undecided), p(right) with z ~ N(mean, variance), shape (n_votes, 3); [SG18] below eq. 5."""
        scale = np.sqrt(2.0 + variance)
        margin = self.margin or 0.0
        left = ndtr((mean + self.bias - margin) / scale)
        right = ndtr((-mean - self.bias - margin) / scale)
        return np.stack([left, np.maximum(1.0 - left - right, 0.0), right], axis=1)

    def refit(
        self,
        mean: FloatArray,
        variance: FloatArray,
        value: FloatArray,
        weight: FloatArray,
        *,
        bias: bool,
        margin: bool,
    ) -> "Preference":
        """The bias and margin that raise the expected log likelihood of votes under N(mean, variance), one by one."""
        found = self

        def loss(candidate: Preference) -> float:
            log_p, _, _ = expectation(candidate, mean, variance, value)
            # A weak normal prior on the bias (sd 1) and exponential prior on the margin (mean 1).
            prior = 0.5 * candidate.bias**2 + (candidate.margin or 0.0)
            return prior - float(weight @ log_p)

        if bias:
            best = minimize_scalar(
                lambda c: loss(replace(found, bias=c)), bounds=(-5.0, 5.0), method="bounded", options=_COARSE
            )
            found = replace(found, bias=float(best.x))
        if margin and np.any(value == 0.5):
            best = minimize_scalar(
                lambda m: loss(replace(found, margin=m)), bounds=(1e-3, 5.0), method="bounded", options=_COARSE
            )
            found = replace(found, margin=float(best.x))
        return found


# (likelihood, mean, variance, value) → objective, slope and precision of each vote's Gaussian site
Linearisation = Callable[[Preference, FloatArray, FloatArray, FloatArray], tuple[FloatArray, FloatArray, FloatArray]]


def expectation(
    likelihood: Preference, mean: FloatArray, variance: FloatArray, value: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """E[log p], E[∂ log p], −E[∂² log p] under z ~ N(mean, variance), by quadrature; each of shape (n_votes,)."""
    z = mean[:, None] + np.sqrt(variance)[:, None] * _NODES
    log_p, slope, curve = likelihood.log_density(z, value)
    return log_p @ _WEIGHTS, slope @ _WEIGHTS, curve @ _WEIGHTS


def point(
    likelihood: Preference, mean: FloatArray, variance: FloatArray, value: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """log p and its derivatives at the mean: the Laplace approximation; each of shape (n_votes,)."""
    log_p, slope, curve = likelihood.log_density(mean[:, None], value)
    return log_p[:, 0], slope[:, 0], curve[:, 0]


def linearised(
    likelihood: Preference, mean: FloatArray, variance: FloatArray, value: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The published linearisation Π Φ(z) ≈ N(y; G f̂, Q) ([SG18] section 5); each of shape (n_votes,).

    G is the slope of Φ at the mean, Q the expected variance of a vote, y (1 − y) with y smoothed by a uniform
    Beta prior.
    """
    log_p, _, _ = expectation(likelihood, mean, variance, value)
    u = (mean + likelihood.bias) / _SQRT2
    slope = np.exp(-0.5 * u**2) / np.sqrt(2.0 * np.pi) / _SQRT2  # G
    smoothed = (value + 1.0) / 3.0
    noise = smoothed * (1.0 - smoothed) * 3.0 / 4.0  # Q: the mean of p (1 − p) under Beta(1 + y, 2 − y)
    return log_p, slope * (value - ndtr(u)) / noise, slope**2 / noise


LINEARISATIONS: dict[str, Linearisation] = {"auto": expectation, "variational": linearised, "laplace": point}
