import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from accord.engines.graphs import Graphs
from accord.engines.iterated import iterate_labels, iterated
from accord.errors import ConvergenceWarning
from oracles import enumerate_graphs
from strategies import graph_batches


@given(graph_batches(known=True))
def test_no_single_change_raises_the_score(graphs):
    found = iterated(graphs)
    assert found.converged.all()
    assert np.all(found.log_partition <= enumerate_graphs(graphs).best_score + 1e-9)
    for i in range(graphs.n_nodes):
        if graphs.known[i] >= 0:
            assert found.map_labels[i] == graphs.known[i]
            continue
        for label in range(graphs.n_labels):
            other = found.map_labels.copy()
            other[i] = label
            assert graphs.score(other).sum() <= found.log_partition.sum() + 1e-9


@given(graph_batches())
def test_the_node_that_gains_most_among_its_neighbours_changes(graphs):
    def one_round(labels):
        gains, best = np.zeros(graphs.n_nodes), labels.copy()
        for i in range(graphs.n_nodes):
            scores = []
            for label in range(graphs.n_labels):
                other = labels.copy()
                other[i] = label
                scores.append(graphs.score(other).sum())
            if max(scores) > scores[labels[i]] + 1e-12:
                best[i], gains[i] = int(np.argmax(scores)), max(scores) - scores[labels[i]]
        new = labels.copy()
        for i in np.flatnonzero(gains):
            touching = graphs.edges[(graphs.edges == i).any(axis=1)].ravel()
            if all(
                gains[j] < gains[i] - 1e-12 or (gains[j] <= gains[i] + 1e-12 and i < j) for j in set(touching) - {i}
            ):
                new[i] = best[i]
        return new

    labels = graphs.node_scores.argmax(axis=1)
    while not np.array_equal(new := one_round(labels), labels):
        labels = new
    assert_allclose(graphs.score(labels).sum(), graphs.score(iterated(graphs).map_labels).sum(), atol=1e-9)


def test_the_order_of_the_nodes_does_not_matter():
    rng = np.random.default_rng(0)
    n, n_labels = 300, 3
    scores, ends, gains = rng.normal(size=(n, n_labels)), rng.integers(0, n, (900, 2)), rng.normal(1.0, 1.0, 900)
    ends, gains = ends[ends[:, 0] != ends[:, 1]], gains[ends[:, 0] != ends[:, 1]]
    found = iterated(Graphs.from_edges(scores, ends, gains))
    order = rng.permutation(n)
    place = np.argsort(order)
    shuffled = iterated(Graphs.from_edges(scores[order], place[ends], gains))
    assert np.any(found.map_labels != scores.argmax(axis=1))
    assert_array_equal(shuffled.map_labels, found.map_labels[order])
    assert_allclose(shuffled.node_marginals, found.node_marginals[order], atol=1e-9)


def test_conditional_marginals_are_those_of_the_node_given_the_others():
    graphs = Graphs.chain([[0.0, 0.3], [0.0, 1.0]], [2], 0.5)
    found = iterated(graphs)
    assert_array_equal(found.map_labels, [1, 1])
    assert_allclose(found.node_marginals[0, 1], 1 / (1 + np.exp(-0.8)))


def test_labels_that_may_not_change_stay_and_orders_come_from_the_generator():
    seen = []

    def relabel(nodes, labels):
        seen.extend(nodes)
        return np.ones(len(nodes), dtype=int)

    labels, convergence = iterate_labels(
        relabel, np.zeros(6, dtype=int), rng=np.random.default_rng(0), block_size=2, free=np.arange(6) != 3
    )
    assert_array_equal(labels, [1, 1, 1, 0, 1, 1])
    assert (convergence.converged, convergence.n_iter) == (True, 2)
    assert sorted(seen[:5]) == [0, 1, 2, 4, 5]
    assert seen[:5] != sorted(seen[:5])


def test_rounds_that_run_out_are_warned_about():
    graphs = Graphs.chain([[0.1, 0.0], [0.0, 5.0]], [2], 1.0)
    with pytest.warns(ConvergenceWarning, match="Iterated labelling on 1 of 1 graphs"):
        found = iterated(graphs, max_iter=1)
    assert (found.residual[0], found.map_labels.tolist()) == (1.0, [1, 1])
