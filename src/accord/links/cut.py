"""The minimum-cut classifier after its two classifiers, its free parameters chosen on left-out scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from accord.engines.min_cut import min_cut
from accord.errors import InputError
from accord.links.linked_graph import in_pieces
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["ALPHAS", "CUTS", "CutModel", "content_preferences", "fit_cut", "inc_by", "link_capacities", "set_to"]


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


# What to do with links for different labels, which a cut cannot hold: drop them, or push their ends apart.
CUTS: dict[str, Callable[..., FloatArray] | None] = {"min_cut": None, "set_to": set_to, "inc_by": inc_by}
ALPHAS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)


@dataclass(frozen=True, eq=False)
class CutModel:
    """Scores to labels by an exact minimum cut ([BBB11] sections 3.1 and 3.2)."""

    cut: str
    alpha: float
    theta: float
    beta: float

    def labels(
        self,
        scores: FloatArray,
        groups: AnyArray,
        ends: IntArray,
        link_scores: FloatArray,
        *,
        known: IntArray | None = None,
    ) -> IntArray:
        """Labels 0 or 1, shape (n_texts,).

        Parameters
        ----------
        scores : float array of shape (n_texts,)
            Content scores of the second label.
        groups : array of shape (n_texts,)
        ends : int array of shape (n_pairs, 2)
        link_scores : float array of shape (n_pairs,)
            Positive for equal labels.
        known : int array of shape (n_texts,), optional
        """
        phi = content_preferences(scores, groups)
        push = CUTS[self.cut]
        if push is not None:
            phi = push(phi, ends[link_scores < 0.0], beta=self.beta)
        where = np.asarray(groups)[ends[:, 0]] if len(ends) else np.empty(0)
        psi = link_capacities(link_scores, where, alpha=self.alpha, theta=self.theta)
        held = psi > 0.0
        return in_pieces(min_cut, np.column_stack([1.0 - phi, phi]), ends[held], psi[held], known=known)[1]


def fit_cut(
    scores: FloatArray,
    codes: IntArray,
    groups: AnyArray,
    ends: IntArray,
    link_scores: FloatArray,
    *,
    cut: str = "min_cut",
    beta: float = 0.8,
    alphas: Sequence[float] = ALPHAS,
    thetas: Sequence[float] | None = None,
) -> CutModel:
    """Choose α and θ by the accuracy of the cut on left-out scores of the training texts.

    Parameters
    ----------
    thetas : sequence of float, optional
        By default 0 and the lower quartile and median of the positive link scores.
    """
    if cut not in CUTS:
        raise InputError(f"the cut must be one of {', '.join(CUTS)}; got {cut!r}.")
    if thetas is None:
        positive = link_scores[link_scores > 0.0]
        thetas = (0.0, *np.quantile(positive, [0.25, 0.5])) if len(positive) else (0.0,)
    models = [CutModel(cut, float(a), float(t), beta) for a, t in product(alphas, thetas)]
    right = [np.mean(model.labels(scores, groups, ends, link_scores) == codes) for model in models]
    return models[int(np.argmax(right))]
