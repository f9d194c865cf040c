"""Chains of the second order: the label of a place depends on the two labels before it.

A pair of labels (previous, current) is one state of a first-order chain, so the chain engine gives exact marginals.
Pairs that do not fit together get a score so low that their probability is nothing in working precision.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from accord.engines.chain import chain
from accord.engines.graphs import Graphs
from accord.engines.marginals import Marginals
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["SecondOrderChain"]

_FORBIDDEN = -60.0


@dataclass(frozen=True, eq=False)
class SecondOrderChain:
    """How weights become scores of second-order chains, and expectations become gradients.

    The weights are one flat vector: node weights (one vector for two labels, the log odds of label 1; else one a
    label), first-order edge weights (one vector for "ising" edges, else n_labels²), and one number for each triple of
    labels.
    """

    node_features: FloatArray  # (n_nodes, n_node_features)
    edge_features: FloatArray  # (n_edges, n_edge_features), consecutive nodes
    sizes: IntArray  # (n_chains,)
    n_labels: int
    edges: str = "ising"

    @property
    def n_node_vectors(self) -> int:
        return 1 if self.n_labels == 2 else self.n_labels

    @property
    def n_edge_vectors(self) -> int:
        return 1 if self.edges == "ising" else self.n_labels**2

    @property
    def n_node_weights(self) -> int:
        return self.n_node_vectors * self.node_features.shape[1]

    @property
    def n_edge_weights(self) -> int:
        return self.n_edge_vectors * self.edge_features.shape[1]

    @property
    def n_weights(self) -> int:
        return self.n_node_weights + self.n_edge_weights + self.n_labels**3

    @cached_property
    def _layout(self) -> Graphs:
        return Graphs.chain(np.zeros((len(self.node_features), self.n_labels**2)), self.sizes)

    @cached_property
    def _second(self) -> IntArray:
        """The node at the later end of each edge."""
        return self._layout.edges[:, 1].astype(np.int64)

    @cached_property
    def _inner(self) -> BoolArray:
        """Edges whose earlier node has a predecessor, so that a triple of labels ends here."""
        first = np.zeros(len(self.node_features), dtype=bool)
        first[self._layout.node_offsets[:-1][self.sizes > 0]] = True
        return ~first[self._layout.edges[:, 0]]

    def split(self, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Node weights, edge weights and the table of triples."""
        a, b = self.n_node_weights, self.n_node_weights + self.n_edge_weights
        k = self.n_labels
        return (
            weights[:a].reshape(self.n_node_vectors, -1),
            weights[a:b].reshape(self.n_edge_vectors, -1),
            weights[b:].reshape(k, k, k),
        )

    def scores(self, weights: FloatArray, known: IntArray | None = None) -> Graphs:
        """Chains over pairs of labels; ``known`` labels (−1 = free) rule the other labels out."""
        k, (node_weights, edge_weights, triples) = self.n_labels, self.split(weights)
        own = self.node_features @ node_weights.T
        if k == 2:
            own = np.concatenate([np.zeros_like(own), own], axis=1)
        if known is not None:
            own = own + np.where((known[:, None] >= 0) & (known[:, None] != np.arange(k)), _FORBIDDEN, 0.0)
        lag = self.edge_features @ edge_weights.T
        states = np.repeat(own[:, None, :], k, axis=1)  # (n_nodes, previous, current)
        # The first node of a chain has no previous label; label 0 stands for it.
        starts = self._layout.node_offsets[:-1][self.sizes > 0]
        states[starts, 1:] += _FORBIDDEN
        states[self._second] += lag[:, :, None] * np.eye(k) if self.edges == "ising" else lag.reshape(-1, k, k)
        fits = np.where(np.eye(k, dtype=bool)[None, :, :, None], 0.0, _FORBIDDEN)  # (a, b, b', c): b = b'
        tables = np.broadcast_to(fits, (len(lag), k, k, k, k)) + np.where(
            self._inner[:, None, None, None, None], triples[None, :, :, None, :], 0.0
        )
        return self._layout.with_scores(states.reshape(-1, k * k), tables.reshape(-1, k * k, k * k))

    def node_marginals(self, found: Marginals) -> FloatArray:
        """Marginals of the current label, shape (n_nodes, n_labels)."""
        k = self.n_labels
        return found.node_marginals.reshape(-1, k, k).sum(axis=1)

    def pull_back(self, node_slopes: FloatArray, edge_slopes: FloatArray) -> FloatArray:
        """The gradient by the weights, from slopes by the scores of states and of pairs of states."""
        k = self.n_labels
        states = node_slopes.reshape(-1, k, k)
        own = states.sum(axis=1)
        own = own[:, 1:] if k == 2 else own
        pairs = states[self._second]
        lag = np.trace(pairs, axis1=1, axis2=2)[:, None] if self.edges == "ising" else pairs.reshape(-1, k * k)
        moves = edge_slopes.reshape(-1, k, k, k, k)[self._inner].sum(axis=0)
        triples = np.einsum("abbc->abc", moves)
        return np.concatenate(
            [(own.T @ self.node_features).ravel(), (lag.T @ self.edge_features).ravel(), triples.ravel()]
        )

    def loss(self, labels: IntArray) -> Callable[[FloatArray], tuple[float, FloatArray]]:
        """−log p(labels) as a mean over the observed labels (−1 = not observed), with its gradient. Exact."""
        n_observed = max(int((labels >= 0).sum()), 1)

        def value_and_gradient(weights: FloatArray) -> tuple[float, FloatArray]:
            free, seen = chain(self.scores(weights)), chain(self.scores(weights, labels))
            value = float((free.log_partition - seen.log_partition).sum()) / n_observed
            return value, self.pull_back(
                (free.node_marginals - seen.node_marginals) / n_observed,
                (free.edge_marginals - seen.edge_marginals) / n_observed,
            )

        return value_and_gradient
