import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import RidgeCV

from accord import AspectRanker
from accord.aspects.features import PhraseFeatures
from accord.errors import InputError
from accord.evaluation.metrics import ranking_loss
from synthetic import aspect_ratings

MODELS = ["prank", "sim", "good_grief", "good_grief_decode", "ordinal", "ordinal_crf"]
SYNTHETIC = aspect_ratings(900, n_ranks=4, noise=0.3, random_state=3)
X, Y = SYNTHETIC.ratings.items.features, SYNTHETIC.complete
TRAIN, TEST = slice(0, 600), slice(600, 900)


def small(model, **settings):
    return AspectRanker(model=model, n_ranks=4, random_state=0, n_epochs=4, n_orders=2, **settings)


@pytest.fixture(scope="module")
def field():
    return small("ordinal_crf").fit(X[TRAIN], Y[TRAIN])


@pytest.mark.parametrize("model", MODELS)
def test_every_model_beats_the_best_constant(model):
    ranker = small(model).fit(X[TRAIN], Y[TRAIN])
    constant = ranking_loss(Y[TEST], np.broadcast_to(np.median(Y[TRAIN], axis=0), Y[TEST].shape))
    predicted = ranker.predict(X[TEST])
    assert predicted.shape == Y[TEST].shape
    assert ranking_loss(Y[TEST], predicted) < 0.8 * constant
    assert_allclose(ranker.score(X[TEST], Y[TEST]), -ranking_loss(Y[TEST], predicted))


@pytest.mark.parametrize("model", MODELS)
def test_an_estimator_keeps_its_promises(model):
    ranker = small(model)
    before = ranker.get_params()
    assert ranker.fit(X[:200], Y[:200]) is ranker
    assert ranker.get_params() == before
    first = ranker.predict(X[TEST])
    assert_array_equal(clone(ranker).fit(sp.csr_matrix(X[:200]), Y[:200]).predict(X[TEST]), first)
    assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(X[TEST]), first)
    assert_array_equal(ranker.predict(X[TEST][:1]), first[:1])
    with pytest.raises(NotFittedError):
        clone(ranker).predict(X[TEST])


@pytest.mark.parametrize("model", MODELS)
def test_missing_scores_one_aspect_and_empty_texts_are_taken(model):
    holed = np.where(np.random.default_rng(0).random(Y.shape) < 0.3, 0, Y).astype(float)
    holed[5] = np.nan
    ranker = small(model).fit(X[TRAIN], holed[TRAIN])
    assert ranking_loss(Y[TEST], ranker.predict(X[TEST])) < 1.0
    one = small(model).fit(X[TRAIN], Y[TRAIN][:, 0])
    assert one.predict(X[TEST]).shape == (300,)
    texts = small(model).fit(["good food", "bad food", "so so food", ""] * 5, [[4, 3], [1, 2], [2, 2], [3, 3]] * 5)
    assert ((texts.predict(["", "unseen"]) >= 1) & (texts.predict(["", "unseen"]) <= 4)).all()


@pytest.mark.parametrize("settings", [
    {"model": "ordinal", "nodes": "all_threshold"}, {"model": "ordinal", "nodes": "cumulative"},
    {"nodes": "cumulative"}, {"nodes": "all_threshold"}, {"edges": "near"}, {"edges": "none"}, {"training": "joint"},
    {"agreement": "svm"}, {"decoding": "mode"}, {"penalty": (0.1, 1.0)},
])  # fmt: skip
def test_every_choice_of_the_ordinal_models_works(settings):
    ranker = AspectRanker(**{"n_ranks": 4, "random_state": 0, **settings}).fit(X[TRAIN], Y[TRAIN])
    p = ranker.predict_proba(X[TEST])
    assert p.shape == (300, 3, 4)
    assert_allclose(p.sum(axis=2), 1.0, atol=1e-9)
    assert ranking_loss(Y[TEST], ranker.predict(X[TEST])) < 0.75


