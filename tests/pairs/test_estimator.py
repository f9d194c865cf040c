import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.special import ndtr
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

from accord import PreferenceRanker
from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.errors import InputError


def problem(n=40, n_votes=300, *, seed=0, n_features=4, sparse=False, spam=0.0, bias=0.0, margin=0.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, n_features))
    f = 1.5 * x[:, 0] + np.sin(2 * x[:, 1])
    ids = np.array([f"t{k:03d}" for k in range(n)], dtype=object)
    items = Items(ids, features=sp.csr_array(x) if sparse else x)
    left = rng.integers(0, n, n_votes)
    right = (left + rng.integers(1, n, n_votes)) % n
    z = f[left] - f[right] + bias + rng.normal(0, np.sqrt(2), n_votes)
    y = np.where(z > margin, 1.0, np.where(z < -margin, 0.0, 0.5))
    voter = rng.integers(0, 10, n_votes)
    random = voter < 10 * spam
    y[random] = rng.integers(0, 2, int(random.sum()))
    X = pd.DataFrame({"left": ids[left], "right": ids[right]})
    return X, y, items, f, np.array([f"v{v}" for v in voter], dtype=object)


def test_every_setting_has_a_rule_and_a_bad_value_is_one_sentence():
    assert set(PreferenceRanker.SETTINGS) == set(PreferenceRanker().get_params(deep=False))
    bad = {"max_iter": -3, "tol": -1.0, "batch_size": 0, "n_inducing": "abc", "shrinkage": 3, "forgetting": np.nan,
           "inference": "magic", "ard": "yes", "kernel": 3, "features": "none", "noise_prior": (1.0,)}  # fmt: skip
    for name, value in bad.items():
        with pytest.raises(InputError, match=f"the setting '{name}' of PreferenceRanker must be"):
            PreferenceRanker(**{name: value}).fit([("a", "b")], [1])


def test_it_learns_the_truth_and_carries_it_to_unseen_items():
    X, y, items, f, _ = problem(60, 600)
    seen = X["left"].isin(items.ids[:45]) & X["right"].isin(items.ids[:45])
    ranker = PreferenceRanker().fit(X[seen], y[seen], items=items.subset(np.arange(45)))
    score = ranker.score_items(items)
    assert np.corrcoef(score[:45], f[:45])[0, 1] > 0.9
    assert np.corrcoef(score[45:], f[45:])[0, 1] > 0.8
    p = ranker.predict_proba(X[~seen], items=items)[:, 1]
    truth = ndtr((f[items.positions(X["left"])] - f[items.positions(X["right"])]) / np.sqrt(2))[~seen.to_numpy()]
    assert np.mean(np.abs(p - truth)) < 0.12


@pytest.mark.parametrize("inference", ["auto", "variational", "laplace", "svi"])
@pytest.mark.parametrize("kernel", ["matern", "matern_product"])
def test_every_inference_and_kernel_ranks_well(inference, kernel):
    ranker = PreferenceRanker(
        kernel=kernel, inference=inference, length_scales="median", n_inducing=30, n_epochs=40, batch_size=100
    )
    found = []
    for seed in range(3):
        X, y, items, f, _ = problem(40, 400, seed=seed)
        score = ranker.fit(X, y, items=items).score_items()
        found.append(np.corrcoef(score, f)[0, 1])
    assert np.mean(found) > 0.9
    assert min(found) > 0.85


def test_it_clones_pickles_and_leaves_its_parameters_alone():
    X, y, items, _, _ = problem()
    ranker = PreferenceRanker(kernel="rbf", max_iter=3)
    before = ranker.get_params()
    assert ranker.fit(X, y, items=items) is ranker
    assert ranker.get_params() == before
    assert clone(ranker).get_params() == before
    again = pickle.loads(pickle.dumps(ranker))
    assert_allclose(again.predict_proba(X), ranker.predict_proba(X))


def test_fitting_twice_is_the_same_and_changes_no_input():
    X, y, items, _, _ = problem()
    X0, y0, x0 = X.copy(), y.copy(), items.features.copy()
    ranker = PreferenceRanker().fit(X, y, items=items)
    first = ranker.predict_proba(X)
    assert_allclose(ranker.fit(X, y, items=items).predict_proba(X), first)
    pd.testing.assert_frame_equal(X, X0)
    assert_allclose(y, y0)
    assert_allclose(items.features, x0)


