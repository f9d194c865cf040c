import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from accord.aspects.decode import good_grief_decode, prank_ranks
from accord.aspects.prank import RULES, aspect_similarity, prank_scores, train_prank
from accord.errors import InputError


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
    assert_allclose(np.diag(similarity), 0)


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
