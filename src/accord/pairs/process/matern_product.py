"""The product Matérn 3/2 kernel of [SG18], over the non-zeros only.

k(x, x') = Π_d (1 + u_d) e^(−u_d), u_d = √3 |x_d − x'_d| / l_d. Where both texts lack a feature its factor is 1, so a
pair of sparse rows costs only the features that one of them has.
"""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit

from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["SparseRows", "product_gradient", "product_matrix", "product_rows"]

# Products of (1 + u) are folded into a logarithm this often, before they can overflow.
_FOLD = 32
# Columns with at most so many different values have a table of terms.
_DISTINCT = 32


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _log_dense(x: AnyArray, z: AnyArray, out: FloatArray, paired: bool, symmetric: bool) -> None:
    n_columns = x.shape[1]
    folded = n_columns // _FOLD * _FOLD
    for i in range(x.shape[0]):
        first, last = (i, i + 1) if paired else (0, i + 1 if symmetric else z.shape[0])
        for j in range(first, last):
            total = 0.0
            for start in range(0, folded, _FOLD):
                product, distance = 1.0, 0.0
                for d in range(_FOLD):  # a length that is known beforehand, so that several columns go at once
                    u = abs(x[i, start + d] - z[j, start + d])
                    product *= 1.0 + u
                    distance += u
                total += np.log(product) - distance
            product, distance = 1.0, 0.0
            for d in range(folded, n_columns):
                u = abs(x[i, d] - z[j, d])
                product *= 1.0 + u
                distance += u
            total += np.log(product) - distance
            if paired:
                out[i, 0] = total
            else:
                out[i, j] = total
                if symmetric:
                    out[j, i] = total


@njit(cache=True, error_model="numpy")
def _log_factor(u: float) -> float:
    return np.log1p(u) - u


@njit(cache=True, error_model="numpy")
def _log_paired(
    xd: FloatArray, xi: IntArray, xp: IntArray, zd: FloatArray, zi: IntArray, zp: IntArray, n_columns: int
) -> FloatArray:
    row, out = np.zeros(n_columns), np.zeros(len(xp) - 1)
    for i in range(len(out)):
        for e in range(xp[i], xp[i + 1]):
            row[xi[e]] = xd[e]
            out[i] += _log_factor(abs(xd[e]))
        for e in range(zp[i], zp[i + 1]):
            own = row[zi[e]]
            out[i] += _log_factor(abs(own - zd[e])) - _log_factor(abs(own))
        for e in range(xp[i], xp[i + 1]):
            row[xi[e]] = 0.0
    return out


@njit(cache=True, error_model="numpy")
def _log_crossed(
    xd: FloatArray,
    xi: IntArray,
    xp: IntArray,
    zd: FloatArray,
    zi: IntArray,
    zp: IntArray,
    out: FloatArray,
    symmetric: bool,
) -> None:
    """Column by column, so that only features that both rows of a pair have cost anything for the pair.

    log k = Σ_d g(|x_d|) + Σ_d g(|z_d|) + Σ_both g(|x_d − z_d|) − g(|x_d|) − g(|z_d|), g(u) = log(1 + u) − u. Counts and
    presences have few different values, so that the terms of a column are computed once for each pair of values.
    """
    base_x, base_z = np.zeros(out.shape[0]), np.zeros(out.shape[1])
    for e in range(len(xd)):
        base_x[xi[e]] += _log_factor(abs(xd[e]))
    for e in range(len(zd)):
        base_z[zi[e]] += _log_factor(abs(zd[e]))
    for i in range(out.shape[0]):
        for j in range(i + 1 if symmetric else out.shape[1]):
            out[i, j] = base_x[i] + base_z[j]
    values, terms = np.empty(_DISTINCT), np.empty((_DISTINCT, _DISTINCT))
    for d in range(len(xp) - 1):
        codes_x, n_values = _codes(xd[xp[d] : xp[d + 1]], values, 0)
        codes_z, n_values = _codes(zd[zp[d] : zp[d + 1]], values, n_values)
        coded = n_values <= _DISTINCT
        if coded:
            for a in range(n_values):
                for b in range(n_values):
                    terms[a, b] = _overlap(values[a], values[b])
        for e in range(xp[d], xp[d + 1]):
            i = xi[e]
            for f in range(zp[d], zp[d + 1]):
                j = zi[f]
                if symmetric and j > i:
                    break  # rows of a column are in order
                out[i, j] += terms[codes_x[e - xp[d]], codes_z[f - zp[d]]] if coded else _overlap(xd[e], zd[f])
    if symmetric:
        for i in range(out.shape[0]):
            for j in range(i):
                out[j, i] = out[i, j]


