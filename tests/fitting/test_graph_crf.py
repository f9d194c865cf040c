from functools import partial

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from accord.engines.belief_propagation import belief_propagation
from accord.engines.exact import exact
from accord.engines.graphs import Graphs
from accord.errors import InputError
from accord.fitting.graph_crf import GraphCRF, marginal_loss, negative_log_likelihood, thread_steps
from accord.fitting.optimise import l2_penalised, minimise_lbfgs, minimise_sgd
from oracles import central_difference, enumerate_graphs

tight = partial(belief_propagation, tol=1e-13, max_iter=3000)


def problem(n_labels=2, edges="ising", seed=0, sizes=(1, 4, 3, 5), n_edge_features=3, scale_edges=False):
    rng = np.random.default_rng(seed)
    layout = Graphs.complete(np.zeros((sum(sizes), n_labels)), sizes)
    phi = None if n_edge_features is None else rng.normal(size=(layout.n_edges, n_edge_features))
    crf = GraphCRF(layout, rng.normal(size=(layout.n_nodes, 4)), phi, edges=edges, scale_edges=scale_edges)
    weights = 0.3 * rng.normal(size=crf.n_weights)
    return crf, weights, rng.integers(n_labels, size=layout.n_nodes)


@pytest.mark.parametrize("infer", [exact, tight], ids=["exact", "bethe"])
@pytest.mark.parametrize("edges", ["ising", "full"])
@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("hidden", [False, True])
def test_the_gradient_passes_central_differences_on_loopy_graphs(n_labels, edges, infer, hidden):
    crf, weights, labels = problem(n_labels, edges, scale_edges=hidden)
    if hidden:
        labels[::3] = -1
    loss = negative_log_likelihood(crf, labels, infer=infer, sample_weight=np.array([1.0, 2.0, 0.5, 1.0]))
    slope = central_difference(lambda w: loss(w)[0], weights)
    assert_allclose(loss(weights)[1], slope, rtol=1e-5, atol=1e-5 * np.abs(slope).max())


@pytest.mark.parametrize("hidden", [False, True])
def test_the_loss_is_minus_the_log_probability_of_what_was_seen(hidden):
    crf, weights, labels = problem(3, "full")
    if hidden:
        labels[1::2] = -1
    graphs = crf.scores(weights)
    log_p = enumerate_graphs(graphs.with_known(labels)).log_partition - enumerate_graphs(graphs).log_partition
    value, _ = negative_log_likelihood(crf, labels, infer=exact)(weights)
    assert_allclose(value, -log_p.sum() / np.sum(labels >= 0), atol=1e-10)


def test_without_edges_it_is_logistic_regression():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 3))
    y = (x @ [1.0, -2.0, 0.5] + rng.logistic(size=200) > 0).astype(int)
    crf = GraphCRF(Graphs.chain(np.zeros((200, 2)), np.ones(200, dtype=int)), x)
    loss = l2_penalised(negative_log_likelihood(crf, y), 1.0 / 200)
    found = minimise_lbfgs(loss, np.zeros(crf.n_weights), tol=1e-8)
    peer = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-8).fit(x, y)
    assert_allclose(found.weights[:3], peer.coef_[0], atol=1e-5)


def test_training_recovers_the_weights_that_made_the_labels():
    rng = np.random.default_rng(2)
    n_graphs, n = 1500, 5
    layout = Graphs.complete(np.zeros((n_graphs * n, 2)), [n] * n_graphs)
    crf = GraphCRF(layout, np.column_stack([np.ones(n_graphs * n), rng.normal(size=n_graphs * n)]))
    truth = np.array([-0.5, 1.0, 0.6])
    graphs = crf.scores(truth)
    states = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    equal = states[:, layout.edges[:10, 0]] == states[:, layout.edges[:10, 1]]
    scores = graphs.node_scores[:, 1].reshape(-1, n) @ states.T + 0.6 * equal.sum(axis=1)
    labels = states[np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)].ravel()
    found = minimise_lbfgs(negative_log_likelihood(crf, labels, infer=exact), np.zeros(3))
    assert found.convergence.converged
    assert_allclose(found.weights, truth, atol=0.12)


