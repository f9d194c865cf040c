"""Every engine against plain enumeration, from one node and no edge upward."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from accord.engines.belief_propagation import belief_propagation
from accord.engines.chain import chain, viterbi
from accord.engines.exact import exact
from accord.engines.graphs import Graphs
from accord.engines.mean_field import mean_field
from accord.errors import ConvergenceWarning, InputError
from oracles import enumerate_graphs, plain_belief_propagation, plain_mean_field
from strategies import graph_batches


def assert_exact(found, truth, atol=1e-8):
    assert_allclose(found.log_partition, truth.log_partition, atol=atol)
    assert_allclose(found.node_marginals, truth.node_marginals, atol=atol)
    assert_allclose(found.edge_marginals, truth.edge_marginals, atol=atol)


@given(graph_batches())
def test_exact_agrees_with_plain_enumeration(graphs):
    found, truth = exact(graphs), enumerate_graphs(graphs)
    assert_exact(found, truth)
    assert_allclose(graphs.score(found.map_labels), truth.best_score, atol=1e-9)
    assert found.converged.all()


@given(graph_batches(known=True))
def test_known_labels_are_conditioned_on_exactly(graphs):
    found, truth = exact(graphs), enumerate_graphs(graphs)
    assert_exact(found, truth)
    assert_allclose(graphs.score(found.map_labels), truth.best_score, atol=1e-9)


@pytest.mark.parametrize("schedule", ["flooding", "sequential"])
@given(graphs=graph_batches(shapes=("tree", "chain"), known=True))
def test_belief_propagation_is_exact_on_trees(graphs, schedule):
    assert_exact(belief_propagation(graphs, schedule=schedule, tol=1e-10), enumerate_graphs(graphs))


@pytest.mark.parametrize("schedule", ["flooding", "sequential"])
@given(graphs=graph_batches(shapes=("tree", "chain"), known=True))
def test_max_product_finds_the_best_labels_of_trees(graphs, schedule):
    found, truth = belief_propagation(graphs, mode="max", schedule=schedule), enumerate_graphs(graphs)
    assert_allclose(found.log_partition, truth.best_score, atol=1e-8)
    assert_allclose(graphs.score(found.map_labels), truth.best_score, atol=1e-8)


@given(graph_batches(shapes=("complete", "any"), strength=0.3))
def test_belief_propagation_agrees_with_its_plain_twin(graphs):
    found = belief_propagation(graphs, tol=1e-12, max_iter=1000, warn=False)
    nodes, log_z = plain_belief_propagation(graphs, 300)
    settled = found.converged & (found.n_iter < 250)
    assert_allclose(found.node_marginals[settled[graphs.node_graph]], nodes[settled[graphs.node_graph]], atol=1e-8)
    assert_allclose(found.log_partition[settled], log_z[settled], atol=1e-8)


@given(graph_batches(shapes=("complete", "any"), labels=(2,), strength=0.3))
def test_odds_logs_and_both_schedules_share_their_fixed_point(graphs):
    flooding = belief_propagation(graphs, tol=1e-11, max_iter=2000, warn=False)
    sequential = belief_propagation(graphs, tol=1e-11, max_iter=2000, schedule="sequential", warn=False)
    both = flooding.converged & sequential.converged
    nodes = both[graphs.node_graph]
    assert_allclose(flooding.node_marginals[nodes], sequential.node_marginals[nodes], atol=1e-8)
    # An isolated node of log odds 400 sends the whole batch's other graphs nowhere, but its own to the log domain.
    for g in range(graphs.n_graphs):
        part = graphs.subset([g])
        wide = Graphs(
            np.concatenate([part.node_scores, [[0.0, 400.0]]]), part.edges, part.edge_scores,
            [0, part.n_nodes + 1], part.edge_offsets,
        )  # fmt: skip
        found = belief_propagation(wide, tol=1e-11, max_iter=2000, warn=False)
        if found.converged[0] and flooding.converged[g]:
            own = slice(graphs.node_offsets[g], graphs.node_offsets[g + 1])
            edges = slice(graphs.edge_offsets[g], graphs.edge_offsets[g + 1])
            assert_allclose(found.node_marginals[:-1], flooding.node_marginals[own], atol=1e-8)
            assert_allclose(found.edge_marginals, flooding.edge_marginals[edges], atol=1e-8)
            assert_allclose(found.log_partition[0] - 400.0, flooding.log_partition[g], atol=1e-8)


@given(graph_batches(known=True))
def test_mean_field_is_a_lower_bound(graphs):
    found, truth = mean_field(graphs, warn=False), enumerate_graphs(graphs)
    assert np.all(found.log_partition <= truth.log_partition + 1e-9)
    assert_allclose(found.node_marginals.sum(axis=1), 1.0)


@given(graph_batches())
def test_mean_field_agrees_with_its_plain_twin_and_no_sweep_lowers_the_bound(graphs):
    one = graphs.subset([0])
    found = mean_field(one, tol=1e-12, max_iter=40, warn=False)
    nodes, bounds = plain_mean_field(one, int(found.n_iter[0]))
    assert_allclose(found.node_marginals, nodes, atol=1e-9)
    assert_allclose(found.log_partition[0], bounds[-1], atol=1e-8)
    assert min(np.diff(bounds), default=0.0) >= -1e-9


@given(graph_batches(shapes=("complete", "any"), strength=4.0), st.integers(0, 2**16))
def test_mean_field_does_not_depend_on_the_order_of_nodes_and_edges(graphs, seed):
    one, rng = graphs.subset([0]), np.random.default_rng(seed)
    nodes, edges = rng.permutation(one.n_nodes), rng.permutation(one.n_edges)
    place = np.argsort(nodes)
    other = Graphs.from_edges(one.node_scores[nodes], place[one.edges[edges]], one.edge_scores[edges])
    first, second = (mean_field(g, tol=1e-9, max_iter=5000, warn=False) for g in (one, other))
    assert first.converged.all()
    assert_allclose(second.node_marginals, first.node_marginals[nodes], atol=1e-6)
    # A fixed point: every node is where its neighbours send it.
    full, b = one.with_tables(), first.node_marginals
    field = full.node_scores.copy()
    for (p, q), table in zip(full.edges, full.edge_scores, strict=True):
        field[p] += table @ b[q]
        field[q] += b[p] @ table
    assert_allclose(np.exp(field - np.logaddexp.reduce(field, axis=1)[:, None]), b, atol=1e-8)


@given(graph_batches(shapes=("chain",), known=True))
def test_chains_are_exact_with_known_labels(graphs):
    found, truth = chain(graphs), enumerate_graphs(graphs)
    assert_exact(found, truth)
    assert_allclose(graphs.score(viterbi(graphs)), truth.best_score, atol=1e-8)


@given(graph_batches(shapes=("chain",)))
def test_chains_are_exact(graphs):
    found, truth = chain(graphs), enumerate_graphs(graphs)
    assert_exact(found, truth)
    assert_allclose(graphs.score(found.map_labels), truth.best_score, atol=1e-8)


@given(graph_batches(shapes=("chain",), strength=300.0, known=True))
def test_chains_with_huge_scores_stay_exact(graphs):
    assert_exact(chain(graphs), enumerate_graphs(graphs), atol=1e-7)


def test_what_is_no_chain_is_refused():
    with pytest.raises(InputError, match="graph 0 is not one"):
        chain(Graphs.complete(np.zeros((3, 2)), [3]))


def test_too_large_a_graph_for_exact_is_refused():
    with pytest.raises(InputError, match="21 free nodes of 2 labels"):
        exact(Graphs.chain(np.zeros((21, 2)), [21]))


@pytest.mark.parametrize("engine", [exact, belief_propagation, mean_field, chain])
def test_no_graph_and_an_empty_graph_are_ordinary(engine):
    for sizes in ([], [0], [0, 1]):
        graphs = Graphs.chain(np.zeros((sum(sizes), 2)), sizes)
        found = engine(graphs)
        assert_allclose(found.log_partition, np.log(2.0) * np.array(sizes), atol=1e-12)
        assert found.converged.all()


def test_non_convergence_is_warned_about_and_reported_for_each_graph():
    rng = np.random.default_rng(0)
    scores = np.concatenate([np.zeros(3), np.full(45, -3.0)])  # nobody can differ from everybody
    graphs = Graphs.complete(rng.normal(size=(13, 2)), [3, 10], scores)
    with pytest.warns(ConvergenceWarning, match=r"on 1 of 2 graphs.*residual of .*Raise max_iter"):
        found = belief_propagation(graphs, max_iter=30, retries=0)
    assert found.converged.tolist() == [True, False]
    assert found.residual[1] > 1e-3
    assert found.n_iter.tolist() == [1, 30]


def test_retries_damp_more_and_can_settle_a_graph():
    rng = np.random.default_rng(4)
    n_open = []
    graphs = Graphs.complete(rng.normal(size=(400, 2)), [8] * 50, 2.0 * rng.normal(size=50 * 28))
    for retries in (0, 4):
        found = belief_propagation(graphs, retries=retries, max_iter=100, warn=False)
        n_open.append(int(np.sum(~found.converged)))
    assert n_open[1] < n_open[0]


@pytest.mark.parametrize("n", [143, 2000])
def test_strong_couplings_neither_crash_nor_overflow(n):
    rng = np.random.default_rng(n)
    gains = 3.0 * rng.normal(size=n * (n - 1) // 2) / np.sqrt(n)
    graphs = Graphs.complete(rng.normal(size=(n, 2)), [n], gains)
    found = belief_propagation(graphs, max_iter=5, retries=1, warn=False)
    for values in (found.node_marginals, found.edge_marginals, found.log_partition):
        assert np.isfinite(values).all()
    # Attraction of 3 an edge, unscaled, is far beyond what odds can hold.
    if n == 143:
        strong = Graphs.complete(rng.normal(size=(n, 2)), [n], np.abs(gains) * 30.0)
        found = belief_propagation(strong, warn=False, max_iter=50)
        assert np.isfinite(found.log_partition).all()
        assert_array_equal(found.map_labels, found.map_labels[0])


def test_settings_out_of_range_are_refused():
    graphs = Graphs.chain(np.zeros((2, 2)), [2])
    with pytest.raises(InputError, match="mode must be one of sum, max; got 'mean'"):
        belief_propagation(graphs, mode="mean")
    with pytest.raises(InputError, match="less than 1; got 1"):
        belief_propagation(graphs, damping=1.0)


def test_a_large_graph_is_walked_in_another_order_with_the_same_result():
    rng = np.random.default_rng(5)
    n = 2**17 + 1000
    straight = Graphs.chain(rng.normal(size=(n, 2)), [n], 0.5 * rng.normal(size=n - 1))
    order = rng.permutation(n - 1)
    mixed = Graphs.from_edges(straight.node_scores, straight.edges[order], straight.edge_scores[order])
    found, truth = belief_propagation(mixed, tol=1e-10), chain(straight)
    assert_allclose(found.node_marginals, truth.node_marginals, atol=1e-8)
    assert_allclose(found.edge_marginals, truth.edge_marginals[order], atol=1e-8)
    assert_allclose(found.log_partition, truth.log_partition, rtol=1e-12)


def test_importing_accord_compiles_nothing():
    code = "import accord, sys; print('numba' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"