@njit(cache=True, error_model="numpy")
def _overlap(x: float, z: float) -> float:
    """What changes in log k because both rows have the feature."""
    return _log_factor(abs(x - z)) - _log_factor(abs(x)) - _log_factor(abs(z))


@njit(cache=True, error_model="numpy")
def _codes(column: FloatArray, values: FloatArray, n_values: int) -> tuple[IntArray, int]:
    """Place of each entry among the different values, which are noted down; more than fit are only counted."""
    codes = np.zeros(len(column), dtype=np.int64)
    for e in range(len(column)):
        code = 0
        while code < min(n_values, _DISTINCT) and values[code] != column[e]:
            code += 1
        if code == n_values:
            if n_values < _DISTINCT:
                values[n_values] = column[e]
            n_values += 1
        elif code == _DISTINCT:
            break  # there are more already
        codes[e] = min(code, _DISTINCT - 1)
    return codes, n_values


@njit(cache=True, error_model="numpy")
def _gradient_dense(x: FloatArray, z: FloatArray, weights: FloatArray, gradient: FloatArray, paired: bool) -> None:
    n_columns = x.shape[1]
    for i in range(x.shape[0]):
        first, last = (i, i + 1) if paired else (0, z.shape[0])
        for j in range(first, last):
            w = weights[i, 0] if paired else weights[i, j]
            if w != 0.0:
                for d in range(n_columns):
                    u = abs(x[i, d] - z[j, d])
                    gradient[d] += w * u * u / (1.0 + u)


@njit(cache=True, error_model="numpy")
def _slope(u: float) -> float:
    """∂ log k_d / ∂ log l_d."""
    return u * u / (1.0 + u)


@njit(cache=True, error_model="numpy")
def _gradient_paired(
    xd: FloatArray,
    xi: IntArray,
    xp: IntArray,
    zd: FloatArray,
    zi: IntArray,
    zp: IntArray,
    weights: FloatArray,
    gradient: FloatArray,
) -> None:
    row = np.zeros(len(gradient))
    for i in range(len(xp) - 1):
        for e in range(xp[i], xp[i + 1]):
            row[xi[e]] = xd[e]
            gradient[xi[e]] += weights[i, 0] * _slope(abs(xd[e]))
        for e in range(zp[i], zp[i + 1]):
            own = row[zi[e]]
            gradient[zi[e]] += weights[i, 0] * (_slope(abs(own - zd[e])) - _slope(abs(own)))
        for e in range(xp[i], xp[i + 1]):
            row[xi[e]] = 0.0


@njit(cache=True, error_model="numpy")
def _gradient_crossed(
    xd: FloatArray,
    xi: IntArray,
    xp: IntArray,
    zd: FloatArray,
    zi: IntArray,
    zp: IntArray,
    weights: FloatArray,
    gradient: FloatArray,
) -> None:
    by_x, by_z = weights.sum(axis=1), weights.sum(axis=0)
    for d in range(len(gradient)):
        total = 0.0
        for f in range(zp[d], zp[d + 1]):
            total += by_z[zi[f]] * _slope(abs(zd[f]))
        for e in range(xp[d], xp[d + 1]):
            i, x = xi[e], xd[e]
            own = _slope(abs(x))
            total += by_x[i] * own
            for f in range(zp[d], zp[d + 1]):
                z = zd[f]
                both = _slope(abs(x - z)) if x != z else 0.0
                total += weights[i, zi[f]] * (both - own - _slope(abs(z)))
        gradient[d] = total


