"""Pairwise conditional random fields: features to scores, and the loss and gradient of the weights.

Node scores are linear in node features, edge scores linear in edge features. The engine that turns scores into
marginals is passed in: an exact one gives the exact likelihood, belief propagation the Bethe likelihood. The gradient
is observed minus expected features in both cases ([JMN16] eq. 10–15).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from accord.engines.belief_propagation import belief_propagation
from accord.engines.graphs import Graphs
from accord.engines.marginals import Marginals
from accord.errors import InputError
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["GraphCRF", "bethe", "marginal_loss", "negative_log_likelihood", "thread_steps"]

Infer = Callable[[Graphs], Marginals]
EDGES = ("ising", "full")
# The tolerance is that of a gradient: an unconverged message is an error in the slope.
bethe: Infer = partial(belief_propagation, tol=1e-7, max_iter=300, warn=False)


@dataclass(frozen=True, eq=False)
class GraphCRF:
    """A pairwise CRF over a batch of graphs: how weights become scores.

    The weights are one flat vector: node weights, then edge weights. With two labels the node weights are one vector v,
    and v·x is the log odds of label 1 (as in logistic regression); with more labels there is one vector a label. Ising
    edges have one vector w, and w·φ is the gain of equal labels; full edges have one vector for each pair of labels.

    ``edge_features=None`` means a bias alone. ``scale_edges`` divides the edge features of a graph of n nodes by
    n − 1, so that the pull on a node does not grow with the size of a complete graph.
    """

    graphs: Graphs  # the layout; its scores are not used, its known labels are given to the model
    node_features: Any  # (n_nodes, n_node_features), dense or sparse
    edge_features: Any = None  # (n_edges, n_edge_features), dense or sparse
    edges: str = "ising"
    scale_edges: bool = False

    def __post_init__(self) -> None:
        if self.edges not in EDGES:
            raise InputError(f"edges must be one of {', '.join(EDGES)}; got {self.edges!r}.")
        if self.node_features.shape[0] != self.graphs.n_nodes:
            raise InputError(
                f"node_features must have one row a node ({self.graphs.n_nodes}); it has {self.node_features.shape[0]}."
            )
        if self.edge_features is not None and self.edge_features.shape[0] != self.graphs.n_edges:
            raise InputError(
                f"edge_features must have one row an edge ({self.graphs.n_edges}); "
                f"it has {self.edge_features.shape[0]}."
            )

    @property
    def n_node_vectors(self) -> int:
        """Number of node weight vectors: 1 for two labels, else one a label."""
        return 1 if self.graphs.n_labels == 2 else self.graphs.n_labels

    @property
    def n_edge_vectors(self) -> int:
        """Number of edge weight vectors: 1 for Ising edges, else n_labels²."""
        return 1 if self.edges == "ising" else self.graphs.n_labels**2

    @property
    def n_node_weights(self) -> int:
        return self.n_node_vectors * int(self.node_features.shape[1])

    @property
    def n_edge_weights(self) -> int:
        return self.n_edge_vectors * (1 if self.edge_features is None else int(self.edge_features.shape[1]))

    @property
    def n_weights(self) -> int:
        return self.n_node_weights + self.n_edge_weights

    @cached_property
    def _design(self) -> Any:
        """Edge features, scaled; (n_edges, n_edge_features)."""
        phi = np.ones((self.graphs.n_edges, 1)) if self.edge_features is None else self.edge_features
        if not self.scale_edges:
            return phi
        n = np.diff(self.graphs.node_offsets)[self.graphs.edge_graph]
        factor = 1.0 / np.maximum(n - 1, 1)
        if isinstance(phi, np.ndarray):
            return phi * factor[:, None]
        return phi.multiply(factor[:, None]).tocsr()

    def split(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Node weights (n_node_vectors, n_node_features) and edge weights (n_edge_vectors, n_edge_features)."""
        if len(weights) != self.n_weights:
            raise InputError(f"this CRF has {self.n_weights} weights; got {len(weights)}.")
        nodes, edges = weights[: self.n_node_weights], weights[self.n_node_weights :]
        return nodes.reshape(self.n_node_vectors, -1), edges.reshape(self.n_edge_vectors, -1)

    def scores(self, weights: FloatArray) -> Graphs:
        """The graphs with the scores that the weights give them."""
        node_weights, edge_weights = self.split(np.asarray(weights, dtype=np.float64))
        k = self.graphs.n_labels
        nodes = np.asarray(self.node_features @ node_weights.T)
        if k == 2:
            nodes = np.concatenate([np.zeros_like(nodes), nodes], axis=1)
        edges = np.asarray(self._design @ edge_weights.T)
        shape = (-1,) if self.edges == "ising" else (-1, k, k)
        return self.graphs.with_scores(nodes, edges.reshape((self.graphs.n_edges, *shape[1:])))

    def pull_back(self, node_slopes: FloatArray, edge_slopes: FloatArray) -> FloatArray:
        """The gradient by the weights, from the slopes by node scores and edge scores. Shape (n_weights,)."""
        if self.graphs.n_labels == 2:
            node_slopes = node_slopes[:, 1:]
        nodes = np.asarray(self.node_features.T @ node_slopes).T
        edges = np.asarray(self._design.T @ edge_slopes.reshape(self.graphs.n_edges, self.n_edge_vectors)).T
        return np.concatenate([nodes.ravel(), edges.ravel()])

    def subset(self, rows: AnyArray) -> "GraphCRF":
        """Some of the graphs (positions or a mask), in that order."""
        rows = np.arange(self.graphs.n_graphs)[rows]
        edges = self.graphs.edge_rows(rows)
        return replace(
            self,
            graphs=self.graphs.subset(rows),
            node_features=self.node_features[self.graphs.node_rows(rows)],
            edge_features=None if self.edge_features is None else self.edge_features[edges],
        )


