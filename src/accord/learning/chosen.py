"""Which way to train a model of links, tried on training texts that were left out with their whole group."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from sklearn.model_selection import GroupKFold

from accord.learning.dual import DualModel, Evidence, fit_dual
from accord.learning.joint import fit_joint
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["fit_chosen"]

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
        As in :func:`~accord.learning.dual.fit_dual`.
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
