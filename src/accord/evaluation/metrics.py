"""How good predictions are. Each function takes the truth first and returns one number, or a named tuple of them."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import xlogy
from sklearn import metrics as sklearn_metrics

from accord.errors import InputError
from accord.typing import AnyArray, FloatArray

__all__ = [
    "PrecisionRecallF1",
    "accuracy",
    "accuracy_where_open",
    "auc",
    "average_precision",
    "cross_entropy",
    "expected_calibration_error",
    "iou_f1",
    "kendall",
    "mean_average_precision",
    "mean_reciprocal_rank",
    "pearson",
    "precision_recall_f1",
    "quadratic_kappa",
    "ranking_loss",
    "spearman",
    "token_f1",
]

_ROUNDING = 1e-9  # how far outside [0, 1] rounding may carry a probability


class PrecisionRecallF1(NamedTuple):
    """Precision, recall and their harmonic mean; each is 0 where it has no denominator."""

    precision: float
    recall: float
    f1: float


def accuracy(truth: AnyArray, predicted: AnyArray) -> float:
    """The share of predictions that are right."""
    truth, predicted = _same_shape(truth, predicted)
    return float(np.mean(truth == predicted))


def accuracy_where_open(predicted: AnyArray, truth: Any, *, known: Any = None, sample_weight: Any = None) -> float:
    """Accuracy on the rows that have a label which was not given beforehand.

    Parameters
    ----------
    predicted : array of shape (n,)
    truth : sequence of shape (n,)
        Missing (``None`` or NaN) where the label is not known.
    known : sequence of shape (n,), optional
        Labels that were given; missing elsewhere.
    sample_weight : sequence of shape (n,), optional
        How much each row counts; by default all count the same.

    Examples
    --------
    >>> accuracy_where_open(np.array(["a", "b", "a"]), ["a", "a", None])
    0.5
    """
    n = len(predicted)
    labels = np.asarray(truth, dtype=object)
    given = np.full(n, None) if known is None else np.asarray(known, dtype=object)
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    for name, column in (("y", labels), ("known", given), ("sample_weight", weight)):
        if column.shape != (n,):
            raise InputError(f"{name} must have one entry a row, {n} of them; it has shape {column.shape}.")
    counted = ~pd.isna(labels) & pd.isna(given)
    if not counted.any():
        raise InputError("a score needs rows with a label that was not given in known; there is none.")
    return float(np.average(predicted[counted] == labels[counted], weights=weight[counted]))


def auc(truth: AnyArray, scores: AnyArray) -> float:
    """The chance that a positive example has a higher score than a negative one; ties count half."""
    truth, scores = _same_length(truth, scores)
    if len(np.unique(truth)) != 2:
        raise InputError(f"the AUC needs two classes; the truth has {len(np.unique(truth))}. Pool more examples.")
    return float(sklearn_metrics.roc_auc_score(truth, scores))


def cross_entropy(truth: AnyArray, probability: AnyArray) -> float:
    """Mean negative log probability of the truth, in nats.

    Parameters
    ----------
    truth : array of shape (n,)
        Numbers in [0, 1] (½ for an undecided vote) where ``probability`` has one column; else class positions 0..k−1.
    probability : array of shape (n,) or (n, k)
        P(1), or the probability of each class. Kept away from 0 and 1 by the smallest step of floating numbers, as
        scikit-learn does, so that one confident mistake does not make the mean infinite.
    """
    truth, probability = _same_length(truth, probability)
    tiny = float(np.finfo(np.float64).eps)
    p = np.clip(_probabilities(probability), tiny, 1.0 - tiny)
    if p.ndim == 2:
        return float(-np.log(p[np.arange(len(p)), _class_positions(truth, p.shape[1])]).mean())
    y = _same_shape(truth, p)[0].astype(np.float64)
    if not ((y >= 0.0) & (y <= 1.0)).all():
        raise InputError(f"the truth of a vote lies in [0, 1]; it runs from {y.min():g} to {y.max():g}. Recode it.")
    return float(-(xlogy(y, p) + xlogy(1.0 - y, 1.0 - p)).mean())


def expected_calibration_error(truth: AnyArray, probability: AnyArray, *, n_bins: int = 10) -> float:
    """Mean distance between how sure the predictions are and how often they are right, over equal-width bins.

    Parameters
    ----------
    truth : array of shape (n,)
        1 or 0 (½ allowed) where ``probability`` has one column; else class positions 0..k−1.
    probability : array of shape (n,) or (n, k)
        With one column the bins are of P(1), against the mean truth. With k columns they are of the predicted class's
        probability, against the accuracy.
    n_bins : int
    """
    truth, probability = _same_length(truth, probability)
    p = _probabilities(probability)
    if p.ndim == 2:
        truth, p = (p.argmax(axis=1) == _class_positions(truth, p.shape[1])), p.max(axis=1)
    y = _same_shape(truth, p)[0].astype(np.float64)
    # Σ_b (n_b / n) |mean truth − mean probability|; bins are [0, 1/B), …, [(B−1)/B, 1]
    bins = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
    gaps = np.bincount(bins, weights=y - p, minlength=n_bins)
    return float(np.abs(gaps).sum() / len(p))


def pearson(truth: AnyArray, scores: AnyArray) -> float:
    """Pearson's correlation."""
    return _correlation(stats.pearsonr, truth, scores)