def _observed(graphs: Graphs, labels: IntArray, infer: Infer) -> Marginals | None:
    """Marginals given the observed labels; nothing where every label is observed."""
    return None if (labels >= 0).all() else infer(graphs.with_known(labels))


def negative_log_likelihood(
    crf: GraphCRF,
    labels: IntArray,
    *,
    infer: Infer = bethe,
    sample_weight: FloatArray | None = None,
) -> Callable[[FloatArray], tuple[float, FloatArray]]:
    """The loss −log p(labels) of the weights, as a mean over the observed labels, with its gradient.

    With unobserved labels it is log Z − log Z(observed labels clamped): the likelihood of what was seen. It is convex
    when all labels are observed and the engine is exact.

    Parameters
    ----------
    crf : GraphCRF
    labels : array of shape (n_nodes,)
        −1 for an unobserved label.
    infer : callable
        Graphs to marginals; the engine, with its settings. By default Bethe (belief propagation).
    sample_weight : array of shape (n_graphs,), optional
        Weight of each graph.

    Returns
    -------
    loss : callable
        Weights to (value, gradient), for :func:`accord.fitting.optimise.minimise_lbfgs`; add the L2 penalty with
        :func:`accord.fitting.optimise.l2_penalised`.
    """
    layout = crf.graphs
    labels, weight = _checked(layout, labels, sample_weight)
    n_observed = float(weight[layout.node_graph][labels >= 0].sum())
    if n_observed <= 0.0:
        raise InputError("at least one label must be observed, in a graph of positive weight; none is.")
    node_weight, edge_weight = weight[layout.node_graph] / n_observed, weight[layout.edge_graph] / n_observed
    one_hot = (labels[:, None] == np.arange(layout.n_labels)).astype(np.float64)
    a, b = labels[layout.edges[:, 0]], labels[layout.edges[:, 1]]
    if crf.edges == "ising":
        pairs = (a == b).astype(np.float64)
    else:
        pairs = one_hot[layout.edges[:, 0]][:, :, None] * one_hot[layout.edges[:, 1]][:, None, :]

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        graphs = crf.scores(weights)
        free = infer(graphs)
        seen = _observed(graphs, labels, infer)
        log_seen = graphs.score(labels) if seen is None else seen.log_partition
        nodes_seen, edges_seen = (one_hot, pairs) if seen is None else (seen.node_marginals, seen.edge_marginals)
        value = float(weight @ (free.log_partition - log_seen)) / n_observed
        gradient = crf.pull_back(
            (free.node_marginals - nodes_seen) * node_weight[:, None],
            ((free.edge_marginals - edges_seen).T * edge_weight).T,
        )
        return value, gradient

    return loss


