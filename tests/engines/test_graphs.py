import pickle

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from accord.engines.graphs import Graphs
from accord.errors import InputError
from oracles import score_of
from strategies import graph_batches


def test_a_complete_graph_has_its_edges_row_by_row():
    graphs = Graphs.complete(np.zeros((5, 2)), [1, 4])
    assert graphs.edges.tolist() == [[1, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4]]
    assert graphs.edge_offsets.tolist() == [0, 0, 6]


def test_a_chain_joins_neighbours_and_repeats_one_table():
    graphs = Graphs.chain(np.zeros((4, 2)), [3, 0, 1], [[1.0, 2.0], [3.0, 4.0]])
    assert graphs.edges.tolist() == [[0, 1], [1, 2]]
    assert graphs.edge_offsets.tolist() == [0, 2, 2, 2]
    assert graphs.edge_scores.shape == (2, 2, 2)


@given(graph_batches())
def test_the_score_is_the_sum_of_its_terms(graphs):
    rng = np.random.default_rng(0)
    labels = rng.integers(graphs.n_labels, size=graphs.n_nodes)
    for g in range(graphs.n_graphs):
        own = labels[graphs.node_offsets[g] : graphs.node_offsets[g + 1]]
        assert_allclose(graphs.score(labels)[g], score_of(graphs, g, own), atol=1e-9)
    assert_allclose(graphs.with_tables().score(labels), graphs.score(labels), atol=1e-9)


@given(graph_batches(labels=(2,)))
def test_two_labels_are_log_odds_and_gains(graphs):
    h, gains, constant = graphs.ising()
    labels = np.random.default_rng(1).integers(2, size=graphs.n_nodes)
    equal = labels[graphs.edges[:, 0]] == labels[graphs.edges[:, 1]]
    score = constant + np.bincount(graphs.node_graph, h * labels, graphs.n_graphs)
    score += np.bincount(graphs.edge_graph, gains * equal, graphs.n_graphs)
    assert_allclose(score, graphs.score(labels), atol=1e-9)


@given(graph_batches(known=True))
def test_subsets_keep_their_graphs(graphs):
    rows = np.arange(graphs.n_graphs)[::-1]
    part = graphs.subset(rows)
    labels = np.random.default_rng(2).integers(graphs.n_labels, size=graphs.n_nodes)
    assert_allclose(part.score(labels[graphs.node_rows(rows)]), graphs.score(labels)[rows], atol=1e-9)
    assert_array_equal(part.known, graphs.known[graphs.node_rows(rows)])


def test_components_are_found_and_keep_the_score():
    rng = np.random.default_rng(3)
    graphs = Graphs.from_edges(rng.normal(size=(6, 3)), [(5, 0), (1, 2), (2, 4)], rng.normal(size=3))
    parts, nodes, edges = graphs.components()
    assert np.diff(parts.node_offsets).tolist() == [2, 3, 1]
    assert_array_equal(np.sort(nodes), np.arange(6))
    assert_array_equal(np.sort(edges), np.arange(3))
    labels = rng.integers(3, size=6)
    assert_allclose(parts.score(labels[nodes]).sum(), graphs.score(labels).sum())


def test_a_pickled_batch_comes_back_read_only():
    graphs = pickle.loads(pickle.dumps(Graphs.chain(np.zeros((3, 2)), [3], 0.5)))
    assert not graphs.edge_scores.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        graphs.node_scores[0, 0] = 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"node_scores": np.zeros(3)}, r"shape \(n_nodes, n_labels\)"),
        ({"edge_scores": np.zeros((2, 3, 3))}, "one gain or one table an edge"),
        ({"edges": [[0, 1], [1, 5]]}, "edge 1 names node 5"),
        ({"edges": [[0, 1], [1, 1]]}, "two different nodes; edge 1"),
        ({"node_scores": np.array([[0, 0], [0, np.nan], [0, 0]])}, "must be finite; row 1"),
        ({"node_offsets": [0, 2]}, "must run from 0 to 3"),
        ({"node_offsets": [0, 2, 3]}, "same graphs"),
        ({"known": [0, 2, -1]}, "node 1 has 2"),
        ({"known": [0]}, "one entry a node"),
    ],
)
def test_broken_rules_are_named(change, message):
    good = {
        "node_scores": np.zeros((3, 2)),
        "edges": [[0, 1], [1, 2]],
        "edge_scores": np.zeros(2),
        "node_offsets": [0, 3],
        "edge_offsets": [0, 2],
    }
    Graphs(**good)
    with pytest.raises(InputError, match=message):
        Graphs(**{**good, **change})


def test_only_two_labels_have_log_odds():
    with pytest.raises(InputError, match="these have 3"):
        Graphs.chain(np.zeros((2, 3)), [2]).ising()