def spearman(truth: AnyArray, scores: AnyArray) -> float:
    """Spearman's rank correlation; tied values share their mean rank."""
    return _correlation(stats.spearmanr, truth, scores)


def kendall(truth: AnyArray, scores: AnyArray) -> float:
    """Kendall's τ-b, which corrects for ties."""
    return _correlation(stats.kendalltau, truth, scores)


def ranking_loss(truth: AnyArray, predicted: AnyArray) -> float:
    """Mean |true rank − predicted rank| over texts and aspects [SB07]; a true rank 0 is missing and does not count."""
    truth, predicted = _same_shape(truth, predicted)
    known = truth != 0
    if not known.any():
        raise InputError("the ranking loss needs a known rank; all are missing (0). Give some ranks.")
    return float(np.abs(truth[known].astype(np.float64) - predicted[known].astype(np.float64)).mean())


def quadratic_kappa(truth: AnyArray, predicted: AnyArray) -> float:
    """Cohen's κ with quadratic weights: 1 if all ranks agree, 0 if they agree as often as by chance.

    A true rank 0 is missing and does not count.
    """
    truth, predicted = _same_length(np.ravel(truth), np.ravel(predicted))
    known = truth != 0
    if not known.any():
        raise InputError("kappa needs a known rank; all are missing (0). Give some ranks.")
    truth, predicted = truth[known], predicted[known]
    if (truth == predicted).all():
        return 1.0  # κ has no value where only one rank occurs; full agreement is 1
    # All ranks in between are named: scikit-learn measures distances in places among the labels, not in ranks.
    ranks = np.arange(min(truth.min(), predicted.min()), max(truth.max(), predicted.max()) + 1)
    return float(sklearn_metrics.cohen_kappa_score(truth, predicted, labels=ranks, weights="quadratic"))


def precision_recall_f1(truth: AnyArray, predicted: AnyArray, *, positive: object = 1) -> PrecisionRecallF1:
    """Precision, recall and F1 of one class."""
    truth, predicted = _same_shape(truth, predicted)
    hits = int(((truth == positive) & (predicted == positive)).sum())
    return _from_counts(hits, int((predicted == positive).sum()), int((truth == positive).sum()))


def average_precision(relevant: AnyArray, scores: AnyArray, *, cutoff: int | None = None) -> float:
    """Mean precision at the rank of each relevant item, best score first; tied items stay in their order.

    With a ``cutoff`` only the first so many ranks are looked at, and the mean is over the relevant items there.
    """
    ranked = _ranked(relevant, scores)[:cutoff]
    places = np.flatnonzero(ranked) + 1.0
    return float((np.arange(1, len(places) + 1) / places).mean()) if len(places) else 0.0


