"""Random inputs for hypothesis: from one node and no edge upward."""

import numpy as np
from hypothesis import strategies as st

from accord.engines.graphs import Graphs


def _random_edges(rng, n, shape):
    if shape == "tree":
        return [(int(rng.integers(i)), i) for i in range(1, n)]
    if shape == "chain":
        return [(i, i + 1) for i in range(n - 1)]
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    if shape == "complete":
        return pairs
    return [pair[:: rng.choice([-1, 1])] for pair in pairs if rng.random() < 0.6]


@st.composite
def graph_batches(
    draw,
    shapes=("tree", "chain", "complete", "any"),
    labels=(2, 3),
    max_nodes=5,
    tables=(False, True),
    attractive=False,
    known=False,
    strength=1.0,
):
    """A batch of one to three graphs with random scores."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k, shape, table = draw(st.sampled_from(labels)), draw(st.sampled_from(shapes)), draw(st.sampled_from(tables))
    sizes = draw(st.lists(st.integers(1, max_nodes), min_size=1, max_size=3))
    first, edges, n_edges = 0, [], []
    for n in sizes:
        own = _random_edges(rng, n, shape)
        edges += [(first + i, first + j) for i, j in own]
        n_edges.append(len(own))
        first += n
    scale = strength * draw(st.sampled_from([0.3, 1.0, 3.0]))
    scores = scale * rng.normal(size=(len(edges), k, k) if table else len(edges))
    if attractive:
        scores = np.abs(scores)
    labels_known = np.where(rng.random(first) < 0.4, rng.integers(k, size=first), -1) if known else None
    return Graphs(
        rng.normal(size=(first, k)),
        np.array(edges, dtype=int).reshape(-1, 2),
        scores,
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([[0], np.cumsum(n_edges)]),
        labels_known,
    )
