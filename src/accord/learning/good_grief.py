"""Good Grief training with what is left to development data: the weight α of the agreement model, and the passes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from accord.inference.good_grief import good_grief_decode
from accord.learning.prank import PRankWeights, UpdateRule, aspect_similarity, prank_scores, train_prank
from accord.typing import FloatArray, IntArray

__all__ = ["ALPHAS", "GoodGrief", "choose_and_fit", "fit_good_grief", "good_grief_ranks", "mean_distance"]

# Scores of unit-length texts and log odds of agreement are both of the order of one. 0 is the agreement model ignored.
ALPHAS = (0.0, 0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True, eq=False)
class GoodGrief:
    """Rankers with the α and the number of passes that development data chose."""

    ranker: PRankWeights
    alpha: float
    n_epochs: int
    curve: FloatArray  # (n_epochs tried,): development loss after each pass, at the α chosen


def mean_distance(truth: IntArray, ranks: IntArray) -> float:
    """Ranking loss: mean |true − predicted| over the known ranks."""
    known = truth > 0
    return float(np.abs(truth.astype(np.float64) - ranks)[known].mean())


def good_grief_ranks(model: GoodGrief, x: Any, agreement: FloatArray) -> IntArray:
    """Joint ranks of texts with the agreement scores ``agreement`` (not yet scaled by α)."""
    return good_grief_decode(prank_scores(model.ranker, x), model.ranker.thresholds, model.alpha * agreement)


def fit_good_grief(
    x: Any,
    ranks: IntArray,
    agreement: FloatArray,
    development: tuple[Any, IntArray, FloatArray],
    *,
    n_ranks: int,
    alphas: Sequence[float] = ALPHAS,
    n_epochs: int = 10,
    passes: int | None = None,
    similarity: bool = False,
    joint_training: bool = True,
    rule: UpdateRule = "crammer_singer",
    averaged: bool = True,
    n_orders: int = 5,
    rng: np.random.Generator,
) -> GoodGrief:
    """Train with each α, and keep the α and the number of passes of least development loss.

    Parameters
    ----------
    x, ranks : arrays of shape (n_texts, n_features), (n_texts, n_aspects)
    agreement : array of shape (n_texts,)
        Agreement scores of the training texts, cross-fitted.
    development : (x, ranks, agreement)
        Texts to choose on.
    n_ranks : int
    alphas : sequence of float
        Weights of the agreement model to try; ``(0.0,)`` is PRank.
    n_epochs : int
        Most passes.
    passes : int, optional
        Take this many passes instead of choosing.
    similarity : bool
        SIM: add the other aspects' scores, weighted by the cosine of their ranks.
    joint_training : bool
        Decode jointly in training too (train + decode), not only afterwards (decode).
    rule, averaged, n_orders, rng
        As in :func:`~accord.learning.prank.train_prank`.
    """
    dev_x, dev_ranks, dev_agreement = development
    seed = int(rng.integers(2**63))  # every α sees the texts in the same orders
    best: GoodGrief | None = None
    history: list[PRankWeights] = []
    for alpha in alphas:
        if joint_training or not history:
            history = train_prank(
                x,
                ranks,
                n_ranks=n_ranks,
                n_epochs=n_epochs,
                rule=rule,
                averaged=averaged,
                similarity=aspect_similarity(ranks) if similarity else None,
                agreement=alpha * agreement if joint_training else None,
                rng=np.random.default_rng(seed),
                n_orders=n_orders,
            )
        curve = np.array(
            [
                mean_distance(
                    dev_ranks, good_grief_decode(prank_scores(step, dev_x), step.thresholds, alpha * dev_agreement)
                )
                for step in history
            ]
        )
        chosen = int(np.argmin(curve)) if passes is None else passes - 1
        if best is None or curve[chosen] < best.curve[best.n_epochs - 1]:
            best = GoodGrief(history[chosen], alpha, chosen + 1, curve)
    if best is None:
        raise ValueError("fit_good_grief needs at least one alpha")
    return best


def choose_and_fit(
    x: Any,
    ranks: IntArray,
    agreement: FloatArray,
    *,
    fraction: float,
    alphas: Sequence[float],
    passes: int | None,
    rng: np.random.Generator,
    **settings: Any,
) -> GoodGrief:
    """Choose α and passes on a random part that the rankers do not train on, then train on everything.

    ``agreement`` is cross-fitted, so that it may be used on either part. ``settings`` go to :func:`fit_good_grief`.
    """
    order = rng.permutation(len(ranks))
    cut = min(max(1, round(fraction * len(order))), len(order) - 1)
    part, rest = order[:cut], order[cut:]
    held = (x[part], ranks[part], agreement[part])
    if not (ranks[part] > 0).any():
        raise ValueError("a text without any score must be left out before training")
    chosen = fit_good_grief(
        x[rest], ranks[rest], agreement[rest], held, alphas=alphas, passes=passes, rng=rng, **settings
    )
    everything = (x, ranks, agreement)
    settings["n_epochs"] = chosen.n_epochs
    final = fit_good_grief(*everything, everything, alphas=(chosen.alpha,), passes=chosen.n_epochs, rng=rng, **settings)
    return GoodGrief(final.ranker, chosen.alpha, chosen.n_epochs, chosen.curve)
