"""Perceptron rankers: PRank, SIM and Good Grief training, online over sparse texts.

One kernel serves the three: SIM mixes the aspects' scores by their similarity ([SB07] eq. 1), Good Grief decodes the
ranks jointly with an agreement score before each update ([SB07] Figure 1); without either it is PRank [CS01]. The
weight α of the agreement model and the number of passes are chosen on development texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numba import njit
from scipy.stats import norm

from accord.aspects.good_grief import decode_row, good_grief_decode
from accord.errors import InputError
from accord.typing import FloatArray, IntArray

__all__ = [
    "ALPHAS", "RULES", "GoodGrief", "PRankWeights", "Similarity", "Training", "UpdateRule", "aspect_similarity",
    "choose_and_fit", "fit_good_grief", "good_grief_ranks", "prank_scores", "text_losses", "train_prank",
]  # fmt: skip

UpdateRule = Literal["crammer_singer", "figure_1"]
RULES: tuple[UpdateRule, ...] = ("crammer_singer", "figure_1")


@dataclass(frozen=True, eq=False)
class PRankWeights:
    """Rankers of m aspects."""

    weights: FloatArray  # (n_features, n_aspects)
    thresholds: FloatArray  # (n_aspects, n_ranks − 1)
    mixing: FloatArray  # (n_aspects, n_aspects): the identity, plus the similarity for SIM


@njit(cache=True, error_model="numpy")
def _epoch(
    indptr: Any, indices: Any, data: Any, ranks: Any, agreement: Any, mixing: Any, order: Any, figure_1: bool,
    step: float, w: Any, w_sum: Any, b: Any, b_sum: Any,
) -> float:  # fmt: skip
    """One pass. ``w_sum``, ``b_sum`` hold Σ step·change, so that w − w_sum/step is the mean of all iterates."""
    m, n_thresholds = b.shape
    own, scores = np.empty(m), np.empty(m)
    moves = np.empty(m)
    griefs = np.empty((m, n_thresholds + 1))
    guess = np.empty(m, dtype=np.int64)
    for row in order:
        own[:] = 0.0
        for p in range(indptr[row], indptr[row + 1]):
            f, value = indices[p], data[p]
            for i in range(m):
                own[i] += w[f, i] * value
        for i in range(m):
            total = 0.0
            for j in range(m):
                total += mixing[i, j] * own[j]
            scores[i] = total
        decode_row(scores, b, agreement[row], griefs, guess)
        moved = False
        for i in range(m):
            moves[i] = 0.0
            truth = ranks[row, i]
            if truth == 0 or truth == guess[i]:  # a missing rank teaches nothing
                continue
            for r in range(1, n_thresholds + 1):
                # Step 4.b of Figure 1 says (ŷ − r)·yᵣ ≤ 0, which also moves a threshold that is right already (ŷ = r,
                # yᵣ = −1); Crammer & Singer's (score − bᵣ)·yᵣ ≤ 0 does not.
                tau = 0.0
                if truth > r and guess[i] <= r:
                    tau = 1.0
                elif truth <= r and (guess[i] > r or (figure_1 and guess[i] == r)):
                    tau = -1.0
                if tau != 0.0:
                    moves[i] += tau
                    b[i, r - 1] -= tau
                    b_sum[i, r - 1] -= step * tau
                    moved = True
        if moved:
            for p in range(indptr[row], indptr[row + 1]):
                f, value = indices[p], data[p]
                for i in range(m):
                    if moves[i] != 0.0:
                        w[f, i] += moves[i] * value
                        w_sum[f, i] += step * moves[i] * value
        step += 1.0
    return step


def aspect_similarity(ranks: IntArray) -> FloatArray:
    """Cosine of the aspects' rank vectors over the training texts, shape (m, m).

    Each pair is compared on the texts that rank both. The diagonal is 1: the sum of [SB07] eq. 1 runs over all aspects,
    the ranker's own among them (note 2), whose score so counts twice.
    """
    y = np.asarray(ranks, dtype=np.float64)
    seen = (y > 0).astype(np.float64)
    norms = np.sqrt((y**2).T @ seen)  # entry (i, j): length of column i on the texts that rank j too
    both = norms * norms.T
    cosine = np.divide(y.T @ y, both, out=np.zeros_like(both), where=both > 0)
    np.fill_diagonal(cosine, 1.0)
    return cosine


def train_prank(
    x: Any,
    ranks: IntArray,
    *,
    n_ranks: int,
    n_epochs: int = 10,
    rule: UpdateRule = "crammer_singer",
    averaged: bool = True,
    similarity: FloatArray | None = None,
    agreement: FloatArray | None = None,
    rng: np.random.Generator | None = None,
    n_orders: int = 1,
) -> list[PRankWeights]:
    """Train rankers online; the weights after each epoch.

    Parameters
    ----------
    x : sparse or dense array of shape (n_texts, n_features)
    ranks : int array of shape (n_texts, n_aspects)
        1..n_ranks; 0 is missing.
    n_ranks : int
    n_epochs : int
    rule : {"crammer_singer", "figure_1"}
        Which thresholds an error moves: those on the wrong side of the text, or the rule as printed in [SB07].
    averaged : bool
        The mean of all iterates instead of the last one.
    similarity : array of shape (n_aspects, n_aspects), optional
        SIM: how much of each aspect's score is added.
    agreement : array of shape (n_texts,), optional
        Good Grief: agreement scores of the training texts, already scaled by α.
    rng : numpy.random.Generator, optional
        Shuffles the texts before each epoch; without it they come in the order given.
    n_orders : int
        Train this often, each time in another order, and take the mean of the weights. An online ranker depends on the
        order of its texts; the mean of a few is better than any of them.

    Returns
    -------
    list of PRankWeights, one an epoch
    """
    if rule not in RULES:
        raise InputError(f"an update rule is one of {', '.join(RULES)}; got {rule!r}.")
    if n_orders > 1 and rng is None:
        raise InputError(f"{n_orders} orders of the texts need a generator that makes them; give rng.")
    x = sp.csr_array(x, dtype=np.float64)
    y = np.ascontiguousarray(ranks, dtype=np.int64)
    (n, d), m = x.shape, y.shape[1]
    mixing = np.eye(m) if similarity is None else np.eye(m) + similarity
    agree = np.zeros(n) if agreement is None else np.ascontiguousarray(agreement, dtype=np.float64)
    weights, thresholds = np.zeros((n_epochs, d, m)), np.zeros((n_epochs, m, n_ranks - 1))
    for _ in range(n_orders):
        w, w_sum = np.zeros((d, m)), np.zeros((d, m))
        b, b_sum = np.zeros((m, n_ranks - 1)), np.zeros((m, n_ranks - 1))
        order, step = np.arange(n), 1.0
        for epoch in range(n_epochs):
            if rng is not None:
                order = rng.permutation(n)
            step = _epoch(
                x.indptr, x.indices, x.data, y, agree, mixing, order, rule == "figure_1", step, w, w_sum, b, b_sum
            )
            weights[epoch] += (w - w_sum / step if averaged else w) / n_orders
            thresholds[epoch] += (b - b_sum / step if averaged else b) / n_orders
    return [PRankWeights(w, b, mixing) for w, b in zip(weights, thresholds, strict=True)]


def prank_scores(model: PRankWeights, x: Any) -> FloatArray:
    """Scores of texts under every aspect, shape (n_texts, n_aspects)."""
    return np.asarray(x @ model.weights @ model.mixing.T)


# Scores of unit-length texts and log odds of agreement are both of the order of one. 0 is the agreement model ignored.
ALPHAS = (0.0, 0.1, 0.3, 0.5, 1.0)
_USUAL = 0.5  # the α that is taken unless development texts speak against it
_LEVEL = 0.05  # of the test by which they do
# Whether the rankers are trained on their own, on jointly decoded ranks, or as development texts say.
Training = Literal["apart", "joint", "chosen"]
Similarity = Literal["all", "others"]  # SIM's sum runs over all aspects, or over the others only


@dataclass(frozen=True, eq=False)
class GoodGrief:
    """Rankers with the α and the number of passes that development data chose."""

    ranker: PRankWeights
    alpha: float
    n_epochs: int
    curve: FloatArray  # (n_epochs tried,): development loss after each pass, at the α chosen
    joint: bool  # whether α counted in training, not only in decoding


_Tried = tuple[GoodGrief, FloatArray]  # a model and the development loss of each text


def text_losses(truth: IntArray, ranks: IntArray) -> FloatArray:
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
    similarity: Similarity | None = None,
    free: bool = False,
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
    similarity : {None, "all", "others"}
        SIM: add to an aspect's score those of all aspects ([SB07] eq. 1) or of the others only, weighted by the cosine
        of their ranks.
    free : bool
        Take the α of least development loss, whether or not the gain could be chance.
    training : {"chosen", "joint", "apart"}
        "joint" always decodes jointly in training ([SB07] Figure 1), "apart" never does.
    rule, averaged, n_orders, rng
        As in :func:`~accord.aspects.prank.train_prank`.
    """
    dev_x, dev_ranks, dev_agreement = development
    mixed = None if similarity is None else aspect_similarity(ranks)
    if mixed is not None and similarity == "others":
        np.fill_diagonal(mixed, 0.0)
    seed = int(rng.integers(2**63))  # every α sees the texts in the same orders

    def trained(alpha: float) -> list[PRankWeights]:
        return train_prank(
            x,
            ranks,
            n_ranks=n_ranks,
            n_epochs=n_epochs,
            rule=rule,
            averaged=averaged,
            similarity=mixed,
            agreement=alpha * agreement,
            rng=np.random.default_rng(seed),
            n_orders=n_orders,
        )

    def losses(ranker: PRankWeights, alpha: float) -> FloatArray:
        decoded = good_grief_decode(prank_scores(ranker, dev_x), ranker.thresholds, alpha * dev_agreement)
        return text_losses(dev_ranks, decoded)

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
    return _first_unless_worse(options, level=1.0 if free else _LEVEL)


def _first_unless_worse(options: list[_Tried], level: float) -> GoodGrief:
    """The first, or the best one where that is better by more than the trials explain; at level 1 always the best."""
    (first, usual), (best, least) = options[0], min(options, key=lambda option: float(option[1].mean()))
    gain = usual - least
    if level >= 1.0:
        return best
    limit = norm.isf(level / max(1, len(options) - 1)) * gain.std() / np.sqrt(len(gain))
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
    settings |= {"free": False, "n_epochs": chosen.n_epochs, "training": "joint" if chosen.joint else "apart"}
    final = fit_good_grief(*everything, everything, alphas=(chosen.alpha,), passes=chosen.n_epochs, rng=rng, **settings)
    return replace(chosen, ranker=final.ranker)
