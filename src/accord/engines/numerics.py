"""Guarded numbers: logarithms, normalisation, spreads, the probit and its derivatives, safe Cholesky factors."""

import numpy as np
import scipy.linalg
from scipy.special import entr, log_ndtr

from accord.errors import InputError
from accord.typing import FloatArray

__all__ = [
    "cholesky",
    "entropy",
    "inverse_from_cholesky",
    "inverse_mills",
    "log_normalise",
    "log_sigmoid",
    "log_sum_exp",
    "normalise_log",
    "sigmoid",
    "spread",
]

_LOG_SQRT_2PI = 0.5 * np.log(2.0 * np.pi)

# A standard deviation below this share of the largest value, or of 1, is rounding: scores are sums of terms about 1.
_ROUNDING = 1e-10


def log_normalise(log_weights: FloatArray, axis: int = -1) -> FloatArray:
    """Log probabilities from unnormalised log weights, along ``axis``.

    A slice that is ``-inf`` everywhere has no distribution and is refused.
    """
    total = log_sum_exp(log_weights, axis=axis)
    if not np.all(np.isfinite(total)):
        raise InputError("log_normalise needs at least one finite log weight in every slice; one slice has none.")
    return np.asarray(log_weights - total)


def log_sum_exp(log_weights: FloatArray, axis: int = -1) -> FloatArray:
    """log Σ exp along ``axis``, which stays as an axis of length 1; ``-inf`` where all are.

    Like :func:`scipy.special.logsumexp` on real numbers, but several times faster on small arrays: optimisers call it
    thousands of times.
    """
    log_weights = np.asarray(log_weights, dtype=np.float64)
    top = log_weights.max(axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):  # the log of 0 is −∞
        return np.asarray(np.log(np.exp(log_weights - top).sum(axis=axis, keepdims=True)) + top)


def normalise_log(log_weights: FloatArray, axis: int = -1) -> FloatArray:
    """Probabilities from unnormalised log weights, along ``axis``."""
    return np.asarray(np.exp(log_normalise(log_weights, axis=axis)))


def entropy(p: FloatArray) -> FloatArray:
    """Entropy in nats of the probabilities along the last axis."""
    return np.asarray(entr(p).sum(axis=-1))


def sigmoid(x: FloatArray) -> FloatArray:
    """1 / (1 + e⁻ˣ), without overflow."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * np.asarray(x))))


def log_sigmoid(x: FloatArray) -> FloatArray:
    """log(1 / (1 + e⁻ˣ)), without overflow."""
    return np.asarray(-np.logaddexp(0.0, -np.asarray(x)))


def spread(values: FloatArray) -> FloatArray:
    """Standard deviation over the first axis, to divide by: 1 where the values differ by no more than rounding."""
    values = np.asarray(values, dtype=np.float64)
    if not len(values):
        return np.ones(values.shape[1:])
    deviation = values.std(axis=0)
    return np.asarray(np.where(deviation > _ROUNDING * np.abs(values).max(axis=0, initial=1.0), deviation, 1.0))


def inverse_mills(z: FloatArray) -> FloatArray:
    """φ(z) / Φ(z), the derivative of log Φ; accurate far into both tails."""
    z = np.asarray(z, dtype=np.float64)
    return np.asarray(np.exp(-0.5 * z * z - _LOG_SQRT_2PI - log_ndtr(z)))


def cholesky(matrix: FloatArray, *, jitter: float = 1e-10, max_tries: int = 6) -> FloatArray:
    """Lower Cholesky factor, adding the least jitter (relative to the mean diagonal) that makes it possible.

    Each try multiplies the jitter by ten; the matrix itself is not changed.
    """
    scale = float(np.mean(np.diag(matrix))) if matrix.size else 1.0
    for attempt in range(max_tries + 1):
        added = scale * jitter * 10.0 ** (attempt - 1) if attempt else 0.0
        try:
            raised = matrix + added * np.eye(len(matrix)) if attempt else matrix
            return np.asarray(scipy.linalg.cholesky(raised, lower=True))
        except np.linalg.LinAlgError:
            continue
    raise InputError(
        f"a covariance must be positive definite; this one is not, even with {added:.3g} added to its diagonal. "
        "Check the features for huge or repeated values, or raise the jitter."
    )


def inverse_from_cholesky(factor: FloatArray) -> FloatArray:
    """(L Lᵀ)⁻¹ from L, at a third of what solving for every column of the identity costs."""
    inverse, failed = scipy.linalg.lapack.dpotri(factor, lower=1)
    if failed:
        raise InputError(f"a Cholesky factor has a positive diagonal; entry {abs(failed)} of this one has not.")
    lower = np.tril(inverse)
    whole = lower + lower.T
    whole[np.diag_indices_from(whole)] *= 0.5
    return np.asarray(whole)
