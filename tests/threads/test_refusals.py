"""What a thread model refuses, in one sentence, and what it must not mix up."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from accord.data.threads import Threads
from accord.errors import InputError
from accord.threads import ThreadClassifier
from accord.threads.features.table import ThreadFeatures


def sample(n=60, labels=("bad", "good"), seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(len(labels), size=n)
    x = rng.normal(size=(n, 3)) + y[:, None] * [1.0, 0.0, -0.5]
    return x, np.array(labels, dtype=object)[y], np.arange(n) // 3


def threads(labels=("Good", "Bad")):
    table = pd.DataFrame(
        {
            "item_id": [f"c{k}" for k in range(12)],
            "text": ["try the shop in the market", "no idea at all"] * 6,
            "group_id": [f"q{k // 4}" for k in range(12)],
            "question": "where is the shop",
            "label": list(labels) * 6,
        }
    )
    return Threads.from_table(table)


@pytest.mark.parametrize(
    "settings, sentence",
    [
        ({"model": "best"}, "'model' of ThreadClassifier must be 'fccrf', 'local'"),
        ({"edges": "some"}, "'edges' of ThreadClassifier must be 'bias', 'ising' or 'full'"),
        ({"order": 3}, "'order' .* must be a whole number of at least 1 and of at most 2; got 3"),
        ({"n_folds": 0}, "'n_folds' .* must be a whole number of at least 2; got 0"),
        ({"n_epochs": 0}, "'n_epochs'"),
        ({"max_iter": 1.5}, "'max_iter' .* a whole number"),
        ({"max_iter": True}, "'max_iter'"),
        ({"step_size": 0}, "'step_size'"),
        ({"node_penalty": -1}, "'node_penalty' .* of at least 0"),
        ({"edge_penalty": np.inf}, "'edge_penalty'"),
        ({"tol": None}, "'tol' .* a number above 0; got null"),
        ({"n_folds": 3.0}, "'n_folds' .* a whole number"),
        ({"cache_dir": 5}, "'cache_dir' .* a path or null; got 5"),
        ({"learner": "voted"}, "voted perceptron needs model='local'"),
        ({"model": "local+cut", "edges": "full"}, "Use model='local\\+lbp'"),
        ({"model": "local+lbp", "learner": "averaged"}, "trained by lbfgs or sgd"),
        ({"model": "chain", "order": 2, "learner": "averaged"}, "chains of order 2"),
        ({"model": "chain", "order": 2, "objective": "marginals"}, "chains of order 2"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, sentence):
    x, y, groups = sample()
    with pytest.raises(InputError, match=sentence):
        ThreadClassifier(**settings).fit(x, y, groups=groups)


def test_every_setting_has_a_rule():
    assert set(ThreadClassifier.SETTINGS) == set(ThreadClassifier().get_params())


def test_numbers_of_numpy_are_numbers():
    x, y, groups = sample()
    ThreadClassifier(max_iter=np.int64(50), node_penalty=np.float32(0.1)).fit(x, y, groups=groups)


def test_a_cut_of_three_labels_is_refused_before_training():
    x, y, groups = sample(labels=("bad", "good", "potential"))
    with pytest.raises(InputError, match="two labels; there are 3"):
        ThreadClassifier(model="local+cut", edges="ising").fit(x, y, groups=groups)


def test_the_good_label_is_ranked_and_explained_however_it_is_written():
    x, y, groups = sample(labels=("bad", "good", "potential"))
    model = ThreadClassifier().fit(x, y, groups=groups)
    p = model.predict_proba(x, groups=groups)[:, list(model.classes_).index("good")]
    ranked = model.rank(x, groups=groups)
    assert_allclose(ranked["probability"], p[ranked["row"]])
    named = model.explain(x[:3], label="good")
    pd.testing.assert_frame_equal(model.explain(x[:3]), named)


def test_columns_are_known_by_their_names():
    x, y, groups = sample()
    table = pd.DataFrame(x, columns=["own/a", "own/b", "own/c"])
    model = ThreadClassifier().fit(table, y, groups=groups)
    p = model.predict_proba(table, groups=groups)
    assert_allclose(model.predict_proba(table[["own/c", "own/a", "own/b"]], groups=groups), p)
    assert_allclose(model.predict_proba(x, groups=groups), p)
    with pytest.raises(InputError, match="'own/b' is not among its columns"):
        model.predict(table.rename(columns={"own/b": "own/z"}), groups=groups)


def test_a_row_without_a_thread_is_refused():
    x, y, groups = sample()
    broken = groups.astype(object)
    broken[7] = None
    with pytest.raises(InputError, match="that of row 8 is missing"):
        ThreadClassifier().fit(x, y, groups=broken)
    with pytest.raises(InputError, match="that of row 7 is missing"):
        ThreadClassifier().fit(x, y, groups=np.where(groups == 2, np.nan, groups))
    named = [f"t{group}" for group in groups]
    with pytest.raises(InputError, match="that of row 3 is missing"):
        ThreadClassifier().fit(x, y, groups=[*named[:2], float("nan"), *named[3:]])


def test_a_label_missing_from_a_list_is_no_label():
    x, y, groups = sample()
    some = [float("nan") if row % 5 == 0 else label for row, label in enumerate(y)]
    model = ThreadClassifier(node_penalty=1.0).fit(x, some, groups=groups)
    assert model.classes_.tolist() == ["bad", "good"]
    same = ThreadClassifier(node_penalty=1.0).fit(x, np.array(some, dtype=object), groups=groups)
    assert_allclose(model.predict_proba(x, groups=groups), same.predict_proba(x, groups=groups), atol=1e-12)
    with pytest.raises(InputError, match="labels must be of one kind; they are of int, str"):
        ThreadClassifier().fit(x, [1, *y[1:]], groups=groups)


def test_features_of_an_earlier_training_are_forgotten():
    model = ThreadClassifier(node_penalty=0.1).fit(threads())
    x, y, groups = sample()
    model.fit(x, y, groups=groups)
    with pytest.raises(InputError, match="predicts tables"):
        model.predict(threads())


def test_calibration_that_loses_a_label_says_so():
    x, y, groups = sample(n=12)
    y[:] = "bad"
    y[:3] = "good"
    with pytest.raises(InputError, match="leave calibrate out"):
        ThreadClassifier(calibrate=True, n_folds=4).fit(x, y, groups=groups)


def test_a_comment_to_explain_must_be_there_and_sparse_tables_are_explained():
    x, y, groups = sample()
    model = ThreadClassifier().fit(x, y, groups=groups)
    with pytest.raises(InputError, match="it has no '9'"):
        model.explain(x[:3], target=9)
    pd.testing.assert_frame_equal(model.explain(sp.csr_matrix(x[:3])), model.explain(x[:3]))


def test_labels_of_several_kinds_are_refused():
    x, y, groups = sample()
    y[0] = 3
    with pytest.raises(InputError, match="of one kind; they are of int, str"):
        ThreadClassifier().fit(x, y, groups=groups)


@pytest.mark.parametrize(
    "vectors, sentence",
    [
        ((["c0", "c1"], np.ones((1, 4))), "2 ids and the array has shape \\(1, 4\\)"),
        ((["c0"], np.ones(4)), "one row an id"),
        ((["c0"], np.full((1, 4), np.nan)), "that of 'c0' is not"),
    ],
)
def test_broken_sentence_vectors_are_refused(vectors, sentence):
    with pytest.raises(InputError, match=sentence):
        ThreadFeatures(features="full").fit(threads(), vectors=vectors)


def test_a_score_needs_one_entry_a_row():
    x, y, groups = sample()
    model = ThreadClassifier(node_penalty=1.0).fit(x, y, groups=groups)
    for wrong in ({"y": y[:5]}, {"y": y, "sample_weight": [1.0, 2.0]}):
        with pytest.raises(InputError, match=f"{list(wrong)[-1]} must have one entry a row, 60 of them"):
            model.score(x, groups=groups, **wrong)


def test_texts_come_as_dictionaries_columns_and_empty_lists():
    table = threads().to_table()[["text", "group_id", "label"]]
    model = ThreadClassifier(node_penalty=10.0).fit(table)
    given = {name: table[name].tolist() for name in table}
    other = ThreadClassifier(node_penalty=10.0).fit(given)
    p = model.predict_proba(table)
    assert_allclose(other.predict_proba(given), p, atol=1e-12)
    for column in (pa.array(given["text"]), pl.Series(given["text"])):
        assert_allclose(model.predict_proba(column, groups=given["group_id"]), p, atol=1e-12)
    first = {name: given[name][:4] for name in given}
    pd.testing.assert_frame_equal(model.explain(first), model.explain(table[:4]))
    assert model.predict_proba([], groups=[]).shape == (0, 2)
    with pytest.raises(InputError, match=r"every text must be a string; row 2 is NoneType. Use '' for a missing text"):
        model.predict(["try the shop", None], groups=["a", "a"])
