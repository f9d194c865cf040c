from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from sklearn.linear_model import LogisticRegression

from accord.errors import InputError
from accord.rationales.annotator import (
    MarkedTexts,
    Strengths,
    best_threshold,
    class_maps,
    emission_scores,
    highlight_loss,
    inside_probabilities,
    loss,
)
from accord.rationales.annotator_choice import choose_strengths, inner_folds
from accord.rationales.annotator_fit import fit_alternating, fit_classes, fit_joint, starting_phi

N_WORDS = 7
# One plain context with the four transitions, and one in which O-I has a second feature.
TRANSITIONS = sp.csr_matrix(np.vstack([np.eye(4, 5), np.eye(4, 5) + np.outer([0, 1, 0, 0], [0, 0, 0, 0, 1])]))


def random_texts(seed=0, *, n_texts=12, n_classes=2, n_annotators=1, n_extra=0, longest=6, annotated=0.7):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, longest + 1, n_texts)
    tokens = [rng.integers(0, N_WORDS + 1, length) for length in lengths]
    presence = np.array([[float(w in words) for w in range(N_WORDS)] for words in tokens])
    chain_text = np.flatnonzero(rng.random(n_texts) < annotated)
    words = np.concatenate([tokens[i] for i in chain_text] or [np.zeros(0, dtype=int)])
    return MarkedTexts(
        design=sp.csr_matrix(np.hstack([presence, rng.normal(size=(n_texts, n_extra))])),
        labels=np.arange(n_texts) % n_classes,
        n_classes=n_classes,
        n_words=N_WORDS,
        words=words,
        contexts=rng.integers(0, 2, len(words) + len(chain_text)),
        tags=rng.random(len(words)) < 0.4,
        offsets=np.concatenate([[0], np.cumsum(lengths[chain_text])]).astype(np.int64),
        chain_text=chain_text,
        chain_annotator=rng.integers(0, n_annotators, len(chain_text)),
        n_annotators=n_annotators,
        transition_features=TRANSITIONS,
    )


def b(s, a):
    """[ZE08] eq. 3 as printed."""
    return (np.log(1 + np.exp(a * s)) - np.log(2)) / s