def test_refitting_on_other_items_forgets_the_first():
    X, y, items, _, _ = problem()
    other = problem(20, 100, seed=5)
    ranker = PreferenceRanker().fit(X, y, items=items).fit(other[0], other[1], items=other[2])
    fresh = PreferenceRanker().fit(other[0], other[1], items=other[2])
    assert_allclose(ranker.predict_proba(other[0]), fresh.predict_proba(other[0]))


def test_sparse_features_give_what_dense_ones_give():
    dense, sparse = problem(), problem(sparse=True)
    a = PreferenceRanker().fit(dense[0], dense[1], items=dense[2]).predict_proba(dense[0])
    b = PreferenceRanker().fit(sparse[0], sparse[1], items=sparse[2]).predict_proba(sparse[0])
    assert_allclose(a, b, atol=1e-6)


def test_the_order_of_items_and_votes_does_not_matter():
    X, y, items, _, _ = problem()
    rng = np.random.default_rng(1)
    rows, places = rng.permutation(len(y)), rng.permutation(items.n_items)
    a = PreferenceRanker().fit(X, y, items=items).predict_proba(X)
    b = PreferenceRanker().fit(X.iloc[rows], y[rows], items=items.subset(places)).predict_proba(X)
    assert_allclose(a, b, atol=2e-3)


def test_swapping_left_and_right_turns_probabilities_round():
    X, y, items, _, _ = problem()
    turned = X.rename(columns={"left": "right", "right": "left"})
    a = PreferenceRanker().fit(X, y, items=items)
    b = PreferenceRanker().fit(turned, 1 - y, items=items)
    assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-9)
    assert_allclose(a.predict_proba(X), a.predict_proba(turned)[:, ::-1], atol=1e-9)


def test_undefeated_winless_and_disconnected_items_get_finite_scores():
    X = [("a", "b"), ("a", "c"), ("b", "c"), ("x", "y")]
    ranking = PreferenceRanker().fit(X * 5, [1, 1, 1, 1] * 5).rank().set_index("item_id")
    assert np.isfinite(ranking[["score", "std", "low", "high"]].to_numpy()).all()
    assert ranking.loc["a", "score"] > ranking.loc["b", "score"] > ranking.loc["c", "score"]
    assert ranking["score"].abs().max() < 10
    assert ranking.loc["x", "score"] > ranking.loc["y", "score"]


def test_one_vote_and_an_item_without_votes_work():
    items = Items(["a", "b", "lonely"])
    rankers = [PreferenceRanker(random_state=seed).fit([("a", "b")], [1], items=items) for seed in range(4)]
    rankings = [ranker.rank().set_index("item_id") for ranker in rankers]
    assert rankings[0]["n_votes"].to_dict() == {"a": 1, "b": 1, "lonely": 0}
    # The score is a mean of draws: over 30 other seeds its standard deviation is .04, and that of a mean of four .02.
    assert_allclose(np.mean([ranking.loc["lonely", "score"] for ranking in rankings]), 0.0, atol=0.1)
    ranker = rankers[0]
    assert ranker.predict([("a", "b"), ("b", "a")]).tolist() == [1.0, 0.0]


def test_rankings_have_tiers_intervals_and_a_probability_of_being_best():
    X, y, items, f, _ = problem(15, 600)
    ranking = PreferenceRanker().fit(X, y, items=items).rank()
    assert ranking["rank"].tolist() == list(range(1, 16))
    assert (np.diff(ranking["tier"]) >= 0).all()
    assert ranking["tier"].iloc[-1] > 1
    assert_allclose(ranking["p_best"].sum(), 1.0)
    assert (ranking["rank_low"] <= ranking["rank"]).all()
    assert (ranking["rank_high"] >= ranking["rank"]).all()
    assert (ranking["low"] < ranking["score"]).all()
    best = items.ids[np.argmax(f)]
    assert ranking.set_index("item_id").loc[best, "p_best"] > 0.1
    assert_allclose(ranking["score"].sum(), 0.0, atol=1e-9)


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    hits = []
    for seed in range(6):
        X, y, items, f, _ = problem(30, 400, seed=seed)
        ranking = PreferenceRanker().fit(X, y, items=items).rank().set_index("item_id").loc[list(items.ids)]
        truth = f - f.mean()
        hits.append(((ranking["low"] <= truth) & (truth <= ranking["high"])).mean())
    assert 0.8 < np.mean(hits) < 0.97


