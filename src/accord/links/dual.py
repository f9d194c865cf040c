"""Beliefs from content and links: how far links agree, how strongly they pull, and how sure the result may be.

What is fitted here sees only log probabilities of training texts by models trained without them, so that everything
(agreement, couplings, fusion) is chosen on texts that stand for new ones. There are two couplings: one for texts none
of whose neighbours has a known label, one for texts among known labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from accord.engines.numerics import sigmoid, spread
from accord.fitting.optimise import l2_penalised, minimise_lbfgs
from accord.links.content import Calibration, step_along
from accord.links.linked_graph import linked_beliefs, same_label_gains
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "Agreement",
    "Coupling",
    "DualModel",
    "Evidence",
    "fit_agreement",
    "fit_coupling",
    "fuse",
    "pull_share",
    "spread_labels",
]

_TINY = 1e-9
# Agreement of links before any is seen: so many pairs, and the share of them that agree.
PRIOR_PAIRS, PRIOR_SHARE = 2.0, 0.75
# Fusion weights before any text is seen, and how far they are expected to lie from there.
PRIOR = np.array([1.0, 0.15, 0.0, 0.6])
DEVIATION = np.array([0.3, 0.4, 0.2, 0.3])
# A coupling that is not zero must lower the loss of all held-out texts together by this much.
PRICE = 1.0
# Label spreading: how far labels travel, and the share that counts as nothing.
REACH, NOTHING, N_STEPS = 0.9, 0.02, 40


@dataclass(frozen=True, eq=False)
class Evidence:
    """Links of one kind: which texts they join, what speaks for or against equal labels, and what they weigh."""

    ends: IntArray  # (n_pairs, 2)
    features: FloatArray  # (n_pairs, n_features); NaN in a row that says nothing
    weights: FloatArray  # (n_pairs,)


@dataclass(frozen=True, eq=False)
class Agreement:
    """Log odds that two linked texts have the same label, linear in standardised features."""

    centre: FloatArray  # (n_features,)
    spread: FloatArray  # (n_features,)
    weights: FloatArray  # (n_features,)
    offset: float
    base: float  # of a link about which nothing is known but that it is there

    def log_odds(self, features: FloatArray) -> FloatArray:
        """Shape (n_pairs,)."""
        told = (features - self.centre) / self.spread @ self.weights + self.offset
        return np.asarray(np.where(np.isfinite(told), told, self.base))


def fit_agreement(features: FloatArray, same: BoolArray, *, strength: float = 1.0) -> Agreement:
    """Logistic regression of equal labels on link features, with Platt's targets.

    With one feature, the score of a link classifier, and ``strength=0`` this is Platt's sigmoid. A link without
    features has the base rate of agreement.

    Parameters
    ----------
    features : float array of shape (n_pairs, n_features)
        NaN in the rows of links that say nothing.
    same : bool array of shape (n_pairs,)
    strength : float
        Penalty on the squared standardised weights.
    """
    share = (same.sum() + PRIOR_PAIRS * PRIOR_SHARE) / (len(same) + PRIOR_PAIRS)
    base = float(np.log(share / (1.0 - share)))
    told = np.isfinite(features).all(axis=1)
    features, same = features[told], same[told]
    n, n_features = features.shape
    centre = features.mean(axis=0) if n else np.zeros(n_features)
    scale = spread(features)
    if not n or not np.any(features != features[0]):
        return Agreement(centre, scale, np.zeros(n_features), base, base)
    x = np.column_stack([(features - centre) / scale, np.ones(n)])
    n_same = int(same.sum())
    target = np.where(same, (n_same + 1.0) / (n_same + 2.0), 1.0 / (n - n_same + 2.0))

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        log_odds = x @ weights
        value = float(np.sum(np.logaddexp(0.0, log_odds) - target * log_odds))
        return value, (sigmoid(log_odds) - target) @ x

    penalty = np.append(np.full(n_features, strength), 0.0)
    weights = minimise_lbfgs(l2_penalised(loss, penalty), np.zeros(n_features + 1)).weights
    return Agreement(centre, scale, weights[:-1], float(weights[-1]), base)


@dataclass(frozen=True, eq=False)
class Coupling:
    """How strongly each kind of link pulls, and how content, pulls and spread labels are weighed in the end.

    The log probability is ``a·content + (s + r·log degree)·pull + t·spread``, up to normalisation: beliefs that went
    round loops are over-confident, and more so where there are many links.
    """

    scales: tuple[float, ...]
    fusion: FloatArray  # (4,) a, s, r, t
    loss: float = np.nan  # mean log loss of held-out training texts
    content_loss: float = np.nan  # the same with content alone
    rank: float = np.nan  # total loss with penalties, by which couplings are compared


RAW = np.array([1.0, 1.0, 0.0, 0.0])  # the beliefs as they are


@dataclass(frozen=True, eq=False)
class DualModel:
    """Calibration of the content, one agreement model a kind of link, and the two couplings."""

    calibration: Calibration
    agreements: tuple[Agreement, ...]
    free: Coupling  # where no label is known
    among_known: Coupling
    engine: str
    silent: bool = False  # whether the content says nothing

    def gains(self, evidence: Sequence[Evidence], scales: Sequence[float]) -> list[FloatArray]:
        """Scaled gains of equal labels of each kind of link, each of shape (n_pairs,)."""
        n_labels = len(self.calibration.slopes)
        return [
            scale * kind.weights * same_label_gains(agreement.log_odds(kind.features), n_labels)
            for scale, agreement, kind in zip(scales, self.agreements, evidence, strict=True)
        ]

    def coupling(self, known: IntArray | None) -> Coupling:
        """The coupling for texts some of which have known labels, or none."""
        return self.free if known is None or not (known >= 0).any() else self.among_known

    def parts(
        self, log_p: FloatArray, evidence: Sequence[Evidence], known: IntArray | None, *, warn: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        """Pulls of links and spread labels, each of shape (n_texts, n_labels)."""
        reached = np.zeros_like(log_p)
        if known is not None and (known >= 0).any() and evidence and self.among_known.fusion[3] > 0.0:
            reached = spread_labels(evidence[0], known, log_p.shape[1])
        return self.pull(log_p, evidence, known, reached, self.coupling(known).scales, warn=warn), reached

    def pull(
        self,
        log_p: FloatArray,
        evidence: Sequence[Evidence],
        known: IntArray | None,
        reached: FloatArray,
        scales: Sequence[float],
        **options: Any,
    ) -> FloatArray:
        """What links add to the log probabilities by content, shape (n_texts, n_labels)."""
        ends = np.concatenate([kind.ends for kind in evidence]) if evidence else np.empty((0, 2), dtype=np.int64)
        gains = np.concatenate(self.gains(evidence, scales)) if evidence else np.empty(0)
        # Content that says nothing would let a few labels flood the graph: spread labels start the inference instead.
        start = log_p + 0.5 * reached if self.silent else log_p
        held = gains != 0.0
        if not held.any():
            return np.zeros_like(log_p)
        raw = linked_beliefs(start, ends[held], gains[held], engine=self.engine, known=known, **options)[0]
        return np.asarray(np.log(np.clip(raw, _TINY, 1.0)) - start)

    def beliefs(
        self, log_p: FloatArray, evidence: Sequence[Evidence], *, known: IntArray | None = None, warn: bool = True
    ) -> FloatArray:
        """Beliefs, shape (n_texts, n_labels), from the log probabilities by content; known labels hold."""
        pull, reached = self.parts(log_p, evidence, known, warn=warn)
        found = np.exp(fuse(self.coupling(known).fusion, log_p, pull, reached, degrees(evidence, len(log_p))))
        if known is not None:
            found[known >= 0] = np.eye(log_p.shape[1])[known[known >= 0]]
        return found


def degrees(evidence: Sequence[Evidence], n_texts: int) -> FloatArray:
    """Number of links of each text, of all kinds."""
    ends = [kind.ends.ravel() for kind in evidence]
    return np.bincount(np.concatenate([np.empty(0, dtype=np.int64), *ends]), minlength=n_texts).astype(np.float64)


def spread_labels(kind: Evidence, known: IntArray, n_labels: int) -> FloatArray:
    """Centred log shares of the known labels that reach each text along links ([ZBL04]), (n_texts, n_labels)."""
    step = step_along(len(known), kind.ends, kind.weights, loops=False)
    given = np.where(known[:, None] == np.arange(n_labels), 1.0, 0.0)
    reached = given
    for _ in range(N_STEPS):
        reached = REACH * (step @ reached) + (1.0 - REACH) * given
    total = reached.sum(axis=1, keepdims=True)
    share = np.log(np.where(total > 0.0, reached / np.where(total > 0.0, total, 1.0), 1.0 / n_labels) + NOTHING)
    return np.asarray(share - share.mean(axis=1, keepdims=True))


def fuse(
    fusion: FloatArray, log_p: FloatArray, pull: FloatArray, reached: FloatArray, degree: FloatArray
) -> FloatArray:
    """Log probabilities by content, pulls and spread labels together, shape (n_texts, n_labels)."""
    logits = fusion[0] * log_p + pull_share(fusion, degree)[:, None] * pull + fusion[3] * reached
    return np.asarray(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))


def pull_share(fusion: FloatArray, degree: FloatArray) -> FloatArray:
    """What the pull of links counts, by the number of links."""
    return np.maximum(fusion[1] + fusion[2] * np.log(np.maximum(degree, 1.0)), 0.0)


def fit_fusion(
    log_p: FloatArray, pull: FloatArray, reached: FloatArray, degree: FloatArray, codes: IntArray
) -> tuple[FloatArray, float]:
    """Fusion weights of held-out texts by penalised likelihood, and the total loss with its penalty."""
    depth = np.log(np.maximum(degree, 1.0))
    truth = np.arange(len(codes)), codes
    used = np.array([True, bool(pull.any()), bool(pull.any()), bool(reached.any())])

    def loss(w: FloatArray) -> tuple[float, FloatArray]:
        result = fuse(w, log_p, pull, reached, degree)
        error = np.exp(result)
        error[truth] -= 1.0
        along = np.sum(error * pull, axis=1) * (w[1] + w[2] * depth > 0.0)
        slopes = np.array([np.sum(error * log_p), along.sum(), along @ depth, np.sum(error * reached)])
        away = (w - PRIOR) / DEVIATION
        value = -float(result[truth].sum()) + 0.5 * float(away[used] @ away[used])
        return value, np.where(used, slopes + away / DEVIATION, 0.0)

    start = np.where(used, PRIOR, [1.0, 0.0, 0.0, 0.0])
    found = minimise_lbfgs(loss, start, tol=1e-9, bounds=[(0.0, 3.0), (0.0, 3.0), (-1.0, 1.0), (0.0, 3.0)])
    return found.weights, found.value


def fit_coupling(
    model: DualModel,
    log_p: FloatArray,
    codes: IntArray,
    evidence: Sequence[Evidence],
    folds: IntArray | None,
    *,
    scales: Sequence[Sequence[float]],
    recalibrate: bool = True,
) -> Coupling:
    """The scales of links, and the fusion weights, with which held-out training texts have the lowest log loss.

    Parameters
    ----------
    model : DualModel
        Its calibration and agreements; its couplings are not used.
    log_p : float array of shape (n_texts, n_labels)
        By content; of labelled texts by a model trained without them.
    codes : int array of shape (n_texts,)
        −1 for a text without a label.
    evidence : sequence of Evidence
    folds : int array of shape (n_texts,), optional
        The fold with which a labelled text is held out while the labels of the others are known. Without it all
        labelled texts are held out at once.
    scales : sequence of sequences of float
        For each kind of link the scales to choose from.
    recalibrate : bool
        Fit the fusion weights; else beliefs are taken as they come out of the inference.
    """
    labelled = np.flatnonzero(codes >= 0)
    truth, degree = codes[labelled], degrees(evidence, len(codes))[labelled]
    none, n_labels = np.zeros_like(log_p), log_p.shape[1]
    held_out: list[tuple[IntArray, IntArray | None, FloatArray]] = [(labelled, None, none)]
    if folds is not None:
        held_out = []
        for fold in np.unique(folds[labelled]):
            others = np.where(folds != fold, codes, -1)
            rows = np.flatnonzero((codes >= 0) & (folds == fold))
            held_out.append((rows, others, spread_labels(evidence[0], others, n_labels) if evidence else none))
    reached = np.zeros_like(log_p)
    for out, _, each in held_out:
        reached[out] = each[out]
    best: tuple[float, Coupling] | None = None
    content_loss = -float(np.mean(log_p[labelled, truth]))
    for choice in product(*scales):
        pull = np.zeros_like(log_p)
        for out, known, each in held_out:
            pull[out] = model.pull(log_p, evidence, known, each, choice, warn=False, tol=1e-4)[out]
        parts = log_p[labelled], pull[labelled], reached[labelled], degree
        fusion, total = fit_fusion(*parts, truth) if recalibrate else (RAW, 0.0)
        fused = fuse(fusion, *parts)
        loss = -float(np.mean(fused[np.arange(len(truth)), truth]))
        rank = (total if recalibrate else loss * len(truth)) + PRICE * sum(scale != 0.0 for scale in choice)
        if best is None or rank < best[0]:
            best = rank, Coupling(tuple(choice), fusion, loss, content_loss, rank)
    assert best is not None  # there is at least one choice
    return best[1]
