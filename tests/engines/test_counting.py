import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from accord.engines.counting import counting, is_countable
from accord.engines.exact import exact
from accord.engines.graphs import Graphs
from accord.errors import InputError
from oracles import enumerate_graphs


@st.composite
def countable(draw):
    """Complete graphs with one gain each, and log odds that are often equal or nearly so."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    scores = rng.normal(size=(sum(sizes), 2))
    if draw(st.booleans()):
        scores = np.round(scores) + draw(st.sampled_from([0.0, 1e-9, 1e-3])) * rng.integers(2, size=scores.shape)
    gains = [g for n in sizes for g in [draw(st.sampled_from([-3.0, -0.5, 0.0, 0.7, 4.0]))] * (n * (n - 1) // 2)]
    known = np.where(rng.random(len(scores)) < 0.3, rng.integers(2, size=len(scores)), -1)
    graphs = Graphs.complete(scores, sizes, np.array(gains), known=known)
    return graphs.with_tables() if draw(st.booleans()) else graphs


@given(countable())
def test_counting_is_exact(graphs):
    found, truth = counting(graphs), enumerate_graphs(graphs)
    assert_allclose(found.log_partition, truth.log_partition, atol=1e-8)
    assert_allclose(found.node_marginals, truth.node_marginals, atol=1e-8)
    assert_allclose(found.edge_marginals, truth.edge_marginals, atol=1e-8)
    assert_allclose(graphs.score(found.map_labels), truth.best_score, atol=1e-8)


@given(countable())
def test_edges_that_are_not_asked_for_one_by_one_have_the_mean_of_their_graph(graphs):
    if graphs.has_tables or (graphs.known >= 0).any():
        graphs = Graphs(graphs.node_scores, graphs.edges, graphs.ising()[1], graphs.node_offsets, graphs.edge_offsets)
    found, truth = counting(graphs, each_edge=False), enumerate_graphs(graphs)
    total = np.bincount(graphs.edge_graph, found.edge_marginals, minlength=graphs.n_graphs)
    assert_allclose(total, np.bincount(graphs.edge_graph, truth.edge_marginals, minlength=graphs.n_graphs), atol=1e-8)
    assert_allclose(found.node_marginals, truth.node_marginals, atol=1e-8)


@pytest.mark.parametrize("gain", [-2.0, 0.3, 30.0])
def test_counting_agrees_with_enumeration_at_sixteen_nodes(gain):
    rng = np.random.default_rng(0)
    graphs = Graphs.complete(rng.normal(size=(16, 2)), [16], gain)
    found, truth = counting(graphs), exact(graphs)
    assert_allclose(found.log_partition, truth.log_partition, rtol=1e-12)
    assert_allclose(found.edge_marginals, truth.edge_marginals, atol=1e-8)


def test_long_threads_neither_overflow_nor_vanish():
    rng = np.random.default_rng(1)
    for gain in (-3.0, 3.0):
        found = counting(Graphs.complete(rng.normal(size=(143, 2)), [143], gain))
        assert np.isfinite(found.log_partition).all()
        assert_allclose(found.node_marginals.sum(axis=1), 1.0)
        assert found.edge_marginals.min() >= 0.0
        assert found.edge_marginals.max() <= 1.0


def test_what_cannot_be_counted_is_refused():
    uneven = Graphs.complete(np.zeros((3, 2)), [3], [1.0, 1.0, 2.0])
    doubled = Graphs(np.zeros((3, 2)), [(0, 1), (1, 0), (1, 2)], np.ones(3), [0, 3], [0, 3])
    chain = Graphs.chain(np.zeros((3, 2)), [3], 1.0)
    for graphs in (uneven, doubled, chain, Graphs.complete(np.zeros((2, 3)), [2])):
        assert not is_countable(graphs).any()
    with pytest.raises(InputError, match="graph 0 is not one"):
        counting(uneven)
