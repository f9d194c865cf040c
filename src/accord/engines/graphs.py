"""Batches of pairwise models: many small graphs, chains, or one big graph, as flat arrays with offsets.

The score of a labelling y of one graph is Σ_i node_scores[i, y_i] + Σ_(i,j) edge score(y_i, y_j), and its probability
is proportional to the exponential of that score. An edge is either a gain J (its score is J when the two labels are
equal and 0 when they differ) or a whole table (its score is table[y_i, y_j]).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from accord.errors import InputError
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["Graphs", "sum_by"]

_FIELDS = ("node_scores", "edges", "edge_scores", "node_offsets", "edge_offsets", "known")


def sum_by(groups: IntArray, values: FloatArray, n_groups: int) -> FloatArray:
    """Sum of ``values`` in each group, shape (n_groups,); a group without members has 0."""
    # Without any member, bincount answers in whole numbers.
    return np.bincount(groups, weights=values, minlength=n_groups).astype(np.float64, copy=False)


def _frozen(array: AnyArray) -> AnyArray:
    view = array.view()
    view.flags.writeable = False
    return view


def _offsets_of(sizes: Any) -> IntArray:
    sizes = np.asarray(sizes, dtype=np.int64)
    if sizes.ndim != 1 or np.any(sizes < 0):
        raise InputError("sizes must be the number of nodes of each graph, one whole number ≥ 0 a graph.")
    return np.concatenate([[0], np.cumsum(sizes)])


def _edge_scores_of(scores: Any, n_edges: int, n_labels: int) -> FloatArray:
    """One gain or one table an edge; a single number or a single table stands for all edges."""
    array = np.asarray(0.0 if scores is None else scores, dtype=np.float64)
    if array.ndim == 0:
        return np.full(n_edges, float(array))
    if array.shape == (n_labels, n_labels) and n_edges != n_labels:
        return np.broadcast_to(array, (n_edges, n_labels, n_labels)).copy()
    if array.ndim == 2 and array.shape == (n_labels, n_labels):
        return np.tile(array, (n_edges, 1, 1))
    return array


@dataclass(frozen=True, eq=False)
class Graphs:
    """A ragged batch of pairwise models. Checked once, then read-only.

    The nodes of graph g are the rows ``node_offsets[g]:node_offsets[g + 1]``, its edges the rows
    ``edge_offsets[g]:edge_offsets[g + 1]``. Edges name nodes by their row in the whole batch. Parallel edges are
    allowed and add up; an edge from a node to itself is not.

    A graph without edges, and one without nodes, are ordinary graphs.
    """

    node_scores: FloatArray  # (n_nodes, n_labels) log domain
    edges: IntArray  # (n_edges, 2)
    edge_scores: FloatArray  # (n_edges,) gain of equal labels over different ones, or (n_edges, n_labels, n_labels)
    node_offsets: IntArray  # (n_graphs + 1,)
    edge_offsets: IntArray  # (n_graphs + 1,)
    known: IntArray | None = None  # (n_nodes,) label of a clamped node, −1 for a free one

    def __post_init__(self) -> None:
        def put(name: str, value: AnyArray) -> None:
            object.__setattr__(self, name, _frozen(value))

        put("node_scores", np.ascontiguousarray(self.node_scores, dtype=np.float64))
        put("edges", np.ascontiguousarray(np.asarray(self.edges).reshape(-1, 2), dtype=np.int32))
        put("edge_scores", np.ascontiguousarray(self.edge_scores, dtype=np.float64))
        put("node_offsets", np.ascontiguousarray(self.node_offsets, dtype=np.int64))
        put("edge_offsets", np.ascontiguousarray(self.edge_offsets, dtype=np.int64))
        if self.known is not None:
            put("known", np.ascontiguousarray(self.known, dtype=np.int64))
        self._check_shapes()
        self._check_edges()
        self._check_scores()
        self._check_known()

    def _check_shapes(self) -> None:
        if self.node_scores.ndim != 2 or self.node_scores.shape[1] < 1:
            raise InputError(
                f"node_scores must have the shape (n_nodes, n_labels); it has {self.node_scores.shape}. "
                "Give one row a node and one column a label."
            )
        k, m = self.n_labels, self.n_edges
        if self.edge_scores.shape not in {(m,), (m, k, k)}:
            raise InputError(
                f"edge_scores must have the shape ({m},) or ({m}, {k}, {k}) for {m} edges and {k} labels; "
                f"it has {self.edge_scores.shape}. Give one gain or one table an edge."
            )
        for name, offsets, end in (
            ("node_offsets", self.node_offsets, self.n_nodes),
            ("edge_offsets", self.edge_offsets, m),
        ):
            if offsets.ndim != 1 or len(offsets) < 1 or offsets[0] != 0 or offsets[-1] != end:
                raise InputError(f"{name} must run from 0 to {end}; got {offsets}. Give one entry a graph and the end.")
            if np.any(np.diff(offsets) < 0):
                raise InputError(f"{name} must never fall; entry {int(np.argmax(np.diff(offsets) < 0)) + 1} does.")
        if len(self.node_offsets) != len(self.edge_offsets):
            raise InputError(
                f"node_offsets and edge_offsets must speak of the same graphs; they have {len(self.node_offsets)} and "
                f"{len(self.edge_offsets)} entries."
            )

    def _check_edges(self) -> None:
        if not self.n_edges:
            return
        low = np.repeat(self.node_offsets[:-1], np.diff(self.edge_offsets))
        high = np.repeat(self.node_offsets[1:], np.diff(self.edge_offsets))
        for end in (0, 1):
            nodes = self.edges[:, end]
            outside = (nodes < low) | (nodes >= high)
            if outside.any():
                e = int(np.argmax(outside))
                raise InputError(
                    f"an edge must join two nodes of its own graph; edge {e} names node {nodes[e]}, outside "
                    f"{low[e]}..{high[e] - 1}. Number nodes through the whole batch."
                )
        loops = self.edges[:, 0] == self.edges[:, 1]
        if loops.any():
            e = int(np.argmax(loops))
            raise InputError(
                f"an edge must join two different nodes; edge {e} joins node {self.edges[e, 0]} to itself."
            )

    def _check_scores(self) -> None:
        for name, scores in (("node_scores", self.node_scores), ("edge_scores", self.edge_scores)):
            if not np.isfinite(scores.sum()) and not np.isfinite(scores).all():
                row = int(np.argmax(~np.isfinite(scores.reshape(len(scores), -1)).all(axis=1)))
                raise InputError(
                    f"{name} must be finite; row {row} is {scores[row]}. Use `known` to fix a label for certain."
                )

    def _check_known(self) -> None:
        if self.known is None:
            return
        if self.known.shape != (self.n_nodes,):
            raise InputError(f"known must have one entry a node ({self.n_nodes}); it has the shape {self.known.shape}.")
        if self.n_nodes and (self.known.min() < -1 or self.known.max() >= self.n_labels):
            i = int(np.argmax((self.known < -1) | (self.known >= self.n_labels)))
            raise InputError(
                f"known labels must lie in 0..{self.n_labels - 1}, or be −1 for a free node; node {i} has "
                f"{self.known[i]}."
            )

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays come back writable from a pickle; kernels are compiled for read-only ones.
        for name in _FIELDS:
            if state[name] is not None:
                state[name] = _frozen(state[name])
        self.__dict__.update(state)

    @property
    def n_nodes(self) -> int:
        return len(self.node_scores)

    @property
    def n_edges(self) -> int:
        return len(self.edges)

    @property
    def n_graphs(self) -> int:
        return len(self.node_offsets) - 1

    @property
    def n_labels(self) -> int:
        return self.node_scores.shape[1]

    @property
    def has_tables(self) -> bool:
        """Whether edges are tables rather than gains."""
        return self.edge_scores.ndim == 3

    @property
    def edge_columns(self) -> FloatArray:
        """Edge scores as rows: one column for gains, n_labels² for tables, row by row."""
        return self.edge_scores.reshape(self.n_edges, self.n_labels**2 if self.has_tables else 1)

    @cached_property
    def node_graph(self) -> IntArray:
        """The graph of each node, shape (n_nodes,)."""
        return np.repeat(np.arange(self.n_graphs), np.diff(self.node_offsets))

    @cached_property
    def edge_graph(self) -> IntArray:
        """The graph of each edge, shape (n_edges,)."""
        return np.repeat(np.arange(self.n_graphs), np.diff(self.edge_offsets))

    @classmethod
    def complete(cls, node_scores: Any, sizes: Any, edge_scores: Any = None, *, known: Any = None) -> "Graphs":
        """Complete graphs of ``sizes[g]`` nodes. Edges come row by row: (0,1), (0,2), …, (1,2), …

        ``edge_scores`` is one gain or table an edge, or one for all of them; nothing means gains of 0.
        """
        offsets = _offsets_of(sizes)
        node_scores = np.asarray(node_scores, dtype=np.float64)
        last = np.repeat(offsets[1:], np.diff(offsets)) - 1
        nodes = np.arange(offsets[-1])
        partners = last - nodes
        starts = np.cumsum(partners) - partners
        first = np.repeat(nodes, partners)
        second = first + 1 + np.arange(len(first)) - np.repeat(starts, partners)
        n = np.diff(offsets)
        edge_offsets = np.concatenate([[0], np.cumsum(n * (n - 1) // 2)])
        scores = _edge_scores_of(edge_scores, len(first), node_scores.shape[-1])
        return cls(node_scores, np.stack([first, second], axis=1), scores, offsets, edge_offsets, known)

    @classmethod
    def chain(cls, node_scores: Any, sizes: Any, edge_scores: Any = None, *, known: Any = None) -> "Graphs":
        """Chains of ``sizes[g]`` nodes; edge t of a chain joins its nodes t and t + 1.

        ``edge_scores`` is one gain or table an edge, or one for all of them; nothing means gains of 0.
        """
        offsets = _offsets_of(sizes)
        node_scores = np.asarray(node_scores, dtype=np.float64)
        inner = np.ones(offsets[-1], dtype=bool)
        inner[offsets[1:][np.diff(offsets) > 0] - 1] = False
        first = np.flatnonzero(inner)
        edge_offsets = np.concatenate([[0], np.cumsum(np.maximum(np.diff(offsets) - 1, 0))])
        scores = _edge_scores_of(edge_scores, len(first), node_scores.shape[-1])
        return cls(node_scores, np.stack([first, first + 1], axis=1), scores, offsets, edge_offsets, known)

    @classmethod
    def from_edges(cls, node_scores: Any, edges: Any, edge_scores: Any = None, *, known: Any = None) -> "Graphs":
        """One graph from its edges. See :meth:`components` to part it into its connected components."""
        node_scores = np.asarray(node_scores, dtype=np.float64)
        edges = np.asarray(edges).reshape(-1, 2)
        scores = _edge_scores_of(edge_scores, len(edges), node_scores.shape[-1])
        return cls(node_scores, edges, scores, np.array([0, len(node_scores)]), np.array([0, len(edges)]), known)

    def components(self) -> tuple["Graphs", IntArray, IntArray]:
        """The same nodes and edges with one graph a connected component.

        Returns
        -------
        graphs : Graphs
            Components in order of their first node.
        nodes : array of shape (n_nodes,)
            Row p of the new batch is node ``nodes[p]`` of this one.
        edges : array of shape (n_edges,)
            The same for edges.
        """
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        i, j = self.edges.T
        links = coo_array((np.ones(self.n_edges, dtype=np.int8), (i, j)), shape=(self.n_nodes, self.n_nodes))
        n_parts, part = connected_components(links, directed=False)
        nodes = np.argsort(part, kind="stable")
        place = np.empty(self.n_nodes, dtype=np.int64)
        place[nodes] = np.arange(self.n_nodes)
        edge_part = part[i]
        edges = np.argsort(edge_part, kind="stable")

        def offsets(parts: IntArray) -> IntArray:
            return np.concatenate([[0], np.cumsum(np.bincount(parts, minlength=n_parts))])

        graphs = Graphs(
            self.node_scores[nodes],
            place[self.edges[edges]],
            self.edge_scores[edges],
            offsets(part),
            offsets(edge_part),
            None if self.known is None else self.known[nodes],
        )
        return graphs, nodes, edges

    def with_scores(self, node_scores: FloatArray, edge_scores: FloatArray) -> "Graphs":
        """The same graphs with other scores; only the scores are checked."""
        new = object.__new__(Graphs)
        new.__dict__.update(self.__dict__)
        new.__dict__["node_scores"] = _frozen(np.ascontiguousarray(node_scores, dtype=np.float64))
        new.__dict__["edge_scores"] = _frozen(np.ascontiguousarray(edge_scores, dtype=np.float64))
        if len(node_scores) != self.n_nodes:
            raise InputError(f"node_scores must have {self.n_nodes} rows, one a node; got {len(node_scores)}.")
        new._check_shapes()
        new._check_scores()
        return new

    def with_known(self, known: Any) -> "Graphs":
        """The same graphs with other clamped labels (−1 = free, ``None`` = all free)."""
        return replace(self, known=known)

    def with_tables(self) -> "Graphs":
        """The same graphs with every gain written out as a table: J on the diagonal, 0 elsewhere."""
        if self.has_tables:
            return self
        return self.with_scores(self.node_scores, self.edge_scores[:, None, None] * np.eye(self.n_labels))

    def subset(self, rows: AnyArray) -> "Graphs":
        """Some of the graphs (positions or a mask), in that order."""
        rows = np.arange(self.n_graphs)[rows]
        nodes, node_offsets = _gather(self.node_offsets, rows)
        edges, edge_offsets = _gather(self.edge_offsets, rows)
        shift = node_offsets[:-1] - self.node_offsets[rows]
        new = object.__new__(Graphs)
        new.__dict__.update(
            node_scores=_frozen(self.node_scores[nodes]),
            edges=_frozen(
                (self.edges[edges] + np.repeat(shift, np.diff(edge_offsets))[:, None]).astype(np.int32, copy=False)
            ),
            edge_scores=_frozen(self.edge_scores[edges]),
            node_offsets=_frozen(node_offsets),
            edge_offsets=_frozen(edge_offsets),
            known=None if self.known is None else _frozen(self.known[nodes]),
        )
        return new

    def node_rows(self, graphs: IntArray) -> IntArray:
        """The node rows of some graphs, one after the other."""
        return _gather(self.node_offsets, graphs)[0]

    def edge_rows(self, graphs: IntArray) -> IntArray:
        """The edge rows of some graphs, one after the other."""
        return _gather(self.edge_offsets, graphs)[0]

    def score(self, labels: IntArray) -> FloatArray:
        """Score of one labelling of every graph, shape (n_graphs,)."""
        labels = np.asarray(labels)
        nodes = self.node_scores[np.arange(self.n_nodes), labels]
        a, b = labels[self.edges[:, 0]], labels[self.edges[:, 1]]
        edges = self.edge_scores[np.arange(self.n_edges), a, b] if self.has_tables else self.edge_scores * (a == b)
        return sum_by(self.node_graph, nodes, self.n_graphs) + sum_by(self.edge_graph, edges, self.n_graphs)

    def ising(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Two labels as log odds and gains: score(y) = constant + Σ_i h_i y_i + Σ_(i,j) J_ij [y_i = y_j].

        Every table of two labels can be written so: table[k, l] = c + αk + βl + J [k = l].

        Returns
        -------
        h : array of shape (n_nodes,)
        J : array of shape (n_edges,)
        constant : array of shape (n_graphs,)
        """
        if self.n_labels != 2:
            raise InputError(f"only graphs of two labels have this form; these have {self.n_labels}.")
        h = self.node_scores[:, 1] - self.node_scores[:, 0]
        constant = sum_by(self.node_graph, self.node_scores[:, 0], self.n_graphs)
        if not self.has_tables:
            return h, self.edge_scores, constant
        table = self.edge_scores
        gain = 0.5 * (table[:, 0, 0] + table[:, 1, 1] - table[:, 0, 1] - table[:, 1, 0])
        c = table[:, 0, 0] - gain
        h = h + sum_by(self.edges[:, 0], table[:, 1, 0] - c, self.n_nodes)
        h = h + sum_by(self.edges[:, 1], table[:, 0, 1] - c, self.n_nodes)
        return h, gain, constant + sum_by(self.edge_graph, c, self.n_graphs)


def _gather(offsets: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Places of the members of some groups, and the groups' new offsets."""
    lengths = np.diff(offsets)[rows]
    new = np.concatenate([[0], np.cumsum(lengths)])
    return np.repeat(offsets[:-1][rows] - new[:-1], lengths) + np.arange(new[-1]), new