def test_random_voters_are_found_and_cost_little():
    X, y, items, f, who = problem(60, 1500, spam=0.3)
    plain = PreferenceRanker().fit(X, y, items=items)
    learned = PreferenceRanker(reliability="learned").fit(X, y, items=items, annotator=who)
    assert set(learned.annotators_["annotator"].iloc[-3:]) == {"v0", "v1", "v2"}
    truth = ndtr((f[items.positions(X["left"])] - f[items.positions(X["right"])]) / np.sqrt(2))
    error = [np.mean(np.abs(model.predict_proba(X)[:, 1] - truth)) for model in (plain, learned)]
    assert error[1] < error[0]


def test_votes_of_one_pair_stay_single_votes():
    # Honest voters, a hundred votes a pair: scores are not blown up and nobody is called random.
    rng = np.random.default_rng(0)
    f = rng.normal(0, 0.7, 6)
    a, b = np.triu_indices(6, 1)
    left, right = np.repeat(a, 100), np.repeat(b, 100)
    y = (f[left] - f[right] + rng.normal(0, np.sqrt(2), left.size) > 0).astype(float)
    who = rng.integers(0, 30, left.size)
    X = pd.DataFrame({"left": left.astype(str), "right": right.astype(str)})
    ranker = PreferenceRanker().fit(X, y, annotator=who.astype(str))
    assert ranker.annotators_["error"].mean() < 0.12
    pairs = pd.DataFrame({"left": a.astype(str), "right": b.astype(str)})
    assert_allclose(ranker.predict_proba(pairs)[:, 1], ndtr((f[a] - f[b]) / np.sqrt(2)), atol=0.12)
    # A majority is surer than a vote, and the order surer than both.
    one, nine = ranker.predict_proba(pairs)[:, 1], ranker.predict_proba(pairs, voters=9)[:, 1]
    order = ranker.predict_order(pairs)
    assert (np.abs(nine - 0.5) >= np.abs(one - 0.5)).all()
    assert ((order > 0.5) == (one > 0.5)).all()
    with pytest.raises(InputError, match="voters must be a whole number of at least 1"):
        ranker.predict_proba(pairs, voters=0)


def test_majorities_are_an_explicit_choice():
    X, y, items, _, _ = problem(20, 200)
    ranker = PreferenceRanker(aggregate="majority").fit(X, y, items=items)
    assert ranker.rank()["n_votes"].sum() < 2 * 200
    with pytest.raises(InputError, match="cannot be added to majorities"):
        ranker.partial_fit(X, y)


def test_texts_without_features_get_features_by_themselves():
    texts = ["Because studies show that it saves lives, we should build more of them." + f" No {k}" for k in range(8)]
    texts += [f"lol no {k}" for k in range(8)]
    items = Items([f"t{k:02d}" for k in range(16)], texts=texts)
    votes = [(f"t{a:02d}", f"t{b:02d}") for a in range(6) for b in range(8, 14)]
    ranker = PreferenceRanker(max_iter=3).fit(votes, [1] * len(votes), items=items)
    assert ranker.predict_proba([("t07", "t15")])[0, 1] > 0.7  # neither has a vote
    bare = PreferenceRanker(features=None).fit(votes, [1] * len(votes), items=items)
    assert_allclose(bare.predict_proba([("t07", "t15")])[0, 1], 0.5)


