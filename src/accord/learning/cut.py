"""The minimum-cut classifier after its two classifiers, its free parameters chosen on left-out scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from accord.errors import InputError
from accord.inference.cut_preferences import content_preferences, inc_by, link_capacities, set_to
from accord.inference.linked import in_pieces
from accord.inference.min_cut import min_cut
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["ALPHAS", "CUTS", "CutModel", "fit_cut"]

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
