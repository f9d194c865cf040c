import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, logit

from accord.aspects.features import PhraseFeatures
from accord.aspects.logits import base_logits, fit_calibration, fit_logits, logit_scores
from accord.aspects.ordinal import (
    all_threshold_loss,
    as_new,
    choose_penalty,
    choose_prior,
    fit_all_threshold,
    fit_cumulative,
    fit_stacked,
    folds,
    median_ranks,
    mode_ranks,
    ordinal_probabilities,
    rank_probabilities,
    threshold_targets,
)
from accord.errors import InputError
from accord.fitting.optimise import minimise_lbfgs


def texts(seed=0, n=600, d=20, m=3, noise=0.5):
    rng = np.random.default_rng(seed)
    weights = np.random.default_rng(99).normal(size=(d, m)) + np.random.default_rng(98).normal(size=(d, 1))
    x = rng.normal(size=(n, d)) / np.sqrt(d)
    return sp.csr_array(x), 1 + np.digitize(x @ weights + noise * rng.normal(size=(n, m)), [-1.5, -0.5, 0.5, 1.5])


def test_targets_say_above_not_above_or_missing():
    assert_array_equal(threshold_targets(np.array([[3, 0]]), 4), [[1, 1, 0, -1, -1, -1]])


def test_probabilities_are_those_of_the_thresholds():
    above = np.array([0.9, 0.6, 0.2])
    assert_allclose(rank_probabilities(logit(above)[None], 1)[0, 0], [0.1, 0.3, 0.4, 0.2], atol=1e-5)
    crossed = rank_probabilities(logit(above[[1, 0, 2]])[None], 1)
    assert_allclose(crossed[0, 0], [0.1, 0.3, 0.4, 0.2], atol=1e-5)


def test_the_median_minimises_expected_distance():
    p = np.random.default_rng(0).dirichlet(np.ones(5), size=200)
    distance = np.abs(np.arange(1, 6)[:, None] - np.arange(1, 6))
    assert_array_equal(median_ranks(p), 1 + (p @ distance).argmin(axis=1))
    assert_array_equal(mode_ranks(p), 1 + p.argmax(axis=1))


def test_the_all_threshold_gradient_equals_central_differences():
    rng = np.random.default_rng(1)
    x, ranks = texts(n=15, d=4, m=2)
    ranks[0, 0] = 0
    targets = threshold_targets(ranks, 5).reshape(15, 2, 4)
    w, b = rng.normal(size=(4, 2)), rng.normal(size=(2, 4))
    _, by_w, by_b = all_threshold_loss(w, b, x, x.T, targets)
    for place, gradient in enumerate((by_w, by_b)):
        for index in np.ndindex(gradient.shape):
            values = []
            for step in (1e-5, -1e-5):
                moved = [w.copy(), b.copy()]
                moved[place][index] += step
                values.append(all_threshold_loss(*moved, x, x.T, targets)[0])
            assert_allclose(gradient[index], (values[0] - values[1]) / 2e-5, atol=1e-6)


def loss(model, x, ranks):
    return np.abs(median_ranks(ordinal_probabilities(model, x)) - ranks).mean()


def test_every_model_beats_the_best_constant_and_takes_missing_scores():
    x, ranks = texts()
    fresh, truth = texts(seed=1)
    constant = np.abs(np.median(ranks, axis=0) - truth).mean()
    holed = np.where(np.random.default_rng(2).random(ranks.shape) < 0.2, 0, ranks)
    rng = np.random.default_rng(3)
    fitted = {
        "cumulative": fit_cumulative(x, holed, n_ranks=5, rng=rng),
        "stacked": fit_stacked(x, holed, n_ranks=5, rng=rng)[0],
        "all_threshold": fit_all_threshold(x, holed, n_ranks=5)[0],
    }
    for model in fitted.values():
        assert loss(model, fresh, truth) < 0.75 * constant


