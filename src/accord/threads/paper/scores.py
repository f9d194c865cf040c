"""Figures of thread classifiers with intervals from resampling whole threads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from accord.evaluation.metrics import average_precision
from accord.evaluation.tables import Row
from accord.typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["Outcome", "joined_outcomes", "macro_row", "mean_outcome", "mrr_row", "ratio_row", "score_rows"]

_N_DRAWS = 1000
_N_BINS = 10


@dataclass(frozen=True, eq=False)
class Outcome:
    """Truth and prediction of comments: 1 = good answer."""

    thread: IntArray  # (n_comments,), from 0
    truth: IntArray  # (n_comments,)
    predicted: IntArray  # (n_comments,)
    probability: FloatArray  # (n_comments,)

    @property
    def right(self) -> FloatArray:
        """1 where the prediction is the truth."""
        return (self.truth == self.predicted).astype(np.float64)

    def rows(self, mask: BoolArray) -> "Outcome":
        """Some of the comments."""
        return Outcome(self.thread[mask], self.truth[mask], self.predicted[mask], self.probability[mask])


def joined_outcomes(parts: Sequence[Outcome]) -> Outcome:
    """Several outcomes of the same threads as one."""

    def column(name: str) -> AnyArray:
        return np.concatenate([getattr(part, name) for part in parts])

    return Outcome(column("thread"), column("truth"), column("predicted"), column("probability"))


def mean_outcome(parts: Sequence[Outcome]) -> Outcome:
    """What several models say of the same comments together: the mean of their probabilities."""
    p = np.mean([part.probability for part in parts], axis=0)
    return replace(parts[0], predicted=(p > 0.5).astype(np.int64), probability=p)


def _by_thread(thread: IntArray, values: FloatArray) -> FloatArray:
    return np.bincount(thread, weights=values, minlength=int(thread.max()) + 1).astype(np.float64)


def _draws(n_threads: int, seed: int = 0) -> FloatArray:
    """How often each thread is drawn in each bootstrap sample; the first row is the sample itself."""
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(n_threads, np.full(n_threads, 1.0 / n_threads), size=_N_DRAWS)
    return np.vstack([np.ones(n_threads), drawn]).astype(np.float64)


def _interval(samples: FloatArray) -> tuple[float, float, float]:
    low, high = np.nanpercentile(samples[1:], [2.5, 97.5])
    return float(samples[0]), float(low), float(high)


def ratio_row(
    table: str, row: str, metric: str, thread: IntArray, top: FloatArray, *, paper: float | None = None
) -> Row:
    """The mean of ``top`` over comments, in percent, with a bootstrap interval over threads."""
    sums, counts = _by_thread(thread, top), _by_thread(thread, np.ones(len(thread)))
    present = counts > 0
    draws = _draws(int(present.sum()))
    value, low, high = _interval(100.0 * (draws @ sums[present]) / (draws @ counts[present]))
    return Row(table, row, metric, paper, value, low, high, int(present.sum()))


def score_rows(
    table: str,
    row: str,
    outcome: Outcome,
    *,
    paper: Mapping[str, float] | None = None,
    all_threads: bool = False,
) -> list[Row]:
    """Precision, recall, F1, accuracy, calibration error and mean average precision, in percent.

    Threads without a good answer do not enter the mean average precision, or with ``all_threads`` count as 0.
    """
    paper = paper or {}
    thread, y, z, p = outcome.thread, outcome.truth, outcome.predicted, outcome.probability
    n_threads = int(thread.max()) + 1
    draws = _draws(n_threads)

    def total(values: FloatArray) -> FloatArray:
        return draws @ _by_thread(thread, np.asarray(values, dtype=np.float64))

    hits, said, good = total((y == 1) & (z == 1)), total(z == 1), total(y == 1)
    precision, recall = hits / np.maximum(said, 1.0), hits / np.maximum(good, 1.0)
    bins = np.minimum((p * _N_BINS).astype(np.int64), _N_BINS - 1)
    gaps = sum(np.abs(total(np.where(bins == b, y - p, 0.0))) for b in range(_N_BINS))
    counted, precisions = _by_rank(thread, y, p, average_precision, all_threads)
    figures: dict[str, FloatArray] = {
        "p": precision,
        "r": recall,
        "f1": 2 * hits / np.maximum(said + good, 1.0),
        "accuracy": total(y == z) / total(np.ones(len(y))),
        "ece": np.asarray(gaps / total(np.ones(len(y)))),
        "map": (draws[:, counted] @ precisions) / draws[:, counted].sum(axis=1),
    }
    rows = []
    for metric, samples in figures.items():
        value, low, high = _interval(100.0 * samples)
        rows.append(Row(table, row, metric, paper.get(metric), value, low, high, n_threads))
    return rows


def macro_row(table: str, row: str, thread: IntArray, truth: AnyArray, predicted: AnyArray) -> Row:
    """F1 of each label, averaged over the labels that occur, in percent."""
    draws = _draws(int(thread.max()) + 1)

    def total(mask: AnyArray) -> FloatArray:
        return draws @ _by_thread(thread, np.asarray(mask, dtype=np.float64))

    labels = np.unique(np.asarray(truth).astype(str))
    truth, predicted = np.asarray(truth).astype(str), np.asarray(predicted).astype(str)
    each = [
        2 * total((truth == k) & (predicted == k)) / np.maximum(total(truth == k) + total(predicted == k), 1.0)
        for k in labels
    ]
    value, low, high = _interval(100.0 * np.mean(each, axis=0))
    return Row(table, row, "macro_f1", None, value, low, high, draws.shape[1])


def mrr_row(table: str, row: str, outcome: Outcome, *, all_threads: bool = False) -> Row:
    """Mean reciprocal rank of the first good answer, in percent; ``all_threads`` as in :func:`score_rows`."""

    def reciprocal(truth: IntArray, scores: FloatArray) -> float:
        ranked = truth[np.argsort(-scores, kind="stable")] == 1
        return 1.0 / (1 + int(np.argmax(ranked))) if ranked.any() else 0.0

    _, values = _by_rank(outcome.thread, outcome.truth, outcome.probability, reciprocal, all_threads)
    draws = _draws(len(values))
    value, low, high = _interval(100.0 * (draws @ values) / draws.sum(axis=1))
    return Row(table, row, "mrr", None, value, low, high, len(values))


def _by_rank(
    thread: IntArray,
    truth: IntArray,
    scores: FloatArray,
    measure: Callable[[IntArray, FloatArray], float],
    all_threads: bool,
) -> tuple[IntArray, FloatArray]:
    """The threads that count, and a ranking measure of each."""
    counted, values = [], []
    for t in range(int(thread.max()) + 1):
        rows = np.flatnonzero(thread == t)
        if all_threads or truth[rows].any():
            counted.append(t)
            values.append(measure(truth[rows], scores[rows]))
    return np.array(counted), np.array(values)
