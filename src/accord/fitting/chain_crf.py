"""Linear-chain conditional random fields whose scores are shared between places.

Every node has a key into a table of node scores, every edge a context into a table of transition scores: words of a
vocabulary, kinds of neighbouring words. The loss needs only how often each key and each context is expected to carry
each label, so exponentials are taken once an entry of a table, not once a token. Tables made of features and weights
follow by the chain rule.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from accord.engines.chain import chain
from accord.engines.graphs import Graphs
from accord.errors import InputError
from accord.fitting.graph_crf import GraphCRF, negative_log_likelihood
from accord.typing import FloatArray, IntArray

__all__ = ["ChainCounts", "KeyedChains", "chain_negative_log_likelihood", "expected_counts", "observed_counts"]


def chain_negative_log_likelihood(
    node_features: Any,
    sizes: Any,
    labels: IntArray,
    *,
    n_labels: int,
    edge_features: Any = None,
    sample_weight: FloatArray | None = None,
) -> tuple[GraphCRF, Callable[[FloatArray], tuple[float, FloatArray]]]:
    """A chain CRF with node features and full transitions: its parts and its exact loss.

    ``sizes`` is the number of nodes of each chain; ``edge_features`` (one row a transition) make transitions depend on
    their position. The rest is as in :func:`accord.fitting.graph_crf.negative_log_likelihood`.
    """
    layout = Graphs.chain(np.zeros((int(np.sum(sizes)), n_labels)), sizes)
    crf = GraphCRF(layout, node_features, edge_features, edges="full")
    return crf, negative_log_likelihood(crf, labels, infer=chain, sample_weight=sample_weight)


@dataclass(frozen=True, eq=False)
class KeyedChains:
    """Chains over shared tables. A chain of n nodes has n keys and n + 1 contexts.

    The first and the last context of a chain are its transitions from and to the boundary, which has the label 0.
    """

    keys: IntArray  # (n_nodes,) row of the node table
    contexts: IntArray  # (n_nodes + n_chains,) row of the transition table
    offsets: IntArray  # (n_chains + 1,)

    def __post_init__(self) -> None:
        for name, dtype in (("keys", np.int32), ("contexts", np.int32), ("offsets", np.int64)):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=dtype))
        n = len(self.keys)
        if self.offsets[0] != 0 or self.offsets[-1] != n or np.any(np.diff(self.offsets) < 0):
            raise InputError(f"offsets must rise from 0 to the number of keys ({n}); got {self.offsets}.")
        if len(self.contexts) != n + self.n_chains:
            raise InputError(
                f"contexts must have one entry a node and one more a chain ({n + self.n_chains}); "
                f"it has {len(self.contexts)}."
            )

    @property
    def n_chains(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, eq=False)
class ChainCounts:
    """How often each key carries each label and each context each pair of labels, and the log partition (or score)."""

    nodes: FloatArray  # (n_keys, n_labels)
    transitions: FloatArray  # (n_contexts, n_labels, n_labels)
    log_partition: float


def expected_counts(chains: KeyedChains, node_scores: FloatArray, transition_scores: FloatArray) -> ChainCounts:
    """Expected counts under the chain model, exact; the derivative of the summed log partition by the two tables.

    Parameters
    ----------
    chains : KeyedChains
    node_scores : array of shape (n_keys, n_labels)
    transition_scores : array of shape (n_contexts, n_labels, n_labels)
    """
    _check_tables(chains, node_scores, transition_scores)
    top_node = node_scores.max(axis=1)
    top_edge = transition_scores.max(axis=(1, 2))
    spread = (top_node - node_scores.min(axis=1)).max() + 2.0 * np.ptp(transition_scores, axis=(1, 2)).max()
    if spread > 600.0:
        raise InputError(
            f"scores of one node and its two transitions may spread by 600 at most; they spread by {spread:.3g}. "
            "Raise the penalty on the weights."
        )
    phi, psi = np.exp(node_scores - top_node[:, None]), np.exp(transition_scores - top_edge[:, None, None])
    nodes, transitions = np.zeros(phi.shape), np.zeros(psi.shape)
    count = _count_two if node_scores.shape[1] == 2 else _count_any
    log_z = count(chains.keys, chains.contexts, chains.offsets, phi, psi, nodes, transitions)
    log_z += float(np.bincount(chains.keys, minlength=len(top_node)) @ top_node)
    log_z += float(np.bincount(chains.contexts, minlength=len(top_edge)) @ top_edge)
    return ChainCounts(nodes, transitions, log_z)


def observed_counts(
    chains: KeyedChains, labels: IntArray, node_scores: FloatArray, transition_scores: FloatArray
) -> ChainCounts:
    """Counts in one labelling, and its score as ``log_partition``."""
    _check_tables(chains, node_scores, transition_scores)
    k = node_scores.shape[1]
    labels = np.asarray(labels)
    nodes = np.bincount(chains.keys.astype(np.int64) * k + labels, minlength=node_scores.size).astype(np.float64)
    ends = np.insert(labels, chains.offsets[1:], 0)  # with the boundary after each chain
    starts = np.insert(labels, chains.offsets[:-1], 0)
    place = (chains.contexts.astype(np.int64) * k + starts) * k + ends
    transitions = np.bincount(place, minlength=transition_scores.size).astype(np.float64)
    score = float(nodes @ node_scores.ravel() + transitions @ transition_scores.ravel())
    return ChainCounts(nodes.reshape(node_scores.shape), transitions.reshape(transition_scores.shape), score)


def _check_tables(chains: KeyedChains, node_scores: FloatArray, transition_scores: FloatArray) -> None:
    k = node_scores.shape[1]
    if transition_scores.shape[1:] != (k, k):
        raise InputError(f"transition_scores must have the shape (n, {k}, {k}); it has {transition_scores.shape}.")
    for name, rows, table in (("keys", chains.keys, node_scores), ("contexts", chains.contexts, transition_scores)):
        if rows.size and (rows.min() < 0 or rows.max() >= len(table)):
            raise InputError(f"{name} must lie in 0..{len(table) - 1}; they run to {rows.max()}.")


@njit(cache=True, error_model="numpy")
def _count_two(
    keys: IntArray,
    contexts: IntArray,
    offsets: IntArray,
    phi: FloatArray,
    psi: FloatArray,
    nodes: FloatArray,
    transitions: FloatArray,
) -> float:
    """Two labels: forward–backward on the odds of label 1, one division a token and direction."""
    longest = 0
    for g in range(len(offsets) - 1):
        longest = max(longest, offsets[g + 1] - offsets[g])
    forward = np.empty(longest + 1)
    log_z, scale = 0.0, 1.0
    for g in range(len(offsets) - 1):
        first, n = offsets[g], offsets[g + 1] - offsets[g]
        edge = first + g
        forward[0] = 0.0  # the boundary has label 0
        for t in range(n):
            c, w = contexts[edge + t], keys[first + t]
            below = (psi[c, 0, 0] + forward[t] * psi[c, 1, 0]) * phi[w, 0]
            forward[t + 1] = (psi[c, 0, 1] + forward[t] * psi[c, 1, 1]) * phi[w, 1] / below
            scale *= below
            if scale < 1e-100 or scale > 1e100:  # many factors share one logarithm
                log_z += np.log(scale)
                scale = 1.0
        c = contexts[edge + n]
        log_z += np.log(scale * (psi[c, 0, 0] + forward[n] * psi[c, 1, 0]))
        scale = 1.0
        back = psi[c, 1, 0] / psi[c, 0, 0]  # odds of β
        one = forward[n] * back / (1.0 + forward[n] * back)
        transitions[c, 1, 0] += one
        transitions[c, 0, 0] += 1.0 - one
        for t in range(n - 1, -1, -1):
            w, c = keys[first + t], contexts[edge + t]
            nodes[w, 1] += one
            nodes[w, 0] += 1.0 - one
            here, left = phi[w, 1] / phi[w, 0] * back, forward[t]
            w00, w01 = psi[c, 0, 0], psi[c, 0, 1] * here
            w10, w11 = left * psi[c, 1, 0], left * psi[c, 1, 1] * here
            z = 1.0 / (w00 + w01 + w10 + w11)
            transitions[c, 0, 0] += w00 * z
            transitions[c, 0, 1] += w01 * z
            transitions[c, 1, 0] += w10 * z
            transitions[c, 1, 1] += w11 * z
            one = (w10 + w11) * z
            back = (psi[c, 1, 0] + psi[c, 1, 1] * here) / (w00 + w01)
    return log_z


@njit(cache=True, error_model="numpy")
def _count_any(
    keys: IntArray,
    contexts: IntArray,
    offsets: IntArray,
    phi: FloatArray,
    psi: FloatArray,
    nodes: FloatArray,
    transitions: FloatArray,
) -> float:
    """Any labels: α scaled to sum to 1 at every node."""
    k = phi.shape[1]
    longest = 0
    for g in range(len(offsets) - 1):
        longest = max(longest, offsets[g + 1] - offsets[g])
    alpha = np.zeros((longest + 1, k))
    beta, here, joint = np.empty(k), np.empty(k), np.empty((k, k))
    log_z = 0.0
    for g in range(len(offsets) - 1):
        first, n = offsets[g], offsets[g + 1] - offsets[g]
        edge = first + g
        alpha[0] = 0.0
        alpha[0, 0] = 1.0
        for t in range(n):
            c, w = contexts[edge + t], keys[first + t]
            total = 0.0
            for y in range(k):
                alpha[t + 1, y] = 0.0
                for x in range(k):
                    alpha[t + 1, y] += alpha[t, x] * psi[c, x, y]
                alpha[t + 1, y] *= phi[w, y]
                total += alpha[t + 1, y]
            for y in range(k):
                alpha[t + 1, y] /= total
            log_z += np.log(total)
        here[:] = 0.0
        here[0] = 1.0  # φβ of the boundary
        for t in range(n, -1, -1):
            c = contexts[edge + t]
            total = 0.0
            for x in range(k):
                beta[x] = 0.0
                for y in range(k):
                    beta[x] += psi[c, x, y] * here[y]
                    joint[x, y] = alpha[t, x] * psi[c, x, y] * here[y]
                    total += joint[x, y]
            if t == n:
                log_z += np.log(total)
            for x in range(k):
                for y in range(k):
                    transitions[c, x, y] += joint[x, y] / total
            if t > 0:
                w = keys[first + t - 1]
                top = beta.max()
                for x in range(k):
                    for y in range(k):
                        nodes[w, x] += joint[x, y] / total
                    here[x] = phi[w, x] * beta[x] / top
    return log_z
