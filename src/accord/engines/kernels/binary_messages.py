"""Belief propagation kernels for two labels.

A graph of two labels is log odds h_i and gains J_ij. A message from i to j is one number, its odds q. With the odds P_i
of the belief at i, the opposite message x = q_j→i and a = e^J,

    q_i→j = (a P_i + x) / (P_i + a x),

one division and no exponential. Odds stay within e^±(|h| + Σ|J|); a graph whose bound is too wide for floating point,
and max-product, use the log domain. Messages of edge e = (i, j) stand at 2e (i → j) and 2e + 1 (j → i).
"""

import numpy as np
from numba import njit

from accord.engines.kernels.adjacency import near_order
from accord.typing import FloatArray, IntArray

__all__ = ["log_range", "logs", "odds"]

_FAST = {"nnan", "ninf", "nsz", "reassoc", "contract", "arcp"}
# A dense graph keeps three n × n tables; above this size the edge list is kinder to memory.
_MAX_DENSE = 4096
# The beliefs of so many nodes fit into the cache of a core.
_NEAR = 2**17


@njit(cache=True, error_model="numpy")
def log_range(
    h: FloatArray, gains: FloatArray, edges: IntArray, node_offsets: IntArray, edge_offsets: IntArray
) -> FloatArray:
    """The largest |h_i| + Σ_j |J_ij| of each graph: no log odds can leave this range. Shape (n_graphs,)."""
    reach = np.abs(h)
    for e in range(len(gains)):
        gain = abs(gains[e])
        reach[edges[e, 0]] += gain
        reach[edges[e, 1]] += gain
    out = np.zeros(len(node_offsets) - 1)
    for g in range(len(out)):
        for i in range(node_offsets[g], node_offsets[g + 1]):
            out[g] = max(out[g], reach[i])
    return out


@njit(cache=True, error_model="numpy", fastmath=_FAST)
def _flood_dense(
    r: FloatArray, weights: FloatArray, messages: FloatArray, old: FloatArray, max_iter: int, tol: float, damping: float
) -> tuple[int, float, bool]:
    """Flooding on a complete graph; ``messages[i, j]`` is i → j. A diagonal weight of 1 keeps its message at 1.

    Returns sweeps, residual, and whether the last messages are in ``old``.
    """
    n = len(r)
    belief = np.empty(n)
    turned = np.ones((n, n))  # turned[i, j] is j → i, so that the inner loop reads rows only
    q, new = messages, old
    n_iter, residual = 0, 0.0
    keep = 1.0 - damping
    while n_iter < max_iter:
        n_iter += 1
        belief[:] = r
        for i in range(n):
            for j in range(n):
                belief[j] *= q[i, j]
        residual = 0.0
        for i in range(n):
            p = belief[i]
            for j in range(n):
                a, x, before = weights[i, j], turned[i, j], q[i, j]
                below, above = p + a * x, a * p + x
                # One division gives both the new message and its relative change.
                inverse = 1.0 / (below * before)
                change = (above - before * below) * inverse
                new[i, j] = before * (damping + keep * above * inverse)
                residual = max(residual, abs(change))
        for i in range(n):
            for j in range(n):
                turned[j, i] = new[i, j]
        q, new = new, q
        if residual <= tol:
            break
    return n_iter, residual, n_iter % 2 == 1


@njit(cache=True, error_model="numpy")
def _odds_beliefs(r: FloatArray, first: int, edges: IntArray, messages: FloatArray, out: FloatArray) -> None:
    out[:] = r
    for e in range(len(edges)):
        out[edges[e, 1] - first] *= messages[2 * e]
        out[edges[e, 0] - first] *= messages[2 * e + 1]


@njit(cache=True, error_model="numpy")
def _flood_sparse(
    r: FloatArray, first: int, edges: IntArray, a: FloatArray, q: FloatArray, max_iter: int, tol: float, damping: float
) -> tuple[int, float]:
    """Flooding over an edge list; both messages of an edge are replaced at once, from the beliefs of the last sweep."""
    # The belief of the last sweep and that of the next stand side by side: one cache line a node.
    beliefs = np.empty((len(r), 2))
    beliefs[:, 0] = r  # all messages are 1 at the start
    keep, residual, n_iter = 1.0 - damping, 0.0, 0
    while n_iter < max_iter:
        now, following = n_iter % 2, 1 - n_iter % 2
        n_iter += 1
        residual = 0.0
        for i in range(len(r)):
            beliefs[i, following] = r[i]
        for e in range(len(edges)):
            i, j = edges[e, 0] - first, edges[e, 1] - first
            p, s, w, y, x = beliefs[i, now], beliefs[j, now], a[e], q[2 * e], q[2 * e + 1]
            below, above = p + w * x, w * p + x
            inverse = 1.0 / (below * y)
            residual = max(residual, abs(above - y * below) * inverse)
            to_right = y * (damping + keep * above * inverse)
            below, above = s + w * y, w * s + y
            inverse = 1.0 / (below * x)
            residual = max(residual, abs(above - x * below) * inverse)
            x *= damping + keep * above * inverse
            q[2 * e], q[2 * e + 1] = to_right, x
            beliefs[j, following] *= to_right
            beliefs[i, following] *= x
        if residual <= tol:
            break
    return n_iter, residual


