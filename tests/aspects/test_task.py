import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

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
    assert list(table.columns) == [
        "item_id", "aspect", "rank", "probability", "given", "p_all_equal", "p.1", "p.2", "p.3", "p.4",
    ]  # fmt: skip
    assert (~table["given"]).sum() == 1
    assert not table["given"].iloc[-1]
    assert (table.loc[table["given"], "probability"] == 1.0).all()
    why = explain(saved, project, "r2")
    assert list(why.columns) == ["reason", "effect", "kind"]
    assert why["reason"].str.startswith("food: ").any()
    assert why.attrs["label"] == "food 4, service 1"
    last = table.iloc[-1]
    if model == "ordinal_crf":
        assert last["probability"] == last["p.4"] < 1.0
        assert_allclose(table.filter(like="p.").sum(axis=1), 1.0)
    else:
        assert np.isnan(last["probability"])
    assert table["p_all_equal"].notna().all() == (model != "prank")


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
        (reviews(), {"model": "other"}, "'model' of AspectRanker must be"),
    ]
    for project, settings, message in cases:
        with pytest.raises(InputError, match=message):
            train(project, tmp_path / "m", settings=settings, progress=quiet)


def test_people_who_scored_the_same_texts_are_told_apart(tmp_path):
    project = reviews(40)
    frame = project.frames()["judgements"]
    rows = {"item_id": [], "aspect": [], "value": [], "annotator_id": []}
    for _, row in frame.iterrows():
        for person, shift in (("harsh", -1), ("lenient", 1)):
            rows["item_id"].append(row["item_id"])
            rows["aspect"].append(row["aspect"])
            rows["value"].append(str(min(4, max(1, int(row["value"]) + shift))))
            rows["annotator_id"].append(person)
    judgements = with_schema({"kind": ["score"] * len(rows["value"]), **rows}, JUDGEMENTS)
    both = Project("aspects", project.item_table, judgements, settings={"n_ranks": 4})
    saved = train(both, tmp_path / "m", settings={}, progress=quiet)
    assert saved.model.scorers_.to_table()["annotator"].tolist() == ["lenient", "harsh"]
    assert predict(saved, both)["given"].sum() == 79
    assert train(both, tmp_path / "p", settings={"model": "prank"}, progress=quiet).model.scorers_ is None
