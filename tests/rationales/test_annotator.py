from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from sklearn.linear_model import LogisticRegression

from accord import RationaleClassifier
from accord.errors import InputError
from accord.rationales import annotator_choice
from accord.rationales.annotator import (
    Habits,
    Strengths,
    class_maps,
    emission_scores,
    habit_prior,
    highlight_loss,
    inside_probabilities,
    loss,
)
from accord.rationales.annotator_choice import choose_strengths, inner_folds, middle_strengths
from accord.rationales.annotator_fit import fit_alternating, fit_classes, fit_joint, starting_habits
from accord.rationales.marked_texts import MarkedTexts
from accord.rationales.marking import fit_lexicon
from oracles import central_difference

N_WORDS = 7
# One plain context with the four transitions, and one in which O-I has a second feature.
TRANSITIONS = sp.csr_matrix(np.vstack([np.eye(4, 5), np.eye(4, 5) + np.outer([0, 1, 0, 0], [0, 0, 0, 0, 1])]))


def random_texts(seed=0, *, n_texts=12, n_classes=2, n_habits=1, n_extra=0, longest=6, annotated=0.7, thresholds=()):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, longest + 1, n_texts)
    tokens = [rng.integers(0, N_WORDS + 1, length) for length in lengths]
    presence = np.array([[float(w in words) for w in range(N_WORDS)] for words in tokens])
    chain_text = np.flatnonzero(rng.random(n_texts) < annotated)
    words = np.concatenate([tokens[i] for i in chain_text] or [np.zeros(0, dtype=int)])
    return MarkedTexts(
        design=sp.csr_matrix(np.hstack([presence, rng.normal(size=(n_texts, n_extra))])),
        labels=np.arange(n_texts) % n_classes,
        log_prior=np.log(np.arange(1.0, n_classes + 1) / np.arange(1.0, n_classes + 1).sum()) * (n_classes > 2),
        n_words=N_WORDS,
        words=words,
        contexts=rng.integers(0, 2, len(words) + len(chain_text)),
        tags=rng.random(len(words)) < 0.4,
        offsets=np.concatenate([[0], np.cumsum(lengths[chain_text])]).astype(np.int64),
        chain_text=chain_text,
        chain_class=(chain_text + (rng.random(len(chain_text)) < 0.2)) % n_classes,
        chain_habit=rng.integers(0, n_habits, len(chain_text)),
        n_habits=n_habits,
        transition_features=TRANSITIONS,
        thresholds=thresholds,
    )


def b(s, a):
    """[ZE08] eq. 3 as printed."""
    return (np.log(1 + np.exp(a * s)) - np.log(2)) / s