def test_texts_that_are_read_once_are_predicted_as_by_each_method():
    ranker = AspectRanker(n_ranks=4, random_state=0).fit(X[TRAIN], Y[TRAIN])
    known = np.where(np.arange(3) == 1, Y[TEST], 0)
    p, ranks, equal = ranker.predict_jointly(X[TEST], known=known)
    assert_allclose(p, ranker.predict_proba(X[TEST], known=known), rtol=0, atol=1e-12)
    assert (ranks == ranker.predict(X[TEST], known=known)).all()
    assert_allclose(equal, ranker.predict_all_equal(X[TEST], known=known), rtol=0, atol=1e-12)


@pytest.mark.parametrize("settings", [
    {"update": "figure_1"}, {"averaged": False}, {"alpha": 1.0, "passes": 2}, {"agreement": "perceptron"},
    {"agreement": "svm", "contrast": False},
])  # fmt: skip
def test_every_choice_of_good_grief_works(settings):
    ranker = small("good_grief", **settings).fit(X[TRAIN], Y[TRAIN])
    assert ranking_loss(Y[TEST], ranker.predict(X[TEST])) < 0.9
    if "alpha" in settings:
        assert (ranker.ranker_.alpha, ranker.ranker_.n_epochs) == (1.0, 2)
    p = ranker.predict_all_equal(X[TEST])
    assert ((p > 0) & (p < 1)).all()


def test_the_oracle_helps_and_must_be_told_the_truth():
    oracle = small("good_grief", agreement="oracle").fit(X[TRAIN], Y[TRAIN], development=(X[TEST], Y[TEST]))
    plain = small("prank").fit(X[TRAIN], Y[TRAIN], development=(X[TEST], Y[TEST]))
    equal = (Y[TEST] == Y[TEST][:, :1]).all(axis=1)
    told = ranking_loss(Y[TEST], oracle.predict(X[TEST], all_equal=equal))
    assert told < ranking_loss(Y[TEST], plain.predict(X[TEST]))
    with pytest.raises(InputError, match="give all_equal="):
        oracle.predict(X[TEST])


def test_the_joint_distribution_is_better_than_the_product_of_its_nodes(field):
    alone = small("ordinal").fit(X[TRAIN], Y[TRAIN])
    assert field.log_likelihood(X[TEST], Y[TEST]).mean() > alone.log_likelihood(X[TEST], Y[TEST]).mean() + 0.1
    equal = (Y[TEST] == Y[TEST][:, :1]).all(axis=1)

    def log_loss(p):
        return -np.log(np.where(equal, p, 1 - p)).mean()

    assert log_loss(field.predict_all_equal(X[TEST])) < log_loss(alone.predict_all_equal(X[TEST]))


def test_what_is_known_of_one_text_says_nothing_of_another(field):
    known = np.zeros_like(Y[:6])
    known[2, 0] = 3
    p = field.predict_proba(X[:6], known=known)
    others = np.arange(6) != 2
    assert_allclose(p[others], field.predict_proba(X[:6])[others], atol=1e-12)
    assert_allclose(p[2], field.predict_proba(X[2:3], known=known[2:3])[0], atol=1e-12)


def test_a_rank_is_worth_what_the_entropy_of_all_ranks_falls_by_when_each_value_is_tried(field):
    known = np.array([[0, 0, 0], [0, 2, 0]])
    worth = field.worth_of_ranks(X[:2], known=known)
    assert worth[1, 1] == -np.inf
    p = field.predict_proba(X[:2], known=known)
    for row, aspect in ((0, 0), (0, 2), (1, 0)):
        left = 0.0
        for rank in range(1, 5):
            tried = known[row : row + 1].copy()
            tried[0, aspect] = rank
            then = field.predict_proba(X[row : row + 1], known=tried)[0]
            left += p[row, aspect, rank - 1] * -(then[then > 0] * np.log(then[then > 0])).sum()
        before = -(p[row][p[row] > 0] * np.log(p[row][p[row] > 0])).sum()
        assert worth[row, aspect] == pytest.approx(before - left, abs=1e-3)