def test_stacked_probabilities_are_calibrated_where_plain_ones_are_not():
    x, ranks = texts(n=800, d=300, noise=1.0)
    fresh, truth = texts(seed=1, n=800, d=300, noise=1.0)

    def log_loss(model):
        p = ordinal_probabilities(model, fresh)
        return -np.log(np.take_along_axis(p, truth[:, :, None] - 1, axis=2)).mean()

    stacked, _ = fit_stacked(x, ranks, n_ranks=5, penalty=0.01, rng=np.random.default_rng(0))
    plain = fit_cumulative(x, ranks, n_ranks=5, penalty=0.01, rng=np.random.default_rng(0))
    assert log_loss(stacked) < log_loss(plain) - 0.02


def test_out_of_fold_logits_do_not_know_their_own_text():
    """With ranks that are pure noise, out-of-fold logits carry nothing; in-sample ones would."""
    rng = np.random.default_rng(4)
    x, ranks = sp.csr_array(rng.normal(size=(300, 200))), rng.integers(1, 3, size=(300, 2))
    model, held_out = fit_stacked(x, ranks, n_ranks=2, penalty=0.01, stack_penalty=0.1, rng=rng)
    correlation = np.corrcoef(held_out[:, 0], ranks[:, 0])[0, 1]
    assert abs(correlation) < 0.2
    in_sample = np.asarray(x @ model.weights)[:, 0]
    assert np.corrcoef(in_sample, ranks[:, 0])[0, 1] > 0.5


def test_the_chosen_penalty_is_neither_extreme():
    x, ranks = texts(n=300, d=100, noise=1.0)
    chosen = choose_penalty(x, ranks, (1e-4, 0.3, 300.0), n_ranks=5, n_folds=3, rng=np.random.default_rng(0))
    assert chosen == 0.3


def test_folds_part_the_texts_are_alike_and_keep_a_text_together():
    rng = np.random.default_rng(0)
    ranks = rng.integers(1, 6, size=(60, 2))
    texts = np.arange(60) // 2
    parts = list(folds(ranks, 3, rng, texts))
    assert_array_equal(np.sort(np.concatenate([test for _, test in parts])), np.arange(60))
    for train, test in parts:
        assert not set(texts[train]) & set(texts[test])
        assert len(train) + len(test) == 60
        assert abs(ranks[train].mean() - ranks[test].mean()) < 0.15
    with pytest.raises(InputError, match="2 folds"):
        list(folds(ranks[:1], 2, rng))


