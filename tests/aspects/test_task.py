import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.errors import InputError
from accord.workflows.explain import explain
from accord.workflows.predict import predict
from accord.workflows.train import train

KINDS = [
    ("delicious food, quick service", 4, 4),
    ("awful food, slow service", 1, 1),
    ("delicious food, slow service", 4, 1),
    ("awful food, quick service", 1, 4),
]


def quiet(what, done, total):
    pass


def reviews(n=80, *, n_ranks=4, text=True):
    """A project of reviews; the last one has no score of its service."""
    ids = [f"r{i}" for i in range(n)]
    items = {"item_id": ids} | ({"text": [KINDS[i % 4][0] for i in range(n)]} if text else {})
    rows = [
        (ids[i], aspect, str(KINDS[i % 4][1 + a])) for i in range(n) for a, aspect in enumerate(("food", "service"))
    ]
    item, aspect, value = zip(*rows[:-1], strict=True)
    judgements = {"kind": ["score"] * len(item), "item_id": item, "aspect": aspect, "value": value}
    return Project(
        "aspects", with_schema(items, ITEMS), with_schema(judgements, JUDGEMENTS), settings={"n_ranks": n_ranks}
    )


@pytest.mark.parametrize("model", ["ordinal_crf", "good_grief", "prank"])
def test_a_model_is_trained_saved_applied_and_explained(tmp_path, model):
    project = reviews()
    saved = train(project, tmp_path / "m", settings={"model": model, "n_orders": 1}, progress=quiet)
    table = predict(saved, project)
    assert len(table) == 160
    expected = [KINDS[i % 4][1 + a] for i in range(80) for a in range(2)]
    assert_array_equal(table["rank"], expected)
    assert table["score"].isna().sum() == 1
    why = explain(saved, project, "r2")
    assert list(why.columns) == ["reason", "effect"]
    assert why["reason"].str.startswith("food: ").any()
    if model == "ordinal_crf":
        assert table["probability"].between(0, 1).all()
        assert table["rank_given_scores"].notna().sum() == 1
        assert table["rank_given_scores"].iloc[-1] == 4
    assert ("p_one_mind" in table) == (model != "prank")


def test_new_texts_need_no_scores(tmp_path):
    saved = train(reviews(), tmp_path / "m", settings={}, progress=quiet)
    fresh = Project("aspects", with_schema({"item_id": ["x", "y"], "text": ["delicious food", ""]}, ITEMS))
    table = predict(saved, fresh)
    assert list(table["item_id"]) == ["x", "x", "y", "y"]
    assert table["rank"].iloc[0] == 4
    assert isinstance(table, pd.DataFrame)


def test_bad_projects_and_settings_are_refused(tmp_path):
    cases = [
        (reviews(n_ranks=3), {}, "row 1 is 4"),
        (reviews(text=False), {}, "needs texts"),
        (Project("aspects", reviews().item_table), {}, "needs scores"),
        (reviews(), {"colour": 1}, "no setting 'colour'"),
        (reviews(), {"model": "other"}, "model is one of"),
    ]
    for project, settings, message in cases:
        with pytest.raises(InputError, match=message):
            train(project, tmp_path / "m", settings=settings, progress=quiet)