def test_known_ranks_stay_and_inform_the_others(field):
    known = np.zeros_like(Y[TEST])
    known[:, 0] = Y[TEST][:, 0]
    given = field.predict(X[TEST], known=known)
    assert_array_equal(given[:, 0], Y[TEST][:, 0])
    assert ranking_loss(Y[TEST][:, 1:], given[:, 1:]) < ranking_loss(Y[TEST][:, 1:], field.predict(X[TEST])[:, 1:])
    assert_allclose(field.predict_proba(X[:1], known=[[2, 0, 0]])[0, 0], [0, 1, 0, 0], atol=1e-12)


def test_the_likelihood_of_partial_ranks_is_a_marginal_of_the_joint(field):
    total = sum(np.exp(field.log_likelihood(X[:1], [[2, 3, r]])[0]) for r in range(1, 5))
    assert_allclose(np.exp(field.log_likelihood(X[:1], [[2, 3, 0]])[0]), total, rtol=1e-9)
    assert_allclose(np.exp(field.log_likelihood(X[:1], [[2, 0, 0]])[0]), field.predict_proba(X[:1])[0, 0, 1], rtol=1e-3)


def test_names_come_from_the_table_or_the_setting():
    table = pd.DataFrame(Y[:50], columns=["food", "service", "value"])
    assert small("ordinal").fit(X[:50], table).aspects_ == ["food", "service", "value"]
    assert small("ordinal", aspects=["a", "b", "c"]).fit(X[:50], Y[:50]).aspects_ == ["a", "b", "c"]
    with pytest.raises(InputError, match="one name an aspect"):
        small("ordinal", aspects=["a"]).fit(X[:50], Y[:50])


FOOD = ["delicious food, quick service", "awful food, slow service", "delicious food but slow service",
        "awful food but quick service"] * 20  # fmt: skip
SCORES = pd.DataFrame([[4, 4], [1, 1], [4, 1], [1, 4]] * 20, columns=["food", "service"])


@pytest.mark.parametrize("model", ["good_grief", "ordinal", "ordinal_crf", "prank"])
def test_an_explanation_names_the_words_behind_each_aspect(model):
    ranker = small(model).fit(FOOD, SCORES)
    why = ranker.explain("delicious food but slow service", n_words=6)
    assert list(why.columns) == ["reason", "effect", "kind"]
    assert why["effect"].abs().is_monotonic_decreasing
    assert why.attrs["label"] == "food 4, service 1"
    effect = why.set_index("reason")["effect"]
    assert effect["food: delicious"] > 0 > effect["service: slow"]
    assert set(why["kind"]) == {"word"} | ({"agreement"} if model == "good_grief" else set())
    if model == "good_grief":
        assert {"equal ranks: contrast of words", "equal ranks: spread of ranks"} <= set(why["reason"])
        equal = ranker.predict_all_equal(["delicious food but slow service", "delicious food, quick service"])
        assert equal[0] < 0.5 < equal[1]
    alone = ranker.explain("delicious food but slow service", aspect="food", n_words=2)
    assert alone.attrs["label"] == "food 4"
    assert "delicious" in set(alone["reason"])
    with pytest.raises(InputError, match="'price' is none of them"):
        ranker.explain("delicious", aspect="price")


