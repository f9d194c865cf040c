"""Preferences and capacities of the minimum-cut classifier, from the scores of a content and a link classifier.

The cost of a labelling is Σ φ_i(other label) + Σ_{v_i ≠ v_j} ψ_ij ([BBB11] section 3.1). A minimum cut cannot hold
links that speak for different labels: they are dropped, or :func:`set_to` and :func:`inc_by` ([BCL08]) put them into φ.
"""

from collections.abc import Callable

import numpy as np

from accord.errors import InputError
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["content_preferences", "inc_by", "link_capacities", "set_to"]


def content_preferences(scores: FloatArray, groups: AnyArray) -> FloatArray:
    """φ_i(y) ∈ [0, 1]: ½(1 + d/2σ), cut off at ±2σ, with σ the deviation of d within the text's group.

    Parameters
    ----------
    scores : float array of shape (n_texts,)
    groups : array of shape (n_texts,)

    Returns
    -------
    float array of shape (n_texts,)
        A group whose scores are all equal has no σ; there φ is 1, ½ or 0 by the sign of the score.
    """
    half = _group_deviation(scores, groups) * 2.0
    flat = half == 0.0
    ratio = np.where(flat, np.sign(scores), scores / np.where(flat, 1.0, half))
    return np.asarray(0.5 * (1.0 + np.clip(ratio, -1.0, 1.0)))


def link_capacities(scores: FloatArray, groups: AnyArray, *, alpha: float, theta: float) -> FloatArray:
    """ψ_ij ≥ 0: α·d/4σ from θ to 4σ, α above, 0 below θ or where d speaks for different labels.

    Parameters
    ----------
    scores : float array of shape (n_pairs,)
    groups : array of shape (n_pairs,)
    alpha, theta : float
    """
    top = _group_deviation(scores, groups) * 4.0
    flat = top == 0.0
    share = np.where(flat, 1.0, np.minimum(scores / np.where(flat, 1.0, top), 1.0))
    return np.asarray(np.where((scores >= theta) & (scores > 0.0), alpha * share, 0.0))


def set_to(preferences: FloatArray, ends: IntArray, *, beta: float) -> FloatArray:
    """Force the ends of every different-label link apart: the strongest preference and its opposite to at least β.

    Links are taken in order; a later one may undo an earlier one, as in [BCL08].

    Parameters
    ----------
    preferences : float array of shape (n_texts,)
        φ_i(y).
    ends : int array of shape (n_links, 2)
        The links whose score speaks for different labels.
    beta : float
    """
    if not 0.5 < beta <= 1.0:
        raise InputError(f"SetTo needs ½ < β ≤ 1; β is {beta:g}.")
    return _push_apart(preferences, ends, lambda value: max(beta, value))


def inc_by(preferences: FloatArray, ends: IntArray, *, beta: float) -> FloatArray:
    """As :func:`set_to`, but add β to the two preferences, up to 1."""
    if not 0.0 <= beta <= 1.0:
        raise InputError(f"IncBy needs 0 ≤ β ≤ 1; β is {beta:g}.")
    return _push_apart(preferences, ends, lambda value: min(1.0, value + beta))


def _push_apart(preferences: FloatArray, ends: IntArray, raised: Callable[[float], float]) -> FloatArray:
    phi = np.array(preferences, dtype=np.float64)
    for i, j in ends:
        strongest = np.argmax([phi[i], 1.0 - phi[i], phi[j], 1.0 - phi[j]])
        # The first end takes y where it, or the second end's n, is the strongest of the four preferences.
        first_is_y = strongest in (0, 3)
        phi[i] = raised(phi[i]) if first_is_y else 1.0 - raised(1.0 - phi[i])
        phi[j] = 1.0 - raised(1.0 - phi[j]) if first_is_y else raised(phi[j])
    return phi


def _group_deviation(scores: FloatArray, groups: AnyArray) -> FloatArray:
    if len(scores) == 0:
        return np.zeros(0)
    codes = np.unique(np.asarray(groups, dtype=str), return_inverse=True)[1]
    size = np.bincount(codes)
    mean = np.bincount(codes, weights=scores) / size
    spread = np.bincount(codes, weights=(scores - mean[codes]) ** 2) / size
    return np.asarray(np.sqrt(spread)[codes])
