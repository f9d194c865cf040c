import numpy as np
import pytest
from numpy.testing import assert_allclose

from accord.engines.belief_propagation import belief_propagation
from accord.engines.exact import exact
from accord.engines.graphs import Graphs
from accord.errors import InputError
from accord.threads.pulls import pulls


def log_odds(values, label):
    return values[:, label] - np.delete(values, label, axis=1).mean(axis=1)


def sum_of_pulls(graphs, found, label):
    first, second = pulls(graphs, found, label)
    total = np.bincount(graphs.edges[:, 0], weights=first, minlength=graphs.n_nodes)
    return total + np.bincount(graphs.edges[:, 1], weights=second, minlength=graphs.n_nodes)


@pytest.mark.parametrize("n_labels", [2, 3])
def test_evidence_and_pulls_add_up_to_the_log_odds_of_belief_propagation(n_labels):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(7, n_labels))
    gains = rng.normal(scale=0.3, size=3 + 6)
    graphs = Graphs.complete(scores, [3, 4], gains).with_tables()
    found = belief_propagation(graphs, tol=1e-12, max_iter=2000)
    for label in range(n_labels):
        expected = log_odds(np.log(found.node_marginals), label) - log_odds(scores, label)
        assert_allclose(sum_of_pulls(graphs, found, label), expected, atol=1e-8)


def test_on_a_tree_pulls_add_up_to_the_exact_log_odds():
    rng = np.random.default_rng(1)
    graphs = Graphs.chain(rng.normal(size=(5, 2)), [5], rng.normal(size=(4, 2, 2)))
    found = exact(graphs)
    expected = log_odds(np.log(found.node_marginals), 1) - log_odds(graphs.node_scores, 1)
    assert_allclose(sum_of_pulls(graphs, found, 1), expected, atol=1e-8)


def test_a_known_label_pulls_with_its_whole_edge_and_is_not_pulled():
    graphs = Graphs.complete(np.zeros((2, 2)), [2], 0.7, known=np.array([1, -1])).with_tables()
    onto_known, onto_free = pulls(graphs, belief_propagation(graphs), 1)
    assert_allclose(onto_known, 0.0)
    assert_allclose(onto_free, 0.7)


def test_gains_are_refused():
    graphs = Graphs.complete(np.zeros((2, 2)), [2], 0.7)
    with pytest.raises(InputError, match="with_tables"):
        pulls(graphs, belief_propagation(graphs), 1)