def test_an_effect_is_the_change_of_the_expected_rank_of_the_model_that_predicts(field):
    x = sp.csr_array(X[:1])
    why = field.explain(x, n_words=x.nnz).set_index("reason")["effect"]
    expected = field.predict_proba(x) @ np.arange(1, 5)
    for feature in x.indices[:3]:
        without = x.toarray()
        without[0, feature] = X[TRAIN, feature].mean()  # features like these are counted from their means
        change = (expected - field.predict_proba(without) @ np.arange(1, 5))[0]
        for aspect, size in zip(field.aspects_, change, strict=True):
            assert why[f"{aspect}: feature {feature}"] == pytest.approx(size, abs=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_an_empty_text_is_explained_and_no_texts_are_ranked(model):
    ranker = small(model).fit(FOOD, SCORES)
    why = ranker.explain("")
    assert "word" not in set(why["kind"])
    assert why.attrs["label"] == "food {}, service {}".format(*ranker.predict([""])[0])
    assert ranker.predict([]).shape == (0, 2)


def test_features_are_explained_by_number():
    ranker = small("ordinal").fit(X[:100], Y[:100])
    assert ranker.explain(X[:1])["reason"].str.contains(": feature ").all()
    with pytest.raises(InputError, match="one text at a time; got 2"):
        ranker.explain(X[:2])


@pytest.mark.parametrize(("settings", "message"), [
    ({"model": "other"}, "'model' of AspectRanker must be 'prank', 'sim'"), ({"nodes": "other"}, "'nodes'"),
    ({"training": "other"}, "'training'"), ({"decoding": "other"}, "'decoding'"), ({"edges": "other"}, "'edges'"),
    ({"n_ranks": 1}, "'n_ranks' of AspectRanker must be a whole number of at least 2"),
    ({"n_epochs": 0}, "'n_epochs'"), ({"passes": 11}, "passes must be at most n_epochs, which is 10; it is 11"),
    ({"alpha": -1.0}, "'alpha'"), ({"n_folds": 1}, "'n_folds'"), ({"penalty": -1.0}, "'penalty'"),
    ({"penalty": float("nan")}, "'penalty'"), ({"penalty": (0.1, 0.0)}, "'penalty'"),
    ({"edge_penalty": "x"}, "'edge_penalty'"), ({"development_fraction": 1.0}, "'development_fraction'"),
    ({"agreement": "tree"}, "'agreement'"), ({"agreement": "oracle"}, "is for Good Grief"),
    ({"model": "prank", "update": "other"}, "'update'"), ({"similarity": "some"}, "'similarity'"),
    ({"ngram_range": (2, 1)}, "shortest and a longest"), ({"ngram_range": 2}, "'ngram_range'"),
])  # fmt: skip
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        AspectRanker(**{"n_ranks": 4, **settings}).fit(X[:30], Y[:30])


def test_every_setting_has_a_rule_and_every_default_keeps_it():
    assert set(AspectRanker.SETTINGS) == set(AspectRanker().get_params())
    for name, value in AspectRanker().get_params().items():
        assert AspectRanker.SETTINGS[name].allows(value), name


def test_an_agreement_model_of_the_same_texts_is_taken_as_it_is():
    first = small("good_grief").fit(X[:200], Y[:200])
    again = small("good_grief_decode", agreement=first.agreement_).fit(X[:200], Y[:200])
    assert again.agreement_ is first.agreement_
    with pytest.raises(InputError, match="the same 100 texts"):
        small("good_grief", agreement=first.agreement_).fit(X[:100], Y[:100])


def test_of_several_weights_the_best_one_on_development_texts_is_taken():
    ranker = small("good_grief", agreement="oracle", alpha=(0.0, 2.0, 4.0)).fit(
        X[TRAIN], Y[TRAIN], development=(X[TEST], Y[TEST])
    )
    assert ranker.ranker_.alpha in (2.0, 4.0)


def test_harsh_and_lenient_scorers_are_told_apart_and_what_is_predicted_is_the_average():
    rng = np.random.default_rng(0)
    data = aspect_ratings(600, n_ranks=5, noise=0.3, random_state=4)
    x, y = data.ratings.items.features, data.complete
    who = np.array(["harsh", "fair", "lenient"], dtype=object)[rng.integers(3, size=600)]
    told = np.clip(y + np.select([who == "harsh", who == "lenient"], [-1, 1], 0)[:, None], 1, 5)
    ranker = AspectRanker().fit(x[:450], told[:450], annotator=who[:450])
    table = ranker.scorers_.to_table()
    assert table["annotator"].tolist() == ["lenient", "fair", "harsh"]
    assert table["level"].iloc[0] > 0.4
    assert table["level"].iloc[2] < -0.4
    assert list(table.columns)[3:] == ["level.0", "level.1", "level.2"]
    blind = AspectRanker().fit(x[:450], told[:450])
    assert ranking_loss(told[450:], ranker.predict(x[450:], annotator=who[450:])) < ranking_loss(
        told[450:], blind.predict(x[450:])
    )
    assert ranking_loss(y[450:], ranker.predict(x[450:])) <= ranking_loss(y[450:], blind.predict(x[450:])) + 0.02
    unknown = ranker.predict_proba(x[450:], annotator=["new"] * 150)
    assert_allclose(unknown, ranker.predict_proba(x[450:]))
    with pytest.raises(InputError, match="one person a row; there are 450 rows and 2 names"):
        AspectRanker().fit(x[:450], told[:450], annotator=["a", "b"])
    with pytest.raises(InputError, match="cannot tell scorers apart"):
        AspectRanker(model="prank").fit(x[:50], y[:50], annotator=who[:50])


def test_neither_the_order_of_rows_and_aspects_nor_names_matter():
    data = aspect_ratings(150, n_ranks=4, noise=0.3, random_state=4)
    x, y = data.ratings.items.features, data.complete
    who = np.random.default_rng(1).integers(4, size=150)
    p = (
        AspectRanker(n_ranks=4)
        .fit(x, y, annotator=[f"p{i}" for i in who])
        .predict_proba(X[TEST], known=Y[TEST] * [1, 0, 0])
    )
    order = np.random.default_rng(2).permutation(150)
    names = [f"q{9 - i}" for i in who[order]]
    moved = (
        AspectRanker(n_ranks=4)
        .fit(x[order], y[order], annotator=names)
        .predict_proba(X[TEST], known=Y[TEST] * [1, 0, 0])
    )
    assert_allclose(moved, p, atol=1e-9)
    turned = AspectRanker(n_ranks=4).fit(x, y[:, [2, 0, 1]], annotator=who.tolist())
    assert_allclose(turned.predict_proba(X[TEST], known=Y[TEST][:, [2, 0, 1]] * [0, 1, 0])[:, [1, 2, 0]], p, atol=1e-4)


@pytest.mark.corpora
def test_the_order_of_hotel_reviews_does_not_matter(accord_data):
    from accord.data.corpora import multiaspect

    hotels = multiaspect.load()
    texts, ranks = np.array(hotels.ratings.items.texts, dtype=object)[:300], hotels.ratings.ranks[:300]
    order = np.random.default_rng(0).permutation(200)
    first, second = (AspectRanker().fit(texts[rows], ranks[rows]) for rows in (np.arange(200), order))
    assert_allclose(second.predict_proba(texts[200:]), first.predict_proba(texts[200:]), atol=1e-9)
    turned = AspectRanker().fit(texts[:200], ranks[:200, ::-1])
    assert_allclose(turned.predict_proba(texts[200:])[:, ::-1], first.predict_proba(texts[200:]), atol=1e-6)


LANGUAGES = {
    "Chinese": (["菜很好吃", "菜很难吃"], ["服务很快", "服务很慢"], "好吃", "慢"),
    "Japanese": (["料理がおいしい", "料理がまずい"], ["サービスが速い", "サービスが遅い"], "おい", "遅"),
    "German": (["Essen war köstlich", "Essen war scheußlich"], ["Service flott", "Service träge"], "köstlich", "träge"),
    "Hindi": (["खाना स्वादिष्ट था", "खाना बेकार था"], ["सेवा तेज़ थी", "सेवा धीमी थी"], "स्वादिष्ट", "धीमी"),
    "emoji": (["🍜 😋", "🍜 🤮"], ["🤵 🚀", "🤵 🐌"], "😋", "🐌"),
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_of_any_script_are_learnt_and_explained_with_real_words(language):
    food, service, tasty, slow = LANGUAGES[language]
    join = "，" if language in ("Chinese", "Japanese") else " "
    texts = [f"{food[i]}{join}{service[j]}" for i in (0, 1) for j in (0, 1)] * 8
    scores = pd.DataFrame([[5, 5], [5, 1], [1, 5], [1, 1]] * 8, columns=["food", "service"])
    ranker = AspectRanker().fit(texts, scores)
    assert_array_equal(ranker.predict(texts[:4]), scores.to_numpy()[:4])
    why = ranker.explain(texts[1], n_words=40).set_index("reason")["effect"]
    assert any(tasty in reason and effect > 0.01 for reason, effect in why.items() if reason.startswith("food: "))
    assert any(slow in reason and effect < -0.01 for reason, effect in why.items() if reason.startswith("service: "))


def test_vectors_stand_beside_words():
    def encode(texts):
        return np.array([[text.count("good"), text.count("bad"), 1.0] for text in texts])

    texts = [f"{'good' * (i % 2)} {'bad' * (1 - i % 2)} word{i}" for i in range(60)]
    scores = [[5, 5] if i % 2 else [1, 2] for i in range(60)]
    ranker = AspectRanker(vectors=encode).fit(texts, scores)
    assert ranker.predict(["good", "bad"]).tolist() == [[5, 5], [1, 2]]
    assert "vectors" in set(ranker.explain("good word3")["kind"])
    with pytest.raises(InputError, match="vectors are of texts"):
        AspectRanker(vectors=encode).fit(X[:30], Y[:30])
    with pytest.raises(InputError, match="must be the name, folder or file"):
        AspectRanker(vectors=3).fit(texts, scores)


def test_contrast_is_kept_and_few_texts_are_not_turned_round():
    """Small data: words of one aspect move that aspect, and nothing runs against its own training ranks."""
    ranker = AspectRanker(n_ranks=4).fit(FOOD[:24], SCORES[:24])
    assert ranker.coupling_.taken == "nodes"
    assert ranker.predict(["delicious food but slow service", "awful food, quick service"]).tolist() == [[4, 1], [1, 4]]


def lists_of_judgements(n, seed):
    """Three judgements an aspect, whose share of good ones is the rank: what ridge regression is made for."""
    rng = np.random.default_rng(seed)
    words = np.array([[f"{mood}{i}" for i in range(8)] for mood in ("bad", "good")])
    good = (rng.random((n, 3, 3)) < rng.random((n, 3, 1))).astype(int)
    drawn = words[good, rng.integers(8, size=good.shape)]
    names = np.array(["staff", "room", "food"])[:, None]
    texts = [
        " ".join(rng.permutation([w + a for w, a in zip(row.ravel(), names.repeat(3), strict=True)])) for row in drawn
    ]
    return texts, 1 + (good.sum(axis=2) > 0) + (good.sum(axis=2) == 3)


def test_clean_texts_with_three_ranks_are_ranked_as_well_as_by_ridge_regression():
    ours, ridge = [], []
    for seed in range(3):
        (texts, ranks), (new, truth) = lists_of_judgements(200, seed), lists_of_judgements(300, 100 + seed)
        ours.append(ranking_loss(truth, AspectRanker(n_ranks=3).fit(texts, ranks).predict(new)))
        phrases = PhraseFeatures().fit(texts)
        linear = RidgeCV(alphas=(0.1, 0.3, 1.0, 3.0)).fit(phrases.transform(texts), ranks)
        found = np.clip(np.rint(linear.predict(phrases.transform(new))), 1, 3).astype(int)
        ridge.append(ranking_loss(truth, found))
    assert np.mean(ours) < np.mean(ridge) + 0.02


def test_many_ranks_do_not_overflow_and_seven_aspects_are_coupled():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 4))
    ranks = np.clip(np.round(64 + 30 * x[:, :2]), 1, 127)
    ranker = AspectRanker(n_ranks=127).fit(x, ranks)
    assert np.corrcoef(ranker.predict(x)[:, 0], ranks[:, 0])[0, 1] > 0.8
    assert ranker.predict_proba(x).shape == (80, 2, 127)
    seven = 1 + np.digitize(x[:, :1] + 0.5 * rng.normal(size=(80, 7)), [-1.0, -0.3, 0.3, 1.0])
    coupled = AspectRanker().fit(x, seven)
    known = np.zeros((2, 7))
    known[:, 0] = [1, 5]
    low, high = coupled.predict_proba(np.zeros((2, 4)), known=known)[:, 1] @ np.arange(1, 6)
    assert low < high
    assert np.isfinite(coupled.log_likelihood(x, seven)).all()