def test_on_noise_no_slope_is_negative_and_the_ranks_stay_near_the_base_rates():
    """Out-of-fold scores of few texts run against the ranks; the second stage must not learn that."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x, ranks = sp.csr_array(rng.normal(size=(24, 50)) / 7), rng.integers(1, 6, size=(24, 5))
        model, _ = fit_stacked(x, ranks, n_ranks=5, n_folds=10, rng=rng)
        own = model.mixing.reshape(5, 4, 5, 4).sum(axis=1)[np.arange(5), np.arange(5)]
        assert (own >= 0).all()
        fitted = ordinal_probabilities(model, x) @ np.arange(1, 6)
        assert np.corrcoef(fitted.ravel(), ranks.ravel())[0, 1] > 0.1


def test_rows_held_out_are_those_that_new_texts_would_have():
    """A text held out has the features that it would have if the others had been all there is, but for the idf."""
    texts = ["rude staff", "rude staff, lovely room", "cold soup, lovely room", "staff of stone"]
    train, test = np.array([0, 1, 2]), np.array([3])
    whole, known = PhraseFeatures(idf=False).fit(texts), PhraseFeatures(idf=False).fit(texts[:3])
    x = sp.csr_array(sp.hstack([whole.transform(texts), np.full((4, 1), 7.0)]))
    rows = as_new(x, train, test, x.shape[1] - 1)
    names = list(whole.get_feature_names_out())
    columns = [names.index(name) for name in known.get_feature_names_out()]
    assert_allclose(rows[:, columns].toarray(), known.transform(texts[3:]).toarray())
    assert_allclose(np.sqrt(rows.multiply(rows).sum()), np.hypot(1.0, 7.0))
    assert_allclose(as_new(x, train, test, 0).toarray(), x[test].toarray())


def test_weights_of_each_threshold_must_earn_their_place():
    x, ranks = texts(n=40, d=15)
    few, _ = fit_stacked(x, ranks, n_ranks=5, stack_penalty=0.01, rng=np.random.default_rng(0))
    assert few.choice.taken == "pooled"
    assert few.choice.pooled < few.choice.constant
    # The last aspect runs against the others, which no shared slope of at least 0 can say.
    rng = np.random.default_rng(5)
    x = rng.normal(size=(600, 300)) / np.sqrt(300)
    latent = 2.0 * x @ rng.normal(size=(300, 1)) + rng.normal(size=(600, 3))
    x, ranks = sp.csr_array(x), 1 + np.digitize(latent * [1, 1, -1], [-2.5, -0.8, 0.8, 2.5])
    many, _ = fit_stacked(x, ranks, n_ranks=5, rng=np.random.default_rng(0))
    assert many.choice.taken == "free"


def problem(seed=0, n=200, d=12, outputs=3, missing=0.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    y = (rng.random((n, outputs)) < expit(x @ rng.normal(size=(d, outputs)))).astype(int)
    return x, np.where(rng.random(y.shape) < missing, -1, y)


def by_lbfgs(x, y, penalty):
    """One output by another optimiser; the intercept is the base rate's plus a penalised correction."""
    known = y >= 0
    x, y = x[known], y[known]
    offset = logit((y.sum() + 0.5) / (len(y) + 1))

    def loss(w):
        z = x @ w[:-1] + w[-1] + offset
        return (np.logaddexp(0, z) - y * z).sum() + 0.5 * penalty * w @ w, np.append(
            x.T @ (expit(z) - y), (expit(z) - y).sum()
        ) + penalty * w

    w = minimise_lbfgs(loss, np.zeros(x.shape[1] + 1)).weights
    return w[:-1], w[-1] + offset


def test_the_fit_is_the_optimum_of_the_penalised_likelihood():
    for penalty, missing in ((0.1, 0.0), (1.0, 0.3), (0.03, 0.0)):
        x, y = problem(missing=missing)
        ours = fit_logits(sp.csr_array(x), y, penalty=penalty, rng=np.random.default_rng(1), tol=1e-8, max_iter=20_000)
        assert ours.convergence.converged
        for j in range(3):
            w, b = by_lbfgs(x, y[:, j], penalty)
            assert_allclose(ours.weights[:, j], w, atol=1e-3)
            assert_allclose(ours.bias[j], b, atol=1e-3)


def test_outputs_that_are_alike_have_the_optimum_of_their_joint_penalty_in_any_order():
    x, y = problem(missing=0.3)
    alike, penalty = np.array([[1.0, 0.7, 0.2], [0.7, 1.0, 0.4], [0.2, 0.4, 1.0]]), 0.3
    offset, precision, known = base_logits(y), np.linalg.inv(alike), y >= 0
    inputs = np.column_stack([x, np.ones(len(x))])

    def loss(packed):
        w = packed.reshape(-1, 3)
        z = inputs @ w + offset
        value = (np.logaddexp(0, z) - y * z)[known].sum() + 0.5 * penalty * np.sum(w * (w @ precision))
        error = np.where(known, expit(z) - y, 0.0)
        return value, (inputs.T @ error + penalty * w @ precision).ravel()

    best = minimise_lbfgs(loss, np.zeros(inputs.shape[1] * 3), tol=1e-7).weights.reshape(-1, 3)
    for turns in (None, np.array([2, 0, 1])):
        fitted = fit_logits(
            x, y, penalty=penalty, rng=np.random.default_rng(1), alike=alike, turns=turns, tol=1e-9, max_iter=20_000
        )
        assert_allclose(fitted.weights, best[:-1], atol=1e-4)
        assert_allclose(fitted.bias, best[-1] + offset, atol=1e-4)


