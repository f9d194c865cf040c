"""Perceptron ranking: PRank, SIM and Good Grief training, online over sparse texts.

One kernel serves the three: SIM mixes the aspects' scores by their similarity ([SB07] eq. 1), Good Grief decodes the
ranks jointly with an agreement score before each update ([SB07] Figure 1); without either it is PRank [CS01].
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numba import njit

from accord.aspects.decode import decode_row
from accord.errors import InputError
from accord.typing import FloatArray, IntArray

__all__ = ["RULES", "PRankWeights", "UpdateRule", "aspect_similarity", "prank_scores", "train_prank"]

UpdateRule = Literal["crammer_singer", "figure_1"]
RULES: tuple[UpdateRule, ...] = ("crammer_singer", "figure_1")


@dataclass(frozen=True, eq=False)
class PRankWeights:
    """Rankers of m aspects."""

    weights: FloatArray  # (n_features, n_aspects)
    thresholds: FloatArray  # (n_aspects, n_ranks − 1)
    mixing: FloatArray  # (n_aspects, n_aspects): identity, or identity + similarity for SIM


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
    """Cosine of the aspects' rank vectors over the training texts, shape (m, m); 0 on the diagonal.

    Each pair is compared on the texts that rank both ([SB07] eq. 1; the ranker itself stands outside the sum).
    """
    y = np.asarray(ranks, dtype=np.float64)
    seen = (y > 0).astype(np.float64)
    norms = np.sqrt((y**2).T @ seen)  # entry (i, j): length of column i on the texts that rank j too
    both = norms * norms.T
    cosine = np.divide(y.T @ y, both, out=np.zeros_like(both), where=both > 0)
    np.fill_diagonal(cosine, 0.0)
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
        SIM: how much of each other aspect's score is added.
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
