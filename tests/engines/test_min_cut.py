import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from accord.engines.exact import exact
from accord.engines.graphs import Graphs
from accord.engines.min_cut import min_cut, minimum_cuts, qpbo
from accord.errors import InputError
from oracles import enumerate_graphs
from strategies import graph_batches


def random_graphs(n_graphs, rng, max_nodes=12, density=None):
    """Attractive graphs of all densities and strengths."""
    first, edges, scores, n_nodes, n_edges = 0, [], [], [], []
    for _ in range(n_graphs):
        n = int(rng.integers(1, max_nodes + 1))
        pairs = np.argwhere(np.triu(rng.random((n, n)) < (density or rng.choice([0.2, 0.5, 1.0])), 1))
        edges.append(pairs + first)
        scores.append(np.abs(rng.normal(size=len(pairs))) * rng.choice([0.1, 0.5, 2.0]))
        first += n
        n_nodes.append(n)
        n_edges.append(len(pairs))
    return Graphs(
        rng.normal(size=(first, 2)), np.concatenate(edges), np.concatenate(scores),
        np.concatenate([[0], np.cumsum(n_nodes)]), np.concatenate([[0], np.cumsum(n_edges)]),
    )  # fmt: skip


def test_the_best_score_equals_brute_force_on_a_thousand_graphs():
    graphs = random_graphs(1000, np.random.default_rng(0))
    assert_allclose(min_cut(graphs).log_partition, graphs.score(exact(graphs).map_labels), atol=1e-9)


@pytest.mark.parametrize("density", [0.05, 1.0])
def test_larger_graphs_agree_with_scipy_on_whole_capacities(density):
    # SciPy's maximum flow takes whole numbers; capacities are multiples of 1/1000, so that both are exact.
    rng = np.random.default_rng(1)
    graphs = random_graphs(10, rng, max_nodes=120, density=density)
    graphs = graphs.with_scores(np.round(graphs.node_scores, 3), np.round(graphs.edge_scores, 3))
    found = min_cut(graphs).log_partition
    for g in range(graphs.n_graphs):
        part = graphs.subset([g])
        h, gains, constant = part.ising()
        h, gains = np.rint(1000 * h).astype(int), np.rint(1000 * gains).astype(int)
        n = len(h)
        i, j = part.edges.T
        rows = np.concatenate([np.full(n, n), np.arange(n), i, j])
        columns = np.concatenate([np.arange(n), np.full(n, n + 1), j, i])
        capacity = np.concatenate([np.maximum(h, 0), np.maximum(-h, 0), gains, gains]).astype(np.int32)
        flow = maximum_flow(csr_array((capacity, (rows, columns)), shape=(n + 2, n + 2)), n, n + 1).flow_value
        best = constant[0] + (np.maximum(h, 0).sum() + gains.sum() - flow) / 1000
        assert_allclose(found[g], best, atol=1e-9)


@given(graph_batches(labels=(2,), tables=(False,), attractive=True, known=True))
def test_known_labels_are_kept_and_the_rest_is_best(graphs):
    found, truth = min_cut(graphs), enumerate_graphs(graphs)
    assert_allclose(found.log_partition, truth.best_score, atol=1e-9)
    assert_allclose(graphs.score(found.map_labels), truth.best_score, atol=1e-9)
    fixed = graphs.known >= 0
    assert_array_equal(found.map_labels[fixed], graphs.known[fixed])


@pytest.mark.parametrize("sparse", [False, True])
def test_ties_are_visible(sparse):
    # Scores are small whole numbers, so many labellings tie; brute force says which labels each node can have.
    rng = np.random.default_rng(2)
    for _ in range(60):
        n = int(rng.integers(1, 8))
        pairs = np.argwhere(np.triu(rng.random((n, n)) < (0.4 if sparse else 1.0), 1))
        h = rng.integers(-2, 3, size=n).astype(float)
        graphs = Graphs.from_edges(np.stack([np.zeros(n), h], 1), pairs, rng.integers(0, 3, size=len(pairs)))
        labellings = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        scores = np.array([graphs.score(y)[0] for y in labellings])
        best = labellings[scores == scores.max()]
        cuts = minimum_cuts(graphs)
        assert_array_equal(cuts.fewest, best.min(axis=0))
        assert_array_equal(cuts.most, best.max(axis=0))
        assert_array_equal(cuts.tied, min_cut(graphs).node_marginals[:, 1] == 0.5)


@given(graph_batches(labels=(2,), known=True))
def test_labels_that_qpbo_decides_stand_in_every_best_labelling(graphs):
    found, truth = qpbo(graphs), enumerate_graphs(graphs)
    assert np.all(found.log_partition >= truth.best_score - 1e-9)
    for i in np.flatnonzero(found.map_labels >= 0):
        other = np.full(graphs.n_nodes, -1) if graphs.known is None else graphs.known.copy()
        if other[i] >= 0:
            assert found.map_labels[i] == other[i]
            continue
        other[i] = 1 - found.map_labels[i]
        g = graphs.node_graph[i]
        assert enumerate_graphs(graphs.with_known(other)).best_score[g] < truth.best_score[g] - 1e-12


@given(graph_batches(labels=(2,), tables=(False,), attractive=True))
def test_on_attractive_graphs_qpbo_decides_all_that_is_not_tied(graphs):
    found, cuts = qpbo(graphs), minimum_cuts(graphs)
    assert_array_equal(found.map_labels, np.where(cuts.tied, -1, cuts.fewest))
    assert_allclose(found.log_partition, cuts.score, atol=1e-9)


def test_a_long_chain_of_equal_pulls_is_cut_at_its_weakest_edge():
    n = 20_000
    gains = np.full(n - 1, 2.0)
    gains[12_345] = 0.5
    scores = np.zeros((n, 2))
    scores[0, 1], scores[-1, 0] = 1.0, 1.0
    labels = min_cut(Graphs.chain(scores, [n], gains)).map_labels
    assert_array_equal(labels, np.arange(n) <= 12_345)


def test_edges_that_prefer_different_labels_are_refused_with_the_cure():
    graphs = Graphs.chain(np.zeros((3, 2)), [3], [1.0, -0.5])
    with pytest.raises(InputError, match=r"edge 1 has gain -0\.5\. Use engine='qpbo'"):
        min_cut(graphs)
    # The edge may stay if one of its ends is known.
    assert_array_equal(min_cut(graphs.with_known([-1, -1, 0])).map_labels, [1, 1, 0])
    for engine in (min_cut, qpbo):
        with pytest.raises(InputError, match="two labels"):
            engine(Graphs.chain(np.zeros((3, 3)), [3]))
