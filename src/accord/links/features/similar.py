"""Implicit links: which texts are most similar, found in time that grows with the number of texts."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from accord.typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["nearest_pairs", "pair_similarity"]

# With more candidates than are wanted, so many times more are compared by all of their features.
_COMPARED = 4


def nearest_pairs(
    vectors: Any,
    groups: AnyArray,
    *,
    k: int,
    lonely: BoolArray | None = None,
    order: IntArray | None = None,
    most: int = 1000,
    block: int = 1024,
) -> IntArray:
    """Implicit links: each text with the ``k`` most similar texts of its group that share a feature with it.

    Exact in groups of at most ``most`` texts. In larger ones a feature leads to those ``most`` texts only that have
    most of it, so that the time does not grow with the square of the group; what is found so is compared by all
    features.

    Parameters
    ----------
    vectors : array or sparse matrix of shape (n_texts, n_features)
        Rows of unit length, so that products are cosines.
    groups : array of shape (n_texts,)
    k : int
    lonely : bool array of shape (n_texts,), optional
        Keep only the pairs with one of these texts in them.
    order : int array of shape (n_texts,), optional
        All texts, in the order in which ties are decided; that of the rows by default.
    most : int
    block : int
        Texts that are compared with their group at a time; bounds memory, not the result.

    Returns
    -------
    int array of shape (n_pairs, 2)
        Each unordered pair once, in order of positions.
    """
    vectors = sp.csr_matrix(vectors)
    codes = np.unique(np.asarray(groups, dtype=str), return_inverse=True)[1]
    order = np.arange(len(codes)) if order is None else order
    order = order[np.argsort(codes[order], kind="stable")]
    keys = []
    for members in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        if len(members) < 2 or (lonely is not None and not lonely[members].any()):
            continue
        inside = vectors[members]
        pruned = len(members) > most
        index = (_heaviest(inside, most) if pruned else inside).T.tocsr()
        for start in range(0, len(members), block):
            found = (inside[start : start + block] @ index).tocoo()
            row, column, similarity = found.row + start, found.col, found.data
            if pruned:
                row, column, _ = _nearest(row, column, similarity, _COMPARED * k)
                similarity = pair_similarity(inside, np.column_stack([row, column]))
            row, column, _ = _nearest(row, column, similarity, k)
            first, second = members[row].astype(np.int64), members[column].astype(np.int64)
            keys.append(np.minimum(first, second) * len(codes) + np.maximum(first, second))
    merged = np.unique(np.concatenate(keys)) if keys else np.empty(0, dtype=np.int64)
    pairs = np.column_stack(np.divmod(merged, max(len(codes), 1))).reshape(-1, 2)
    return pairs if lonely is None else pairs[lonely[pairs].any(axis=1)]


def _heaviest(matrix: sp.csr_matrix, most: int) -> sp.csr_matrix:
    """The matrix with the ``most`` largest entries of each column; of equal ones the first."""
    entries = matrix.tocoo()
    at = np.lexsort((entries.row, -np.round(np.abs(entries.data), 9), entries.col))
    kept = at[_place_in_run(entries.col[at]) < most]
    return sp.csr_matrix((entries.data[kept], (entries.row[kept], entries.col[kept])), shape=matrix.shape)


def _nearest(row: IntArray, column: IntArray, similarity: FloatArray, k: int) -> tuple[IntArray, IntArray, FloatArray]:
    """The ``k`` most similar others of each row; of equally similar ones the first."""
    held = (row != column) & (similarity > 0.0)
    row, column, similarity = row[held], column[held], similarity[held]
    # Rounded, so that a tie stays one however the products were summed.
    at = np.lexsort((column, -np.round(similarity, 9), row))
    at = at[_place_in_run(row[at]) < k]
    return row[at], column[at], similarity[at]


def _place_in_run(values: IntArray) -> IntArray:
    """The place of each value in its run of equal ones."""
    places = np.arange(len(values))
    starts = np.flatnonzero(np.diff(values, prepend=-1))
    return places - np.repeat(starts, np.diff(np.append(starts, len(values))))


def pair_similarity(vectors: Any, ends: IntArray, *, block: int = 65536) -> FloatArray:
    """Cosine of the two texts of each pair, shape (n_pairs,); rows of ``vectors`` have unit length."""
    vectors = sp.csr_matrix(vectors)
    out = np.empty(len(ends))
    for start in range(0, len(ends), block):
        first, second = ends[start : start + block].T
        out[start : start + block] = np.asarray(vectors[first].multiply(vectors[second]).sum(axis=1)).ravel()
    return out