def test_a_known_rank_of_another_aspect_is_a_reason(field):
    why = field.explain(X[:1], aspect="1", known=[4, 0, 0])
    row = why[why["kind"] == "aspect"].iloc[0]
    assert row["reason"] == "0 is 4"
    with_it = field.predict_proba(X[:1], known=[[4, 0, 0]])[0, 1] @ np.arange(1, 5)
    assert row["effect"] == pytest.approx(with_it - field.predict_proba(X[:1])[0, 1] @ np.arange(1, 5), abs=2e-3)


def test_a_long_text_is_explained_by_its_strongest_words():
    words = " ".join(f"w{i}" for i in range(2000))
    scores = pd.concat([SCORES, pd.DataFrame({"food": [2], "service": [2]})])
    ranker = AspectRanker(n_ranks=4, min_texts=1).fit([*FOOD, words], scores)
    why = ranker.explain("delicious " + words, aspect="food", n_words=3)
    assert len(why) == 3


def test_cross_validation_and_routed_annotators_work():
    from sklearn import config_context
    from sklearn.model_selection import GridSearchCV, cross_val_score

    scores = cross_val_score(AspectRanker(n_ranks=4), X[:120], Y[:120], cv=3)
    assert (scores > -1.0).all()
    with config_context(enable_metadata_routing=True):
        ranker = AspectRanker(n_ranks=4, model="ordinal").set_fit_request(annotator=True)
        search = GridSearchCV(ranker, {"penalty": [0.1, 1.0]}, cv=2)
        search.fit(X[:60], Y[:60], annotator=np.array(["a", "b"] * 30, dtype=object))
    assert search.best_estimator_.scorers_ is not None


