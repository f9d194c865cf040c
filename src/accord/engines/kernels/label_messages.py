"""Belief propagation kernels for any number of labels.

Messages and beliefs are kept as logarithms, so that no product over neighbours can underflow; the sum over the sender's
labels runs over exponentials scaled by the largest. Messages of edge e = (i, j) stand at 2e (i → j) and 2e + 1 (j → i),
each with a maximum of 0.
"""

import numpy as np
from numba import njit

from accord.typing import FloatArray, IntArray

__all__ = ["label_messages"]

# Spread of the scores of an edge up to which e^score may be tabulated.
_MAX_SPREAD = 500.0


@njit(cache=True, error_model="numpy")
def _send(
    cavity: FloatArray, table: FloatArray, turn: int, best: bool, wide: bool, linear: FloatArray, out: FloatArray
) -> None:
    """The log message that a log cavity sends through a table, or its maximum if ``best``.

    The table holds factors e^score, or scores themselves if ``wide``.
    """
    n = len(cavity)
    top = cavity.max()
    if not wide:
        for k in range(n):
            linear[k] = np.exp(cavity[k] - top)
    highest = -np.inf
    for m in range(n):
        total = 0.0
        if wide:
            for k in range(n):
                linear[k] = cavity[k] + (table[m * n + k] if turn else table[k * n + m])
            top = linear.max()
            for k in range(n):
                total += np.exp(linear[k] - top)
            out[m] = top if best else top + np.log(total)
        else:
            for k in range(n):
                factor = linear[k] * (table[m * n + k] if turn else table[k * n + m])
                total = max(total, factor) if best else total + factor
            out[m] = np.log(total)
        highest = max(highest, out[m])
    for m in range(n):
        out[m] -= highest


@njit(cache=True, error_model="numpy")
def _tabulate(scores: FloatArray, n_labels: int, out: FloatArray) -> None:
    """The scores of an edge given by a gain or by a table, row by row."""
    if len(scores) > 1:
        out[:] = scores
        return
    for k in range(n_labels):
        for m in range(n_labels):
            out[k * n_labels + m] = scores[0] if k == m else 0.0


@njit(cache=True, error_model="numpy")
def _spread(scores: FloatArray) -> float:
    """The widest spread of the scores of one edge."""
    widest = 0.0
    for e in range(len(scores)):
        low, high = scores[e].min(), scores[e].max()
        if scores.shape[1] == 1:
            low, high = min(low, 0.0), max(high, 0.0)
        widest = max(widest, high - low)
    return widest


@njit(cache=True, error_model="numpy")
def label_messages(
    rows: IntArray,
    node_scores: FloatArray,
    edges: IntArray,
    edge_scores: FloatArray,
    node_offsets: IntArray,
    edge_offsets: IntArray,
    max_iter: int,
    tol: float,
    damping: float,
    sequential: bool,
    best: bool,
    nodes_out: FloatArray,
    edges_out: FloatArray,
    log_z: FloatArray,
    n_iter: IntArray,
    residual: FloatArray,
    labels: IntArray,
) -> None:
    """Sum-product, or max-product if ``best``, on the graphs ``rows``; fills the last six arrays.

    ``edge_scores`` has one column (gains) or K² columns (tables row by row).
    """
    n_labels = node_scores.shape[1]
    cavity, linear, new = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)
    table, joint = np.empty(n_labels * n_labels), np.empty((n_labels, n_labels))
    for g in rows:
        first, last = node_offsets[g], node_offsets[g + 1]
        start, m = edge_offsets[g], edge_offsets[g + 1] - edge_offsets[g]
        wide = _spread(edge_scores[start : start + m]) > _MAX_SPREAD
        u = np.zeros((2 * m, n_labels))
        belief = node_scores[first:last].copy()
        following = np.empty((last - first, n_labels))
        back = np.empty(n_labels)
        change, sweeps = 0.0, 0
        while sweeps < max_iter:
            sweeps += 1
            change = 0.0
            following[:] = node_scores[first:last]
            for step in range(m):
                k = m - 1 - step if sequential and sweeps % 2 == 0 else step
                i, j = edges[start + k, 0] - first, edges[start + k, 1] - first
                _tabulate(edge_scores[start + k], n_labels, table)
                if not wide:
                    scale = table.max()
                    for x in range(len(table)):
                        table[x] = np.exp(table[x] - scale)
                back[:] = u[2 * k + 1]
                for turn in range(2):
                    if turn == 1:
                        i, j = j, i
                    cavity[:] = belief[i] - back
                    _send(cavity, table, turn, best, wide, linear, new)
                    if turn == 0 and not sequential:
                        back[:] = u[2 * k]  # flooding: the second message sees the first of the last sweep
                    for x in range(n_labels):
                        before = u[2 * k + turn, x]
                        change = max(change, abs(new[x] - before))
                        value = damping * before + (1.0 - damping) * new[x]
                        u[2 * k + turn, x] = value
                        following[j, x] += value
                        if sequential:
                            belief[j, x] += value - before
                    if turn == 0 and sequential:
                        back[:] = u[2 * k]
            belief, following = following, belief
            if change <= tol:
                break
        n_iter[g] += sweeps
        residual[g] = change
        total = 0.0
        for i in range(last - first):
            top = belief[i].max()
            z = 0.0
            for x in range(n_labels):
                nodes_out[first + i, x] = np.exp(belief[i, x] - top)
                z += nodes_out[first + i, x]
            nodes_out[first + i] /= z
            labels[first + i] = np.argmax(belief[i])
            total += top + np.log(z)
            following[i, 0] = top + np.log(z)  # log z_i, for the edges below
        for k in range(m):
            i, j = edges[start + k, 0] - first, edges[start + k, 1] - first
            _tabulate(edge_scores[start + k], n_labels, table)
            scale = -np.inf
            for x in range(n_labels):
                for y in range(n_labels):
                    joint[x, y] = belief[i, x] - u[2 * k + 1, x] + belief[j, y] - u[2 * k, y] + table[x * n_labels + y]
                    scale = max(scale, joint[x, y])
            z = 0.0
            for x in range(n_labels):
                for y in range(n_labels):
                    joint[x, y] = np.exp(joint[x, y] - scale)
                    z += joint[x, y]
            joint /= z
            # log Z = Σ_i log z_i + Σ_(i,j) (log z_ij − log z_i − log z_j), stationary in the messages
            total += scale + np.log(z) - following[i, 0] - following[j, 0]
            if edge_scores.shape[1] > 1:
                for x in range(n_labels):
                    for y in range(n_labels):
                        edges_out[start + k, x * n_labels + y] = joint[x, y]
            else:
                edges_out[start + k, 0] = np.trace(joint)
        log_z[g] = total
