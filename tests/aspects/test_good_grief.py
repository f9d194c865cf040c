import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from accord.aspects import good_grief
from accord.aspects.agreement import agreement_labels
from accord.aspects.decode import good_grief_decode
from accord.aspects.good_grief import choose_and_fit, fit_good_grief, good_grief_ranks, mean_distance
from accord.aspects.prank import prank_scores, train_prank
from accord.evaluation.metrics import ranking_loss
from synthetic import aspect_ratings

DATA = aspect_ratings(500, n_ranks=4, noise=0.3, random_state=3)
X, Y = DATA.ratings.items.features, DATA.complete.astype(np.int64)
ORACLE = 2.0 * (agreement_labels(Y) == 1) - 1.0
NOISE = np.random.default_rng(0).normal(size=len(Y))


def fit(agreement, **settings):
    held = (X[300:400], Y[300:400], agreement[300:400])
    options = {"n_ranks": 4, "n_epochs": 3, "n_orders": 2, "rng": np.random.default_rng(1), **settings}
    return fit_good_grief(X[:300], Y[:300], agreement[:300], held, **options)


def loss(model, agreement):
    return ranking_loss(Y[400:], good_grief_ranks(model, X[400:], agreement[400:]))


def test_without_weight_on_agreement_it_is_prank_with_the_best_number_of_passes():
    model = fit(NOISE, alphas=(0.0,), training="apart")
    seed = int(np.random.default_rng(1).integers(2**63))
    history = train_prank(X[:300], Y[:300], n_ranks=4, n_epochs=3, n_orders=2, rng=np.random.default_rng(seed))
    curve = []
    for ranker in history:
        decoded = good_grief_decode(prank_scores(ranker, X[300:400]), ranker.thresholds, np.zeros(100))
        curve.append(ranking_loss(Y[300:400], decoded))
    assert_allclose(model.curve, curve)
    assert model.n_epochs == 1 + int(np.argmin(curve))
    assert_array_equal(model.ranker.weights, history[model.n_epochs - 1].weights)


def test_an_oracle_is_given_weight_and_helps():
    plain, told = fit(ORACLE, alphas=(0.0,), training="apart"), fit(ORACLE, training="apart")
    assert told.alpha > 0
    assert told.n_epochs == plain.n_epochs
    assert loss(told, ORACLE) < loss(plain, ORACLE)


@pytest.mark.parametrize("scale", [-30.0, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("told", ["oracle", "noise"])
def test_the_usual_weight_stays_unless_another_is_better_than_chance_explains(told, scale):
    agreement = scale * (ORACLE if told == "oracle" else NOISE)
    alphas = (0.0, 0.1, 0.5, 1.0)
    ranker = fit(agreement, alphas=(0.0,), training="apart").ranker
    by_text = {}
    for alpha in alphas:
        decoded = good_grief_decode(prank_scores(ranker, X[300:400]), ranker.thresholds, alpha * agreement[300:400])
        by_text[alpha] = np.abs(Y[300:400] - decoded).mean(axis=1)
    best = min(sorted(alphas, key=lambda alpha: abs(alpha - 0.5)), key=lambda alpha: by_text[alpha].mean())
    gain = by_text[0.5] - by_text[best]
    clear = gain.any() and gain.mean() / (gain.std() / 10) > 2.128  # the normal quantile of 1 − .05/3
    assert fit(agreement, alphas=alphas, training="apart").alpha == (best if clear else 0.5)


def test_a_misleading_agreement_model_loses_its_weight():
    assert fit(-30.0 * ORACLE, training="apart").alpha == 0.0
    assert fit(NOISE, training="joint").joint


@pytest.mark.parametrize("gain", [0.0, 10.0])
def test_a_clear_gain_of_joint_training_is_taken(monkeypatch, gain):
    plain = train_prank

    def worse_apart(x, ranks, *, agreement, **settings):
        """Rankers whose thresholds are far off when they are trained apart."""
        history = plain(x, ranks, agreement=agreement, **settings)
        shift = 0.0 if agreement.any() else gain
        return [good_grief.PRankWeights(w.weights, w.thresholds + shift, w.mixing) for w in history]

    monkeypatch.setattr(good_grief, "train_prank", worse_apart)
    assert fit(NOISE, training="chosen").joint == (gain > 0)


def test_the_choice_on_a_part_is_trained_on_everything():
    settings = {"n_ranks": 4, "n_epochs": 3, "n_orders": 2, "alphas": (0.0, 1.0), "passes": None}
    model = choose_and_fit(X[:300], Y[:300], ORACLE[:300], fraction=0.3, rng=np.random.default_rng(0), **settings)
    assert loss(model, ORACLE) < mean_distance(Y[400:], np.full(Y[400:].shape, 2))
    assert len(model.curve) == 3


def test_missing_ranks_do_not_count_in_the_development_loss():
    holed = Y.copy()
    holed[300:400:3, 0] = 0
    holed[301] = 0
    held = (X[300:400], holed[300:400], NOISE[300:400])
    model = fit_good_grief(
        X[:300], Y[:300], NOISE[:300], held, n_ranks=4, n_epochs=2, n_orders=1, alphas=(0.0,), training="apart",
        rng=np.random.default_rng(0),
    )  # fmt: skip
    decoded = good_grief_ranks(model, X[300:400], NOISE[300:400])
    assert model.curve[model.n_epochs - 1] == pytest.approx(mean_distance(holed[300:400], decoded))
