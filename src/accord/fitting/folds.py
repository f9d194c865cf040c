"""Folds of whole groups: rows of one thread, debate or person are never parted."""

import numpy as np

from accord.errors import InputError
from accord.typing import AnyArray, IntArray

__all__ = ["group_folds"]


def group_folds(
    groups: AnyArray,
    *,
    n_folds: int = 10,
    random_state: int | np.random.Generator = 0,
    strata: IntArray | None = None,
) -> IntArray:
    """A random fold of each row, shape (n,): whole groups, each fold with as many groups as the next, or one less.

    Which fold a group gets depends on the names of the groups, and not on the order of the rows. With ``strata``, a
    code of each row from 0 on (its label), groups with the same most frequent code are spread evenly over the folds.

    Examples
    --------
    >>> group_folds(["a", "a", "b", "c"], n_folds=3).tolist()
    [1, 1, 2, 0]
    """
    names, codes = np.unique(np.asarray(groups), return_inverse=True)
    if not 2 <= n_folds <= len(names):
        raise InputError(f"n_folds must be from 2 to the number of groups, {len(names)}; this is {n_folds}.")
    fold_of = np.empty(len(names), dtype=np.int64)
    order = np.random.default_rng(random_state).permutation(len(names))
    if strata is not None:
        counts = np.zeros((len(names), int(strata.max()) + 1))
        np.add.at(counts, (codes.ravel(), strata), 1)
        order = order[np.argsort(counts.argmax(axis=1)[order], kind="stable")]
    fold_of[order] = np.arange(len(names)) % n_folds
    return fold_of[codes.ravel()]
