"""Models come back as they were, and foreign files are refused."""

import fractions
import re
import zipfile

import numpy as np
import pytest
import skops.io
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

from accord import __version__
from accord.data.project import ITEMS, Project, with_schema
from accord.errors import InputError
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


@pytest.mark.parametrize("foreign", [fractions.Fraction(1, 2), re.compile("a"), np.load, np.testing.assert_equal])
def test_foreign_types_and_functions_are_refused(tmp_path, foreign):
    path = tmp_path / "m.accord"
    skops.io.dump({"format": "accord-model", "kind": "pairs", "model": foreign}, path)
    with pytest.raises(InputError, match="may hold only types of Accord"):
        load_model(path)


def test_files_that_are_no_models_are_refused(tmp_path):
    missing, text, archive, other = (tmp_path / name for name in ("missing", "text", "archive", "other"))
    text.write_text("hello")
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("hello", "hello")
    skops.io.dump({"format": "something"}, other)
    for path in (missing, text, archive, other):
        with pytest.raises(InputError):
            load_model(path)