def test_groups_are_ranked_by_themselves():
    rng = np.random.default_rng(0)
    ids = np.array([f"{g}{k}" for g in "zb" for k in range(6)], dtype=object)
    items = Items(ids, groups=[name[0] for name in ids])
    f = rng.normal(size=12)
    left = rng.integers(0, 12, 400)
    right = (left // 6) * 6 + (left % 6 + rng.integers(1, 6, 400)) % 6
    y = (f[left] - f[right] + rng.normal(0, np.sqrt(2), 400) > 0).astype(float)
    ranker = PreferenceRanker().fit(np.column_stack([ids[left], ids[right]]), y, items=items)
    table = ranker.rank()
    assert table["group"].tolist() == ["z"] * 6 + ["b"] * 6  # groups keep their order
    for _, part in table.groupby("group"):
        assert part["rank"].tolist() == [1, 2, 3, 4, 5, 6]
        assert part["rank_high"].max() <= 6
        assert_allclose([part["p_best"].sum(), part["score"].sum()], [1.0, 0.0], atol=1e-9)
    anchored = ranker.rank(anchor="z3").set_index("item_id")
    assert_allclose(anchored.loc["z3", ["score", "low", "high"]].astype(float), 0.0, atol=1e-12)
    elo = ranker.rank(scale="elo").set_index("item_id")
    plain = table.set_index("item_id")
    assert_allclose(elo["score"], 209.0 * plain["score"], rtol=0.01)
    # Votes across groups make one ranking of all items.
    both = ranker.partial_fit([("z0", "b0")], [1]).rank()
    assert both["group"].isna().all()
    assert both["rank"].tolist() == list(range(1, 13))


@pytest.mark.parametrize("ties", ["half", "margin"])
def test_reliability_takes_undecided_votes_sides_weights_and_more_votes(ties):
    X, y, items, f, who = problem(30, 400, margin=0.4, bias=0.3)
    ranker = PreferenceRanker(reliability="learned", ties=ties, position_bias=True, length_scales="base")
    shown = X["left"].to_numpy()
    half = np.full(300, 0.5)
    ranker.fit(X[:300], y[:300], items=items, annotator=who[:300], sample_weight=half, shown_left=shown[:300])
    ranker.partial_fit(X[300:], y[300:], annotator=who[300:], sample_weight=half[:100], shown_left=shown[300:])
    assert ranker.annotators_["n_votes"].sum() == 400
    assert np.corrcoef(ranker.score_items(), f)[0, 1] > 0.8
    assert_allclose(ranker.predict_proba(X).sum(axis=1), 1.0, atol=1e-9)


def test_reliability_without_annotators_is_refused():
    X, y, items, _, _ = problem()
    with pytest.raises(InputError, match="pass annotator="):
        PreferenceRanker(reliability="learned").fit(X, y, items=items)


def test_a_position_bias_is_learned():
    for bias in (0.5, 0.8):
        X, y, items, f, _ = problem(40, 3000, bias=bias)
        rng = np.random.default_rng(0)
        turned = rng.random(len(y)) < 0.5  # which item a table calls left says nothing about the screen
        other = pd.DataFrame({"left": np.where(turned, X["right"], X["left"]),
                              "right": np.where(turned, X["left"], X["right"])})  # fmt: skip
        said = np.where(turned, 1.0 - y, y)
        ranker = PreferenceRanker().fit(other, said, items=items, shown_left=X["left"])
        assert_allclose(ranker.likelihood_.bias, bias, atol=0.1)
        assert np.corrcoef(ranker.score_items(), f)[0, 1] > 0.9


def test_a_position_bias_that_cannot_be_known_is_refused():
    X, y, items, _, _ = problem(20, 200)
    with pytest.raises(InputError, match="which item each vote showed on the left"):
        PreferenceRanker(position_bias=True).fit(X, y, items=items)
    winner = np.where(y == 1.0, X["left"], X["right"])
    with pytest.raises(InputError, match="the winner always stands on the same side"):
        PreferenceRanker(position_bias=True).fit(X, y, items=items, shown_left=winner)
    assert PreferenceRanker().fit(X, y, items=items, shown_left=winner).likelihood_.bias == 0.0
    with pytest.raises(InputError, match="one of the pair's two; row 1 names 'nobody'"):
        PreferenceRanker().fit(X, y, items=items, shown_left=["nobody"] * len(y))


def test_a_margin_turns_undecided_votes_into_probabilities():
    X, y, items, _, _ = problem(40, 1500, margin=0.7)
    ranker = PreferenceRanker(ties="margin").fit(X, y, items=items)
    p = ranker.predict_proba(X)
    assert ranker.classes_.tolist() == [0.0, 0.5, 1.0]
    assert_allclose(p.sum(axis=1), 1.0)
    assert_allclose(p[:, 1].mean(), np.mean(y == 0.5), atol=0.05)
    assert_allclose(ranker.likelihood_.margin, 0.7, atol=0.25)


def test_scores_and_votes_share_one_posterior():
    X, y, items, f, _ = problem(40, 60)
    noisy = f + np.random.default_rng(0).normal(0, 0.3, f.size)
    marks = dict(zip(items.ids, (10 + 2 * noisy).tolist(), strict=True))
    alone = PreferenceRanker().fit(X, y, items=items).score_items()
    both = PreferenceRanker().fit(X, y, items=items, scores=marks).score_items()
    assert np.corrcoef(both, f)[0, 1] > max(0.9, np.corrcoef(alone, f)[0, 1])
    only = PreferenceRanker().fit(X.iloc[:0], y[:0], items=items, scores=marks).score_items()
    assert np.corrcoef(only, f)[0, 1] > 0.8


def test_partial_fit_ends_where_a_whole_fit_ends():
    X, y, items, _, _ = problem()
    first = PreferenceRanker(ard=False).fit(X[:200], y[:200], items=items)
    whole = PreferenceRanker(ard=False, hyperparameters=first.theta_).fit(X, y, items=items)
    warm = first.partial_fit(X[200:], y[200:])
    assert_allclose(warm.predict_proba(X), whole.predict_proba(X), atol=5e-3)


def test_a_few_votes_among_many_items_are_added_without_inference_anew():
    X, y, items, _, _ = problem(250, 1500)
    first = PreferenceRanker(length_scales="median").fit(X[:1450], y[:1450], items=items)
    whole = PreferenceRanker(hyperparameters=first.theta_).fit(X, y, items=items)
    before = first.predict_proba(X)
    warm = first
    for part in range(1450, 1500, 10):
        warm = warm.partial_fit(X[part : part + 10], y[part : part + 10])
    assert np.isnan(warm.bound_)
    assert warm.rank()["n_votes"].sum() == 2 * 1500
    moved = np.abs(whole.predict_proba(X) - before)
    assert_allclose(warm.predict_proba(X), whole.predict_proba(X), atol=0.03)
    assert np.mean(np.abs(warm.predict_proba(X) - whole.predict_proba(X))) < 0.1 * moved.mean()
    # Beyond a twentieth of the votes everything is inferred again, from where it stood.
    assert np.isfinite(warm.partial_fit(X[:50], y[:50]).bound_)


def test_explanations_add_up_to_the_score():
    X, y, items, _, _ = problem()
    ranker = PreferenceRanker().fit(X, y, items=items)
    score = ranker.score_items()
    one = ranker.explain("t003")
    assert_allclose(one[one["kind"] == "term"]["effect"].sum(), score[3], atol=1e-5)
    two = ranker.explain("t003", "t007", n=50)
    assert_allclose(two[two["kind"] == "term"]["effect"].sum(), score[3] - score[7], atol=1e-5)
    assert_allclose(two[two["kind"] == "item"]["effect"].sum(), score[3] - score[7], atol=1e-5)


@pytest.mark.parametrize("strategy", ["bald", "uncertainty", "transfer"])
def test_questions_are_about_what_is_not_known(strategy):
    X, y, items, _, _ = problem(20, 200)
    ranker = PreferenceRanker().fit(X, y, items=items)
    asked = ranker.ask(5, strategy=strategy)
    assert len(asked) == 5
    assert (np.diff(asked["gain"]) <= 1e-12).all()
    assert len(set(asked["left"]) | set(asked["right"])) == 10
    assert (asked["p_left"] - 0.5).abs().max() < 0.4


def test_what_carries_over_is_asked_for_before_what_concerns_two_items_only():
    rng = np.random.default_rng(0)
    # Group a varies in what all groups have in common, group b in something of its own.
    x = np.zeros((40, 2))
    x[:20, 0], x[20:30, 1], x[30:, 0] = rng.normal(size=20), 3.0 * rng.normal(size=10), rng.normal(size=10)
    items = Items([f"i{k:02d}" for k in range(40)], features=x, groups=["a"] * 20 + ["b"] * 10 + ["c"] * 10)
    ranker = PreferenceRanker(kernel="linear", length_scales="base", standardise=False)
    ranker.fit([("i00", "i01")], [1.0], items=items)
    assert set(ranker.ask(1, strategy="bald")["left"].str[1:].astype(int) // 10) == {2}
    assert not set(ranker.ask(3, strategy="transfer")["left"].str[1:].astype(int) // 10) & {2}
    whole = ranker.scorer_.covariance(ranker._inputs(items))
    shared = ranker.scorer_.shared(ranker._inputs(items), np.array([0]), np.array([5]), (np.array([7]), np.array([33])))
    assert_allclose(shared[0, 0], whole[0, 7] - whole[0, 33] - whole[5, 7] + whole[5, 33], atol=1e-8)


def test_the_variance_guard_shrinks_what_aggregation_blew_up():
    rng = np.random.default_rng(0)
    n = 60
    x = rng.normal(size=(n, 3))
    f = x[:, 0]
    ids = np.array([f"t{k}" for k in range(n)], dtype=object)
    groups = np.array([f"g{k % 6}" for k in range(n)], dtype=object)
    items = Items(ids, features=x, groups=groups)
    a, b = np.triu_indices(n, 1)
    inside = groups[a] == groups[b]
    a, b = a[inside], b[inside]
    y = (f[a] + 0.8 * rng.normal(size=n)[a] > f[b] + 0.8 * rng.normal(size=n)[b]).astype(float)  # no noise left
    X = np.column_stack([ids[a], ids[b]])
    guarded = PreferenceRanker(variance_guard=True, item_effects=False).fit(X, y, items=items)
    assert 0.0 < guarded.variance_multiplier_ <= 1.0
    assert np.isfinite(guarded.predict_proba(X)).all()


def test_groups_of_features_have_their_own_kernels():
    X, y, items, _, _ = problem(n_features=6)
    named = items.with_features(items.features, {"style": slice(0, 2), "topic": slice(2, 6)})
    ranker = PreferenceRanker(kernel={"style": "linear+matern", "topic": "rbf"}).fit(X, y, items=named)
    assert set(ranker.hyperparameters_["group"]) == {"style", "topic", ""}
    product = PreferenceRanker(kernel="matern", combine="product").fit(X, y, items=named)
    assert product.hyperparameters_["group"].str.contains("style").any()
    with pytest.raises(InputError, match="no group 'colour'"):
        PreferenceRanker(kernel={"colour": "rbf"}).fit(X, y, items=named)


def test_wrong_settings_and_inputs_are_refused_with_the_cure():
    X, y, items, _, _ = problem()
    with pytest.raises(NotFittedError):
        PreferenceRanker().predict_proba(X)
    with pytest.raises(InputError, match="the setting 'inference' of PreferenceRanker"):
        PreferenceRanker(inference="magic").fit(X, y, items=items)
    with pytest.raises(InputError, match="at least one vote"):
        PreferenceRanker().fit(X.iloc[:0], y[:0], items=items)
    with pytest.raises(InputError, match=r"row 1 is 0\.3"):
        PreferenceRanker().fit(X, np.full(len(y), 0.3), items=items)
    with pytest.raises(InputError, match="shape"):
        PreferenceRanker(hyperparameters=np.zeros(2)).fit(X, y, items=items)
    ranker = PreferenceRanker(length_scales="median").fit(X, y, items=items)
    with pytest.raises(InputError, match="features of the fitted model"):
        ranker.score_items(items.with_features(np.ones((items.n_items, 2))))
    with pytest.raises(InputError, match="strategy must be"):
        ranker.ask(3, strategy="guess")


def test_tables_of_any_kind_and_plain_pairs_are_the_same():
    X, y, items, _, _ = problem(20, 80)
    ranker = PreferenceRanker(length_scales="median")
    a = ranker.fit(X, y, items=items).predict_proba(X)
    b = ranker.fit(X.to_numpy(), y, items=items).predict_proba(list(map(tuple, X.to_numpy())))
    assert_allclose(a, b)


def test_a_comparisons_record_gives_what_fit_takes():
    X, y, items, _, _ = problem(20, 80)
    record = Comparisons.from_xy(X, y, items)
    back_X, back_y = record.xy()
    pd.testing.assert_frame_equal(back_X, X)
    assert_allclose(back_y, y)


def test_the_score_is_the_share_of_decided_votes_that_are_right():
    pairs = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "a")]
    ranker = PreferenceRanker(max_iter=2).fit(pairs * 3, [1, 1, 1, 0.5] * 3)
    assert ranker.score(pairs, [1, 0, 0.5, 0]) == pytest.approx(2 / 3)
    assert ranker.score(pairs, [1, 0, 0.5, 0], sample_weight=[1, 2, 9, 1]) == pytest.approx(0.5)
    assert np.isnan(ranker.score(pairs[:1], [0.5]))
    assert np.isfinite(cross_val_score(PreferenceRanker(max_iter=2), pairs * 3, [1, 1, 1, 0.5] * 3, cv=3)).all()