def mean_average_precision(
    groups: AnyArray,
    relevant: AnyArray,
    scores: AnyArray,
    *,
    cutoff: int | None = None,
    without: Literal["skip", "zero"] = "skip",
) -> float:
    """Mean of :func:`average_precision` over groups (threads).

    Groups without a relevant item are skipped, or count as 0.
    """
    per_group = [
        average_precision(relevant[rows], scores[rows], cutoff=cutoff)
        for relevant, scores, rows in _groups_that_count(groups, relevant, scores, without)
    ]
    return float(np.mean(per_group))


def mean_reciprocal_rank(
    groups: AnyArray, relevant: AnyArray, scores: AnyArray, *, without: Literal["skip", "zero"] = "skip"
) -> float:
    """Mean over groups of 1 / the rank of the first relevant item; groups without one are skipped, or count as 0."""
    per_group = []
    for relevant_, scores_, rows in _groups_that_count(groups, relevant, scores, without):
        ranked = _ranked(relevant_[rows], scores_[rows])
        per_group.append(1.0 / (int(np.argmax(ranked)) + 1) if ranked.any() else 0.0)
    return float(np.mean(per_group))


def token_f1(
    truth: Sequence[AnyArray], predicted: Sequence[AnyArray], *, average: Literal["macro", "micro"] = "macro"
) -> PrecisionRecallF1:
    """Precision, recall and F1 of the tokens inside rationales.

    Parameters
    ----------
    truth, predicted : sequences of bool arrays
        One array a text: whether each token is inside.
    average : {"macro", "micro"}
        The mean over texts, as ERASER reports, or over all tokens.
    """
    counts = []
    for true, guess in _paired(truth, predicted):
        true, guess = _same_length(np.asarray(true, dtype=bool), np.asarray(guess, dtype=bool))
        hits = int((true & guess).sum())
        counts.append((hits, int(guess.sum()), hits, int(true.sum())))
    return _averaged(counts, average)


def iou_f1(
    truth: Sequence[AnyArray],
    predicted: Sequence[AnyArray],
    *,
    threshold: float = 0.5,
    average: Literal["macro", "micro"] = "macro",
) -> PrecisionRecallF1:
    """Precision, recall and F1 of whole spans: a span is right if it overlaps one of the other side enough.

    The overlap is intersection over union, in tokens or characters as the spans are, and must reach ``threshold``.

    Parameters
    ----------
    truth, predicted : sequences of int arrays of shape (n_spans, 2)
        One array of spans ``[start, end)`` a text.
    threshold : float
    average : {"macro", "micro"}
        The mean over texts, as ERASER reports, or over all spans.
    """
    counts = []
    for true, guess in _paired(truth, predicted):
        overlaps = _iou(np.asarray(true).reshape(-1, 2), np.asarray(guess).reshape(-1, 2)) >= threshold
        n_true, n_guess = overlaps.shape
        counts.append((int(overlaps.any(axis=0).sum()), n_guess, int(overlaps.any(axis=1).sum()), n_true))
    return _averaged(counts, average)


def _iou(a: AnyArray, b: AnyArray) -> FloatArray:
    """|a ∩ b| / |a ∪ b| of each span of a with each of b, shape (n_a, n_b)."""
    start = np.maximum(a[:, None, 0], b[None, :, 0])
    end = np.minimum(a[:, None, 1], b[None, :, 1])
    common = np.maximum(end - start, 0)
    lengths = (a[:, 1] - a[:, 0])[:, None] + (b[:, 1] - b[:, 0])[None, :]
    return np.asarray(common / np.maximum(lengths - common, 1))


def _averaged(counts: list[tuple[int, int, int, int]], average: str) -> PrecisionRecallF1:
    """From (right predictions, predictions, truths found, truths) of each text."""
    if average not in ("macro", "micro"):
        raise InputError(f"an average is 'macro' or 'micro'; this is {average!r}.")
    if not counts:
        raise InputError("an average needs a text; there is none. Give one.")
    if average == "micro":
        return _precision_recall_f1(*np.sum(counts, axis=0))
    # A text in which nothing is marked and nothing predicted is right.
    cells = [PrecisionRecallF1(1.0, 1.0, 1.0) if c[1] == c[3] == 0 else _precision_recall_f1(*c) for c in counts]
    return PrecisionRecallF1(*np.mean(cells, axis=0).tolist())