def test_wrong_data_are_refused_in_one_sentence(field):
    wrong = Y[:30].copy()
    wrong[3, 1] = 7
    cases = [
        (X[:30], wrong, r"1\.\.4, or 0 if missing; row 4 has 7 for '1'"),
        (X[:30], Y[:30] + 0.5, "whole number"),
        (X[:30], np.zeros((30, 2)), "all of them are missing"),
        (X[:30], np.column_stack([Y[:30, 0], np.zeros(30)]), "every aspect needs a score; '1' has none"),
        (X[:30], Y[:29], "30 texts and 29 rows"),
        (X[:1], Y[:1], "at least 2 texts"),
        (X[:30], np.full((30, 2), "good"), "ranks must be numbers"),
        (["a", 3], [[1], [2]], "row 2 is int"),
        ("good food", [[1], [2]], "this is one string, 'good food'"),
        ([], [], "there are none"),
    ]
    for x, y, message in cases:
        with pytest.raises(InputError, match=message):
            small("ordinal").fit(x, y)
    with pytest.raises(InputError, match="development texts need scores"):
        small("prank").fit(X[:30], Y[:30], development=(X[:5], 0 * Y[:5]))
    with pytest.raises(InputError, match="must have 3 columns"):
        field.predict(X[:2], known=[[1, 2], [1, 2]])
    with pytest.raises(InputError, match="a row a text"):
        field.predict(X[:2], known=[[1, 2, 3]])
    with pytest.raises(InputError, match="columns, as in training"):
        field.predict(X[:2, :3])
    texts = small("ordinal").fit(FOOD, SCORES)
    with pytest.raises(InputError, match="trained on texts"):
        texts.predict(X[:2])


