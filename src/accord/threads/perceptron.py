"""The perceptron for any number of labels, voted or averaged (Freund and Schapire 1999; Collins 2002)."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from accord.typing import FloatArray, IntArray

__all__ = ["PerceptronPath", "fit_perceptron"]

_VERSIONS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class PerceptronPath:
    """All weight versions of a perceptron run, and how many examples each one survived."""

    versions: FloatArray  # (n_versions, n_labels, n_features)
    survivals: FloatArray  # (n_versions,)

    def averaged(self) -> FloatArray:
        """Mean weights over all examples seen, shape (n_labels, n_features)."""
        return np.tensordot(self.survivals / self.survivals.sum(), self.versions, axes=1)

    def votes(self, x: FloatArray) -> FloatArray:
        """Share of the votes for each label, shape (n_rows, n_labels): every version votes with its survival."""
        n_labels = self.versions.shape[1]
        votes = np.zeros((len(x), n_labels))
        # So many versions at once that their scores stay small.
        at_once = max(1, _VERSIONS_AT_ONCE * 256 // max(len(x), 1))
        for start in range(0, len(self.versions), at_once):
            some = slice(start, start + at_once)
            winners = np.einsum("vkd,nd->nvk", self.versions[some], x, optimize=True).argmax(axis=2)
            for label in range(n_labels):
                votes[:, label] += (winners == label) @ self.survivals[some]
        return np.asarray(votes / self.survivals.sum())


@njit(cache=True, error_model="numpy")
def perceptron_updates(
    x: FloatArray, labels: IntArray, n_labels: int, order: IntArray
) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
    """Run over the rows in ``order``; the mistaken rows, the labels wrongly given, and how long versions survived."""
    weights = np.zeros((n_labels, x.shape[1]))
    rows = np.empty(len(order), dtype=np.int64)
    wrong = np.empty(len(order), dtype=np.int64)
    survivals = np.zeros(len(order) + 1)
    n_mistakes = 0
    for step in range(len(order)):
        i = order[step]
        best, best_score = 0, -np.inf
        for k in range(n_labels):
            score = 0.0
            for d in range(x.shape[1]):
                score += weights[k, d] * x[i, d]
            if score > best_score:
                best, best_score = k, score
        if best != labels[i]:
            rows[n_mistakes], wrong[n_mistakes] = i, best
            n_mistakes += 1
            for d in range(x.shape[1]):
                weights[labels[i], d] += x[i, d]
                weights[best, d] -= x[i, d]
        survivals[n_mistakes] += 1.0
    return rows[:n_mistakes], wrong[:n_mistakes], survivals[: n_mistakes + 1], order


def fit_perceptron(
    x: FloatArray, labels: IntArray, n_labels: int, *, n_epochs: int, rng: np.random.Generator
) -> PerceptronPath:
    """Train on rows in a new random order each epoch.

    Parameters
    ----------
    x : array of shape (n_rows, n_features)
    labels : int array of shape (n_rows,)
    n_labels, n_epochs : int
    rng : numpy.random.Generator

    Returns
    -------
    PerceptronPath
    """
    order = np.concatenate([rng.permutation(len(labels)) for _ in range(n_epochs)])
    x = np.ascontiguousarray(x, dtype=np.float64)
    rows, wrong, survivals, _ = perceptron_updates(x, np.asarray(labels, dtype=np.int64), n_labels, order)
    steps = np.zeros((len(rows) + 1, n_labels, x.shape[1]))
    number = np.arange(1, len(rows) + 1)
    steps[number, labels[rows]] += x[rows]
    steps[number, wrong] -= x[rows]
    return PerceptronPath(np.cumsum(steps, axis=0), survivals)
