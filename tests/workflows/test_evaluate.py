"""An evaluation leaves out whole groups, says how sure it is, and finds what a project holds."""

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from accord.cli.main import main
from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.data.task import Task
from accord.errors import InputError
from accord.scale.workers import Workers
from accord.workflows import kinds
from accord.workflows.evaluate import ACCORD, ALONE, Evaluation, _draws, _forecast, _interval, case_losses, evaluate
from accord.workflows.kinds import task_of
from accord.workflows.projects import open_example


def labelled(n_threads=12, size=4):
    """Comments of threads; "yes" stands in the good ones."""
    rng = np.random.default_rng(0)
    columns = {"item_id": [], "text": [], "group_id": []}
    label = []
    for thread in range(n_threads):
        columns["item_id"].append(f"q{thread}")
        columns["text"].append("Is it so?")
        columns["group_id"].append(f"q{thread}")
        for place in range(size):
            good = bool(rng.random() < 0.5)
            columns["item_id"].append(f"q{thread}-{place}")
            columns["text"].append("yes it is" if good else "who knows that")
            columns["group_id"].append(f"q{thread}")
            label.append((f"q{thread}-{place}", "good" if good else "bad"))
    names, values = zip(*label, strict=True)
    judged = with_schema({"kind": ["label"] * len(label), "item_id": names, "value": values}, JUDGEMENTS)
    return Project("threads", with_schema(columns, ITEMS), judged)


@pytest.fixture
def spy(monkeypatch):
    """A task that notes what it is given and always says good with 3/4."""
    seen = []

    def train(project, settings, progress):
        seen.append(("train", project, dict(settings)))
        return "model"

    def predict(model, project):
        seen.append(("test", project, {}))
        ids = project.items().ids
        return pd.DataFrame({"item_id": ids, "p.good": 0.75, "p.bad": 0.25})

    task = Task("threads", train, predict, lambda model, project, target: pd.DataFrame(), task_of("threads").rows)
    monkeypatch.setitem(kinds._TASKS, "threads", lambda: task)
    return seen


def test_no_label_of_a_tested_thread_is_seen_in_training_or_prediction(spy):
    project = labelled()
    found = evaluate(project, n_folds=4)
    assert (found.n_judgements, found.n_groups, found.group) == (48, 12, "threads")
    for (what, train, _), (_, test, _) in zip(spy[::2], spy[1::2], strict=True):
        assert what == "train"
        tested = set(test.items().ids)
        assert not tested & set(train.items().ids)
        assert not test.counts["judgements"]
        assert not tested & set(train.frames()["judgements"]["item_id"])
    assert {"model": "local"} in [settings for what, _, settings in spy if what == "train"]


def test_figures_are_those_of_the_predictions(spy):
    project = labelled()
    found = evaluate(project, n_folds=4).rows.set_index(["method", "metric"])
    good = np.mean(project.labels()[~pd.isna(project.labels())] == "good")
    row = found.loc[(ACCORD, "accuracy")]
    assert row["value"] == pytest.approx(good)
    assert row["low"] < row["value"] < row["high"]
    expected = -good * np.log(0.75) - (1 - good) * np.log(0.25)
    assert found.loc[(ACCORD, "log loss"), "value"] == pytest.approx(expected)
    assert found.loc[("logistic regression", "accuracy"), "value"] == 1.0  # one word tells


def test_the_better_method_is_named(spy):
    found = evaluate(labelled(), n_folds=4)
    assert "logistic regression is better" in found.sentence
    gain = found.gains.set_index(["method", "metric"]).loc[(ALONE, "accuracy")]
    assert (gain["value"], gain["low"], gain["high"]) == (0.0, 0.0, 0.0)


def test_figures_do_not_depend_on_who_works():
    alone, two = (evaluate(labelled(8), n_folds=2, workers=workers) for workers in (None, Workers(2)))
    for name in ("rows", "gains", "curve", "calibration"):
        pd.testing.assert_frame_equal(getattr(alone, name), getattr(two, name))
    assert (alone.sentence, alone.notes) == (two.sentence, two.notes)


def test_texts_without_highlights_are_not_said_to_be_helped_by_them():
    notes = open_example("cafe-notes")
    judged = notes.judgement_table
    labels = judged.filter([kind == "label" for kind in judged.column("kind").to_pylist()])
    found = evaluate(replace(notes, judgement_table=labels), n_folds=2)
    assert "there are no highlights that it could learn from" in found.sentence
    assert "learning from highlights" not in found.sentence


def test_too_few_groups_are_refused():
    with pytest.raises(InputError, match="at least 5 threads; this project has 3"):
        evaluate(labelled(n_threads=3))


@pytest.mark.parametrize(("n_texts", "n_folds", "cure"), [(3, 5, "Judge more."), (6, 9, "or use at most 6 folds.")])
def test_fewer_folds_are_advised_only_where_they_help(n_texts, n_folds, cure):
    names = [f"t{place}" for place in range(n_texts)]
    items = with_schema({"item_id": names, "text": names}, ITEMS)
    answers = ["good", "bad", "good", "bad", "good", "bad"][:n_texts]
    judged = with_schema({"kind": ["label"] * n_texts, "item_id": names, "value": answers}, JUDGEMENTS)
    with pytest.raises(InputError) as caught:
        evaluate(Project("rationales", items, judged), n_folds=n_folds)
    assert str(caught.value).endswith(cure)


