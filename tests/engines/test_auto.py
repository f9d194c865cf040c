import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

from accord.engines.auto import auto, check_inference, is_forest
from accord.engines.belief_propagation import belief_propagation
from accord.engines.exact import exact
from accord.engines.graphs import Graphs
from accord.errors import InputError
from oracles import enumerate_graphs
from strategies import graph_batches


@given(graph_batches(known=True))
def test_auto_is_exact_on_all_small_graphs(graphs):
    found, truth = auto(graphs), enumerate_graphs(graphs)
    assert_allclose(found.log_partition, truth.log_partition, atol=1e-8)
    assert_allclose(found.node_marginals, truth.node_marginals, atol=1e-8)
    assert_allclose(found.edge_marginals, truth.edge_marginals, atol=1e-8)


def star(n):
    return [(0, i) for i in range(1, n)]


def test_auto_says_which_engine_each_graph_had():
    rng = np.random.default_rng(0)
    big = Graphs.complete(np.zeros((30, 2)), [30])
    parts = [
        ([(i, i + 1) for i in range(4)], 5, 1.0),  # a chain
        (star(30), 30, 1.0),  # a tree
        ([(i, j) for i in range(12) for j in range(i)], 12, 1.0),  # small, with loops
        (big.edges.tolist(), 30, None),  # large, one gain for all edges
        (big.edges.tolist(), 30, 0.1),  # large, with loops
    ]
    first, edges, scores, n_nodes, n_edges = 0, [], [], [], []
    for own, n, scale in parts:
        edges += [(first + i, first + j) for i, j in own]
        scores += [0.05] * len(own) if scale is None else list(scale * rng.normal(size=len(own)))
        first += n
        n_nodes.append(n)
        n_edges.append(len(own))
    graphs = Graphs(
        rng.normal(size=(first, 2)), edges, scores, np.concatenate([[0], np.cumsum(n_nodes)]),
        np.concatenate([[0], np.cumsum(n_edges)]),
    )  # fmt: skip
    found = auto(graphs)
    assert found.method.tolist() == ["chain", "belief_propagation", "exact", "counting", "belief_propagation"]
    loopy = belief_propagation(graphs.subset([4]))
    assert_allclose(found.node_marginals[-30:], loopy.node_marginals)
    assert_allclose(found.log_partition[4], loopy.log_partition[0])


@given(graph_batches(shapes=("tree", "complete", "any")))
def test_a_forest_is_a_graph_without_loops(graphs):
    for g, found in enumerate(is_forest(graphs)):
        part = graphs.subset([g])
        n_components = part.components()[0].n_graphs
        assert found == (part.n_edges == part.n_nodes - n_components)


def test_no_graph_is_an_ordinary_batch():
    assert auto(Graphs.chain(np.zeros((0, 2)), [])).log_partition.shape == (0,)


def test_the_check_reports_the_errors_it_finds():
    rng = np.random.default_rng(1)
    graphs = Graphs.complete(rng.normal(size=(30, 2)), [4, 6, 20], rng.normal(size=6 + 15 + 190))
    small = graphs.subset([0, 1])
    lbp, mf = check_inference(graphs)
    assert (lbp.engine, mf.engine) == ("belief_propagation", "mean_field")
    assert (lbp.n_graphs, lbp.n_nodes) == (2, 10)
    error = np.abs(belief_propagation(small).node_marginals - exact(small).node_marginals)
    assert_allclose(lbp.worst_error, error.max())
    assert 0 < lbp.mean_error < lbp.worst_error < mf.worst_error
    with pytest.raises(InputError, match="at most 8 labellings"):
        check_inference(graphs, max_states=8)