class SparseRows:
    """Sparse rows in the form that the loops read: columns in order, nothing twice, no zeros.

    Put in order once, because length-scales change their numbers only.
    """

    def __init__(self, x: Any) -> None:
        self._rows = sp.csr_array(x, dtype=np.float64, copy=True)
        self._rows.sum_duplicates()
        self._rows.eliminate_zeros()
        self.shape: tuple[int, int] = self._rows.shape

    @cached_property
    def _columns(self) -> Any:
        return self._rows.tocsc()

    def rows(self, lengths: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
        """√3 x / l by rows: values, their columns, where rows begin."""
        x = self._rows
        return x.data * (np.sqrt(3.0) / lengths)[x.indices], x.indices, x.indptr

    def columns(self, lengths: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
        """√3 x / l by columns: values, their rows in order, where columns begin."""
        x = self._columns
        return x.data * np.repeat(np.sqrt(3.0) / lengths, np.diff(x.indptr)), x.indices, x.indptr


def product_rows(x: Any) -> FloatArray | SparseRows:
    """``x`` in the form that the loops read, for whoever asks about the same rows more than once."""
    if isinstance(x, SparseRows):
        return x
    return SparseRows(x) if sp.issparse(x) else np.ascontiguousarray(x, dtype=np.float64)


def product_matrix(x: Any, z: Any, lengths: FloatArray, *, paired: bool = False) -> FloatArray:
    """Kernel values between the rows of ``x`` and ``z``.

    Parameters
    ----------
    x, z : array or sparse array of shape (n, n_features), (m, n_features)
        Both dense or both sparse, or what :func:`product_rows` makes of them.
    lengths : array of shape (n_features,)
    paired : bool
        Row i against row i only (then m = n).

    Returns
    -------
    array of shape (n, m), or (n,) if paired
    """
    n, same = x.shape[0], z is x
    if same and paired:
        return np.ones(n)
    out = np.empty((n, 1 if paired else z.shape[0]))
    x = product_rows(x)
    z = x if same else product_rows(z)
    if isinstance(x, SparseRows):
        if paired:
            out[:, 0] = _log_paired(*x.rows(lengths), *z.rows(lengths), x.shape[1])
        else:
            columns = x.columns(lengths)
            _log_crossed(*columns, *(columns if same else z.columns(lengths)), out, same)
    else:
        scale = np.sqrt(3.0) / lengths
        a = x * scale
        _log_dense(a, a if same else z * scale, out, paired, same)
    np.exp(out, out=out)
    return out[:, 0] if paired else out


def product_gradient(x: Any, z: Any, lengths: FloatArray, weights: FloatArray, *, paired: bool = False) -> FloatArray:
    """Σ_ij weights_ij ∂ log k_ij / ∂ log l_d, shape (n_features,).

    Parameters
    ----------
    x, z, lengths, paired
        As in :func:`product_matrix`.
    weights : array of shape (n, m), or (n,) if paired
    """
    gradient, same = np.zeros(x.shape[1]), z is x
    if same and paired:
        return gradient  # a row is as near to itself at all length-scales
    columns = np.ascontiguousarray(weights.reshape(len(weights), -1), dtype=np.float64)
    x = product_rows(x)
    z = x if same else product_rows(z)
    if isinstance(x, SparseRows):
        if paired:
            _gradient_paired(*x.rows(lengths), *z.rows(lengths), columns, gradient)
        else:
            own = x.columns(lengths)
            _gradient_crossed(*own, *(own if same else z.columns(lengths)), columns, gradient)
    else:
        scale = np.sqrt(3.0) / lengths
        a = x * scale
        _gradient_dense(a, a if same else z * scale, columns, gradient, paired)
    return gradient