def marginal_loss(
    crf: GraphCRF,
    labels: IntArray,
    *,
    infer: Infer = bethe,
    sample_weight: FloatArray | None = None,
    step: float = 1e-4,
) -> Callable[[FloatArray], tuple[float, FloatArray]]:
    """The mean log loss of the node marginals, −log P(y_i), with its gradient.

    Better calibrated marginals than the likelihood, at three times its cost: the gradient by the scores is the
    derivative of the marginals in the direction of the loss, taken by a central difference of the engine. The engine
    must converge well below ``step``.
    """
    layout = crf.graphs
    labels, weight = _checked(layout, labels, sample_weight)
    rows = np.flatnonzero(labels >= 0)
    share = weight[layout.node_graph[rows]]
    share = share / share.sum()

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        graphs = crf.scores(weights)
        found = infer(graphs)
        right = np.maximum(found.node_marginals[rows, labels[rows]], 1e-12)
        value = -float(share @ np.log(right))
        direction = np.zeros_like(graphs.node_scores)
        direction[rows, labels[rows]] = -share / right
        # dL/dθ = Σ_i (∂b_i/∂θ)ᵀ dL/db_i, and ∂b/∂θ is symmetric: the change of the marginals along dL/db.
        size = step / max(float(np.abs(direction).max()), 1e-300)
        high, low = (
            infer(graphs.with_scores(graphs.node_scores + s * direction, graphs.edge_scores)) for s in (size, -size)
        )
        return value, crf.pull_back(
            (high.node_marginals - low.node_marginals) / (2.0 * size),
            (high.edge_marginals - low.edge_marginals) / (2.0 * size),
        )

    return loss


def thread_steps(crf: GraphCRF, labels: IntArray, *, infer: Infer = bethe) -> Callable[[FloatArray, int], FloatArray]:
    """The gradient of one graph, for :func:`accord.fitting.optimise.minimise_sgd` ([JMN16] Algorithm 1).

    The node part is divided by the number of nodes and the edge part by the number of edges of the graph.
    """
    parts: dict[int, tuple[Callable[[FloatArray], tuple[float, FloatArray]], FloatArray]] = {}

    def gradient(weights: FloatArray, g: int) -> FloatArray:
        if g not in parts:
            one = crf.subset(np.array([g]))
            own = labels[crf.graphs.node_rows(np.array([g]))]
            n_seen = max(int(np.sum(own >= 0)), 1)
            scale = np.full(crf.n_weights, n_seen / max(one.graphs.n_edges, 1))
            scale[: crf.n_node_weights] = n_seen / one.graphs.n_nodes
            parts[g] = negative_log_likelihood(one, own, infer=infer), scale
        loss, scale = parts[g]
        return loss(weights)[1] * scale

    return gradient


def _checked(layout: Graphs, labels: IntArray, sample_weight: FloatArray | None) -> tuple[IntArray, FloatArray]:
    labels = np.asarray(labels, dtype=np.int64)
    if labels.shape != (layout.n_nodes,) or (labels.size and (labels.min() < -1 or labels.max() >= layout.n_labels)):
        raise InputError(
            f"labels must be one number in 0..{layout.n_labels - 1} a node, or −1 where none was seen "
            f"({layout.n_nodes} nodes); got shape {labels.shape}."
        )
    if sample_weight is None:
        return labels, np.ones(layout.n_graphs)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (layout.n_graphs,) or np.any(weight < 0.0):
        raise InputError(f"sample_weight must be one number ≥ 0 a graph ({layout.n_graphs}); got shape {weight.shape}.")
    return labels, weight