def test_the_log_probability_of_highlights_equals_enumeration():
    # Two people, a further threshold of relevance, a bias of each text, and scores of words.
    texts = random_texts(n_texts=8, annotated=1.0, n_habits=2, thresholds=(0.2,))
    rng = np.random.default_rng(1)
    theta, phi = rng.normal(scale=0.3, size=(1, N_WORDS)), rng.normal(size=(2, 8)) * [8, 8, 8, 1, 1, 1, 1, 1]
    bias, lexicon = rng.normal(size=8), rng.normal(size=(3, N_WORDS))

    def score(words, places, tags, sign, own, shift):
        walk, total = [0, *tags, 0], 0.0
        for at, (word, tag) in enumerate(zip(words, tags, strict=True)):
            if tag:
                a = sign * theta[0, word] if word < N_WORDS else 0.0
                total += own[0] * b(10, a) + own[1] * b(-10, a) + own[2] * b(10, a - 0.2) + shift
                beside = (word, words[at - 1] if at else N_WORDS, words[at + 1] if at + 1 < len(words) else N_WORDS)
                total += sum(lexicon[k, near] for k, near in enumerate(beside) if near < N_WORDS)
        for place, left, right in zip(places, walk[:-1], walk[1:], strict=True):
            total += own[3 + 2 * left + right]
            if place == 1 and (left, right) == (0, 1):
                total += own[7]
        return total

    log_p = 0.0
    for d in range(texts.n_chains):
        start, end = texts.offsets[d], texts.offsets[d + 1]
        words, places = texts.words[start:end], texts.contexts[start + d : end + d + 1]
        given = (2 * texts.chain_class[d] - 1, phi[texts.chain_habit[d]], bias[d])
        scores = [score(words, places, tags, *given) for tags in product([0, 1], repeat=end - start)]
        log_p += score(words, places, texts.tags[start:end].astype(int), *given) - np.logaddexp.reduce(scores)
    value = highlight_loss(texts, class_maps(2) @ theta, phi, bias, lexicon)[0]
    assert_allclose(-value, log_p, rtol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_habits", [1, 3])
@pytest.mark.parametrize("printed", [False, True])
@pytest.mark.parametrize("lazy", [False, True])
def test_the_gradient_of_the_whole_objective_passes_finite_differences(n_classes, n_habits, printed, lazy):
    texts = random_texts(2, n_classes=n_classes, n_habits=n_habits, n_extra=2, thresholds=(0.1,) if lazy else ())
    rng = np.random.default_rng(3)
    theta = rng.normal(scale=0.3, size=(class_maps(n_classes).shape[1], texts.n_features))
    strengths = Strengths(0.7, 0.5, phi_variance=2.0, bias_variance=0.8 if lazy else 0.0, printed_prior=printed)
    at = starting_habits(texts, strengths)
    habits = Habits(*(rng.normal(size=part.shape) for part in (at.common, at.deviations, at.bias)), at.n_emissions)
    free = np.arange(texts.n_features) == texts.n_features - 1
    ends = np.cumsum([theta.size, habits.common.size, habits.deviations.size])

    def value(vector):
        one, two, three, four = np.split(vector, ends)
        moved = Habits(two, three.reshape(habits.deviations.shape), four, habits.n_emissions)
        return loss(texts, one.reshape(theta.shape), moved, strengths, free)[0]

    _, by_theta, by_habits = loss(texts, theta, habits, strengths, free)
    flat = np.concatenate([theta.ravel(), habits.common, habits.deviations.ravel(), habits.bias])
    central = np.array(
        [(value(flat + h) - value(flat - h)) / 2e-5 for h in 1e-5 * np.eye(flat.size)]  # one direction a row
    )
    found = np.concatenate([by_theta.ravel(), by_habits.common, by_habits.deviations.ravel(), by_habits.bias])
    assert_allclose(found, central, rtol=1e-6, atol=1e-7)


def test_the_lexicon_is_at_the_optimum_of_its_objective():
    texts = random_texts(20, n_texts=40, n_habits=2)
    weights = class_maps(2) @ np.random.default_rng(0).normal(scale=0.2, size=(1, N_WORDS))
    parts = [(texts.subset(np.arange(20)), weights), (texts.subset(np.arange(20, 40)), weights)]
    lexicon, habits = fit_lexicon(parts, starting_habits(texts), 0.5, tol=1e-6, value_tol=1e-14, max_iter=1000)

    def value(vector):
        return highlight_loss(texts, weights, habits.table, None, vector)[0] + (vector**2).sum()  # 1 / 2·0.5

    steps = 1e-5 * np.eye(lexicon.size).reshape(-1, *lexicon.shape)
    central = [(value(lexicon + h) - value(lexicon - h)) / 2e-5 for h in steps]
    assert_allclose(central, np.zeros(lexicon.size), atol=1e-3)


def test_the_two_readings_of_the_prior_differ_by_the_factor_c():
    texts = random_texts()
    theta, habits = np.zeros((1, N_WORDS)), starting_habits(texts)
    inside = loss(texts, theta, habits, Strengths(0.1, 1.0))[0]
    printed = loss(texts, theta, habits, Strengths(0.1, 1.0, printed_prior=True))[0]
    assert_allclose(printed - inside, 0.9 * 0.5 * (habits.common**2).sum())


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
    texts = replace(texts, log_prior=np.zeros(n_classes))
    variance = 0.5
    fit = fit_joint(texts, Strengths(0.3, variance), tol=1e-9, value_tol=1e-15)
    # Two classes share one row, w = 2θ, so ‖θ‖²/2σ² = ‖w‖²/8σ².
    strength = 4 * variance if n_classes == 2 else variance
    peer = LogisticRegression(C=strength, fit_intercept=False, tol=1e-12, max_iter=5000)
    peer.fit(texts.design, texts.labels)
    weights = fit.class_weights(n_classes)
    ours = weights[1] - weights[0] if n_classes == 2 else weights
    assert_allclose(ours, peer.coef_[0] if n_classes == 2 else peer.coef_, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_weight_with_more_ease_has_the_wider_prior(n_classes):
    texts = replace(random_texts(15, n_texts=30, n_classes=n_classes, n_extra=1), ease=np.linspace(0.4, 2.0, 8))
    theta = np.random.default_rng(1).normal(scale=0.3, size=(class_maps(n_classes).shape[1], 8))
    habits, strengths = starting_habits(texts), Strengths(0.3, 0.5)
    free = np.arange(8) == 7
    _, by_theta, _ = loss(texts, theta, habits, strengths, free)

    def value(vector):
        return loss(texts, vector.reshape(theta.shape), habits, strengths, free)[0]

    assert_allclose(by_theta.ravel(), central_difference(value, theta.ravel()), atol=1e-6)
    # The same as one prior for all where every column is as many times as large as its weight may be.
    alike = replace(texts, design=sp.csr_matrix(texts.design.multiply(texts.ease)), ease=None)
    found, other = (fit_classes(one, 0.5, tol=1e-9, value_tol=1e-15).theta for one in (texts, alike))
    assert_allclose(found, texts.ease * other, atol=1e-6)
    assert np.abs(found - fit_classes(replace(texts, ease=None), 0.5, tol=1e-9, value_tol=1e-15).theta).max() > 0.05


def test_a_feature_without_prior_is_an_intercept():
    texts = random_texts(5, n_texts=60, annotated=0.0)
    with_one = replace(texts, design=sp.csr_matrix(np.hstack([texts.design.toarray(), np.ones((60, 1))])))
    free = np.arange(N_WORDS + 1) == N_WORDS
    fit = fit_classes(with_one, 0.5, free=free, tol=1e-10, value_tol=1e-15)
    peer = LogisticRegression(C=2.0, tol=1e-12, max_iter=5000).fit(texts.design, texts.labels)
    assert_allclose(2 * fit.theta[0], np.append(peer.coef_[0], peer.intercept_), atol=1e-5)


def test_joint_fits_descend_below_their_start_and_alternation_ends_no_lower():
    texts = random_texts(6, n_texts=80)
    strengths = Strengths(0.2, 0.5)
    start = fit_classes(texts, 0.5).theta, starting_habits(texts)
    first = loss(texts, *start, strengths)[0]
    joint = fit_joint(texts, strengths, tol=1e-6, value_tol=1e-12)
    alternating = fit_alternating(texts, strengths, tol=1e-6, value_tol=1e-12, max_rounds=200, round_tol=1e-9)
    assert joint.value < first - 1.0
    assert_allclose(joint.value, loss(texts, joint.theta, joint.habits, strengths)[0], rtol=1e-12)
    assert_allclose(alternating.value, joint.value, rtol=1e-4)


def test_rounds_of_alternation_never_raise_the_loss():
    texts = random_texts(7, n_texts=60)
    values = [fit_alternating(texts, Strengths(0.2, 0.5), max_rounds=n, round_tol=0.0).value for n in (1, 2, 3, 4)]
    assert max(np.diff(values)) <= 1e-9


@pytest.mark.parametrize("emissions", ["bounded", "tied", "free"])
def test_emission_weights_obey_their_rule(emissions):
    texts = random_texts(8, n_texts=80, n_habits=3)
    strengths = Strengths(1.0, 0.5, phi_variance=100.0)
    fit = fit_joint(texts, strengths, emissions=emissions)
    table = fit.habits.table
    if emissions == "bounded":
        assert (table[:, :2] >= 0).all()
    if emissions == "tied":
        assert_allclose(table[:, 0], table[:, 1])
    assert_allclose(fit.value, loss(texts, fit.theta, fit.habits, strengths)[0], rtol=1e-12)


def test_people_who_mark_alike_share_habits_and_one_who_differs_keeps_the_difference():
    rng = np.random.default_rng(0)
    texts = random_texts(11, n_texts=300, n_habits=4, annotated=1.0, longest=12)
    habit = np.repeat(texts.chain_habit, np.diff(texts.offsets))
    texts = replace(texts, tags=rng.random(len(habit)) < np.array([0.2, 0.2, 0.2, 0.7])[habit])
    tight, loose = (
        fit_joint(texts, Strengths(0.2, 0.1, deviation_variance=variance)).habits for variance in (1e-4, 1.0)
    )
    assert np.abs(tight.deviations).max() < 0.05
    inside = inside_probabilities(texts, np.zeros((2, N_WORDS)), loose.table)
    shares = np.bincount(habit, inside) / np.bincount(habit)
    assert_allclose(shares, [0.2, 0.2, 0.2, 0.7], atol=0.06)


def test_an_unknown_rule_is_refused():
    with pytest.raises(InputError, match="bounded, tied, free"):
        fit_joint(random_texts(), Strengths(1.0, 1.0), emissions="loose")


def test_a_subset_keeps_exactly_the_chains_of_its_texts():
    texts = random_texts(9, n_texts=10)
    rows = np.array([7, 2, 5])
    part = texts.subset(rows)
    theta, phi = np.full((1, N_WORDS), 0.2), starting_habits(texts).table
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
        design=sp.csr_matrix(presence),
        labels=(np.arange(n) + 1) % 2,
        log_prior=np.zeros(2),
        n_words=N_WORDS,
        words=words,
        contexts=np.zeros(3 * n, dtype=int),
        tags=np.tile([True, False, True, False], n // 2),
        offsets=np.arange(0, 2 * n + 1, 2),
        chain_text=np.arange(n),
        chain_class=(np.arange(n) + 1) % 2,
        chain_habit=np.zeros(n, dtype=int),
        n_habits=1,
        transition_features=TRANSITIONS,
    )
    alone, taught = fit_classes(texts, 1.0).theta[0], fit_joint(texts, Strengths(0.1, 1.0))
    assert_allclose(alone[0], alone[1], atol=1e-6)
    assert taught.theta[0, 0] > taught.theta[0, 1] + 0.1
    marginals = inside_probabilities(texts, taught.class_weights(2), taught.habits.table).reshape(-1, 2)
    assert (marginals[:, 0] > marginals[:, 1]).all()


def test_inner_folds_spread_every_class_and_repeat_where_texts_are_few():
    labels = np.repeat([0, 1, 2], [10, 5, 2])
    folds = inner_folds(labels, 5, np.random.default_rng(0))
    assert folds.shape == (5, 17)
    assert np.bincount(folds[0, labels == 0]).tolist() == [2] * 5
    many = inner_folds(np.arange(4000) % 2, 5, np.random.default_rng(0))
    assert many.shape == (1, 4000)
    assert np.unique(many, return_counts=True)[1].tolist() == [3000, 500, 500]


def test_the_choice_has_the_smallest_log_loss_and_knows_what_the_highlights_gain():
    texts = random_texts(10, n_texts=60)
    folds = inner_folds(texts.labels, 2, np.random.default_rng(1))
    choice = choose_strengths(texts, Strengths(0.0, 1.0), folds=folds)
    found = np.array([choice.strengths.C, choice.strengths.theta_variance])
    place = np.flatnonzero((choice.candidates == found).all(axis=1))[0]
    assert choice.log_loss[place] < choice.log_loss.min() + 0.02  # the middle of the grid is preferred a little
    alone = choice.candidates[:, 0] == 0
    assert_allclose(choice.gain, choice.log_loss[alone].min() - choice.log_loss[~alone].min())
    given = choose_strengths(texts, Strengths(0.0, 1.0), folds=folds, C=0.2)
    assert set(given.candidates[:, 0]) == {0.2}


def test_strengths_are_in_units_of_the_texts():
    short, long = random_texts(12, n_texts=40, longest=4), random_texts(12, n_texts=40, longest=40)
    base = Strengths(0.0, 1.0)
    ratio = np.diff(long.offsets).mean() / np.diff(short.offsets).mean()
    assert_allclose(middle_strengths(short, base).C / middle_strengths(long, base).C, ratio)
    assert middle_strengths(short, base, C=0.5).C == 0.5


@pytest.mark.parametrize("n_classes", [2, 3])
def test_highlights_of_few_texts_count_more_each(n_classes):
    def least(texts, variance, phi_variance):
        """3 over σ_θ² σ_φ² Σ (ease times how often a word was highlighted beyond the average, class against class)²."""
        beyond = np.zeros((n_classes, N_WORDS))
        for d, own in enumerate(texts.chain_class):
            for token in range(texts.offsets[d], texts.offsets[d + 1]):
                if texts.words[token] < N_WORDS:
                    beyond[own, texts.words[token]] += texts.tags[token] - texts.tags.mean()
        if n_classes == 2:
            pulls = beyond[1:] - beyond[:1]
        else:
            pulls = beyond - beyond.mean(axis=0)
        return 3 / (variance * phi_variance * ((texts.ease * pulls) ** 2).sum())

    few = random_texts(13, n_texts=20, n_classes=n_classes, longest=12, annotated=1.0)
    few = replace(few, ease=np.linspace(0.5, 1.5, N_WORDS))
    base = Strengths(0.0, 1.0, phi_variance=2.0)
    unit = 7 / np.diff(few.offsets).mean()
    # The lower bound decides where the highlights say something, and two further bounds where they say less or more.
    for variance, bounded in ((0.02, None), (1e-6, 30 * unit), (1e6, unit)):
        found = middle_strengths(few, base, theta_variance=variance).C
        wanted = least(few, variance, 2.0)
        assert (unit < wanted < 30 * unit) == (bounded is None)
        assert_allclose(found, wanted if bounded is None else bounded)
    assert middle_strengths(few, base, C=0.5, theta_variance=1e-6).C == 0.5


def test_the_search_goes_on_while_a_neighbour_is_better_and_says_where_it_may_not(monkeypatch):
    texts = random_texts(10, n_texts=60)
    folds = inner_folds(texts.labels, 2, np.random.default_rng(1))
    middle = middle_strengths(texts, Strengths(0.0, 1.0))

    def scored(part, shared, rng):
        return np.zeros(1, dtype=int), np.ones(1), [np.array([[one.C, one.theta_variance]]) for one in shared[1]]

    def measured(scores, *rest):  # the larger C and σ², the better
        return annotator_choice.Measured(0.5, -float(np.log(np.maximum(scores[0], 1e-9)).sum()), 1.0, np.zeros(2))

    monkeypatch.setattr(annotator_choice, "_left_out", scored)
    monkeypatch.setattr(annotator_choice, "measured", measured)
    choice = choose_strengths(texts, Strengths(0.0, 1.0), folds=folds)
    assert choice.at_edge
    assert_allclose(choice.strengths.C / middle.C, 100.0)
    assert_allclose(choice.strengths.theta_variance / middle.theta_variance, 100.0)
    assert 0.0 in choice.candidates[:, 0]


def test_scores_of_texts_left_out_are_scaled_by_as_much_as_these_texts_say():
    rng = np.random.default_rng(5)
    flat = np.log([0.5, 0.5])

    def found(n, true_scale, lean=0.0):
        scores, n_words = np.stack([np.zeros(n), rng.normal(size=n)], axis=1), rng.integers(50, 150, n)
        p = 1 / (1 + np.exp(-true_scale * scores[:, 1]))
        truth = (rng.random(n) < p).astype(int)
        scores[:, 1] += lean * n_words
        return annotator_choice.measured(scores, n_words, truth, flat, 1)

    assert_allclose(found(20_000, 2.0).scale, 2.0, rtol=0.1)
    assert np.mean([found(20, 0.0).scale for _ in range(20)]) < 0.6
    assert found(20_000, 0.0).scale < 0.1
    leaning = found(20_000, 2.0, lean=0.01)  # scores that grow with the length of the text, for no reason
    assert_allclose(leaning.drift[1] - leaning.drift[0], -2.0 * 0.01, rtol=0.1)
    assert leaning.log_loss < found(20_000, 2.0).log_loss + 0.02


def test_the_prior_holds_everybodys_emissions_and_its_gradient_is_that_of_differences():
    rng = np.random.default_rng(2)
    habits = Habits(rng.normal(size=6), 0.3 * rng.normal(size=(3, 6)), rng.normal(size=4), 2)
    strengths = Strengths(0.3, 1.0, 2.0, 0.25, bias_variance=0.5)

    def flat(vector):
        return Habits(vector[:6], vector[6:24].reshape(3, 6), vector[24:], 2)

    at = np.concatenate([habits.common, habits.deviations.ravel(), habits.bias])
    _, gradient = habit_prior(habits, strengths)
    found = np.concatenate([gradient.common, gradient.deviations.ravel(), gradient.bias])
    assert_allclose(found, central_difference(lambda v: habit_prior(flat(v), strengths)[0], at), atol=1e-6)
    # The same emissions as common ones or as everybody's factors cost at least as much.
    shared = Habits(np.array([10.0, 10.0, 0, 0, 0, 0]), np.zeros((3, 6)), np.zeros(0), 2)
    factors = np.tile(np.log(100.0) * np.array([1, 1, 0, 0, 0, 0]), (3, 1))
    hidden = Habits(np.array([0.1, 0.1, 0, 0, 0, 0]), factors, np.zeros(0), 2)
    assert habit_prior(hidden, strengths)[0] > 0.75 * habit_prior(shared, strengths)[0]


def test_predicted_highlights_know_the_ends_of_a_text_and_the_words_beside_a_token():
    # Pieces of longer texts: half of them begin inside a highlight; "now" is never marked, the word after it always.
    rng = np.random.default_rng(0)
    texts, spans = [], []
    for row in range(80):
        words = rng.choice(["one", "two", "six", "ten"], 12)
        words[7] = "now"
        at = np.cumsum([0, *(len(word) + 1 for word in words)])
        texts.append(" ".join(words))
        spans.append([(int(at[8]), int(at[9] - 1)), *([(0, int(at[2] - 1))] if row % 4 < 2 else [])])
    model = RationaleClassifier(C=0.1, theta_variance=0.1).fit(texts, np.arange(80) % 2, rationales=spans)
    p = np.stack([one.probabilities for one in model.predict_rationales(texts, np.arange(80) % 2)]).mean(axis=0)
    assert_allclose(p[0], 0.5, atol=0.1)
    assert p[8] > 2 * p[[3, 4, 5, 6, 7, 9, 10, 11]].max()
