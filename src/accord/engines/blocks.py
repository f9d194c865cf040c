"""Belief propagation in a block model: texts of one label form a block, and which nodes are *not* linked counts too.

A pairwise model of links alone is at its best where all nodes have one label. In the degree-corrected stochastic block
model ([DKMZ11], [KN11]) every pair of nodes without a link speaks a little for different labels; together they are one
field, by which no label takes more links than it has nodes for. With it a few known labels reach a whole graph.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numba import njit

from accord.engines.convergence import Convergence, iterate
from accord.engines.kernels.adjacency import adjacency
from accord.engines.numerics import sigmoid
from accord.typing import FloatArray, IntArray

__all__ = ["BlockBeliefs", "block_beliefs"]

State = tuple[FloatArray, FloatArray, FloatArray]  # messages, shares of the links by label, shift of the log odds

# Couplings start this far from none, so that what is known spreads before anything settles; then they are learnt.
_START, _FIRST_SWEEPS = 0.2, 10
# No link is more certain than this.
_SURE = 0.99
# What a sweep keeps of the messages, and of the field. A field that is slower than the messages swings without end
# where some nodes have many links.
_KEPT, _FIELD_KEPT = 0.5, 0.5
# A change in the last sweep that means that messages wander: where links say little, couplings that are learnt from
# beliefs and beliefs that follow the couplings drive each other up without end.
_WANDERING = 0.1
# A message this close to saying nothing says nothing: rounding must not grow into a preference.
_SILENT = 1e-8


@dataclass(frozen=True, eq=False)
class BlockBeliefs:
    """What block belief propagation found."""

    nodes: FloatArray  # (n_nodes, n_labels)
    same: FloatArray  # (n_edges,) probability that two linked nodes have one label, before their own evidence
    convergence: Convergence


def block_beliefs(
    node_scores: FloatArray,
    edges: IntArray,
    log_odds: FloatArray,
    *,
    weights: FloatArray | None = None,
    known: IntArray | None = None,
    learn: bool = True,
    balanced: bool = True,
    prior_pairs: float = 10.0,
    max_iter: int = 200,
    tol: float = 1e-4,
) -> BlockBeliefs:
    """Beliefs of the nodes of one graph, given some labels.

    Parameters
    ----------
    node_scores : float array of shape (n_nodes, n_labels)
    edges : int array of shape (n_edges, 2)
    log_odds : float array of shape (n_edges,)
        That the two nodes of an edge have the same label.
    weights : float array of shape (n_edges,), optional
        What an edge counts; 1 by default.
    known : int array of shape (n_nodes,), optional
        Labels that hold; −1 where none is known.
    learn : bool
        Shift the log odds by one number until the edges agree as often as the beliefs say (EM); else they are as given.
        If beliefs do not settle under what is learnt, the weak coupling stays from which learning starts.
    balanced : bool
        With the field of the nodes that are not linked. Without it, and without learning, this is belief propagation in
        the pairwise model with gain log P(same) − log P(different)/(n_labels − 1), exact on trees.
    prior_pairs : float
        So many edges of the given log odds count beside those that are seen.
    max_iter : int
    tol : float
        Largest change of a message, share or shift at which it has converged.
    """
    n, n_labels = node_scores.shape
    weights = np.ones(len(edges)) if weights is None else weights
    known = np.full(n, -1, dtype=np.int64) if known is None else known
    edges = np.ascontiguousarray(edges, dtype=np.int64)
    offsets, ends = adjacency(edges, n)
    degree = np.bincount(edges.ravel(), weights=np.repeat(weights, 2), minlength=n)
    total = max(float(weights.sum()), 1e-12)
    given = float(weights @ sigmoid(log_odds)) / total if len(edges) else 0.5

    def certainty(shift: FloatArray) -> FloatArray:
        return np.clip(sigmoid(log_odds + shift[0]), 1.0 - _SURE, _SURE)

    def sweep(state: State, *, learn: bool) -> State:
        messages, shares, shift = state
        same = certainty(shift)
        mean = float(weights @ same) / total if len(edges) else given
        strength = n_labels * (mean - (1.0 - mean) / (n_labels - 1.0)) if balanced else 0.0
        new = np.empty_like(messages)
        beliefs, agree = np.empty((n, n_labels)), np.empty(len(edges))
        _sweep(node_scores, offsets, ends, same, weights, known, degree, strength * shares, messages, new, beliefs)
        _agreement(same, new, agree)
        now = degree @ beliefs / max(float(degree.sum()), 1e-12)
        shares = _FIELD_KEPT * shares + (1.0 - _FIELD_KEPT) * now
        if learn and len(edges):
            share = (float(weights @ agree) + prior_pairs * given) / (total + prior_pairs)
            share = min(max(share, 1.0 - _SURE), _SURE)
            shift = shift + _logit(share) - _logit(mean)
        else:
            shift = shift.copy()
        return new, shares, shift

    side = 1.0 if given >= 1.0 / n_labels else -1.0
    first = min(max(1.0 / n_labels + side * min(_START, 0.8 / n_labels if side < 0 else _START), 0.02), 0.98)
    start = np.array([_logit(first) - _logit(given)]) if learn else np.zeros(1)
    state: State = np.full((2 * len(edges), n_labels), 1.0 / n_labels), np.full(n_labels, 1.0 / n_labels), start
    state, convergence = iterate(
        partial(sweep, learn=False), state, max_iter=_FIRST_SWEEPS if learn else max_iter, tol=tol
    )
    if learn:
        weak = state
        state, convergence = iterate(partial(sweep, learn=True), state, max_iter=max_iter, tol=tol)
        if convergence.residual > _WANDERING:
            state, convergence = iterate(partial(sweep, learn=False), weak, max_iter=max_iter, tol=tol)
    messages, shares, shift = state
    same, beliefs = certainty(shift), np.empty((n, n_labels))
    mean = float(weights @ same) / total if len(edges) else given
    strength = n_labels * (mean - (1.0 - mean) / (n_labels - 1.0)) if balanced else 0.0
    _sweep(
        node_scores, offsets, ends, same, weights, known, degree, strength * shares, messages, np.empty_like(messages),
        beliefs,
    )  # fmt: skip
    return BlockBeliefs(beliefs, same, convergence)


def _logit(p: float) -> float:
    return float(np.log(p) - np.log1p(-p))


@njit(cache=True, error_model="numpy")
def _sweep(
    node_scores: FloatArray,
    offsets: IntArray,
    ends: IntArray,
    same: FloatArray,
    weights: FloatArray,
    known: IntArray,
    degree: FloatArray,
    field: FloatArray,
    messages: FloatArray,
    new: FloatArray,
    beliefs: FloatArray,
) -> None:
    """Messages by end (from the node at that end to the other), all at once, and the beliefs that they come from."""
    n, n_labels = node_scores.shape
    total, out = np.empty(n_labels), np.empty(n_labels)
    told = np.empty((np.diff(offsets).max() if n else 0, n_labels))  # what each neighbour says to a node
    for i in range(n):
        for k in range(n_labels):
            total[k] = node_scores[i, k] - degree[i] * field[k]
        for place in range(offsets[i], offsets[i + 1]):
            e = ends[place] // 2
            apart = (1.0 - same[e]) / (n_labels - 1.0)
            for k in range(n_labels):
                says = weights[e] * np.log(apart + (same[e] - apart) * messages[ends[place] ^ 1, k])
                told[place - offsets[i], k] = says
                total[k] += says
        _softmax(total, known[i], beliefs[i])
        for place in range(offsets[i], offsets[i + 1]):
            for k in range(n_labels):
                out[k] = total[k] - told[place - offsets[i], k]
            _softmax(out, known[i], out)
            most = 0.0
            for k in range(n_labels):
                out[k] = _KEPT * messages[ends[place], k] + (1.0 - _KEPT) * out[k]
                most = max(most, abs(out[k] - 1.0 / n_labels))
            for k in range(n_labels):
                new[ends[place], k] = out[k] if most > _SILENT else 1.0 / n_labels


@njit(cache=True, error_model="numpy")
def _softmax(scores: FloatArray, known: int, out: FloatArray) -> None:
    if known >= 0:
        out[:] = 0.0
        out[known] = 1.0
        return
    top, total = scores.max(), 0.0
    for k in range(len(scores)):
        out[k] = np.exp(scores[k] - top)
        total += out[k]
    for k in range(len(scores)):
        out[k] /= total


@njit(cache=True, error_model="numpy")
def _agreement(same: FloatArray, messages: FloatArray, agree: FloatArray) -> None:
    """Probability that the ends of each edge have one label."""
    n_labels = messages.shape[1]
    for e in range(len(same)):
        meet = 0.0
        for k in range(n_labels):
            meet += messages[2 * e, k] * messages[2 * e + 1, k]
        apart = (1.0 - same[e]) / (n_labels - 1.0)
        agree[e] = same[e] * meet / (same[e] * meet + apart * (1.0 - meet))
