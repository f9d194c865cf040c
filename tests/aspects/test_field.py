from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import log_softmax, logsumexp

from accord.aspects.field import (
    aspect_graph,
    aspect_pairs,
    clamped,
    joint_log_likelihood,
    joint_scores,
    propagated,
    with_marginals,
)
from accord.aspects.field_fit import aspect_crf_loss, crf_scores, fit_aspect_crf, whitened, whitening
from accord.engines.numerics import normalise_log
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
    marginals, all_equal, pair_probabilities = np.zeros((m, k)), 0.0, np.zeros((len(pairs), k, k))
    for ranks, score in scores.items():
        p = np.exp(score - log_z)
        marginals[np.arange(m), ranks] += p
        all_equal += p * (len(set(ranks)) == 1)
        for q, (i, j) in enumerate(aspect_pairs(m)):
            pair_probabilities[q, ranks[i], ranks[j]] += p
    return log_z, marginals, all_equal, pair_probabilities


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
        log_z, marginals, all_equal, pair_probabilities = enumerate_states(nodes[row], pairs, bonus[row])
        assert_allclose(ours.log_partition[row], log_z, rtol=1e-9, atol=1e-9)
        assert_allclose(ours.nodes[row], marginals, atol=1e-9)
        assert_allclose(ours.equal[row], all_equal, atol=1e-9)
        counts += pair_probabilities
    assert_allclose(ours.pair_counts, counts, atol=1e-8)


def test_six_aspects_of_five_ranks_equal_enumeration():
    rng = np.random.default_rng(0)
    nodes, pairs = rng.normal(size=(2, 6, 5)), 0.5 * rng.normal(size=(15, 5, 5))
    ours = aspect_graph(nodes, pairs, np.array([0.0, 1.5]))
    for row, bonus in enumerate([0.0, 1.5]):
        log_z, marginals, all_equal, _ = enumerate_states(nodes[row], pairs, bonus)
        assert_allclose(ours.log_partition[row], log_z, rtol=1e-12)
        assert_allclose(ours.nodes[row], marginals, atol=1e-12)
        assert_allclose(ours.equal[row], all_equal, atol=1e-12)


def test_blocks_do_not_show():
    rng = np.random.default_rng(1)
    nodes, pairs = rng.normal(size=(2500, 3, 3)), rng.normal(size=(3, 3, 3))
    whole = aspect_graph(nodes, pairs)
    parts = [aspect_graph(nodes[i : i + 500], pairs) for i in range(0, 2500, 500)]
    assert_allclose(whole.log_partition, np.concatenate([p.log_partition for p in parts]), rtol=1e-12)
    assert_allclose(whole.pair_counts, sum(p.pair_counts for p in parts), rtol=1e-9)


def test_no_texts_and_too_many_aspects():
    assert aspect_graph(np.zeros((0, 2, 3)), np.zeros((1, 3, 3))).nodes.shape == (0, 2, 3)


@pytest.mark.parametrize("bonus", [0.0, 1.0])
def test_belief_propagation_is_near_enumeration_and_exact_for_two_aspects(bonus):
    rng = np.random.default_rng(2)
    nodes, pairs = rng.normal(size=(3, 2, 4)), rng.normal(size=(1, 4, 4))
    ours, exact = propagated(nodes, pairs, np.zeros(3)), aspect_graph(nodes, pairs)
    assert_allclose(ours.log_partition, exact.log_partition, atol=1e-5)
    assert_allclose(ours.nodes, exact.nodes, atol=1e-5)
    assert_allclose(ours.pair_counts, exact.pair_counts, atol=1e-4)
    # Edges as they are learnt: aspects pull together, as strongly as in fields of hotel reviews.
    apart = np.abs(np.arange(5)[:, None] - np.arange(5))
    pairs = np.broadcast_to(-0.2 * apart, (10, 5, 5)) + 0.1 * rng.normal(size=(10, 5, 5))
    nodes = 1.5 * rng.normal(size=(40, 5, 5))
    nodes[0, 0, 1:] = -np.inf
    ours, exact = (f(nodes, pairs, np.full(40, bonus)) for f in (propagated, aspect_graph))
    assert ours.convergence.converged
    assert np.abs(ours.nodes - exact.nodes).mean() < 0.006
    assert np.abs(ours.nodes - exact.nodes).max() < 0.08
    assert np.abs(ours.equal - exact.equal).mean() < 0.01
    assert np.abs(ours.equal - exact.equal).max() < 0.12
    assert_allclose(ours.log_partition, exact.log_partition, atol=0.3)


