"""Models come back as they were, and what cannot be saved is refused with its place."""

import json
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from saved_models import CASES
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import accord
from accord import PreferenceRanker, __version__
from accord.data.project import ITEMS, Project, with_schema
from accord.errors import InputError
from accord.pairs.features import ArgumentFeatures
from accord.store.model_types import TYPES
from accord.store.models import load_model, save_model


@pytest.fixture
def project():
    return Project("threads", with_schema({"item_id": ["a", "b"], "text": ["A", "B"]}, ITEMS))


@pytest.fixture
def saved(project, tmp_path):
    x = np.arange(8.0).reshape(-1, 1)
    model = LogisticRegression(C=2.0).fit(x, x[:, 0] > 3)
    return x, model, save_model(model, tmp_path / "deep" / "m.accord", kind="threads", project=project)


def test_a_model_comes_back_with_its_description(saved, project):
    x, model, path = saved
    again = load_model(path)
    assert_array_equal(again.model.predict_proba(x), model.predict_proba(x))
    assert (again.kind, again.version, again.fingerprint) == ("threads", __version__, project.fingerprint)
    assert again.settings["C"] == "2.0"
    assert [entry.name for entry in path.parent.iterdir()] == ["m.accord"]


def same(one, other):
    if isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, other, check_exact=True)
    else:
        assert_array_equal(one, other)
        assert one.dtype == other.dtype


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_estimator_predicts_the_same_after_saving(case, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small data does not let every model converge
        model = case.fit()
        saved = load_model(save_model(model, tmp_path / "model"))
        again = saved.model
        assert saved.kind == case.kind
        assert type(again) is type(model)
        assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys()
        for before, after in zip(case.predict(model), case.predict(again), strict=True):
            same(before, after)


def test_a_model_that_tells_no_kind_needs_one(tmp_path):
    model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InputError, match="LogisticRegression does not"):
        save_model(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_every_estimator_is_among_the_cases_and_in_the_table():
    known = {part.name.rpartition(".")[2] for part in TYPES.values()}
    public = {name for name in accord.__all__ if name.endswith(("Ranker", "Classifier"))}
    assert public <= known
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert public == {type(case.fit()).__name__ for case in CASES if "example" not in case.name}


def test_every_line_of_the_table_names_a_class():
    for part in TYPES.values():
        assert part.kind.__name__ == part.name.rpartition(".")[2]


def test_arrays_can_be_read_by_numpy_alone(saved):
    _, model, path = saved
    with zipfile.ZipFile(path) as archive:
        tree = json.loads(archive.read("model.json"))["model"]["sklearn.LogisticRegression"]
        with archive.open(f"arrays/{tree['coef_']['array']['place']}.npy") as file:
            assert_array_equal(np.lib.format.read_array(file, allow_pickle=False), model.coef_)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.arange(6)[::2],
        np.zeros((0, 3), dtype=np.float32),
        np.array(3, dtype=np.uint8),
        np.array(["ä", "long"]),
        np.array([True, False]),
        np.arange(3, dtype=">i4"),
        np.array([["a", None], [1.5, float("inf")]], dtype=object),
    ],
)
def test_arrays_keep_type_shape_and_order(array, tmp_path, saved):
    _, model, path = saved
    model.coef_ = array
    if array.dtype.byteorder == ">":
        with pytest.raises(InputError, match=r"LogisticRegression.coef_ holds >i4"):
            save_model(model, path, kind="threads")
        return
    again = load_model(save_model(model, path, kind="threads")).model.coef_
    assert_array_equal(again, array)
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    assert again.flags.f_contiguous == (array.flags.f_contiguous or array.ndim == 1)


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 2**100, -0.0, float("inf"), "\ud800 ü", [1, [2.5]], (1, ("a",)), {1, 2}, frozenset("ab")),
        *(slice(1, None), {"a": {"b": 1}}, {1: "a", (2, 3): "b"}, np.float32(0.1), np.int64(-3), np.str_("a")),
        *(np.dtype("f4"), np.float64),
    ],
)
def test_plain_values_come_back(value, saved):
    _, model, path = saved
    model.coef_ = value
    again = load_model(save_model(model, path, kind="threads")).model.coef_
    assert type(again) is type(value)
    assert again == value


def test_one_object_in_two_places_stays_one(saved):
    _, model, path = saved
    shared = LogisticRegression()
    model.coef_, model.intercept_ = [shared, (array := np.ones(2)), array], shared
    again = load_model(save_model(model, path, kind="threads")).model
    assert again.coef_[0] is again.intercept_
    assert again.coef_[1] is again.coef_[2]


def test_what_cannot_be_saved_is_named_with_its_place(tmp_path):
    ranker = PreferenceRanker(features=ArgumentFeatures(vectors={"own": len}))
    with pytest.raises(InputError, match=r"no functions; PreferenceRanker.features.vectors\['own'\] is one"):
        save_model(ranker, tmp_path / "m", kind="pairs")
    with pytest.raises(InputError, match=r"PreferenceRanker.features is sklearn.ensemble._forest.RandomForest"):
        save_model(PreferenceRanker(features=RandomForestClassifier()), tmp_path / "m", kind="pairs")
    ranker = PreferenceRanker()
    ranker.kernel_ = [ranker]
    with pytest.raises(InputError, match=r"holds itself cannot be saved; PreferenceRanker.kernel_\[0\]"):
        save_model(ranker, tmp_path / "m", kind="pairs")
    assert not any(tmp_path.iterdir())


def test_where_a_model_was_run_is_not_saved(tmp_path):
    ranker = PreferenceRanker(n_jobs=7, client="tcp://host:8786")
    again = load_model(save_model(ranker, tmp_path / "m", kind="pairs")).model
    assert (again.n_jobs, again.client) == (None, None)


def test_a_model_that_cannot_be_saved_leaves_the_old_file(saved):
    _, model, path = saved
    before = path.read_bytes()
    model.coef_ = print
    with pytest.raises(InputError, match="no functions"):
        save_model(model, path, kind="threads")
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["m.accord"]
