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
def test_the_engine_is_iterative_classification_with_the_conditional_label(graphs):
    def relabel(nodes, labels):
        best = []
        for i in nodes:
            scores = []
            for label in range(graphs.n_labels):
                other = labels.copy()
                other[i] = label
                scores.append(graphs.score(other).sum())
            best.append(int(np.argmax(scores)))
        return np.array(best)

    start = graphs.node_scores.argmax(axis=1)
    labels, convergence = iterate_labels(relabel, start, max_iter=100)
    assert convergence.converged
    assert_array_equal(labels, iterated(graphs).map_labels)


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