def test_the_gradient_of_bethes_free_energy_equals_central_differences():
    rng = np.random.default_rng(3)
    nodes, pairs, bonus = rng.normal(size=(2, 3, 3)), 0.3 * rng.normal(size=(3, 3, 3)), rng.normal(size=2)
    found = propagated(nodes, pairs, bonus)
    step = 1e-4
    for index in ((0, 0, 0), (1, 2, 1)):
        moved = [nodes + sign * step * (index == np.indices(nodes.shape).T).all(axis=-1).T for sign in (1, -1)]
        up, down = (propagated(m, pairs, bonus).log_partition.sum() for m in moved)
        assert_allclose(found.nodes[index], (up - down) / (2 * step), atol=1e-4)
    for index in ((0, 0, 0), (2, 1, 2)):
        moved = [pairs + sign * step * (index == np.indices(pairs.shape).T).all(axis=-1).T for sign in (1, -1)]
        up, down = (propagated(nodes, m, bonus).log_partition.sum() for m in moved)
        assert_allclose(found.pair_counts[index], (up - down) / (2 * step), atol=1e-4)


def test_twelve_aspects_are_taken():
    many = aspect_graph(np.random.default_rng(4).normal(size=(2, 12, 5)), np.zeros((66, 5, 5)))
    assert_allclose(many.nodes, normalise_log(np.random.default_rng(4).normal(size=(2, 12, 5))), atol=1e-9)


def test_a_field_fitted_to_marginals_has_them():
    rng = np.random.default_rng(5)
    log_p = log_softmax(2.0 * rng.normal(size=(20, 4, 5)), axis=2)
    pairs = np.broadcast_to(1.5 * np.eye(5), (6, 5, 5))
    nodes = with_marginals(log_p, pairs, np.zeros(20))
    assert_allclose(aspect_graph(nodes, pairs).nodes, np.exp(log_p), atol=1.1e-4)