def test_too_few_pairs_are_counted_without_ties(tmp_path, capsys):
    votes = tmp_path / "votes.csv"
    votes.write_text("left,right,winner\nx,y,left\ny,z,left\nx,z,tie\n")
    assert main(["evaluate", str(votes)]) == 2
    assert "5 pairs of texts with a winner; this project has 2. Judge more." in capsys.readouterr().err


@pytest.mark.parametrize(
    "kind, example",
    [("pairs", "arguments"), ("aspects", "cafe-reviews"), ("links", "cafe-statements"), ("rationales", "cafe-notes")],
)
def test_examples_are_evaluated_from_the_command_line(kind, example, capsys, tmp_path):
    page = tmp_path / "page.html"
    assert main(["evaluate", kind, f"example:{example}", "--folds", "2", "--report", str(page), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["sentence"].startswith("With ")
    assert all(row["low"] <= row["value"] <= row["high"] for row in found["rows"])
    assert {row["method"] for row in found["rows"]} >= {ACCORD, ALONE}
    assert "Can the probabilities be trusted?" in page.read_text()


@pytest.mark.parametrize(("n_groups", "share"), [(8, 0.8), (12, 0.95), (40, 0.7)])
def test_intervals_of_shares_hold_the_truth_with_few_groups_too(n_groups, share):
    rng = np.random.default_rng(0)
    held = []
    for _ in range(300):
        group = np.repeat(np.arange(n_groups), rng.integers(1, 5, n_groups))
        chance = rng.beta(share * 6, (1 - share) * 6, n_groups)  # comments of one thread are right or wrong together
        right = (rng.random(len(group)) < chance[group]).astype(float)
        _, low, high = _interval(right, _draws(group.astype(object), 0), n_groups, share=True)
        held.append(low <= share <= high)
    assert np.mean(held) > 0.92


def test_a_share_that_is_never_seen_to_fail_has_an_interval():
    group = np.arange(6).astype(object)
    value, low, high = _interval(np.zeros(6), _draws(group, 0), 6, share=True)
    assert (value, low) == (0.0, pytest.approx(0.0, abs=1e-9))
    assert 0.3 < high < 0.5
    assert _interval(np.zeros(6), _draws(group, 0), 6) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("named", ["reviews.csv", "reviews", "example:cafe-reviews"])
def test_the_kind_need_not_be_named(named, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    open_example("cafe-reviews").save("reviews")
    table = files("accord") / "examples" / "cafe" / "reviews.csv"
    Path("reviews.csv").write_text(table.read_text(encoding="utf-8"), encoding="utf-8")

    def told(project, **_):
        raise InputError(f"it came as {project.kind}.")

    monkeypatch.setattr("accord.workflows.evaluate.evaluate", told)
    assert main(["evaluate", named]) == 2
    said = capsys.readouterr().err
    assert "it came as aspects." in said
    assert ("this is a project of aspects, because" in said) == named.endswith(".csv")


@pytest.mark.parametrize("name", ["cafe-threads", "cafe-statements", "cafe-notes", "cafe-reviews"])
def test_the_model_that_is_judged_is_the_one_that_people_train(name, monkeypatch):
    project = open_example(name)
    task = task_of(project.kind)

    def train(project, settings, progress):
        raise InputError(f"trained with {settings}.")

    monkeypatch.setattr("accord.workflows.left_out.task_of", lambda kind: replace(task, train=train))
    with pytest.raises(InputError, match=r"trained with \{\}"):
        evaluate(project, n_folds=2)


def test_the_figures_of_ranks_are_those_of_the_rank_that_is_predicted():
    # The likeliest rank is 5 and the median 4, which is what a prediction says.
    p = np.array([[0.0, 0.02, 0.13, 0.37, 0.48], [0.6, 0.1, 0.1, 0.1, 0.1]])
    found = case_losses(np.array([3, 0]), p, ordered=True)
    assert found["accuracy"].tolist() == [1.0, 1.0]
    assert found["ranks off"].tolist() == [0.0, 0.0]
    assert case_losses(np.array([4, 0]), p, ordered=True)["accuracy"].tolist() == [0.0, 1.0]
    assert case_losses(np.array([4, 0]), p, ordered=False)["accuracy"].tolist() == [1.0, 1.0]


def test_accuracy_and_calibration_of_scores_are_those_of_the_predicted_table():
    project = open_example("cafe-reviews")
    found = evaluate(project, settings={"model": "prank"}, n_folds=2)
    rows = found.rows.query("method == @ACCORD").set_index("metric")
    share = float((found.calibration["n"] * found.calibration["right"]).sum() / found.calibration["n"].sum())
    assert share == pytest.approx(rows.loc["accuracy", "value"])


def test_where_nothing_is_wrong_more_judgements_promise_nothing():
    rows = pd.DataFrame(
        [(ACCORD, "accuracy", 1.0, 0.9, 1.0, 60)], columns=["method", "metric", "value", "low", "high", "n"]
    )
    curve = pd.DataFrame({"n": [12, 24, 48], "metric": "accuracy", "value": [0.6, 0.98, 1.0], "low": 0.5, "high": 1.0})
    found = Evaluation("threads", 60, 20, "labelled comments", "threads", rows, rows, curve, rows, "", ())
    assert _forecast(found, "accuracy") == "About 50 more labelled comments would change little."
    worse = replace(found, curve=curve.assign(value=[0.6, 0.8, 0.9]))
    assert "would bring about" in _forecast(worse, "accuracy")
