"""The Bradley–Terry ranker keeps an estimator's promises and answers the awkward cases."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold, cross_val_score

import accord
from accord.data import Items
from accord.errors import InputError
from accord.pairs.bradley_terry import BradleyTerryRanker

CHAIN = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "b"), ("b", "c")]
WINS = [1, 1, 1, 1, 0.5]


@pytest.fixture
def ranker():
    return BradleyTerryRanker().fit(CHAIN, WINS)


def synthetic(seed=0, n_items=20, n_votes=400):
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal(n_items)
    left = rng.integers(n_items, size=n_votes)
    right = (left + 1 + rng.integers(n_items - 1, size=n_votes)) % n_items
    won = (rng.random(n_votes) < 1 / (1 + np.exp(truth[right] - truth[left]))).astype(float)
    return truth, pd.DataFrame({"left": left.astype(str), "right": right.astype(str)}), won


def test_it_is_public():
    assert accord.BradleyTerryRanker is BradleyTerryRanker


def test_it_finds_the_order_of_known_scores():
    truth, X, y = synthetic(n_votes=2000)
    table = BradleyTerryRanker().fit(X, y).rank().set_index("item_id")
    assert np.corrcoef(table.loc[[str(i) for i in range(20)], "score"], truth)[0, 1] > 0.95


def test_it_beats_its_prior_on_unseen_votes():
    _, X, y = synthetic(n_votes=1000)
    p = BradleyTerryRanker().fit(X[:800], y[:800]).predict_proba(X[800:])
    assert -np.mean(np.log(np.where(y[800:] == 1, p[:, 1], p[:, 0]))) < 0.65 < np.log(2)


def test_clone_parameters_seed_and_refit(ranker):
    copy = clone(ranker)
    assert copy.get_params() == ranker.get_params()
    assert_array_equal(copy.fit(CHAIN, WINS).rank(), ranker.rank())
    assert_array_equal(copy.fit(CHAIN, WINS).rank(), ranker.rank())
    assert_array_equal(pickle.loads(pickle.dumps(ranker)).rank(), ranker.rank())


def test_not_fitted_is_said():
    with pytest.raises(NotFittedError):
        BradleyTerryRanker().rank()


def test_the_order_of_votes_and_of_sides_does_not_matter(ranker):
    swapped = BradleyTerryRanker().fit([(b, a) for a, b in reversed(CHAIN)], [1 - y for y in reversed(WINS)])
    assert_allclose(swapped.rank()["score"], ranker.rank()["score"], atol=1e-6)


def test_tables_of_any_kind_give_the_same(ranker):
    left, right = zip(*CHAIN, strict=True)
    for X in (pd.DataFrame(CHAIN, columns=["left", "right"]), {"left": left, "right": right}, np.array(CHAIN)):
        assert_allclose(BradleyTerryRanker().fit(X, WINS).scores_.mean, ranker.scores_.mean)
    X = pl.DataFrame({"left": left, "right": right})
    assert_allclose(BradleyTerryRanker().fit(X, WINS).scores_.mean, ranker.scores_.mean)


def test_undefeated_and_winless_items_are_finite_with_the_widest_intervals(ranker):
    table = ranker.rank()
    assert table["item_id"].tolist() == ["a", "b", "c", "d"]
    assert np.isfinite(table[["score", "low", "high"]]).all(axis=None)
    assert (table["low"] < table["score"]).all()
    assert (table["score"] < table["high"]).all()
    assert table["p_best"].sum() == pytest.approx(1)
    assert table["n_votes"].tolist() == [2, 4, 3, 1]


def test_ties_put_items_level():
    table = BradleyTerryRanker().fit([("a", "b")] * 5, [0.5] * 5).rank()
    assert_allclose(table["score"], 0.0, atol=1e-8)
    assert table["tier"].tolist() == [1, 1]


def test_a_graph_in_parts_is_ranked_with_a_warning():
    with pytest.warns(UserWarning, match="2 separate parts"):
        ranker = BradleyTerryRanker().fit([("a", "b"), ("c", "d")], [1, 1])
    assert ranker.n_parts_ == 2
    assert_allclose(ranker.predict_proba([("a", "c")]), 0.5, atol=1e-8)


def test_items_without_votes_stay_at_the_prior():
    with pytest.warns(UserWarning, match="separate parts"):
        ranker = BradleyTerryRanker(alpha=4.0).fit([("a", "b")], [1], items=Items(["a", "b", "new"]))
    row = ranker.rank().set_index("item_id").loc["new"]
    assert (row["score"], row["n_votes"]) == (0.0, 0)
    # A distance from the mean of three items, of which one is known a little: √(2/3) of the prior and less.
    assert row["high"] == pytest.approx(1.645 / 2 * np.sqrt(2 / 3), abs=0.06)


def test_one_item_and_no_votes_work():
    table = BradleyTerryRanker().fit([], [], items=Items(["only"])).rank()
    assert table[["item_id", "tier", "p_best"]].to_numpy().tolist() == [["only", 1, 1.0]]


def test_tiers_part_what_is_settled():
    votes = [("a", "b")] * 30 + [("b", "c")] * 30 + [("c", "d"), ("d", "c")] * 15
    table = BradleyTerryRanker().fit(votes, [1] * 90).rank()
    assert table["tier"].tolist() == [1, 2, 3, 3]


def test_prediction_is_symmetric_and_sure_of_what_was_often_seen():
    ranker = BradleyTerryRanker().fit([("a", "b")] * 20 + [("c", "b")], [1] * 21)
    X, swapped = [("a", "b"), ("c", "b")], [("b", "a"), ("b", "c")]
    assert_allclose(ranker.predict_proba(X)[:, 1], ranker.predict_proba(swapped)[:, 0])
    assert ranker.predict(X).tolist() == [1.0, 1.0]
    assert ranker.predict_std(X)[0] < ranker.predict_std(X)[1]


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        ([("a", "a")], [1], "compares 'a' with itself"),
        ([("a", "b")], [2], "1 .left., 0 .right. or 0.5"),
        ([("a", "b", "c")], [1], "two columns"),
        ({"left": ["a"], "rigth": ["b"]}, [1], "columns left, right"),
    ],
)
def test_bad_votes_are_refused(X, y, said):
    with pytest.raises(InputError, match=said):
        BradleyTerryRanker().fit(X, y)


def test_unknown_items_and_a_bad_prior_are_refused(ranker):
    with pytest.raises(InputError, match="row 1 names 'zz'"):
        ranker.predict([("zz", "a")])
    with pytest.raises(InputError, match="must be a number above 0"):
        BradleyTerryRanker(alpha=0.0).fit(CHAIN, WINS)


def test_it_is_saved_and_loaded_without_pickle(ranker, tmp_path):
    from accord.data.project import ITEMS, Project, with_schema
    from accord.store.models import load_model, save_model

    project = Project("pairs", with_schema({"item_id": list("abcd")}, ITEMS))
    save_model(ranker, tmp_path / "m", kind="pairs", project=project)
    assert_array_equal(load_model(tmp_path / "m").model.rank(), ranker.rank())


@pytest.mark.parametrize(
    "setting", [{"alpha": np.nan}, {"alpha": np.inf}, {"alpha": None}, {"max_iter": 0}, {"max_iter": None}, {"tol": -1}]
)
def test_settings_without_a_meaning_are_refused(setting):
    with pytest.raises(InputError, match=next(iter(setting))):
        BradleyTerryRanker(**setting).fit([("a", "b")], [1])


def test_cross_validation_scores_the_decided_votes():
    rng = np.random.default_rng(3)
    pairs = [tuple(rng.choice(list("abcde"), 2, replace=False)) for _ in range(120)]
    won = np.array([float(left < right) for left, right in pairs])
    won[rng.choice(120, 20, replace=False)] = 0.5
    folds = KFold(4)
    found = cross_val_score(BradleyTerryRanker(), pairs, won, cv=folds)
    for (train, test), score in zip(folds.split(won), found, strict=True):
        fitted = BradleyTerryRanker().fit([pairs[i] for i in train], won[train])
        p = fitted.predict_proba([pairs[i] for i in test])[:, 1]
        decided = won[test] != 0.5
        assert score == ((p > 0.5) == (won[test] == 1.0))[decided].mean()
    ranker = BradleyTerryRanker().fit([("a", "b"), ("b", "c")], [1, 1])
    assert ranker.score([("a", "b"), ("b", "a"), ("a", "c")], [1, 1, 0.5], sample_weight=[3, 1, 9]) == 0.75


def test_votes_in_words_are_refused_with_what_to_do():
    with pytest.raises(InputError, match=r"must be a number; row 1 is 'A'"):
        BradleyTerryRanker().fit([("a", "b"), ("b", "c")], ["A", "B"])


@pytest.mark.parametrize("settings", [{"level": 90}, {"level": 1}, {"sure": 5}, {"sure": -0.1}])
def test_probabilities_of_a_ranking_lie_between_0_and_1(ranker, settings):
    with pytest.raises(InputError, match=r"level and sure are probabilities.*Write 0.9 for 90 %"):
        ranker.rank(**settings)
