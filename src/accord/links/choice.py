"""Several models of the same links as one: the mean of their log beliefs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.model_selection import GroupKFold

from accord.links.dual import DualModel, Evidence, fit_dual
from accord.links.joint import fit_joint
from accord.scale.workers import Workers
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["AveragedModel", "fit_averaged", "fit_chosen"]


@dataclass(frozen=True, eq=False)
class AveragedModel:
    """Models of the same texts and links, each with the same say."""

    models: tuple[DualModel, ...]

    @property
    def sigmoids(self) -> FloatArray:
        """Mean slopes and offsets of the content, shape (2, n_sigmoids)."""
        return np.mean([model.sigmoids for model in self.models], axis=0)

    def content(self, scores: FloatArray) -> FloatArray:
        """Log probabilities by content alone, shape (n_texts, n_labels)."""
        return _mean_log([model.content(scores) for model in self.models])

    def gains(self, evidence: Sequence[Evidence]) -> list[FloatArray]:
        """Mean gains of equal labels of each kind of link, each of shape (n_pairs,)."""
        return [np.mean(each, axis=0) for each in zip(*(model.gains(evidence) for model in self.models), strict=True)]

    def beliefs(
        self, scores: FloatArray, evidence: Sequence[Evidence], *, known: IntArray | None = None, warn: bool = True
    ) -> FloatArray:
        """Normalised means of the models' log beliefs, shape (n_texts, n_labels)."""
        every = [model.beliefs(scores, evidence, known=known, warn=warn) for model in self.models]
        return np.exp(_mean_log([np.log(np.clip(beliefs, 1e-12, 1.0)) for beliefs in every]))


def fit_averaged(
    scores: FloatArray,
    codes: IntArray,
    evidence: Sequence[Evidence],
    *,
    n_labels: int = 2,
    engine: str = "mean_field",
    scales: Sequence[Sequence[float]] | None = None,
    recalibrate: bool = True,
    workers: Workers | None = None,
) -> AveragedModel:
    """The dual classifier and joint training by likelihood; arguments as for each of them."""
    dual = fit_dual(scores, codes, evidence, scales=scales, recalibrate=recalibrate, n_labels=n_labels, engine=engine)
    joint = fit_joint(
        scores, codes, evidence, objective="likelihood", workers=workers, n_labels=n_labels, engine=engine
    )
    return AveragedModel((dual, joint))


def _mean_log(log_p: Sequence[FloatArray]) -> FloatArray:
    mean = np.mean(log_p, axis=0)
    return np.asarray(mean - np.logaddexp.reduce(mean, axis=1, keepdims=True))


N_FOLDS = 5


def fit_chosen(
    scores: FloatArray,
    codes: IntArray,
    evidence: Sequence[Evidence],
    groups: AnyArray,
    *,
    n_labels: int = 2,
    engine: str = "mean_field",
    scales: Sequence[Sequence[float]] | None = None,
    recalibrate: bool = True,
    seed: int = 0,
) -> DualModel:
    """The dual classifier or joint training by likelihood, whichever labels more left-out training texts rightly.

    Parameters
    ----------
    scores, codes, evidence, n_labels, engine, scales, recalibrate
        As in :func:`~accord.links.dual.fit_dual`.
    groups : array of shape (n_texts,)
        Texts that are left out together; with one group nothing can be tried, and it is the dual classifier.
    seed : int
        Seed of the folds of groups.
    """
    ways: list[Callable[..., DualModel]] = [
        partial(fit_dual, n_labels=n_labels, engine=engine, scales=scales, recalibrate=recalibrate),
        partial(fit_joint, n_labels=n_labels, engine=engine, objective="likelihood"),
    ]
    names = np.asarray(groups, dtype=str)
    n_folds = min(N_FOLDS, len(np.unique(names)))
    if n_folds < 2:
        return ways[0](scores, codes, evidence)
    right = np.zeros(len(ways))
    for train, test in GroupKFold(n_folds, shuffle=True, random_state=seed).split(names, groups=names):
        if len(np.unique(codes[train])) < n_labels:
            continue
        known, asked = (_rows(rows, scores, codes, evidence) for rows in (train, test))
        for way, fit in enumerate(ways):
            beliefs = fit(*known).beliefs(asked[0], asked[2], warn=False)
            right[way] += np.sum(beliefs.argmax(axis=1) == asked[1])
    return ways[int(np.argmax(right))](scores, codes, evidence)


def _rows(
    rows: IntArray, scores: FloatArray, codes: IntArray, evidence: Sequence[Evidence]
) -> tuple[FloatArray, IntArray, list[Evidence]]:
    """Scores, labels and evidence of some texts, renumbered."""
    inside = np.zeros(len(codes), dtype=bool)
    inside[rows] = True
    place = np.cumsum(inside) - 1
    kept = [kind.inside(inside) for kind in evidence]
    return scores[inside], codes[inside], [Evidence(place[kind.ends], kind.features) for kind in kept]