def test_an_aspect_with_few_scores_learns_from_the_words_of_the_others():
    """Words mean the same for both aspects, so that the weights of the second are better with those of the first."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 30)) / np.sqrt(30)
    z = 4.0 * x @ rng.normal(size=30)
    y = (z[:, None] + rng.logistic(size=(400, 2)) > 0).astype(np.int8)
    told = y[:200].copy()
    told[15:, 1] = -1
    alone, joint = (
        fit_logits(x[:200], told, penalty=0.3, rng=np.random.default_rng(1), alike=alike)
        for alike in (None, np.array([[1.0, 0.5], [0.5, 1.0]]))
    )
    apart, together = (np.corrcoef(logit_scores(model, x[200:])[:, 1], z[200:])[0, 1] for model in (alone, joint))
    assert together > apart + 0.1


@pytest.mark.parametrize(("shared", "taken"), [(True, (0.3, 0.5)), (False, (0.1, 0.0))])
def test_weights_are_alike_only_where_that_is_better_out_of_fold(shared, taken):
    """Words mean the same for every aspect, or the words of one aspect say nothing of the others."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 150)) / np.sqrt(150)
    own = rng.normal(size=(150, 1)) * np.repeat(np.eye(3), 50, axis=0) * np.sqrt(3)
    weights = np.repeat(rng.normal(size=(150, 1)), 3, axis=1) if shared else own
    ranks = 1 + np.digitize(4.0 * x @ weights + 2.0 * rng.normal(size=(300, 3)), [-2.0, 0.0, 2.0])
    found = choose_prior(sp.csr_array(x), ranks, ((0.1, 0.0), (0.3, 0.5)), seed=0, n_ranks=4)
    assert found == taken


def test_the_order_of_aspects_does_not_matter_where_their_weights_are_alike():
    x, ranks = texts(n=200)
    first, second = (
        fit_stacked(x, ranks[:, order], n_ranks=5, correlation=0.5, rng=np.random.default_rng(0))[1].reshape(200, -1, 4)
        for order in ([0, 1, 2], [2, 0, 1])
    )
    assert_allclose(second, first[:, [2, 0, 1]], atol=1e-6)


def test_dual_variables_are_targets_less_probabilities_and_make_the_weights():
    x, y = problem()
    fitted = fit_logits(x, y, penalty=0.5, rng=np.random.default_rng(1), tol=1e-9, max_iter=2000)
    assert_allclose(fitted.dual, y - expit(logit_scores(fitted, x)), atol=1e-7)
    assert_allclose(fitted.weights, x.T @ fitted.dual / 0.5, atol=1e-9)


def test_a_start_from_a_similar_fit_saves_sweeps_and_ends_at_the_same_place():
    x, y = problem(n=400)
    whole = fit_logits(x, y, penalty=0.1, rng=np.random.default_rng(1), tol=1e-6, max_iter=5000)
    cold, warm = (
        fit_logits(x[:350], y[:350], penalty=0.1, rng=np.random.default_rng(2), tol=1e-6, max_iter=5000, start=start)
        for start in (None, whole.dual[:350])
    )
    assert_allclose(warm.weights, cold.weights, atol=1e-3)
    assert warm.convergence.n_iter <= cold.convergence.n_iter


def test_an_output_with_one_answer_only_stays_finite():
    x, y = problem()
    y[:, 0] = 1
    fitted = fit_logits(x, y, rng=np.random.default_rng(1))
    assert np.isfinite(logit_scores(fitted, x)).all()
    assert (logit_scores(fitted, x)[:, 0] > 0).all()


def test_calibration_is_the_optimum_and_survives_one_sided_targets():
    x, y = problem(missing=0.2)
    y[:, 2] = 0
    weights = fit_calibration(x, y, penalty=2.0)
    for j in range(2):
        known = y[:, j] >= 0
        f = np.column_stack([x, np.ones(len(x))])[known]
        middle = f.mean(axis=0)
        gradient = f.T @ (expit(f @ weights[:, j]) - y[known, j]) + np.append(2.0 * weights[:-1, j], 0.0)
        gradient += (expit(middle @ weights[:, j]) - 0.5) * middle
        assert_allclose(gradient, 0.0, atol=1e-6)
    assert np.isfinite(weights).all()
    assert weights[-1, 2] < -3
