"""Thread models from project to prediction."""

import numpy as np
import pandas as pd
import pytest

from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.errors import InputError
from accord.store.models import load_model
from accord.workflows.explain import explain
from accord.workflows.predict import predict
from accord.workflows.train import train

GOOD = ["try the shop in city center", "the oil shop in doha has it", "there is one near the market"]
BAD = ["hello my friend", "lol what a funny thread", "i have no idea at all"]


def quiet(what, done, total):
    pass


def project(labelled=True, n_threads=24, **columns):
    """Threads of three comments and a question each; good and bad comments in random order."""
    rng = np.random.default_rng(0)
    items = {"item_id": [], "text": [], "group_id": [], "author_id": []}
    judged = {"kind": [], "item_id": [], "value": []}
    for t in range(n_threads):
        for c in range(4):
            good = rng.random() < 0.5
            items["item_id"].append(f"q{t}" if c == 0 else f"q{t}c{c}")
            items["group_id"].append(f"q{t}")
            text = "where can i find oil in doha" if c == 0 else (GOOD if good else BAD)[rng.integers(3)]
            items["text"].append(text)
            items["author_id"].append(None if c == 2 else f"u{rng.integers(5)}")
            if c and labelled:
                judged["kind"].append("label")
                judged["item_id"].append(f"q{t}c{c}")
                judged["value"].append("Good" if good else "Bad")
    return Project("threads", with_schema(items | columns, ITEMS), with_schema(judged, JUDGEMENTS))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "threads.accord"
    return train(project(), path, settings={}, progress=quiet)


def test_a_model_goes_to_disk_and_back_and_predicts_new_threads(saved):
    table = predict(saved, project(labelled=False))
    assert len(table) == 72
    assert not table["given"].any()
    truth = ["Good" if text in GOOD else "Bad" for text in project().threads().texts]
    assert np.mean(table["label"] == truth) > 0.95
    np.testing.assert_allclose(table["p.Good"] + table["p.Bad"], 1.0)
    assert (table["probability"] >= 0.5 - 1e-9).all()


def test_given_labels_are_kept(saved):
    table = predict(saved, project())
    assert table["given"].all()
    assert list(table["label"]) == list(project().threads().labels)


def test_an_explanation_names_feature_groups_and_the_other_comments(saved):
    table = explain(saved, project(), "q0c1")
    groups = {"likeness to the question", "place and people in the thread", "its words as a whole"}
    assert {"q0c2", "q0c3", "signs in the comment: length, links, thanks", *groups} <= set(table["reason"])
    assert {"shop", "doha", "hello", "friend", "lol", "idea", "market"} & set(table["reason"])
    assert (np.diff(table["effect"].abs()) <= 1e-12).all()
    # The effects speak for the label that is predicted, whichever it is.
    said = predict(saved, project(labelled=False)).set_index("item_id")["label"]
    for item in ("q0c1", "q0c2", "q0c3"):
        alone = explain(saved, project(labelled=False), item)
        assert alone.attrs["label"] == said[item]
        assert alone["effect"].sum() > 0
    with pytest.raises(InputError, match="is a question"):
        explain(saved, project(), "q0")


@pytest.mark.parametrize("key", ["n_jobs", "client"])
def test_who_works_is_no_setting_of_a_model(tmp_path, key):
    with pytest.raises(InputError, match=f"{key!r} is not a setting of the model; use --workers"):
        train(project(), tmp_path / "m.accord", settings={key: "x"}, progress=quiet)


def test_projects_without_labels_are_refused_and_labels_never_trained_set_aside(saved, tmp_path):
    with pytest.raises(InputError, match="no comment of this project has a label"):
        train(project(labelled=False), tmp_path / "none.accord", settings={}, progress=quiet)
    odd = project(n_threads=1)
    judged = with_schema({"kind": ["label"], "item_id": ["q0c1"], "value": ["Never"]}, JUDGEMENTS)
    table = predict(saved, Project("threads", odd.item_table, judged))
    assert not table["given"].any()
    assert "Never" not in set(table["label"])
    with pytest.raises(InputError, match="no setting 'modle'"):
        train(project(), tmp_path / "typo.accord", settings={"modle": "local"}, progress=quiet)


def test_stacked_features_are_saved_too(tmp_path):
    settings = {"features": "full", "n_folds": 2, "edges": "ising", "edge_scale": "length"}
    saved = train(project(), tmp_path / "full.accord", settings=settings, progress=quiet)
    again = load_model(tmp_path / "full.accord")
    table, other = predict(saved, project(labelled=False)), predict(again, project(labelled=False))
    pd.testing.assert_frame_equal(table, other)