def _from_counts(hits: int, n_predicted: int, n_true: int) -> PrecisionRecallF1:
    return _precision_recall_f1(hits, n_predicted, hits, n_true)


def _precision_recall_f1(right: int, n_predicted: int, found: int, n_true: int) -> PrecisionRecallF1:
    precision = float(right / n_predicted) if n_predicted else 0.0
    recall = float(found / n_true) if n_true else 0.0
    total = precision + recall
    return PrecisionRecallF1(precision, recall, 2.0 * precision * recall / total if total else 0.0)


def _correlation(measure: object, truth: AnyArray, scores: AnyArray) -> float:
    truth, scores = _same_length(truth, scores)
    if len(truth) < 2 or np.ptp(truth) == 0 or np.ptp(scores) == 0:
        raise InputError(
            f"a correlation needs two values that differ on each side; there are {len(np.unique(truth))} and "
            f"{len(np.unique(scores))} in {len(truth)} rows."
        )
    return float(measure(truth, scores).statistic)  # type: ignore[operator]  # one of SciPy's untyped functions


def _ranked(relevant: AnyArray, scores: AnyArray) -> AnyArray:
    relevant, scores = _same_length(relevant, scores)
    return relevant.astype(bool)[np.argsort(-scores.astype(np.float64), kind="stable")]


def _groups_that_count(
    groups: AnyArray, relevant: AnyArray, scores: AnyArray, without: str
) -> list[tuple[AnyArray, AnyArray, AnyArray]]:
    if without not in ("skip", "zero"):
        raise InputError(f"groups without a relevant item are 'skip' or 'zero'; this is {without!r}.")
    relevant, scores = _same_length(relevant, scores)
    _, codes = np.unique(_same_length(groups, relevant)[0], return_inverse=True)
    order = np.argsort(codes, kind="stable")
    per_group = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    counted = [rows for rows in per_group if without == "zero" or relevant[rows].astype(bool).any()]
    if not counted or not len(order):
        raise InputError("a mean over groups needs one with a relevant item; there is none.")
    return [(relevant, scores, rows) for rows in counted]


def _paired(truth: Sequence[AnyArray], predicted: Sequence[AnyArray]) -> list[tuple[AnyArray, AnyArray]]:
    if len(truth) != len(predicted):
        raise InputError(f"there must be one prediction a text; there are {len(truth)} texts, {len(predicted)} given.")
    return list(zip(truth, predicted, strict=True))


def _probabilities(values: AnyArray) -> FloatArray:
    """Probabilities as float64, kept in [0, 1]; only rounding may have carried them outside."""
    p = np.asarray(values, dtype=np.float64)
    if not ((p >= -_ROUNDING) & (p <= 1.0 + _ROUNDING)).all():
        raise InputError(f"probabilities lie in [0, 1]; these run from {p.min():g} to {p.max():g}.")
    return np.clip(p, 0.0, 1.0)


def _class_positions(truth: AnyArray, n_classes: int) -> AnyArray:
    if truth.ndim != 1 or not np.isin(truth, np.arange(n_classes)).all():
        raise InputError(f"the truth must be the place of a column, 0..{n_classes - 1}, one a row. Recode it.")
    return truth.astype(np.int64)


def _same_shape(a: AnyArray, b: AnyArray) -> tuple[AnyArray, AnyArray]:
    a, b = _same_length(a, b)
    if a.shape != b.shape:
        raise InputError(f"truth and prediction must have the same shape; they have {a.shape} and {b.shape}.")
    return a, b


def _same_length(a: AnyArray, b: AnyArray) -> tuple[AnyArray, AnyArray]:
    a, b = np.asarray(a), np.asarray(b)
    if len(a) != len(b):
        raise InputError(f"truth and prediction must have one entry a row each; they have {len(a)} and {len(b)}.")
    if not len(a):
        raise InputError("a metric needs a row; there is none.")
    return a, b
