"""Orders that neither the order of rows nor any name decides: rows, labels and groups are known by what they hold.

Folds that follow such an order are the same however rows are shuffled and however texts, groups and labels are called.
A key is a hash; equal rows have equal keys. Rows that are alike in everything have one key, and it does not matter
which of them comes first.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from accord.typing import AnyArray, IntArray

__all__ = ["group_codes", "group_keys", "label_keys", "mixed", "row_keys"]

# Numbers are compared to so many digits, because sums of other rows' order differ in the last ones.
_DIGITS = 9
# Odd factors of the finaliser of MurmurHash3, and one more, so that a key and its own hash do not cancel out.
_FIRST, _SECOND, _THIRD = (np.uint64(c) for c in (0xD1342543DE82EF95, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53))


def mixed(*keys: IntArray) -> IntArray:
    """One key of several, shape (n,); which comes first counts."""
    found = np.zeros(keys[0].shape, dtype=np.uint64)
    for key in keys:
        found = found * _FIRST + key.astype(np.uint64) + np.uint64(1)
        for factor in (_SECOND, _THIRD):
            found = (found ^ (found >> np.uint64(33))) * factor
        found = found ^ (found >> np.uint64(33))
    return np.asarray(found)


def row_keys(X: Any) -> IntArray:
    """Keys of rows of numbers, sparse or dense, shape (n_rows,): their places along one random direction.

    Columns may be shifted and scaled; the keys stay.
    """
    n, n_columns = X.shape
    if not n or not n_columns:
        return np.zeros(n, dtype=np.uint64)
    if sp.issparse(X):
        mean, square = (np.asarray(part.mean(axis=0), dtype=np.float64).ravel() for part in (X, X.multiply(X)))
        deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
    else:
        mean, deviation = X.mean(axis=0), X.std(axis=0)
    varies = deviation > 1e-9 * np.abs(mean)
    direction = np.random.default_rng(0).standard_normal(n_columns) * varies / np.where(varies, deviation, 1.0)
    places = np.asarray(X @ direction).ravel()
    places = np.round(places - places.min(), _DIGITS)
    return mixed(np.unique(places, return_inverse=True)[1].ravel().astype(np.uint64))


def group_keys(groups: AnyArray, keys: IntArray) -> IntArray:
    """The key of the group of each row, shape (n,): by the keys of all rows of the group, in any order.

    Parameters
    ----------
    groups : array of shape (n,)
    keys : uint array of shape (n,)
    """
    names, codes = np.unique(groups, return_inverse=True)
    total = np.zeros(len(names), dtype=np.uint64)
    np.add.at(total, codes.ravel(), mixed(keys))
    return mixed(total)[codes.ravel()]


def label_keys(codes: IntArray, keys: IntArray) -> IntArray:
    """The key of the label of each row, shape (n,): by the rows that have it, whatever it is called.

    Parameters
    ----------
    codes : int array of shape (n,)
        −1 for a row without a label.
    keys : uint array of shape (n,)
    """
    return np.where(codes >= 0, group_keys(codes, keys), np.uint64(0))


def group_codes(groups: AnyArray, keys: IntArray) -> IntArray:
    """Numbers of the groups in an order by what they hold, shape (n,); groups that hold the same come as they stand.

    Parameters
    ----------
    groups : array of shape (n,)
    keys : uint array of shape (n,)
    """
    names, first, codes = np.unique(groups, return_index=True, return_inverse=True)
    place = np.empty(len(names), dtype=np.int64)
    place[np.lexsort((first, group_keys(groups, keys)[first]))] = np.arange(len(names))
    return place[codes.ravel()]
