"""Good Grief training with what is left to development data: the weight α of the agreement model, and the passes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.stats import norm

from accord.aspects.decode import good_grief_decode
from accord.aspects.prank import PRankWeights, UpdateRule, aspect_similarity, prank_scores, train_prank
from accord.typing import FloatArray, IntArray

__all__ = ["ALPHAS", "GoodGrief", "Training", "choose_and_fit", "fit_good_grief", "good_grief_ranks", "mean_distance"]

# Scores of unit-length texts and log odds of agreement are both of the order of one. 0 is the agreement model ignored.
ALPHAS = (0.0, 0.1, 0.3, 0.5, 1.0)
_USUAL = 0.5  # the α that is taken unless development texts speak against it
_LEVEL = 0.05  # of the test by which they do
# Whether the rankers are trained on their own, on jointly decoded ranks, or as development texts say.
Training = Literal["apart", "joint", "chosen"]


@dataclass(frozen=True, eq=False)
class GoodGrief:
    """Rankers with the α and the number of passes that development data chose."""

    ranker: PRankWeights
    alpha: float
    n_epochs: int
    curve: FloatArray  # (n_epochs tried,): development loss after each pass, at the α chosen
    joint: bool  # whether α counted in training, not only in decoding


_Tried = tuple[GoodGrief, FloatArray]  # a model and the development loss of each text


def mean_distance(truth: IntArray, ranks: IntArray) -> float:
    """Ranking loss: mean |true − predicted| over the known ranks."""
    known = truth > 0
    return float(np.abs(truth.astype(np.float64) - ranks)[known].mean())


def _distances(truth: IntArray, ranks: IntArray) -> FloatArray:
    """Each text's share of the ranking loss, so that the mean of all is the loss; texts without ranks left out."""
    known = truth > 0
    total = np.where(known, np.abs(truth.astype(np.float64) - ranks), 0.0).sum(axis=1)
    return np.asarray(total[known.any(axis=1)] * (known.any(axis=1).sum() / known.sum()))


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
    training: Training = "chosen",
    rule: UpdateRule = "crammer_singer",
    averaged: bool = True,
    n_orders: int = 5,
    rng: np.random.Generator,
) -> GoodGrief:
    """Train, and choose by development loss: the passes, then α and whether to decode jointly in training too.

    The passes are the best for rankers trained and decoded apart, so that Good Grief and PRank differ in nothing else.
    Those rankers are decoded with α = ½ unless another α, or rankers trained jointly (for each α, with passes of their
    own), are better at the 5 % level, corrected for how many are tried: a few hundred texts often show a gain where
    there is none.

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
    training : {"chosen", "joint", "apart"}
        "joint" always decodes jointly in training ([SB07] Figure 1), "apart" never does.
    rule, averaged, n_orders, rng
        As in :func:`~accord.aspects.prank.train_prank`.
    """
    dev_x, dev_ranks, dev_agreement = development
    seed = int(rng.integers(2**63))  # every α sees the texts in the same orders

    def trained(alpha: float) -> list[PRankWeights]:
        return train_prank(
            x,
            ranks,
            n_ranks=n_ranks,
            n_epochs=n_epochs,
            rule=rule,
            averaged=averaged,
            similarity=aspect_similarity(ranks) if similarity else None,
            agreement=alpha * agreement,
            rng=np.random.default_rng(seed),
            n_orders=n_orders,
        )

    def losses(ranker: PRankWeights, alpha: float) -> FloatArray:
        decoded = good_grief_decode(prank_scores(ranker, dev_x), ranker.thresholds, alpha * dev_agreement)
        return _distances(dev_ranks, decoded)

    def tried(history: list[PRankWeights], alpha: float, n_passes: int | None, *, joint: bool) -> _Tried:
        by_pass = [losses(ranker, alpha) for ranker in history]
        curve = np.array([texts.mean() for texts in by_pass])
        chosen = int(np.argmin(curve)) + 1 if n_passes is None else n_passes
        return GoodGrief(history[chosen - 1], alpha, chosen, curve, joint), by_pass[chosen - 1]

    by_preference = sorted(alphas, key=lambda alpha: abs(alpha - _USUAL))
    options: list[_Tried] = []
    if training != "joint":
        history = trained(0.0)
        n_passes = tried(history, 0.0, passes, joint=False)[0].n_epochs
        options += [tried(history, alpha, n_passes, joint=False) for alpha in by_preference]
    if training != "apart":
        without = 0.0 if training == "chosen" else None  # there rankers without α have been tried
        options += [tried(trained(alpha), alpha, passes, joint=True) for alpha in by_preference if alpha != without]
    return _first_unless_worse(options)


def _first_unless_worse(options: list[_Tried]) -> GoodGrief:
    """The first, or the best one where that is better by more than the trials explain."""
    (first, usual), (best, least) = options[0], min(options, key=lambda option: float(option[1].mean()))
    gain = usual - least
    limit = norm.isf(_LEVEL / max(1, len(options) - 1)) * gain.std() / np.sqrt(len(gain))
    return best if gain.mean() > limit else first


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
    """Choose α, passes and training on a random part that the rankers do not train on, then train on everything.

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
    settings |= {"n_epochs": chosen.n_epochs, "training": "joint" if chosen.joint else "apart"}
    final = fit_good_grief(*everything, everything, alphas=(chosen.alpha,), passes=chosen.n_epochs, rng=rng, **settings)
    return replace(chosen, ranker=final.ranker)