def test_perceptrons_have_neither_probabilities_nor_known_ranks():
    ranker = small("prank").fit(X[:60], Y[:60])
    for wrong in (lambda: ranker.predict_proba(X[:1]), lambda: ranker.log_likelihood(X[:1], Y[:1]),
                  lambda: ranker.predict(X[:1], known=Y[:1]), lambda: ranker.predict_all_equal(X[:1])):  # fmt: skip
        with pytest.raises(InputError, match="ordinal_crf"):
            wrong()


def test_scores_that_begin_at_0_are_doubted_aloud():
    texts = [f"{'lovely' if k % 2 else 'dreadful'} soup {k}" for k in range(30)]
    scores = np.column_stack([np.arange(30) % 2 * 4, np.arange(30) % 5])
    with pytest.warns(UserWarning, match="add 1 to all scores"):
        AspectRanker().fit(texts, scores)


@pytest.mark.parametrize("model", ["prank", "ordinal_crf"])
def test_units_and_zero_points_of_measurements_do_not_matter(model):
    rng = np.random.default_rng(1)
    moved = X * np.exp(2.0 * rng.normal(size=X.shape[1])) + 10.0 * rng.normal(size=X.shape[1])
    before = small(model).fit(X[:120], Y[:120]).predict(X[TEST])
    after = small(model).fit(moved[:120], Y[:120]).predict(moved[TEST])
    assert (before != after).mean() < 0.01


