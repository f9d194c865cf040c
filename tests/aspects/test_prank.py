import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from accord.aspects import prank
from accord.aspects.agreement import agreement_labels
from accord.aspects.good_grief import good_grief_decode, prank_ranks
from accord.aspects.prank import (
    RULES,
    aspect_similarity,
    choose_and_fit,
    fit_good_grief,
    good_grief_ranks,
    prank_scores,
    train_prank,
)
from accord.errors import InputError
from accord.evaluation.metrics import ranking_loss
from synthetic import aspect_ratings


def texts(seed=0, n=60, d=8, m=3, k=4):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    scores = x @ rng.normal(size=(d, m))
    cuts = np.sort(np.quantile(scores, np.linspace(0, 1, k + 1)[1:-1], axis=0).T, axis=1)
    return x, prank_ranks(scores, cuts)


def plain_twin(x, ranks, k, n_epochs, rule, averaged, mixing, agreement):
    """[SB07] Figure 1, one instance at a time, every iterate kept."""
    (n, d), m = x.shape, ranks.shape[1]
    w, b = np.zeros((m, d)), np.zeros((m, k - 1))
    iterates = [(w.copy(), b.copy())]
    for _ in range(n_epochs):
        for t in range(n):
            scores = mixing @ (w @ x[t])
            guess = good_grief_decode(scores[None], b, agreement[[t]])[0]
            for i in range(m):
                if ranks[t, i] == 0 or guess[i] == ranks[t, i]:
                    continue
                y_r = np.where(ranks[t, i] <= np.arange(1, k), -1, 1)
                if rule == "figure_1":
                    wrong = (guess[i] - np.arange(1, k)) * y_r <= 0
                else:
                    wrong = np.where(guess[i] > np.arange(1, k), 1, -1) != y_r
                tau = np.where(wrong, y_r, 0)
                w[i] += tau.sum() * x[t]
                b[i] -= tau
            iterates.append((w.copy(), b.copy()))
    if averaged:
        return np.mean([i[0] for i in iterates], axis=0), np.mean([i[1] for i in iterates], axis=0)
    return iterates[-1]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("averaged", [True, False])
@pytest.mark.parametrize("kind", ["prank", "sim", "good_grief"])
def test_the_kernel_follows_figure_1_step_by_step(rule, averaged, kind):
    x, ranks = texts()
    ranks = np.where(np.random.default_rng(3).random(ranks.shape) < 0.1, 0, ranks)
    similarity = aspect_similarity(ranks) if kind == "sim" else None
    agreement = np.random.default_rng(4).normal(size=len(x)) if kind == "good_grief" else None
    ours = train_prank(
        sp.csr_matrix(x), ranks, n_ranks=4, n_epochs=3, rule=rule, averaged=averaged, similarity=similarity,
        agreement=agreement,
    )[-1]  # fmt: skip
    mixing = np.eye(3) + (0 if similarity is None else similarity)
    w, b = plain_twin(x, ranks, 4, 3, rule, averaged, mixing, np.zeros(len(x)) if agreement is None else agreement)
    assert_allclose(ours.weights.T, w, atol=1e-10)
    assert_allclose(ours.thresholds, b, atol=1e-10)
    assert_allclose(prank_scores(ours, x), x @ w.T @ mixing.T, atol=1e-9)


def test_prank_ranks_a_rankable_training_set_perfectly():
    x, ranks = texts()
    last = train_prank(x, ranks, n_ranks=4, n_epochs=3000, averaged=False)[-1]
    assert_array_equal(prank_ranks(prank_scores(last, x), last.thresholds), ranks)


@pytest.mark.parametrize("kind", ["prank", "good_grief"])
def test_thresholds_stay_in_order(kind):
    x, ranks = texts(seed=5)
    agreement = np.random.default_rng(6).normal(size=len(x)) * 3 if kind == "good_grief" else None
    for epoch in train_prank(x, ranks, n_ranks=4, n_epochs=20, averaged=False, agreement=agreement):
        assert (np.diff(epoch.thresholds, axis=1) >= 0).all()


def test_good_grief_training_learns_the_four_instances_that_prank_cannot():
    x = np.array([[1.0, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]])
    ranks = np.array([[2, 1], [2, 2], [1, 2], [1, 1]])
    agreement = x @ [0, 0, -5.0] + 1.0  # "but not" says contrast, its absence consensus
    joint = train_prank(x, ranks, n_ranks=2, n_epochs=50, averaged=False, agreement=agreement)[-1]
    assert_array_equal(good_grief_decode(prank_scores(joint, x), joint.thresholds, agreement), ranks)
    for alone in train_prank(x, ranks, n_ranks=2, n_epochs=50, averaged=False):
        assert (prank_ranks(prank_scores(alone, x), alone.thresholds) != ranks).any()


def test_similarity_is_the_cosine_over_texts_that_rank_both():
    ranks = np.array([[1, 2, 0], [3, 0, 4], [5, 4, 2]])
    similarity = aspect_similarity(ranks)
    assert_allclose(similarity[0, 1], (1 * 2 + 5 * 4) / np.sqrt(26 * 20))
    assert_allclose(similarity[0, 2], (3 * 4 + 5 * 2) / np.sqrt(34 * 20))
    assert_allclose(similarity, similarity.T)
    assert_allclose(np.diag(similarity), 1)


def test_the_order_of_texts_is_the_generators():
    x, ranks = texts()
    one, two = (train_prank(x, ranks, n_ranks=4, rng=np.random.default_rng(7))[-1] for _ in range(2))
    assert_array_equal(one.weights, two.weights)
    other = train_prank(x, ranks, n_ranks=4, rng=np.random.default_rng(8))[-1]
    assert not np.array_equal(one.weights, other.weights)


def test_an_unknown_rule_is_refused():
    x, ranks = texts()
    with pytest.raises(InputError, match="crammer_singer, figure_1"):
        train_prank(x, ranks, n_ranks=4, rule="other")


def test_several_orders_give_the_mean_of_their_rankers():
    x, ranks = texts()
    together = train_prank(x, ranks, n_ranks=4, n_epochs=2, n_orders=3, rng=np.random.default_rng(9))
    rng = np.random.default_rng(9)
    apart = [train_prank(x, ranks, n_ranks=4, n_epochs=2, rng=rng) for _ in range(3)]
    for epoch in range(2):
        assert_allclose(together[epoch].weights, np.mean([run[epoch].weights for run in apart], axis=0), atol=1e-12)
    with pytest.raises(InputError, match="give rng"):
        train_prank(x, ranks, n_ranks=4, n_orders=2)


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
        return [prank.PRankWeights(w.weights, w.thresholds + shift, w.mixing) for w in history]

    monkeypatch.setattr(prank, "train_prank", worse_apart)
    assert fit(NOISE, training="chosen").joint == (gain > 0)


def test_the_choice_on_a_part_is_trained_on_everything():
    settings = {"n_ranks": 4, "n_epochs": 3, "n_orders": 2, "alphas": (0.0, 1.0), "passes": None}
    model = choose_and_fit(X[:300], Y[:300], ORACLE[:300], fraction=0.3, rng=np.random.default_rng(0), **settings)
    assert loss(model, ORACLE) < ranking_loss(Y[400:], np.full(Y[400:].shape, 2))
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
    assert model.curve[model.n_epochs - 1] == pytest.approx(ranking_loss(holed[300:400], decoded))
