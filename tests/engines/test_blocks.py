"""Belief propagation in the block model, against enumeration and on graphs drawn from it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from accord.engines.blocks import block_beliefs
from accord.engines.graphs import Graphs
from oracles import enumerate_graphs


@given(st.integers(1, 6), st.integers(2, 3), st.integers(0, 2**16))
@settings(deadline=None)
def test_without_the_field_it_is_exact_on_trees(n, n_labels, seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, n_labels))
    ends = np.array([(int(rng.integers(0, i)), i) for i in range(1, n)], dtype=np.int64).reshape(-1, 2)
    log_odds = rng.normal(0.0, 1.0, n - 1)
    known = np.where(rng.random(n) < 0.2, rng.integers(0, n_labels, n), -1)
    found = block_beliefs(scores, ends, log_odds, known=known, learn=False, balanced=False, tol=1e-10)
    graphs = Graphs.from_edges(scores, ends, log_odds + np.log(n_labels - 1.0), known=known)
    assert_allclose(found.nodes, enumerate_graphs(graphs).node_marginals, atol=1e-6)


def drawn(n, n_labels, homophily, seed, degree=4.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_labels, n)
    first = rng.integers(0, n, int(n * degree / 2))
    same = rng.random(len(first)) < homophily
    label = np.where(same, y[first], (y[first] + rng.integers(1, n_labels, len(first))) % n_labels)
    second = np.array([rng.choice(np.flatnonzero(y == each)) for each in label])
    return y, np.column_stack([first, second])[first != second]


@pytest.mark.parametrize(("n_labels", "homophily", "least"), [(2, 0.9, 0.9), (5, 0.75, 0.7), (2, 0.08, 0.85)])
def test_a_few_labels_reach_the_whole_graph(n_labels, homophily, least):
    y, ends = drawn(1000, n_labels, homophily, 0)
    rng = np.random.default_rng(1)
    known = np.full(1000, -1)
    seen = rng.permutation(1000)[:40]
    known[seen] = y[seen]
    start = 1.0 if homophily > 0.5 else -1.0
    found = block_beliefs(np.zeros((1000, n_labels)), ends, np.full(len(ends), start), known=known)
    rest = known < 0
    assert np.mean(found.nodes[rest].argmax(axis=1) == y[rest]) > least
    assert found.convergence.converged
    share = np.mean(y[ends[:, 0]] == y[ends[:, 1]])
    assert abs(found.same.mean() - share) < 0.05


def test_the_order_of_nodes_edges_and_labels_does_not_matter():
    y, ends = drawn(300, 3, 0.8, 2)
    rng = np.random.default_rng(3)
    known = np.where(rng.random(300) < 0.05, y, -1)
    scores = rng.normal(0.0, 0.3, (300, 3))
    log_odds, weights = rng.normal(1.0, 0.5, len(ends)), rng.uniform(0.5, 2.0, len(ends))
    a = block_beliefs(scores, ends, log_odds, weights=weights, known=known).nodes
    order, edge_order, names = rng.permutation(300), rng.permutation(len(ends)), np.array([2, 0, 1])
    place = np.argsort(order)
    renamed = np.where(known[order] >= 0, np.argsort(names)[known[order]], -1)
    b = block_beliefs(
        scores[order][:, names], place[ends][edge_order][:, ::-1], log_odds[edge_order],
        weights=weights[edge_order], known=renamed,
    ).nodes  # fmt: skip
    assert_allclose(b, a[order][:, names], atol=1e-7)


def test_a_graph_about_which_nothing_is_known_says_nothing():
    _, ends = drawn(200, 2, 0.9, 4)
    found = block_beliefs(np.zeros((200, 2)), ends, np.ones(len(ends)))
    assert_allclose(found.nodes, 0.5, atol=1e-6)
    alone = block_beliefs(np.array([[0.0, 1.0]]), np.empty((0, 2), dtype=np.int64), np.empty(0))
    assert_allclose(alone.nodes[0, 1], 1 / (1 + np.exp(-1.0)))


@pytest.mark.parametrize("seed", range(6))
def test_weak_links_with_few_labels_give_no_certainty(seed):
    # Five blocks of unequal sizes, numbers of links with a heavy tail, about two links a node, half of them within a
    # block: too little to find the blocks, so that learnt couplings and beliefs drive each other up.
    rng, n = np.random.default_rng(seed), 500
    y = rng.choice(5, n, p=rng.dirichlet(np.full(5, 4.0)))
    theta = np.minimum(rng.pareto(2.5, n) + 0.3, 6.0)
    rate = np.outer(theta, theta) / theta.mean() ** 2 * np.where(y[:, None] == y, 6.0, 1.5) / n
    ends = np.argwhere(np.triu(rng.random((n, n)) < rate, 1))
    known = np.where(np.arange(n) < 12, y, -1)
    found = block_beliefs(np.full((n, 5), -np.log(5.0)), ends, np.ones(len(ends)), known=known, max_iter=300)
    loss = -np.log(found.nodes[np.arange(12, n), y[12:]]).mean()
    assert loss < np.log(5.0) + 0.05
    assert found.convergence.residual < 0.05


@pytest.mark.parametrize("seed", range(4))
def test_beliefs_settle_where_some_nodes_have_many_links(seed):
    rng, n = np.random.default_rng(seed), 300
    y = (rng.random(n) < 0.6).astype(int)
    theta = np.minimum(rng.pareto(2.5, n) + 0.3, 6.0)
    rate = np.outer(theta, theta) / theta.mean() ** 2 * np.where(y[:, None] == y, 9.0, 3.0) / n
    ends = np.argwhere(np.triu(rng.random((n, n)) < rate, 1))
    known = np.where(np.arange(n) < 6, y, -1)
    scores = 0.3 * rng.normal(size=(n, 2))
    found = block_beliefs(scores, ends, np.ones(len(ends)), known=known, max_iter=300)
    assert found.convergence.residual < 0.01
