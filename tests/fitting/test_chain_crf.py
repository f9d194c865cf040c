import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from accord.engines.exact import exact
from accord.engines.graphs import Graphs
from accord.errors import InputError
from accord.fitting.chain_crf import (
    KeyedChains,
    chain_negative_log_likelihood,
    expected_counts,
    observed_counts,
)
from oracles import central_difference


@st.composite
def keyed(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.integers(0, 5), min_size=1, max_size=3))
    k, n = draw(st.sampled_from([2, 3])), sum(sizes)
    chains = KeyedChains(
        rng.integers(4, size=n), rng.integers(3, size=n + len(sizes)), np.concatenate([[0], np.cumsum(sizes)])
    )
    return chains, rng.normal(size=(4, k)), rng.normal(size=(3, k, k)), rng.integers(k, size=n)


def with_boundaries(chains, nodes, transitions):
    """The same chains as plain graphs: a clamped node of label 0 at both ends."""
    scores, tables, known, sizes = [], [], [], []
    k = nodes.shape[1]
    for g in range(chains.n_chains):
        own = slice(chains.offsets[g], chains.offsets[g + 1])
        n = own.stop - own.start
        scores += [np.zeros((1, k)), nodes[chains.keys[own]], np.zeros((1, k))]
        tables.append(transitions[chains.contexts[own.start + g : own.stop + g + 1]])
        known += [0, *[-1] * n, 0]
        sizes.append(n + 2)
    return Graphs.chain(np.concatenate(scores), sizes, np.concatenate(tables), known=known)


@given(keyed())
def test_counts_and_partition_agree_with_enumeration(problem):
    chains, nodes, transitions, labels = problem
    found, truth = expected_counts(chains, nodes, transitions), exact(with_boundaries(chains, nodes, transitions))
    assert_allclose(found.log_partition, truth.log_partition.sum(), atol=1e-8)
    counts = np.zeros_like(transitions)
    np.add.at(counts, chains.contexts, truth.edge_marginals)
    assert_allclose(found.transitions, counts, atol=1e-8)
    assert_allclose(found.nodes.sum(), len(labels), atol=1e-8)


@given(keyed())
def test_counts_are_the_slope_of_the_log_partition(problem):
    chains, nodes, transitions, _ = problem
    found = expected_counts(chains, nodes, transitions)
    slope = central_difference(lambda t: expected_counts(chains, t, transitions).log_partition, nodes)
    assert_allclose(found.nodes, slope, atol=1e-6)
    slope = central_difference(lambda t: expected_counts(chains, nodes, t).log_partition, transitions)
    assert_allclose(found.transitions, slope, atol=1e-6)


@given(keyed())
def test_observed_counts_score_their_labelling(problem):
    chains, nodes, transitions, labels = problem
    found = observed_counts(chains, labels, nodes, transitions)
    graphs = with_boundaries(chains, nodes, transitions)
    whole = graphs.known.copy()
    whole[whole < 0] = labels
    # The boundary nodes carry label 0 and no score.
    assert_allclose(found.log_partition, graphs.score(whole).sum(), atol=1e-9)
    assert found.nodes.sum() == len(labels)


def test_the_loss_of_chains_passes_central_differences():
    rng = np.random.default_rng(0)
    sizes = [1, 4, 6]
    crf, loss = chain_negative_log_likelihood(
        rng.normal(size=(11, 2)), sizes, rng.integers(3, size=11), n_labels=3, edge_features=rng.normal(size=(8, 2))
    )
    weights = rng.normal(size=crf.n_weights)
    assert_allclose(loss(weights)[1], central_difference(lambda w: loss(w)[0], weights), atol=1e-7)


def test_broken_rules_are_named():
    with pytest.raises(InputError, match=r"one more a chain \(4\)"):
        KeyedChains([0, 0, 0], [0, 0, 0], [0, 3])
    with pytest.raises(InputError, match="offsets must rise"):
        KeyedChains([0, 0, 0], [0, 0, 0, 0], [0, 2])
    chains = KeyedChains([0, 5], [0, 0, 0], [0, 2])
    with pytest.raises(InputError, match=r"keys must lie in 0\.\.1"):
        expected_counts(chains, np.zeros((2, 2)), np.zeros((1, 2, 2)))
    with pytest.raises(InputError, match="spread by 2e"):
        expected_counts(KeyedChains([0], [0, 0], [0, 1]), np.array([[0.0, 2000.0]]), np.zeros((1, 2, 2)))