def test_the_log_probability_of_highlights_equals_enumeration():
    texts = random_texts(n_texts=6, annotated=1.0)
    rng = np.random.default_rng(1)
    theta, phi = rng.normal(scale=0.3, size=(1, N_WORDS)), rng.normal(size=(1, texts.n_phi)) * [[8, 8, 1, 1, 1, 1, 1]]

    def score(words, places, tags, sign):
        walk, total = [0, *tags, 0], 0.0
        for word, tag in zip(words, tags, strict=True):
            if tag and word < N_WORDS:
                a = sign * theta[0, word]
                total += phi[0, 0] * b(10, a) + phi[0, 1] * b(-10, a)
        for place, left, right in zip(places, walk[:-1], walk[1:], strict=True):
            total += phi[0, 2 + 2 * left + right]
            if place == 1 and (left, right) == (0, 1):
                total += phi[0, 6]
        return total

    log_p = 0.0
    for d, text in enumerate(texts.chain_text):
        start, end = texts.offsets[d], texts.offsets[d + 1]
        words, places = texts.words[start:end], texts.contexts[start + d : end + d + 1]
        sign = 2 * texts.labels[text] - 1
        scores = [score(words, places, tags, sign) for tags in product([0, 1], repeat=end - start)]
        log_p += score(words, places, texts.tags[start:end].astype(int), sign) - np.logaddexp.reduce(scores)
    value, _, _ = highlight_loss(texts, class_maps(2) @ theta, phi)
    assert_allclose(-value, log_p, rtol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_annotators", [1, 2])
@pytest.mark.parametrize("printed", [False, True])
def test_the_gradient_of_the_whole_objective_passes_finite_differences(n_classes, n_annotators, printed):
    texts = random_texts(2, n_classes=n_classes, n_annotators=n_annotators, n_extra=2)
    rng = np.random.default_rng(3)
    rows = class_maps(n_classes).shape[1]
    theta = rng.normal(scale=0.3, size=(rows, texts.n_features))
    phi = rng.normal(size=(n_annotators, texts.n_phi)) * 3
    strengths = Strengths(0.7, 0.5, phi_variance=2.0, printed_prior=printed)
    free = np.arange(texts.n_features) == texts.n_features - 1

    def value(vector):
        split = theta.size
        parts = vector[:split].reshape(theta.shape), vector[split:].reshape(phi.shape)
        return loss(texts, *parts, strengths, free)[0]

    _, by_theta, by_phi = loss(texts, theta, phi, strengths, free)
    flat = np.concatenate([theta.ravel(), phi.ravel()])
    central = np.array(
        [(value(flat + h) - value(flat - h)) / 2e-5 for h in 1e-5 * np.eye(flat.size)]  # one direction a row
    )
    assert_allclose(np.concatenate([by_theta.ravel(), by_phi.ravel()]), central, rtol=1e-6, atol=1e-7)


def test_the_two_readings_of_the_prior_differ_by_the_factor_c():
    texts = random_texts()
    theta, phi = np.zeros((1, N_WORDS)), np.full((1, texts.n_phi), 2.0)
    inside = loss(texts, theta, phi, Strengths(0.1, 1.0))[0]
    printed = loss(texts, theta, phi, Strengths(0.1, 1.0, printed_prior=True))[0]
    assert_allclose(printed - inside, 0.9 * 0.5 * (phi**2).sum())


def test_emission_scores_follow_equation_3_and_are_held_finite():
    weights = np.linspace(-2, 2, 9)
    scores, slopes, _ = emission_scores(weights, np.array([14.0, 15.0]))
    assert_allclose(scores, 14 * b(10, weights) + 15 * b(-10, weights))
    assert_allclose(
        slopes, [approx_fprime([w], lambda x: 14 * b(10, x[0]) + 15 * b(-10, x[0]))[0] for w in weights], rtol=1e-5
    )
    scores, slopes, _ = emission_scores(np.array([1e3]), np.array([14.0, 15.0]))
    assert scores[0] == 100.0
    assert slopes[0] == 0.0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_rationales_the_model_is_logistic_regression(n_classes):
    texts = random_texts(4, n_texts=60, n_classes=n_classes, n_extra=1, annotated=0.0)
    variance = 0.5
    fit = fit_joint(texts, Strengths(0.3, variance), tol=1e-9, value_tol=1e-15)
    # Two classes share one row, w = 2θ, so ‖θ‖²/2σ² = ‖w‖²/8σ².
    strength = 4 * variance if n_classes == 2 else variance
    peer = LogisticRegression(C=strength, fit_intercept=False, tol=1e-12, max_iter=5000)
    peer.fit(texts.design, texts.labels)
    weights = fit.class_weights(n_classes)
    ours = weights[1] - weights[0] if n_classes == 2 else weights
    assert_allclose(ours, peer.coef_[0] if n_classes == 2 else peer.coef_, atol=1e-6)


def test_a_feature_without_prior_is_an_intercept():
    texts = random_texts(5, n_texts=60, annotated=0.0)
    with_one = MarkedTexts(
        sp.csr_matrix(np.hstack([texts.design.toarray(), np.ones((60, 1))])), *list(vars(texts).values())[1:12]
    )
    free = np.arange(N_WORDS + 1) == N_WORDS
    fit = fit_classes(with_one, 0.5, free=free, tol=1e-10, value_tol=1e-15)
    peer = LogisticRegression(C=2.0, tol=1e-12, max_iter=5000).fit(texts.design, texts.labels)
    assert_allclose(2 * fit.theta[0], np.append(peer.coef_[0], peer.intercept_), atol=1e-5)


def test_joint_fits_descend_below_their_start_and_alternation_ends_no_lower():
    texts = random_texts(6, n_texts=80)
    strengths = Strengths(0.2, 0.5)
    start = fit_classes(texts, 0.5).theta, starting_phi(1, texts.n_phi)
    first = loss(texts, *start, strengths)[0]
    joint = fit_joint(texts, strengths, tol=1e-6, value_tol=1e-12)
    alternating = fit_alternating(texts, strengths, tol=1e-6, value_tol=1e-12, max_rounds=200, round_tol=1e-9)
    assert joint.value < first - 1.0
    assert_allclose(joint.value, loss(texts, joint.theta, joint.phi, strengths)[0], rtol=1e-12)
    assert_allclose(alternating.value, joint.value, rtol=1e-4)


def test_rounds_of_alternation_never_raise_the_loss():
    texts = random_texts(7, n_texts=60)
    values = [fit_alternating(texts, Strengths(0.2, 0.5), max_rounds=n, round_tol=0.0).value for n in (1, 2, 3, 4)]
    assert max(np.diff(values)) <= 1e-9


@pytest.mark.parametrize("emissions", ["bounded", "tied", "free"])
def test_emission_weights_obey_their_rule(emissions):
    texts = random_texts(8, n_texts=80, n_annotators=2)
    fit = fit_joint(texts, Strengths(1.0, 0.5, phi_variance=100.0), emissions=emissions)
    if emissions == "bounded":
        assert (fit.phi[:, :2] >= 0).all()
    if emissions == "tied":
        assert_allclose(fit.phi[:, 0], fit.phi[:, 1])
    again = loss(texts, fit.theta, fit.phi, Strengths(1.0, 0.5, phi_variance=100.0))[0]
    assert_allclose(fit.value, again, rtol=1e-12)


def test_an_unknown_rule_is_refused():
    with pytest.raises(InputError, match="bounded, tied, free"):
        fit_joint(random_texts(), Strengths(1.0, 1.0), emissions="loose")


def test_a_subset_keeps_exactly_the_chains_of_its_texts():
    texts = random_texts(9, n_texts=10)
    rows = np.array([7, 2, 5])
    part = texts.subset(rows)
    theta, phi = np.full((1, N_WORDS), 0.2), starting_phi(1, texts.n_phi)
    one_by_one = sum(highlight_loss(texts.subset([i]), class_maps(2) @ theta, phi)[0] for i in rows)
    assert_allclose(highlight_loss(part, class_maps(2) @ theta, phi)[0], one_by_one)
    assert_allclose(part.design.toarray(), texts.design.toarray()[rows])
    unmarked = texts.subset(rows, marked=np.zeros(10, dtype=bool))
    assert len(unmarked.chain_text) == 0
    assert unmarked.n_texts == 3


def test_highlights_teach_the_classifier_a_word_that_classes_alone_do_not_show():
    # Words 0 and 1 always occur together in class 1, so classes cannot tell them apart; only word 0 is highlighted.
    n = 40
    presence = np.zeros((n, N_WORDS))
    presence[::2, :2] = 1.0
    presence[1::2, 2:4] = 1.0
    words = np.tile([0, 1, 2, 3], n // 2)
    texts = MarkedTexts(
        sp.csr_matrix(presence),
        (np.arange(n) + 1) % 2,
        2,
        N_WORDS,
        words,
        np.zeros(3 * n, dtype=int),
        np.tile([True, False, True, False], n // 2),
        np.arange(0, 2 * n + 1, 2),
        np.arange(n),
        np.zeros(n, dtype=int),
        1,
        TRANSITIONS,
    )
    alone, taught = fit_classes(texts, 1.0).theta[0], fit_joint(texts, Strengths(0.1, 1.0))
    assert_allclose(alone[0], alone[1], atol=1e-6)
    assert taught.theta[0, 0] > taught.theta[0, 1] + 0.1
    marginals = inside_probabilities(texts, taught.class_weights(2), taught.phi, 0).reshape(-1, 2)
    assert (marginals[:, 0] > marginals[:, 1]).all()


def test_the_best_threshold_has_the_best_f1():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    tags = rng.random(200) < p**2

    def f1(level):
        guess = p >= level
        return 2 * (guess & tags).sum() / (guess.sum() + tags.sum())

    best = best_threshold(p, tags)
    assert_allclose(f1(best), max(f1(level) for level in p))
    assert best_threshold(p, np.zeros(200, dtype=bool)) == 0.5


def test_inner_folds_spread_every_class_and_the_choice_is_the_best_candidate():
    labels = np.repeat([0, 1, 2], [10, 5, 2])
    folds = inner_folds(labels, 5, np.random.default_rng(0))
    assert np.bincount(folds[labels == 0]).tolist() == [2] * 5
    texts = random_texts(10, n_texts=60)
    candidates = [Strengths(0.1, v) for v in (1e-4, 0.1, 1.0)]
    choice = choose_strengths(texts, candidates, folds=inner_folds(texts.labels, 5, np.random.default_rng(1)))
    best = candidates.index(choice.strengths)
    assert choice.accuracy[best] == choice.accuracy.max()
    assert choice.log_loss[best] == choice.log_loss[choice.accuracy == choice.accuracy.max()].min()
