"""Training and test rows that never share a group (topic, thread, debate, author)."""

from collections.abc import Iterator

import numpy as np

from accord.errors import InputError
from accord.fitting.folds import group_folds
from accord.typing import AnyArray, IntArray

__all__ = ["by_group", "group_folds", "leave_one_group_out", "repeated_group_folds", "rotating"]

Split = tuple[IntArray, IntArray]


def by_group(groups: AnyArray, *, test_size: float = 0.2, random_state: int = 0) -> Split:
    """One split: a random share of the groups is for testing, at least one and never all."""
    names, codes = _coded(groups)
    if not 0.0 < test_size < 1.0:
        raise InputError(f"test_size is a share of the groups, between 0 and 1; this is {test_size}.")
    n_test = min(max(round(test_size * len(names)), 1), len(names) - 1)
    chosen = np.random.default_rng(random_state).permutation(len(names))[:n_test]
    return _split(np.isin(codes, chosen))


def leave_one_group_out(groups: AnyArray) -> Iterator[Split]:
    """One split a group, which is tested on; groups in sorted order."""
    names, codes = _coded(groups)
    for group in range(len(names)):
        yield _split(codes == group)


def repeated_group_folds(
    groups: AnyArray, *, n_folds: int = 10, n_repeats: int = 10, random_state: int = 0
) -> Iterator[Split]:
    """Cross-validation over groups, repeated with other folds: ``n_repeats`` × ``n_folds`` splits."""
    seeds = np.random.SeedSequence(random_state).generate_state(n_repeats)
    for seed in seeds:
        folds = group_folds(groups, n_folds=n_folds, random_state=int(seed))
        for fold in range(n_folds):
            yield _split(folds == fold)


def rotating(folds: AnyArray, *, n_train: int) -> Iterator[Split]:
    """As many splits as folds: the i-th trains on folds i, i + 1, …, i + n_train − 1, round and round [ZE08] eq. 5.

    Parameters
    ----------
    folds : array of shape (n,)
        The fold of each row; a blind test fold must be left out before.
    n_train : int
        How many folds to train on.

    Yields
    ------
    train, rest : int arrays
        Rows of the folds trained on, and of all others.
    """
    names, codes = _coded(folds)
    if not 1 <= n_train <= len(names):
        raise InputError(f"n_train must be from 1 to the number of folds, {len(names)}; this is {n_train}.")
    for first in range(len(names)):
        yield _split((codes - first) % len(names) >= n_train)


def _coded(groups: AnyArray) -> tuple[AnyArray, IntArray]:
    names, codes = np.unique(np.asarray(groups), return_inverse=True)
    if len(names) < 2:
        raise InputError(f"a split by group needs two groups or more; there is {len(names)}. Group the rows otherwise.")
    return names, codes


def _split(tested: AnyArray) -> Split:
    return np.flatnonzero(~tested), np.flatnonzero(tested)
