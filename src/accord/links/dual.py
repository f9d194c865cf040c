"""The dual classifier after its two classifiers: from left-out scores to calibrated beliefs.

What is fitted here sees only scores of training texts by models trained without their group, so that everything
(sigmoids, weights of link evidence, scales, temperature) is chosen on texts that stand for new ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from accord.engines.numerics import sigmoid, spread
from accord.fitting.calibration import fit_platt, log_probabilities
from accord.fitting.optimise import l2_penalised, minimise_lbfgs
from accord.links.linked_graph import linked_beliefs, same_label_gains
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["Agreement", "DualModel", "Evidence", "calibrated", "fit_agreement", "fit_dual", "fit_temperature"]

_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Evidence:
    """Links of one kind: which texts they join, and what speaks for or against equal labels."""

    ends: IntArray  # (n_pairs, 2)
    features: FloatArray  # (n_pairs, n_features)

    def inside(self, rows: BoolArray) -> "Evidence":
        """The pairs whose ends are both marked in the mask ``rows`` (n_texts,), positions unchanged."""
        keep = rows[self.ends].all(axis=1)
        return Evidence(self.ends[keep], self.features[keep])


@dataclass(frozen=True, eq=False)
class Agreement:
    """Log odds that two linked texts have the same label, linear in standardised features."""

    centre: FloatArray  # (n_features,)
    spread: FloatArray  # (n_features,)
    weights: FloatArray  # (n_features,)
    offset: float

    def log_odds(self, features: FloatArray) -> FloatArray:
        """Shape (n_pairs,)."""
        return np.asarray((features - self.centre) / self.spread @ self.weights + self.offset)


def fit_agreement(features: FloatArray, same: FloatArray, *, strength: float = 1.0) -> Agreement:
    """Logistic regression of equal labels on link features, with Platt's targets.

    With one feature, the score of a link classifier, and ``strength=0`` this is Platt's sigmoid.

    Parameters
    ----------
    features : float array of shape (n_pairs, n_features)
    same : bool array of shape (n_pairs,)
    strength : float
        Penalty on the squared standardised weights.
    """
    n, n_features = features.shape
    centre = features.mean(axis=0) if n else np.zeros(n_features)
    scale = spread(features)
    x = np.column_stack([(features - centre) / scale, np.ones(n)])
    n_same = int(same.sum())
    target = np.where(same, (n_same + 1.0) / (n_same + 2.0), 1.0 / (n - n_same + 2.0))

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        log_odds = x @ weights
        value = float(np.sum(np.logaddexp(0.0, log_odds) - target * log_odds))
        return value, (sigmoid(log_odds) - target) @ x

    penalty = np.append(np.full(n_features, strength), 0.0)
    weights = minimise_lbfgs(l2_penalised(loss, penalty), np.zeros(n_features + 1)).weights
    return Agreement(centre, scale, weights[:-1], float(weights[-1]))


@dataclass(frozen=True, eq=False)
class DualModel:
    """Content sigmoids, one agreement model and one scale a kind of link, and the temperature of the beliefs."""

    sigmoids: FloatArray  # (2, n_sigmoids)
    agreements: tuple[Agreement, ...]
    scales: tuple[float, ...]
    temperature: float
    engine: str
    n_labels: int
    tilt: FloatArray | None = None  # (2, n_labels) slope and offset of each label's log probability, if trained jointly

    def content(self, scores: FloatArray) -> FloatArray:
        """Log probabilities by content alone, shape (n_texts, n_labels)."""
        log_p = log_probabilities(scores, self.sigmoids)
        if self.tilt is None:
            return log_p
        log_p = log_p * self.tilt[0] + self.tilt[1]
        return np.asarray(log_p - np.logaddexp.reduce(log_p, axis=1, keepdims=True))

    def gains(self, evidence: Sequence[Evidence]) -> list[FloatArray]:
        """Scaled gains of equal labels of each kind of link, each of shape (n_pairs,)."""
        return [
            scale * same_label_gains(agreement.log_odds(kind.features), self.n_labels)
            for scale, agreement, kind in zip(self.scales, self.agreements, evidence, strict=True)
        ]

    def beliefs(
        self, scores: FloatArray, evidence: Sequence[Evidence], *, known: IntArray | None = None, warn: bool = True
    ) -> FloatArray:
        """Calibrated beliefs, shape (n_texts, n_labels); ``warn`` where the inference did not settle."""
        raw = _infer(self.content(scores), evidence, self.gains(evidence), self.engine, known, warn=warn)
        return calibrated(raw, self.temperature)


def fit_dual(
    scores: FloatArray,
    codes: IntArray,
    evidence: Sequence[Evidence],
    *,
    n_labels: int,
    engine: str = "mean_field",
    scales: Sequence[Sequence[float]] | None = None,
    strength: float = 1.0,
    recalibrate: bool = True,
) -> DualModel:
    """Fit everything that comes after the classifiers, on left-out scores of the training texts.

    Parameters
    ----------
    scores : float array of shape (n_texts,) or (n_texts, n_labels)
        Content scores, each by a model trained without the text's group.
    codes : int array of shape (n_texts,)
    evidence : sequence of Evidence
        One a kind of link; features that are scores must be left-out scores too.
    scales : sequence of sequences of float, optional
        For each kind of link the scales to choose from, by accuracy and then log loss of the beliefs on the training
        texts; 1 for every kind by default.
    strength : float
        Penalty of the agreement models.
    recalibrate : bool
        Divide log beliefs by a temperature; beliefs of loopy graphs are over-confident.
    """
    sigmoids = fit_platt(scores, codes, n_labels=n_labels)
    agreements = tuple(
        fit_agreement(kind.features, codes[kind.ends[:, 0]] == codes[kind.ends[:, 1]], strength=strength)
        for kind in evidence
    )
    content = log_probabilities(scores, sigmoids)
    unscaled = DualModel(sigmoids, agreements, (1.0,) * len(agreements), 1.0, engine, n_labels).gains(evidence)
    choices = list(product(*(scales if scales is not None else [(1.0,)] * len(agreements))))
    if len(choices) == 1 and not recalibrate:
        return DualModel(sigmoids, agreements, choices[0], 1.0, engine, n_labels)
    best: tuple[tuple[float, float], tuple[float, ...], float] | None = None
    for choice in choices:
        gains = [scale * gain for scale, gain in zip(choice, unscaled, strict=True)]
        raw = _infer(content, evidence, gains, engine, None, warn=False)
        temperature, log_loss = fit_temperature(raw, codes) if recalibrate else (1.0, mean_log_loss(raw, codes))
        rank = (-float(np.mean(raw.argmax(axis=1) == codes)), log_loss)
        if best is None or rank < best[0]:
            best = (rank, choice, temperature)
    assert best is not None  # there is at least one choice
    return DualModel(sigmoids, agreements, best[1], best[2], engine, n_labels)


def fit_temperature(beliefs: FloatArray, codes: IntArray) -> tuple[float, float]:
    """The temperature ≥ 1 that makes log beliefs most likely, and their mean log loss with it."""

    def loss(log_temperature: FloatArray) -> tuple[float, FloatArray]:
        slope = float(np.exp(-log_temperature[0]))
        scores = slope * log_beliefs
        log_p = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        truth = np.arange(len(codes)), codes
        # d log p_y / d slope = log b_y − E_p[log b]
        rise = log_beliefs[truth] - np.sum(np.exp(log_p) * log_beliefs, axis=1)
        return float(-log_p[truth].mean()), np.array([float(rise.mean()) * slope])

    log_beliefs = np.log(np.clip(beliefs, _TINY, 1.0))
    optimum = minimise_lbfgs(loss, np.zeros(1), bounds=[(0.0, 10.0)])
    return float(np.exp(optimum.weights[0])), optimum.value


def calibrated(beliefs: FloatArray, temperature: float) -> FloatArray:
    """Beliefs with their log odds divided by a temperature; no label changes."""
    scores = np.log(np.clip(beliefs, _TINY, 1.0)) / temperature
    return np.asarray(np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)))


def mean_log_loss(beliefs: FloatArray, codes: IntArray) -> float:
    """Mean of −log belief in the true label."""
    return float(-np.mean(np.log(np.clip(beliefs[np.arange(len(codes)), codes], _TINY, 1.0))))


def _infer(
    content: FloatArray,
    evidence: Sequence[Evidence],
    gains: Sequence[FloatArray],
    engine: str,
    known: IntArray | None,
    *,
    warn: bool,
) -> FloatArray:
    ends = np.concatenate([kind.ends for kind in evidence]) if evidence else np.empty((0, 2), dtype=np.int64)
    joined = np.concatenate(gains) if gains else np.empty(0)
    return linked_beliefs(content, ends, joined, engine=engine, known=known, warn=warn)[0]
