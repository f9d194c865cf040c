import numpy as np
import pytest

from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.errors import InputError
from accord.workflows.ask import ask
from accord.workflows.explain import explain
from accord.workflows.kinds import task_of
from accord.workflows.predict import predict
from accord.workflows.projects import open_project
from accord.workflows.rank import rank
from accord.workflows.simulate import simulate
from accord.workflows.train import train

GOOD = "Because several studies show that it saves lives, we should therefore build more of them, for example in towns."
BAD = "lol no way u r dumb!!!"


def quiet(what, done, total):
    pass


@pytest.fixture(scope="module")
def project():
    rng = np.random.default_rng(0)
    ids = [f"t{k}" for k in range(16)]
    texts = [(GOOD if k % 2 == 0 else BAD) + f" Number {k}." for k in range(16)]
    items = with_schema({"item_id": ids, "text": texts}, ITEMS)
    left = rng.integers(0, 16, 150)
    right = (left + rng.integers(1, 16, 150)) % 16
    gap = (left % 2 == 0).astype(float) - (right % 2 == 0)
    noisy = 2 * gap + rng.normal(size=150)
    value = np.where(np.abs(noisy) < 0.2, "0.5", np.where(noisy > 0, "1", "0"))
    columns = {
        "judgement_id": [f"j{k}" for k in range(150)],
        "kind": ["pair"] * 150,
        "item_id": [ids[k] for k in left],
        "other_id": [ids[k] for k in right],
        "value": value.tolist(),
        "annotator_id": [f"v{k % 3}" for k in range(150)],
    }
    return Project("pairs", items, with_schema(columns, JUDGEMENTS))


@pytest.fixture(scope="module")
def saved(project, tmp_path_factory):
    return train(project, tmp_path_factory.mktemp("m") / "model.accord", settings={"max_iter": 4}, progress=quiet)


def test_a_trained_ranker_survives_saving_and_ranks_the_good_texts_first(saved, project):
    (ranking,) = rank(project, method="model", settings={"max_iter": 4}, progress=quiet)
    assert {int(name[1:]) % 2 for name in ranking.table["item_id"].head(6)} == {0}
    table = predict(saved, project)
    expected = ["left", "right", "label", "probability", "given", "p.left", "p.undecided", "p.right", "p_order", "std"]
    assert list(table.columns) == expected
    answers = table[["p.left", "p.undecided", "p.right"]]
    np.testing.assert_allclose(answers.sum(axis=1), 1.0)
    np.testing.assert_allclose(table["probability"], answers.max(axis=1))
    assert not table["given"].any()


def test_a_saved_ranker_answers_as_before(saved, project):
    fresh = type(saved.model)(**saved.model.get_params(deep=False))
    X, y = project.comparisons().xy()
    voters = project.comparisons()
    fresh.fit(X, y, items=voters.items, annotator=voters.annotators[voters.annotator])
    np.testing.assert_allclose(saved.model.predict_proba(X), fresh.predict_proba(X), atol=1e-6)


def test_questions_and_reasons(saved, project):
    asked = ask(saved, project, n=4, progress=quiet)
    assert len(asked) == 4
    reasons = explain(saved, project, "t0")
    assert list(reasons.columns) == ["reason", "effect", "kind"]
    assert set(reasons["kind"]) == {"term", "feature", "item"}
    assert reasons.attrs["label"] == "score of t0"


def test_a_simulation_compares_ways_of_asking(project):
    table = simulate(project, settings={"n_labels": 30, "seeds": 2}, progress=quiet).table
    assert set(table["strategy"]) == {"random", "uncertainty", "bald"}
    assert table["n_labels"].max() == 30
    assert table.groupby("strategy")["mean"].last().min() > 0.6


def test_a_project_without_votes_is_refused(project, tmp_path):
    empty = Project("pairs", project.item_table)
    with pytest.raises(InputError, match="needs votes"):
        train(empty, tmp_path / "m", settings={}, progress=quiet)
    with pytest.raises(InputError, match="at least 20"):
        simulate(empty, settings={}, progress=quiet)


def test_sides_weights_and_scores_come_through_the_project(project):
    n = 60
    columns = {
        "judgement_id": [f"j{k}" for k in range(n + 2)],
        "kind": ["pair"] * n + ["score"] * 2,
        "item_id": [f"t{k % 8}" for k in range(n)] + ["t0", "t1"],
        "other_id": [f"t{8 + k % 7}" for k in range(n)] + [None, None],
        "value": [str(k % 2) for k in range(n)] + ["4", "2"],
        "shown_left_id": [f"t{k % 8}" if k % 3 else f"t{8 + k % 7}" for k in range(n)] + [None, None],
        "weight": [0.5] * 10 + [None] * (n - 10) + [None, None],
    }
    given = Project("pairs", project.item_table, with_schema(columns, JUDGEMENTS))
    votes = given.comparisons()
    assert votes.shown.tolist() == [1 if k % 3 else -1 for k in range(n)]
    assert votes.weight.tolist() == [0.5] * 10 + [1.0] * (n - 10)
    assert given.marks() == {"t0": 4.0, "t1": 2.0}
    model = task_of("pairs").train(given, {"max_iter": 2, "features": None}, quiet)
    assert model.likelihood_.bias != 0.0
    assert model._given_marks == {"t0": 4.0, "t1": 2.0}
    columns["shown_left_id"][0] = "t15"
    with pytest.raises(InputError, match="one of the pair's two"):
        Project("pairs", project.item_table, with_schema(columns, JUDGEMENTS)).comparisons()


def test_the_side_that_was_shown_is_read_from_a_table(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("left,right,winner,shown_left\ntea,coffee,tea,coffee\ntea,water,water,tea\n")
    votes = open_project(str(path), kind="pairs").comparisons()
    assert votes.shown.tolist() == [-1, 1]