@njit(cache=True, error_model="numpy")
def _sequential(
    r: FloatArray, first: int, edges: IntArray, a: FloatArray, q: FloatArray, max_iter: int, tol: float, damping: float
) -> tuple[int, float]:
    """Edge after edge, each seeing all earlier changes; every second sweep runs backwards."""
    belief = np.empty(len(r))
    keep, residual, n_iter, m = 1.0 - damping, 0.0, 0, len(edges)
    while n_iter < max_iter:
        n_iter += 1
        residual = 0.0
        _odds_beliefs(r, first, edges, q, belief)  # afresh, so that rounding never piles up
        for step in range(m):
            e = step if n_iter % 2 == 1 else m - 1 - step
            i, j = edges[e, 0] - first, edges[e, 1] - first
            w, y, x = a[e], q[2 * e], q[2 * e + 1]
            below, above = belief[i] + w * x, w * belief[i] + x
            inverse = 1.0 / (below * y)
            residual = max(residual, abs(above - y * below) * inverse)
            factor = damping + keep * above * inverse
            y *= factor
            belief[j] *= factor
            below, above = belief[j] + w * y, w * belief[j] + y
            inverse = 1.0 / (below * x)
            residual = max(residual, abs(above - x * below) * inverse)
            factor = damping + keep * above * inverse
            belief[i] *= factor
            q[2 * e], q[2 * e + 1] = y, x * factor
        if residual <= tol:
            break
    return n_iter, residual


@njit(cache=True, error_model="numpy")
def _odds_summary(
    r: FloatArray,
    first: int,
    edges: IntArray,
    a: FloatArray,
    q: FloatArray,
    one: FloatArray,
    equal: FloatArray,
) -> float:
    """P(y_i = 1), P(y_i = y_j) and the Bethe log partition of one graph, from its messages.

    log Z = Σ_i log z_i + Σ_(i,j) (log z_ij − log z_i − log z_j), z_i = 1 + P_i, z_ij = a (1 + r_i r_j) + r_i + r_j with
    the cavity odds r_i = P_i / x. It is stationary in the messages, so its derivative by a score is a marginal.
    """
    belief = np.empty(len(r))
    _odds_beliefs(r, first, edges, q, belief)
    log_z = 0.0
    for i in range(len(r)):
        log_z += np.log1p(belief[i])
        one[i] = belief[i] / (1.0 + belief[i])
    zero = 1.0 / (1.0 + belief)
    ratio = 1.0
    for e in range(len(edges)):
        i, j = edges[e, 0] - first, edges[e, 1] - first
        y, x = q[2 * e], q[2 * e + 1]
        same = a[e] * (zero[i] * zero[j] * x * y + one[i] * one[j])
        other = one[i] * zero[j] * y + zero[i] * one[j] * x
        total = same + other
        equal[e] = same / total
        # Many factors share one logarithm.
        ratio *= total / (x * y)
        if ratio > 1e100 or ratio < 1e-100:
            log_z += np.log(ratio)
            ratio = 1.0
    return log_z + np.log(ratio)


@njit(cache=True, error_model="numpy")
def _fill_dense(edges: IntArray, first: int, a: FloatArray, weights: FloatArray) -> bool:
    """The weights as a symmetric table; False if two edges join the same nodes."""
    weights[:] = -1.0
    for e in range(len(edges)):
        i, j = edges[e, 0] - first, edges[e, 1] - first
        if weights[i, j] >= 0.0:
            return False
        weights[i, j] = weights[j, i] = a[e]
    for i in range(len(weights)):
        weights[i, i] = 1.0
    return True


