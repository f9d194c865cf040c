"""Are all aspects of a text ranked alike? A binary model of "all aspects have the same rank", cross-fitted.

Its evidence: what the words say of agreement (a perceptron, SVM or logistic over the same features, [SB07] section
3.3), the largest contrast between two words of the text (section 3.4), and what ordinal models say of the ranks.
Evidence of a training text always comes from models that did not see it: they are far too sure of texts they saw.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from scipy.special import logit
from sklearn.svm import LinearSVC

from accord.aspects.logits import fit_calibration, fit_logits
from accord.aspects.ordinal import OrdinalLogits, fit_stacked, folds, ordinal_probabilities, rank_probabilities
from accord.aspects.prank import train_prank
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = [
    "LEARNERS", "AgreementModel", "agreement_evidence", "agreement_inputs", "agreement_labels", "agreement_reasons",
    "agreement_scores",
    "contrastive_distance", "evidence_names", "fit_agreement",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class AgreementModel:
    """Two stages: words to evidence, evidence to the log odds of equal ranks."""

    weights: FloatArray  # (n_features,): of words
    bias: float
    contrast: FloatArray | None  # (n_features, n_aspects): relative weights of individually trained PRank models
    ranks: OrdinalLogits
    centre: FloatArray  # (n_evidence,)
    scale: FloatArray  # (n_evidence,)
    second: FloatArray  # (n_evidence + 1,): the last entry is the intercept
    prior: float  # log odds of equal ranks over all training texts
    held_out: FloatArray  # (n_texts,): log odds of the training texts, out of fold in both stages


def agreement_labels(ranks: IntArray) -> IntArray:
    """1 where all aspects have the same rank, 0 where two differ, −1 where missing scores leave it open; shape (n,)."""
    seen = np.where(ranks > 0, ranks, np.nan)
    some = (ranks > 0).any(axis=1)
    low, high = np.full(len(ranks), 0.0), np.full(len(ranks), 0.0)
    low[some], high[some] = np.nanmin(seen[some], axis=1), np.nanmax(seen[some], axis=1)
    return np.where(low < high, 0, np.where((ranks > 0).all(axis=1), 1, -1)).astype(np.int8)


@njit(cache=True, error_model="numpy")
def _widest(indptr: Any, indices: Any, weights: Any, out: Any) -> None:
    for row in range(out.shape[0]):
        for i in range(weights.shape[1]):
            low, high = np.inf, -np.inf
            for p in range(indptr[row], indptr[row + 1]):
                w = weights[indices[p], i]
                low, high = min(low, w), max(high, w)
            out[row] = max(out[row], high - low)


def contrastive_distance(x: Any, weights: FloatArray) -> FloatArray:
    """Largest difference in relative weight, under any aspect, between two features of each text; shape (n,).

    ``weights`` (n_features, n_aspects) are those of individually trained rankers; relative means scaled to length one
    within an aspect. 0 for a text with fewer than two features.
    """
    x = sp.csr_array(x)
    norms = np.linalg.norm(weights, axis=0)
    relative = np.ascontiguousarray(weights / np.where(norms > 0, norms, 1.0))
    out = np.zeros(x.shape[0])
    _widest(x.indptr, x.indices, relative, out)
    return out


def _logistic(x: Any, labels: IntArray, penalty: float, rng: np.random.Generator) -> tuple[FloatArray, float]:
    fitted = fit_logits(x, labels[:, None], penalty=penalty, rng=rng)
    return fitted.weights[:, 0], float(fitted.bias[0])


def _svm(x: Any, labels: IntArray, penalty: float, rng: np.random.Generator) -> tuple[FloatArray, float]:
    if len(np.unique(labels)) < 2:
        return np.zeros(x.shape[1]), 0.0
    x = sp.csr_array((x.data, x.indices.astype(np.int32), x.indptr.astype(np.int32)), shape=x.shape)  # liblinear's ints
    machine = LinearSVC(C=1.0 / (10.0 * penalty), random_state=int(rng.integers(2**31))).fit(x, labels)
    return machine.coef_[0], float(machine.intercept_[0])


def _perceptron(x: Any, labels: IntArray, penalty: float, rng: np.random.Generator) -> tuple[FloatArray, float]:
    """PRank with two ranks is the perceptron; the penalty means nothing to it."""
    ranker = train_prank(x, 1 + labels[:, None], n_ranks=2, n_epochs=5, rng=rng)[-1]
    return ranker.weights[:, 0], -float(ranker.thresholds[0, 0])


Learner = Callable[[Any, IntArray, float, np.random.Generator], tuple[FloatArray, float]]
LEARNERS: dict[str, Learner] = {"logistic": _logistic, "svm": _svm, "perceptron": _perceptron}


def evidence_names(aspects: list[str], *, contrast: bool) -> list[str]:
    """What the columns of :func:`agreement_evidence` are."""
    names = ["words of agreement", *[f"rank of {name}" for name in aspects]]
    return [*names, "spread of ranks", "equal by chance", *["contrast of words"] * contrast]


def agreement_evidence(words: FloatArray, probabilities: FloatArray, distance: FloatArray | None) -> FloatArray:
    """What speaks for or against equal ranks, shape (n, n_evidence); :func:`evidence_names` names the columns.

    The score of the words (n,), the mean rank of each aspect, the spread of those, the log odds that all are equal if
    aspects were independent, and the contrastive distance (n,).
    """
    mean = probabilities @ np.arange(1.0, probabilities.shape[2] + 1)
    by_chance = logit(np.clip(probabilities.prod(axis=1).sum(axis=1), 1e-9, 1 - 1e-9))
    columns = [words, *mean.T, mean.std(axis=1), by_chance]
    return np.column_stack(columns if distance is None else [*columns, distance])


def fit_agreement(
    x: Any,
    ranks: IntArray,
    *,
    n_ranks: int,
    learner: str = "logistic",
    contrast: bool = True,
    penalty: float = 0.1,
    n_folds: int = 5,
    rng: np.random.Generator,
    texts: IntArray | None = None,
    ordinal: tuple[OrdinalLogits, FloatArray] | None = None,
) -> AgreementModel:
    """Fit the agreement model.

    Parameters
    ----------
    x : sparse or dense array of shape (n_texts, n_features)
    ranks : int array of shape (n_texts, n_aspects)
    n_ranks : int
    learner : {"logistic", "svm", "perceptron"}
        Of the words.
    contrast : bool
        Use the contrastive distance.
    penalty : float
        L2 strength of the words' weights.
    n_folds : int
    rng : numpy.random.Generator
    texts : int array of shape (n_texts,), optional
        Rows with the same code are held out together.
    ordinal : (OrdinalLogits, array), optional
        A stacked ordinal model and its out-of-fold logits, if they are at hand.

    Returns
    -------
    AgreementModel
    """
    x = sp.csr_array(x, dtype=np.float64)
    labels = agreement_labels(ranks)
    known = labels >= 0
    stacked, held_out = ordinal or fit_stacked(
        x, ranks, n_ranks=n_ranks, penalty=penalty, n_folds=n_folds, rng=rng, texts=texts
    )
    (n, d), m = x.shape, ranks.shape[1]
    words, distance = np.zeros(n), np.zeros(n) if contrast else None
    weights, bias, relative = np.zeros(d), 0.0, np.zeros((d, m)) if contrast else None
    parts = list(folds(ranks, n_folds, rng, texts))
    for train, test in parts:
        seen = train[known[train]]
        w, b = LEARNERS[learner](x[seen], labels[seen], penalty, rng) if len(seen) else (np.zeros(d), 0.0)
        words[test] = x[test] @ w + b
        weights, bias = weights + w / n_folds, bias + b / n_folds
        if distance is not None and relative is not None:
            ranker = train_prank(x[train], ranks[train], n_ranks=n_ranks, n_epochs=3, rng=rng)[-1]
            distance[test] = contrastive_distance(x[test], ranker.weights)
            relative += ranker.weights / n_folds
    evidence = agreement_evidence(words, rank_probabilities(held_out, m), distance)
    centre, scale = evidence.mean(axis=0), evidence.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    inputs = (evidence - centre) / scale
    scores = np.empty(n)
    for train, test in parts:
        second = fit_calibration(inputs[train], labels[train, None], penalty=1.0)[:, 0]
        scores[test] = inputs[test] @ second[:-1] + second[-1]
    second = fit_calibration(inputs, labels[:, None], penalty=1.0)[:, 0]
    prior = float(np.log((labels == 1).sum() + 0.5) - np.log((labels == 0).sum() + 0.5))
    return AgreementModel(weights, bias, relative, stacked, centre, scale, second, prior, scores)


def agreement_inputs(model: AgreementModel, x: Any) -> FloatArray:
    """Standardised evidence of texts, shape (n, n_evidence)."""
    x = sp.csr_array(x)
    distance = None if model.contrast is None else contrastive_distance(x, model.contrast)
    words = np.asarray(x @ model.weights) + model.bias
    evidence = agreement_evidence(words, ordinal_probabilities(model.ranks, x), distance)
    return (evidence - model.centre) / model.scale


def agreement_scores(model: AgreementModel, x: Any) -> FloatArray:
    """Log odds that all aspects have the same rank, shape (n,)."""
    return agreement_inputs(model, x) @ model.second[:-1] + model.second[-1]


def agreement_reasons(
    model: AgreementModel, x: Any, names: AnyArray, aspects: list[str], n_words: int
) -> list[tuple[str, float]]:
    """What the model sees in one text, a sparse row with features named ``names``: evidence and effect in log odds."""
    effects = agreement_inputs(model, x)[0] * model.second[:-1]
    labels = evidence_names(aspects, contrast=model.contrast is not None)
    by_word = x.data * model.weights[x.indices] * model.second[0] / model.scale[0]
    words = [(f"word {names[i]!r}", float(by_word[i])) for i in np.argsort(-np.abs(by_word))[:n_words]]
    return [*zip(labels, effects.tolist(), strict=True), *words]