def drawn(seed=0, n=400, m=3, k=3, coupling=1.2, missing=0.0):
    """Ranks drawn from a field whose aspects pull together, with noisy node log probabilities."""
    rng = np.random.default_rng(seed)
    nodes = log_softmax(1.5 * rng.normal(size=(n, m, k)), axis=2)
    same = np.broadcast_to(coupling * np.eye(k), (m * (m - 1) // 2, k, k))
    states = np.stack(np.unravel_index(np.arange(k**m), (k,) * m), axis=1)
    scores = joint_scores(same, m, k) + nodes[:, np.arange(m)[None, :], states].sum(axis=2)
    p = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    ranks = 1 + states[[rng.choice(len(states), p=row) for row in p]]
    return nodes, np.where(rng.random((n, m)) < missing, 0, ranks)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_the_gradient_equals_central_differences(missing):
    rng = np.random.default_rng(1)
    nodes, ranks = drawn(n=12, missing=missing)
    pairs, equal = rng.normal(size=(3, 3, 3)), rng.normal(size=12)
    _, *gradients = aspect_crf_loss(nodes, pairs, equal, ranks)
    arguments = [nodes, pairs, equal]
    for place, gradient in enumerate(gradients):
        numeric = np.zeros_like(gradient)
        for index in np.ndindex(gradient.shape):
            values = []
            for step in (1e-5, -1e-5):
                moved = [a.copy() for a in arguments]
                moved[place][index] += step
                values.append(aspect_crf_loss(*moved, ranks)[0])
            numeric[index] = (values[0] - values[1]) / 2e-5
        assert_allclose(gradient, numeric, atol=1e-6)


def test_the_loss_is_minus_the_joint_log_likelihood_of_what_is_known():
    rng = np.random.default_rng(2)
    nodes, ranks = drawn(n=30, missing=0.3)
    pairs, equal = rng.normal(size=(3, 3, 3)), rng.normal(size=30)
    likelihood = joint_log_likelihood(nodes, pairs, equal, ranks)
    assert_allclose(aspect_crf_loss(nodes, pairs, equal, ranks)[0], -likelihood.sum(), rtol=1e-10)
    assert (likelihood <= 1e-9).all()


def inputs_of(nodes):
    """Adjacent differences of node log probabilities: the inputs on which a field with unit weights has these nodes."""
    return np.diff(nodes, axis=2).reshape(len(nodes), -1)


def test_the_fit_finds_the_coupling_and_beats_the_product_of_its_nodes():
    nodes, ranks = drawn(n=3000, seed=3)
    crf = fit_aspect_crf(inputs_of(nodes), ranks, n_ranks=3, edges="near", penalty=0.1)
    assert crf.convergence.converged
    assert_allclose((crf.pair_scores[:, 0, 0] - crf.pair_scores[:, 0, 2]).mean(), 1.2, atol=0.2)
    assert_allclose(crf.weights.reshape(6, 6), np.eye(6), atol=0.4)
    fresh, truth = drawn(n=1000, seed=4)
    alone = fit_aspect_crf(inputs_of(nodes), ranks, n_ranks=3, edges="none", penalty=0.1)
    joint, product = (
        joint_log_likelihood(*crf_scores(f, inputs_of(fresh))[:1], f.pair_scores, np.zeros(1000), truth).mean()
        for f in (crf, alone)
    )
    assert joint > product + 0.1


def test_missing_scores_are_summed_over_without_bias():
    nodes, ranks = drawn(n=4000, seed=5, missing=0.3)
    crf = fit_aspect_crf(inputs_of(nodes), ranks, n_ranks=3, edges="near", penalty=0.1)
    assert_allclose((crf.pair_scores[:, 0, 0] - crf.pair_scores[:, 0, 2]).mean(), 1.2, atol=0.2)


def test_evidence_of_equal_ranks_is_learnt():
    nodes, ranks = drawn(n=2000, seed=6)
    equal = (ranks == ranks[:, :1]).all(axis=1)
    evidence = (equal + np.random.default_rng(7).normal(size=2000))[:, None]
    crf = fit_aspect_crf(inputs_of(nodes), ranks, n_ranks=3, agreement=evidence)
    assert crf.equal_weights[0] > 0.5
    low, high = (
        aspect_graph(
            *_with_pairs(crf, crf_scores(crf, inputs_of(nodes), agreement=np.full((2000, 1), value)))
        ).equal.mean()
        for value in (-1.0, 2.0)
    )
    assert high > low + 0.2


def _with_pairs(crf, scores):
    nodes, equal = scores
    return nodes, crf.pair_scores, equal


def test_known_aspects_keep_their_rank_and_inform_the_others():
    nodes, ranks = drawn(n=500, seed=8)
    crf = fit_aspect_crf(inputs_of(nodes), ranks, n_ranks=3)
    scores, _ = crf_scores(crf, inputs_of(nodes))
    known = np.where(np.arange(3) == 0, ranks, 0)
    given = aspect_graph(clamped(scores, known), crf.pair_scores).nodes
    rows, truth = np.arange(500), ranks[:, 1] - 1
    assert_allclose(given[rows, 0, ranks[:, 0] - 1], 1.0, atol=1e-12)
    alone = aspect_graph(scores, crf.pair_scores).nodes
    assert np.log(given[rows, 1, truth]).mean() > np.log(alone[rows, 1, truth]).mean()


def test_whitened_inputs_are_uncorrelated_and_leave_the_optimum_where_it_was():
    nodes, ranks = drawn(n=800, seed=9)
    # Mixed, and scaled by a half to two: a worse condition, and the fit to the plain inputs stops before its optimum.
    mixed, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))
    inputs = inputs_of(nodes) @ (mixed * np.linspace(0.5, 2.0, 6)) @ mixed.T
    by = whitening(inputs, floor=0.0)
    assert_allclose(np.cov(whitened(by, inputs).T, bias=True), np.eye(6), atol=1e-8)
    plain, white = (fit_aspect_crf(u, ranks, n_ranks=3, penalty=0.0, tol=1e-7) for u in (inputs, whitened(by, inputs)))
    a = aspect_graph(crf_scores(plain, inputs)[0], plain.pair_scores).nodes
    b = aspect_graph(crf_scores(white, whitened(by, inputs))[0], white.pair_scores).nodes
    assert_allclose(a, b, atol=1e-4)


def test_clamping_leaves_one_rank_of_a_known_aspect():
    out = clamped(np.zeros((1, 2, 3)), np.array([[2, 0]]))
    assert_allclose(out, [[[-np.inf, 0, -np.inf], [0, 0, 0]]])


def test_end_to_end_training_beats_a_constant_and_takes_missing_scores():
    rng = np.random.default_rng(9)
    x = rng.normal(size=(600, 5))
    ranks = 1 + np.digitize(x @ rng.normal(size=(5, 3)) + 0.3 * rng.normal(size=(600, 3)), [-1.0, 1.0])
    holed = np.where(rng.random(ranks.shape) < 0.2, 0, ranks)
    fitted = fit_aspect_crf(sp.csr_array(x[:400]), holed[:400], n_ranks=3, penalty=0.1)
    nodes, _ = crf_scores(fitted, x[400:])
    dense = fit_aspect_crf(x[:400], holed[:400], n_ranks=3, penalty=0.1)
    assert_allclose(dense.pair_scores, fitted.pair_scores, atol=1e-6)
    guess = 1 + aspect_graph(nodes, fitted.pair_scores).nodes.argmax(axis=2)
    assert (guess == ranks[400:]).mean() > 0.8


@pytest.mark.parametrize("score", [1e300, np.inf, np.nan])
def test_scores_that_cannot_be_learnt_are_refused_at_once(score):
    log_p = np.log(np.full((2, 2, 3), 1 / 3))
    with pytest.raises(InputError, match="lie within ±1000"):
        with_marginals(log_p, np.full((1, 3, 3), score), np.zeros(2))
