import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from accord import AspectRanker
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


@pytest.mark.parametrize("settings", [
    {"update": "figure_1"}, {"averaged": False}, {"alpha": 1.0, "passes": 2}, {"agreement": "perceptron"},
    {"agreement": "svm", "contrast": False},
])  # fmt: skip
def test_every_choice_of_good_grief_works(settings):
    ranker = small("good_grief", **settings).fit(X[TRAIN], Y[TRAIN])
    assert ranking_loss(Y[TEST], ranker.predict(X[TEST])) < 0.9
    if "alpha" in settings:
        assert (ranker.ranker_.alpha, ranker.ranker_.n_epochs) == (1.0, 2)
    p = ranker.predict_one_mind(X[TEST])
    assert ((p > 0) & (p < 1)).all()


def test_the_oracle_helps_and_must_be_told_the_truth():
    oracle = small("good_grief", agreement="oracle").fit(X[TRAIN], Y[TRAIN], development=(X[TEST], Y[TEST]))
    plain = small("prank").fit(X[TRAIN], Y[TRAIN], development=(X[TEST], Y[TEST]))
    equal = (Y[TEST] == Y[TEST][:, :1]).all(axis=1)
    told = ranking_loss(Y[TEST], oracle.predict(X[TEST], one_mind=equal))
    assert told < ranking_loss(Y[TEST], plain.predict(X[TEST]))
    with pytest.raises(InputError, match="give one_mind="):
        oracle.predict(X[TEST])


def test_the_joint_distribution_is_better_than_the_product_of_its_nodes(field):
    alone = small("ordinal").fit(X[TRAIN], Y[TRAIN])
    assert field.log_likelihood(X[TEST], Y[TEST]).mean() > alone.log_likelihood(X[TEST], Y[TEST]).mean() + 0.1
    equal = (Y[TEST] == Y[TEST][:, :1]).all(axis=1)

    def log_loss(p):
        return -np.log(np.where(equal, p, 1 - p)).mean()

    assert log_loss(field.predict_one_mind(X[TEST])) < log_loss(alone.predict_one_mind(X[TEST]))


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
    assert_allclose(np.exp(field.log_likelihood(X[:1], [[2, 0, 0]])[0]), field.predict_proba(X[:1])[0, 0, 1], rtol=1e-9)


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
    assert list(why.ranks) == [4, 1]
    words = why.words.groupby("aspect")["word"].agg(" ".join)
    assert "delicious" in words["food"]
    assert "slow" in words["service"]
    assert why.griefs.shape == (2, 4)
    assert why.griefs.loc["food", 4] == 0.0
    assert (why.griefs.to_numpy() >= 0).all()
    table = why.to_table()
    assert list(table.columns) == ["reason", "effect"]
    assert table["effect"].abs().is_monotonic_decreasing
    if model == "good_grief":
        assert {"contrast of words", "spread of ranks"} <= set(why.agreement["evidence"])
        assert why.one_mind < 0.5 < ranker.explain("delicious food, quick service").one_mind
    if model == "prank":
        assert np.isnan(why.one_mind)


@pytest.mark.parametrize("model", MODELS)
def test_an_empty_text_is_explained_and_no_texts_are_ranked(model):
    ranker = small(model).fit(FOOD, SCORES)
    why = ranker.explain("")
    assert len(why.words) == 0
    assert why.ranks.tolist() == ranker.predict([""])[0].tolist()
    assert ranker.predict([]).shape == (0, 2)


def test_features_are_explained_by_number():
    ranker = small("ordinal").fit(X[:100], Y[:100])
    assert ranker.explain(X[:1]).words["word"].str.startswith("feature ").all()
    with pytest.raises(InputError, match="one text at a time; got 2"):
        ranker.explain(X[:2])


@pytest.mark.parametrize(("settings", "message"), [
    ({"model": "other"}, "model is one of prank"), ({"nodes": "other"}, "nodes is one of stacked"),
    ({"training": "other"}, "training is one of"), ({"decoding": "other"}, "decoding is one of"),
    ({"n_ranks": 1}, "n_ranks must be a whole number of at least 2"),
    ({"n_epochs": 0}, "n_epochs must be a whole number of at least 1"),
    ({"passes": 11}, r"passes must be in 1\.\.n_epochs, which is 10"),
    ({"alpha": -1.0}, "alpha must be a finite number of at least 0"),
    ({"n_folds": None}, "n_folds must be a whole number"), ({"penalty": None}, "penalty must be above 0"),
    ({"edge_penalty": "x"}, "edge_penalty must be a finite number"),
    ({"development_fraction": 1.0}, "between 0 and 1"), ({"penalty": (0.1, 0.0)}, "penalty must be above 0"),
    ({"edges": "other"}, "edges are one of"),
    ({"agreement": "tree"}, "an agreement model is one of"), ({"agreement": "oracle"}, "is for Good Grief"),
    ({"model": "prank", "update": "other"}, "an update rule is one of"),
])  # fmt: skip
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        AspectRanker(**{"n_ranks": 4, **settings}).fit(X[:30], Y[:30])


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
                  lambda: ranker.predict(X[:1], known=Y[:1]), lambda: ranker.predict_one_mind(X[:1])):  # fmt: skip
        with pytest.raises(InputError, match="ordinal_crf"):
            wrong()
