from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from accord.aspects.field import aspect_graph, aspect_pairs
from accord.errors import InputError


def enumerate_states(nodes, pairs, equal):
    """Log partition, node marginals, P(equal) and pair probabilities of one text, one joint rank after another."""
    m, k = nodes.shape
    scores = {}
    for ranks in product(range(k), repeat=m):
        score = sum(nodes[i, r] for i, r in enumerate(ranks))
        score += sum(pairs[p, ranks[i], ranks[j]] for p, (i, j) in enumerate(aspect_pairs(m)))
        scores[ranks] = score + equal * (len(set(ranks)) == 1)
    log_z = logsumexp(list(scores.values()))
    marginals, one_mind, pair_probabilities = np.zeros((m, k)), 0.0, np.zeros((len(pairs), k, k))
    for ranks, score in scores.items():
        p = np.exp(score - log_z)
        marginals[np.arange(m), ranks] += p
        one_mind += p * (len(set(ranks)) == 1)
        for q, (i, j) in enumerate(aspect_pairs(m)):
            pair_probabilities[q, ranks[i], ranks[j]] += p
    return log_z, marginals, one_mind, pair_probabilities


@given(
    m=st.integers(1, 4), k=st.integers(2, 4), n=st.integers(1, 3), seed=st.integers(0, 9999), known=st.booleans(),
    scale=st.sampled_from([0.3, 2.0, 400.0]),
)  # fmt: skip
@settings(max_examples=60)
def test_everything_equals_enumeration(m, k, n, seed, known, scale):
    rng = np.random.default_rng(seed)
    nodes, pairs = scale * rng.normal(size=(n, m, k)), scale * rng.normal(size=(len(aspect_pairs(m)), k, k))
    bonus = rng.normal(size=n)
    if known:
        nodes[0, 0, 1:] = -np.inf
    ours = aspect_graph(nodes, pairs, bonus)
    counts = np.zeros_like(pairs)
    for row in range(n):
        log_z, marginals, one_mind, pair_probabilities = enumerate_states(nodes[row], pairs, bonus[row])
        assert_allclose(ours.log_partition[row], log_z, rtol=1e-9, atol=1e-9)
        assert_allclose(ours.nodes[row], marginals, atol=1e-9)
        assert_allclose(ours.equal[row], one_mind, atol=1e-9)
        counts += pair_probabilities
    assert_allclose(ours.pair_counts, counts, atol=1e-8)


def test_six_aspects_of_five_ranks_equal_enumeration():
    rng = np.random.default_rng(0)
    nodes, pairs = rng.normal(size=(2, 6, 5)), 0.5 * rng.normal(size=(15, 5, 5))
    ours = aspect_graph(nodes, pairs, np.array([0.0, 1.5]))
    for row, bonus in enumerate([0.0, 1.5]):
        log_z, marginals, one_mind, _ = enumerate_states(nodes[row], pairs, bonus)
        assert_allclose(ours.log_partition[row], log_z, rtol=1e-12)
        assert_allclose(ours.nodes[row], marginals, atol=1e-12)
        assert_allclose(ours.equal[row], one_mind, atol=1e-12)


def test_blocks_do_not_show():
    rng = np.random.default_rng(1)
    nodes, pairs = rng.normal(size=(2500, 3, 3)), rng.normal(size=(3, 3, 3))
    whole = aspect_graph(nodes, pairs)
    parts = [aspect_graph(nodes[i : i + 500], pairs) for i in range(0, 2500, 500)]
    assert_allclose(whole.log_partition, np.concatenate([p.log_partition for p in parts]), rtol=1e-12)
    assert_allclose(whole.pair_counts, sum(p.pair_counts for p in parts), rtol=1e-9)


def test_no_texts_and_too_many_aspects():
    assert aspect_graph(np.zeros((0, 2, 3)), np.zeros((1, 3, 3))).nodes.shape == (0, 2, 3)
    with pytest.raises(InputError, match="at most 1048576; 12 aspects"):
        aspect_graph(np.zeros((1, 12, 5)), np.zeros((66, 5, 5)))