def test_columns_of_tables_are_met_by_their_names():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    y = pd.DataFrame({"food": 1 + (x["a"] > 0), "room": 1 + (x["b"] > 0)})
    ranker = AspectRanker(model="ordinal", n_ranks=2).fit(x, y)
    assert ranker.score(x[["c", "b", "a"]], y[["room", "food"]]) == ranker.score(x, y) > -0.3
    known = y.where(rng.random((40, 2)) < 0.5)
    p = ranker.predict_proba(x, known=known)
    assert_allclose(ranker.predict_proba(x[["b", "a", "c"]], known=known[["room", "food"]]), p, atol=1e-12)
    assert set(ranker.explain(x[:1])["reason"]) == {f"{aspect}: {name}" for aspect in y for name in x}
    with pytest.raises(InputError, match="by name; missing: c; not of training: z"):
        ranker.predict(x.rename(columns={"c": "z"}))


def test_ranks_and_annotators_that_pandas_calls_missing():
    texts = ["good food", "bad food", "good room", "bad room"] * 6
    y = pd.DataFrame({"food": [2, 1, None, None] * 6, "room": [None, None, 2, 1] * 6})
    who = ["ann", None, "bob", "ann"] * 6
    plain = AspectRanker(model="ordinal", n_ranks=2).fit(texts, y, annotator=who)
    other = AspectRanker(model="ordinal", n_ranks=2).fit(
        pd.DataFrame({"item_id": range(24), "text": texts}), y.astype("Int64"), annotator=pd.Series(who, dtype="string")
    )
    assert_allclose(other.predict_proba(texts), plain.predict_proba(texts), atol=1e-12)
    with pytest.raises(InputError, match=r"ranks must be numbers.*row 1 of 'food' has 'two'"):
        plain.score(texts[:1], pd.DataFrame({"food": ["two"], "room": [1]}))