@njit(cache=True, error_model="numpy")
def odds(
    rows: IntArray,
    r: FloatArray,
    edges: IntArray,
    a: FloatArray,
    node_offsets: IntArray,
    edge_offsets: IntArray,
    max_iter: int,
    tol: float,
    damping: float,
    sequential: bool,
    one: FloatArray,
    equal: FloatArray,
    log_z: FloatArray,
    n_iter: IntArray,
    residual: FloatArray,
) -> None:
    """Sum-product on the graphs ``rows``, from r = e^h and a = e^J; fills the last five arrays."""
    most_edges, most_nodes = 0, 0
    for g in rows:
        n, m = node_offsets[g + 1] - node_offsets[g], edge_offsets[g + 1] - edge_offsets[g]
        most_edges = max(most_edges, m)
        if 2 * m == n * (n - 1) and n <= _MAX_DENSE and not sequential:
            most_nodes = max(most_nodes, n)
    q_room = np.empty(2 * most_edges)
    dense_room = np.empty((3, most_nodes * most_nodes))
    for g in rows:
        first, last = node_offsets[g], node_offsets[g + 1]
        start, end = edge_offsets[g], edge_offsets[g + 1]
        n = last - first
        e, q = edges[start:end], q_room[: 2 * (end - start)]
        q[:] = 1.0
        sweeps, change = 0, 0.0
        dense = n > 2 and 2 * (end - start) == n * (n - 1) and n <= _MAX_DENSE and not sequential
        if dense:
            weights = dense_room[0, : n * n].reshape((n, n))
            dense = _fill_dense(e, first, a[start:end], weights)
        if dense:
            here, there = dense_room[1, : n * n].reshape((n, n)), dense_room[2, : n * n].reshape((n, n))
            here[:] = 1.0
            sweeps, change, swapped = _flood_dense(r[first:last], weights, here, there, max_iter, tol, damping)
            if swapped:
                here = there
            for k in range(len(e)):
                i, j = e[k, 0] - first, e[k, 1] - first
                q[2 * k], q[2 * k + 1] = here[i, j], here[j, i]
        elif sequential:
            sweeps, change = _sequential(r[first:last], first, e, a[start:end], q, max_iter, tol, damping)
        elif n > _NEAR:
            order = near_order(e, first, n, _NEAR)
            e, weight, near_equal = e[order], a[start:end][order], np.empty(end - start)
            sweeps, change = _flood_sparse(r[first:last], first, e, weight, q, max_iter, tol, damping)
            log_z[g] = _odds_summary(r[first:last], first, e, weight, q, one[first:last], near_equal)
            equal[start:end][order] = near_equal
        else:
            sweeps, change = _flood_sparse(r[first:last], first, e, a[start:end], q, max_iter, tol, damping)
        n_iter[g] += sweeps
        residual[g] = change
        if sequential or n <= _NEAR or dense:
            log_z[g] = _odds_summary(r[first:last], first, e, a[start:end], q, one[first:last], equal[start:end])


@njit(cache=True, error_model="numpy")
def _softplus(x: float) -> float:
    """log(1 + eˣ) without overflow."""
    return max(x, 0.0) + np.log1p(np.exp(-abs(x)))


@njit(cache=True, error_model="numpy")
def _log_message(s: float, gain: float, best: bool) -> float:
    """The log odds that a cavity s sends over a gain: log (e^(J+s) + 1) − log (e^s + e^J), or with maxima."""
    if best:
        return max(gain + s, 0.0) - max(s, gain)
    return _softplus(gain + s) - max(s, gain) - np.log1p(np.exp(-abs(s - gain)))


@njit(cache=True, error_model="numpy")
def logs(
    rows: IntArray,
    h: FloatArray,
    edges: IntArray,
    gains: FloatArray,
    node_offsets: IntArray,
    edge_offsets: IntArray,
    max_iter: int,
    tol: float,
    damping: float,
    sequential: bool,
    best: bool,
    one: FloatArray,
    equal: FloatArray,
    log_z: FloatArray,
    n_iter: IntArray,
    residual: FloatArray,
    labels: IntArray,
) -> None:
    """Sum-product, or max-product if ``best``, in the log domain on the graphs ``rows``; fills the last six arrays."""
    for g in rows:
        first, last = node_offsets[g], node_offsets[g + 1]
        start, m = edge_offsets[g], edge_offsets[g + 1] - edge_offsets[g]
        u = np.zeros(2 * m)
        belief = h[first:last].copy()
        following = np.empty(last - first)
        change, sweeps = 0.0, 0
        while sweeps < max_iter:
            sweeps += 1
            change = 0.0
            following[:] = h[first:last]
            for step in range(m):
                k = m - 1 - step if sequential and sweeps % 2 == 0 else step
                i, j = edges[start + k, 0] - first, edges[start + k, 1] - first
                back = u[2 * k + 1]
                for turn in range(2):
                    if turn == 1:
                        i, j = j, i
                    before = u[2 * k + turn]
                    step_to = _log_message(belief[i] - back, gains[start + k], best) - before
                    change = max(change, abs(step_to))
                    step_to *= 1.0 - damping
                    u[2 * k + turn] = before + step_to
                    following[j] += u[2 * k + turn]
                    # Flooding: the second message sees the first as it was in the last sweep.
                    back = before
                    if sequential:
                        back = u[2 * k + turn]
                        belief[j] += step_to
            belief, following = following, belief
            if change <= tol:
                break
        n_iter[g] += sweeps
        residual[g] = change
        log_z[g] = 0.0
        for i in range(last - first):
            s = belief[i]
            labels[first + i] = 1 if s > 0.0 else 0
            one[first + i] = 1.0 / (1.0 + np.exp(-s)) if s > -700.0 else 0.0
            log_z[g] += _softplus(s)
        for k in range(m):
            i, j = edges[start + k, 0] - first, edges[start + k, 1] - first
            y, x, gain = u[2 * k], u[2 * k + 1], gains[start + k]
            s, t = belief[i] - x, belief[j] - y  # cavities
            if best:
                same, other = gain + max(0.0, s + t), max(s, t)
            else:
                same = gain + _softplus(s + t)
                other = max(s, t) + np.log1p(np.exp(-abs(s - t)))
            odd = same - other
            equal[start + k] = 1.0 / (1.0 + np.exp(-odd)) if odd > -700.0 else 0.0
            log_z[g] += max(same, other) + np.log1p(np.exp(-abs(odd))) - _softplus(belief[i]) - _softplus(belief[j])