def test_a_bias_only_edge_scaled_by_the_thread_is_one_over_n_minus_one():
    crf, _, _ = problem(n_edge_features=None, scale_edges=True)
    weights = np.zeros(crf.n_weights)
    weights[-1] = 6.0
    gains = crf.scores(weights).edge_scores
    assert_allclose(gains[crf.graphs.edge_graph == 1], 2.0)
    assert_allclose(gains[crf.graphs.edge_graph == 3], 1.5)


@pytest.mark.parametrize("scale_edges", [False, True])
def test_sparse_features_equal_dense_ones(scale_edges):
    crf, weights, labels = problem(scale_edges=scale_edges)
    sparse = GraphCRF(
        crf.graphs, scipy.sparse.csr_array(crf.node_features), scipy.sparse.csr_array(crf.edge_features),
        scale_edges=scale_edges,
    )  # fmt: skip
    for one, other in zip(
        negative_log_likelihood(crf, labels)(weights), negative_log_likelihood(sparse, labels)(weights), strict=True
    ):
        assert_allclose(one, other, atol=1e-12)
    part = np.array([2, 1])
    assert_allclose(sparse.subset(part).scores(weights).edge_scores, crf.subset(part).scores(weights).edge_scores)


def test_the_marginal_loss_passes_central_differences():
    crf, weights, labels = problem(3)
    labels[2] = -1
    for infer in (exact, tight):
        loss = marginal_loss(crf, labels, infer=infer)
        slope = central_difference(lambda w: loss(w)[0], weights)  # noqa: B023
        assert_allclose(loss(weights)[1], slope, atol=1e-6)


def test_stochastic_steps_lower_the_loss():
    crf, _, labels = problem(sizes=(4, 5, 3, 4, 5, 4))
    loss = negative_log_likelihood(crf, labels, infer=exact)
    found = minimise_sgd(
        thread_steps(crf, labels, infer=exact), np.zeros(crf.n_weights), lambda epoch, rng: rng.permutation(6),
        n_epochs=50, step_size=lambda t: 0.1, rng=np.random.default_rng(0),
    )  # fmt: skip
    assert loss(found)[0] < 0.8 * loss(np.zeros(crf.n_weights))[0]


def test_the_step_of_one_thread_divides_by_its_nodes_and_edges():
    crf, weights, labels = problem()
    step = thread_steps(crf, labels, infer=exact)(weights, 1)
    own = slice(1, 5)
    one = crf.subset([1])
    slope = central_difference(lambda w: 4 * negative_log_likelihood(one, labels[own], infer=exact)(w)[0], weights)
    assert_allclose(step[:4], slope[:4] / 4, atol=1e-7)
    assert_allclose(step[4:], slope[4:] / 6, atol=1e-7)


def test_broken_rules_are_named():
    crf, _, labels = problem()
    with pytest.raises(InputError, match="one row a node"):
        GraphCRF(crf.graphs, np.zeros((2, 2)))
    with pytest.raises(InputError, match="one row an edge"):
        GraphCRF(crf.graphs, crf.node_features, np.zeros((2, 2)))
    with pytest.raises(InputError, match="ising, full; got 'potts'"):
        GraphCRF(crf.graphs, crf.node_features, edges="potts")
    with pytest.raises(InputError, match="7 weights; got 8"):
        crf.split(np.zeros(8))
    with pytest.raises(InputError, match="at least one label"):
        negative_log_likelihood(crf, np.full(13, -1))
    with pytest.raises(InputError, match="or −1"):
        negative_log_likelihood(crf, labels + 2)
    with pytest.raises(InputError, match="sample_weight"):
        negative_log_likelihood(crf, labels, sample_weight=np.ones(13))
