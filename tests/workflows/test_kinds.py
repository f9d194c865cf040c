"""Kinds dispatch to their rooms, and what is missing is said in one sentence."""

from dataclasses import replace

import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

from accord import AspectRanker, PreferenceRanker, ThreadClassifier
from accord.data.project import ITEMS, Project, with_schema
from accord.data.task import Task
from accord.errors import InputError
from accord.fitting.settings import configured, parse_settings
from accord.pairs.bradley_terry import BradleyTerryRanker
from accord.store.models import load_model
from accord.workflows import kinds
from accord.workflows.ask import ask
from accord.workflows.explain import explain
from accord.workflows.kinds import paper_of, task_of
from accord.workflows.predict import predict
from accord.workflows.projects import open_example
from accord.workflows.simulate import simulate
from accord.workflows.train import train


def quiet(what, done, total):
    pass


@pytest.fixture
def project():
    return Project("threads", with_schema({"item_id": ["a", "b"], "text": ["A", "B"]}, ITEMS))


@pytest.fixture
def kind(monkeypatch):
    task = Task(
        "threads",
        lambda project, settings, progress: configured(DummyClassifier, settings).fit([[0], [1]], [0, 1]),
        lambda model, project: pd.DataFrame({"item_id": project.items().ids, "label": ["x", "y"]}),
        lambda model, project, target: pd.DataFrame({"reason": [target], "effect": [1.0]}),
        task_of("threads").rows,
    )
    monkeypatch.setitem(kinds._TASKS, "threads", lambda: task)
    return task


def test_a_model_is_trained_saved_applied_and_explained(project, kind, tmp_path):
    saved = train(project, tmp_path / "m", settings={"strategy": "stratified"}, progress=quiet)
    assert load_model(tmp_path / "m").settings == saved.settings
    assert saved.settings["strategy"] == "'stratified'"
    assert predict(saved, project)["label"].tolist() == ["x", "y"]
    assert explain(saved, project, "a")["reason"].tolist() == ["a"]
    with pytest.raises(InputError, match="no item 'zz'"):
        explain(saved, project, "zz")


def test_a_model_of_another_kind_is_refused(project, kind, tmp_path):
    saved = train(project, tmp_path / "m", settings={}, progress=quiet)
    other = Project("pairs", project.item_table)
    with pytest.raises(InputError, match="cannot be applied to a project of pairs"):
        predict(saved, other)
    with pytest.raises(InputError, match="project of pairs"):
        train(other, tmp_path / "n", settings={}, progress=quiet, kind="threads")


def test_a_verb_that_a_kind_does_not_have_is_bad_input(project, kind):
    with pytest.raises(InputError, match="'ask' is not available for threads"):
        ask(None, project, n=3, progress=quiet)
    with pytest.raises(InputError, match="'simulate' is not available for threads"):
        simulate(project, settings={}, progress=quiet)
    with pytest.raises(InputError, match="at least 1"):
        ask(None, project, n=0, progress=quiet)


@pytest.mark.parametrize("find", [task_of, paper_of])
def test_unknown_kinds_are_refused(find):
    with pytest.raises(InputError, match="one of pairs, threads"):
        find("letters")


def test_settings_are_read_as_json_where_they_can_be():
    assert parse_settings(["a=1", "b=0.5", "c=lbp", "d=null", "e=x=y"]) == {
        "a": 1,
        "b": 0.5,
        "c": "lbp",
        "d": None,
        "e": "x=y",
    }
    for bad in ("a", "=1"):
        with pytest.raises(InputError, match="key=value"):
            parse_settings([bad])


def test_unknown_settings_are_refused_with_the_known_ones():
    with pytest.raises(InputError, match="no setting 'alpha'; it has constant, random_state, strategy"):
        configured(DummyClassifier, {"alpha": 1})


@pytest.mark.parametrize(
    "kind, key, value, rule",
    [
        (BradleyTerryRanker, "alpha", "x", 'a number above 0; got "x"'),
        (BradleyTerryRanker, "alpha", None, "a number above 0; got null"),
        (BradleyTerryRanker, "alpha", [1], "a number"),
        (BradleyTerryRanker, "max_iter", 2.5, "a whole number of at least 1; got 2.5"),
        (BradleyTerryRanker, "max_iter", True, "a whole number of at least 1; got true"),
        (ThreadClassifier, "calibrate", 1, "true or false; got 1"),
        (ThreadClassifier, "tol", None, "a number above 0; got null"),
        (ThreadClassifier, "max_iter", -3, "a whole number of at least 1; got -3"),
        (BradleyTerryRanker, "alpha", float("nan"), "a number above 0; got NaN"),
    ],
)
def test_a_value_of_another_kind_is_refused(kind, key, value, rule):
    with pytest.raises(InputError, match=f"{key!r} of {kind.__name__} must be {rule}"):
        configured(kind, {key: value})


def test_values_that_a_parameter_may_have_are_taken():
    assert configured(BradleyTerryRanker, {"alpha": 1, "random_state": None}).alpha == 1
    assert configured(PreferenceRanker, {"learning_items": None}).learning_items is None
    assert configured(AspectRanker, {"penalty": [0.1, 1.0]}).penalty == [0.1, 1.0]


@pytest.mark.parametrize("seed", [-3, 0.5, "x"])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(InputError, match="random_state"):
        configured(BradleyTerryRanker, {"random_state": seed})


def test_a_folder_is_refused_before_anything_is_trained(project, kind, tmp_path, monkeypatch):
    task = replace(kind, train=lambda project, settings, progress: pytest.fail("trained for nothing"))
    monkeypatch.setitem(kinds._TASKS, "threads", lambda: task)
    with pytest.raises(InputError, match="is a folder"):
        train(project, tmp_path, settings={}, progress=quiet)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("arguments", {"length_scales": "base"}),
        ("cafe-threads", {"model": "local"}),
        ("cafe-reviews", {}),
        ("cafe-statements", {}),
    ],
)
def test_progress_moves_inside_a_fit(name, settings):
    reports = []
    kinds.trained(open_example(name), settings, lambda *report: reports.append(report))
    done = [done for _, done, _ in reports]
    assert max(done) > 5
    assert done == sorted(done)
    assert all(total != 1 for _, _, total in reports)
