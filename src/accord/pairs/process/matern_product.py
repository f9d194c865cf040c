"""The product Matérn 3/2 kernel of [SG18], over the non-zeros only.

k(x, x') = Π_d (1 + u_d) e^(−u_d), u_d = √3 |x_d − x'_d| / l_d. Where both texts lack a feature its factor is 1, so a
pair of sparse rows costs only the features that one of them has.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit

from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["product_gradient", "product_matrix"]

# Products of (1 + u) are folded into a logarithm this often, before they can overflow.
_FOLD = 32


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _log_dense(x: AnyArray, z: AnyArray, out: FloatArray, paired: bool, symmetric: bool) -> None:
    n_columns = x.shape[1]
    for i in range(x.shape[0]):
        first, last = (i, i + 1) if paired else (0, i + 1 if symmetric else z.shape[0])
        for j in range(first, last):
            total = 0.0
            for start in range(0, n_columns, _FOLD):
                product, distance = 1.0, 0.0
                for d in range(start, min(start + _FOLD, n_columns)):
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
def _log_sparse(
    xd: FloatArray,
    xi: IntArray,
    xp: IntArray,
    zd: FloatArray,
    zi: IntArray,
    zp: IntArray,
    n_columns: int,
    out: FloatArray,
    paired: bool,
    symmetric: bool,
) -> None:
    row = np.zeros(n_columns)
    for i in range(len(xp) - 1):
        base = 0.0  # log k against an empty row
        for e in range(xp[i], xp[i + 1]):
            row[xi[e]] = xd[e]
            u = abs(xd[e])
            base += np.log1p(u) - u
        first, last = (i, i + 1) if paired else (0, i + 1 if symmetric else len(zp) - 1)
        for j in range(first, last):
            total, product, distance, count = base, 1.0, 0.0, 0
            for e in range(zp[j], zp[j + 1]):
                own = abs(row[zi[e]])
                u = abs(row[zi[e]] - zd[e])
                product *= (1.0 + u) / (1.0 + own)
                distance += u - own
                count += 1
                if count == _FOLD:
                    total += np.log(product)
                    product, count = 1.0, 0
            total += np.log(product) - distance
            if paired:
                out[i, 0] = total
            else:
                out[i, j] = total
                if symmetric:
                    out[j, i] = total
        for e in range(xp[i], xp[i + 1]):
            row[xi[e]] = 0.0


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
def _gradient_sparse(
    xd: FloatArray,
    xi: IntArray,
    xp: IntArray,
    zd: FloatArray,
    zi: IntArray,
    zp: IntArray,
    weights: FloatArray,
    gradient: FloatArray,
    paired: bool,
) -> None:
    row = np.zeros(len(gradient))
    for i in range(len(xp) - 1):
        for e in range(xp[i], xp[i + 1]):
            row[xi[e]] = xd[e]
        first, last = (i, i + 1) if paired else (0, len(zp) - 1)
        row_weight = 0.0
        for j in range(first, last):
            w = weights[i, 0] if paired else weights[i, j]
            row_weight += w
            for e in range(zp[j], zp[j + 1]):
                own = abs(row[zi[e]])
                u = abs(row[zi[e]] - zd[e])
                gradient[zi[e]] += w * (u * u / (1.0 + u) - own * own / (1.0 + own))
        for e in range(xp[i], xp[i + 1]):
            u = abs(xd[e])
            gradient[xi[e]] += row_weight * u * u / (1.0 + u)
            row[xi[e]] = 0.0


def _scaled(x: Any, lengths: FloatArray) -> Any:
    """√3 x / l, in the form that the loops read."""
    if sp.issparse(x):
        scaled = sp.csr_array(x, dtype=np.float64, copy=True)
        scaled.data *= np.sqrt(3.0) / lengths[scaled.indices]
        return scaled
    return np.ascontiguousarray(np.asarray(x, dtype=np.float64) * (np.sqrt(3.0) / lengths))


def product_matrix(x: AnyArray, z: AnyArray, lengths: FloatArray, *, paired: bool = False) -> FloatArray:
    """Kernel values between the rows of ``x`` and ``z``.

    Parameters
    ----------
    x, z : array or sparse array of shape (n, n_features), (m, n_features)
        Both dense or both sparse.
    lengths : array of shape (n_features,)
    paired : bool
        Row i against row i only (then m = n).

    Returns
    -------
    array of shape (n, m), or (n,) if paired
    """
    n, symmetric = x.shape[0], z is x and not paired
    out = np.empty((n, 1 if paired else z.shape[0]))
    a = _scaled(x, lengths)
    b = a if z is x else _scaled(z, lengths)
    if sp.issparse(a):
        _log_sparse(a.data, a.indices, a.indptr, b.data, b.indices, b.indptr, a.shape[1], out, paired, symmetric)
    else:
        _log_dense(a, b, out, paired, symmetric)
    np.exp(out, out=out)
    return out[:, 0] if paired else out


def product_gradient(
    x: AnyArray, z: AnyArray, lengths: FloatArray, weights: FloatArray, *, paired: bool = False
) -> FloatArray:
    """Σ_ij weights_ij ∂ log k_ij / ∂ log l_d, shape (n_features,).

    Parameters
    ----------
    x, z, lengths, paired
        As in :func:`product_matrix`.
    weights : array of shape (n, m), or (n,) if paired
    """
    a = _scaled(x, lengths)
    b = a if z is x else _scaled(z, lengths)
    gradient = np.zeros(x.shape[1])
    columns = np.ascontiguousarray(weights.reshape(len(weights), -1), dtype=np.float64)
    if sp.issparse(a):
        _gradient_sparse(a.data, a.indices, a.indptr, b.data, b.indices, b.indptr, columns, gradient, paired)
    else:
        _gradient_dense(a, b, columns, gradient, paired)
    return gradient
