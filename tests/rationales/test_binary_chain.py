from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from accord.engines.chain import chain
from accord.errors import InputError
from accord.rationales.binary_chain import (
    SCORE_LIMIT,
    BinaryChains,
    as_graphs,
    expected_counts,
    inside_marginals,
    observed_counts,
)

N_KEYS, N_CONTEXTS = 4, 3


def random_chains(lengths, rng):
    n = sum(lengths)
    return BinaryChains(
        keys=rng.integers(0, N_KEYS, n).astype(np.int32),
        contexts=rng.integers(0, N_CONTEXTS, n + len(lengths)).astype(np.uint16),
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )


def enumerate_chain(keys, contexts, emission, transition):
    """Every tag sequence of one chain: log partition, marginals and expected transitions."""
    weights, sequences = [], list(product([0, 1], repeat=len(keys)))
    for tags in sequences:
        walk = [0, *tags, 0]
        score = sum(emission[k] for k, t in zip(keys, tags, strict=True) if t)
        score += sum(transition[c, 2 * a + b] for c, a, b in zip(contexts, walk[:-1], walk[1:], strict=True))
        weights.append(score)
    log_z = np.logaddexp.reduce(weights)
    inside, transitions, marginals = np.zeros(len(emission)), np.zeros(transition.shape), np.zeros(len(keys))
    for tags, weight in zip(sequences, weights, strict=True):
        p, walk = np.exp(weight - log_z), [0, *tags, 0]
        marginals += p * np.array(tags)
        for k, t in zip(keys, tags, strict=True):
            inside[k] += p * t
        for c, a, b in zip(contexts, walk[:-1], walk[1:], strict=True):
            transitions[c, 2 * a + b] += p
    return log_z, inside, transitions, marginals


@given(st.lists(st.integers(0, 6), max_size=4), st.integers(0, 2**32 - 1), st.sampled_from([0.1, 3.0, 30.0]))
def test_counts_and_marginals_equal_enumeration(lengths, seed, scale):
    rng = np.random.default_rng(seed)
    chains = random_chains(lengths, rng)
    emission = np.clip(rng.normal(scale=scale, size=N_KEYS), -SCORE_LIMIT, SCORE_LIMIT)
    transition = np.clip(rng.normal(scale=scale, size=(N_CONTEXTS, 4)), -SCORE_LIMIT, SCORE_LIMIT)
    log_z, inside, transitions, marginals = 0.0, np.zeros(N_KEYS), np.zeros((N_CONTEXTS, 4)), []
    for d, (start, end) in enumerate(zip(chains.offsets[:-1], chains.offsets[1:], strict=True)):
        one = enumerate_chain(chains.keys[start:end], chains.contexts[start + d : end + d + 1], emission, transition)
        log_z, inside, transitions = log_z + one[0], inside + one[1], transitions + one[2]
        marginals.extend(one[3])
    got, counts = expected_counts(chains, emission, transition)
    assert_allclose(got, log_z, rtol=1e-10, atol=1e-10)
    assert_allclose(counts.inside, inside, atol=1e-9)
    assert_allclose(counts.transitions, transitions, atol=1e-9)
    assert_allclose(inside_marginals(chains, emission, transition), marginals, atol=1e-9)


@given(st.lists(st.integers(0, 9), max_size=4), st.integers(0, 2**32 - 1))
def test_the_general_chain_engine_agrees(lengths, seed):
    rng = np.random.default_rng(seed)
    chains = random_chains(lengths, rng)
    emission, transition = rng.normal(scale=2.0, size=N_KEYS), rng.normal(scale=2.0, size=(N_CONTEXTS, 4))
    general = chain(as_graphs(chains, emission, transition))
    # The general engine has no boundary tokens, so the O-O of an empty chain is not in its log partition.
    empty = chains.contexts[np.arange(len(lengths)) + chains.offsets[:-1]][np.asarray(lengths, dtype=int) == 0]
    log_z, _ = expected_counts(chains, emission, transition)
    assert_allclose(log_z, general.log_partition.sum() + transition[empty, 0].sum(), rtol=1e-9, atol=1e-9)
    assert_allclose(inside_marginals(chains, emission, transition), general.node_marginals[:, 1], atol=1e-9)


def test_long_chains_neither_overflow_nor_underflow():
    rng = np.random.default_rng(0)
    chains = random_chains([5000], rng)
    for sign in (-1.0, 1.0):
        log_z, counts = expected_counts(chains, np.full(N_KEYS, sign * SCORE_LIMIT), np.zeros((N_CONTEXTS, 4)))
        assert np.isfinite(log_z)
        assert_allclose(counts.inside.sum(), 5000 * (sign > 0), atol=1e-6)
        assert_allclose(counts.transitions.sum(), 5001)


def test_observed_counts_are_those_of_a_sure_distribution():
    chains = BinaryChains(np.array([0, 1, 1, 2]), np.array([0, 1, 2, 0, 1, 2]), np.array([0, 3, 4]))
    counts = observed_counts(chains, [0, 1, 1, 1], n_keys=3, n_contexts=3)
    assert_allclose(counts.inside, [0, 2, 1])
    # Chain 1: O|O in context 0, O|I in 1, I|I in 2, I|O in 0; chain 2: O|I in 1, I|O in 2.
    assert_allclose(counts.transitions, [[1, 0, 1, 0], [0, 2, 0, 0], [0, 0, 1, 1]])


def test_the_sum_over_tags_of_the_probability_is_one():
    rng = np.random.default_rng(1)
    chains = random_chains([4], rng)
    emission, transition = rng.normal(size=N_KEYS), rng.normal(size=(N_CONTEXTS, 4))
    log_z, _ = expected_counts(chains, emission, transition)
    total = 0.0
    for tags in product([0, 1], repeat=4):
        seen = observed_counts(chains, tags, n_keys=N_KEYS, n_contexts=N_CONTEXTS)
        total += np.exp(seen.inside @ emission + (seen.transitions * transition).sum() - log_z)
    assert_allclose(total, 1.0)


def test_scores_that_odds_cannot_hold_are_refused():
    chains = random_chains([3], np.random.default_rng(0))
    with pytest.raises(InputError, match="at most 100"):
        expected_counts(chains, np.full(N_KEYS, 101.0), np.zeros((N_CONTEXTS, 4)))
    with pytest.raises(InputError, match="transition scores"):
        expected_counts(chains, np.zeros(N_KEYS), np.full((N_CONTEXTS, 4), np.nan))
