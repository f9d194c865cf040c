"""Train, predict and explain linked texts from a project, through a saved model."""

import numpy as np
import pytest

from accord.cli.main import main
from accord.data.project import ITEMS, JUDGEMENTS, LINKS, Project, with_schema
from accord.errors import InputError
from accord.links import task as links
from accord.workflows.explain import explain
from accord.workflows.predict import predict
from accord.workflows.train import train


def quiet(what, done, total):
    pass


def project(n=40, labelled=30):
    rng = np.random.default_rng(0)
    sides = rng.choice(["for", "against"], n)
    texts = [f"i {'support' if side == 'for' else 'oppose'} the {rng.choice(['bill', 'rule'])}" for side in sides]
    ids = [f"t{i}" for i in range(n)]
    pairs = [(i, int(j)) for i in range(n) for j in rng.choice(n, 2, replace=False) if i != j]
    items = with_schema({"item_id": ids, "text": texts, "group_id": [f"g{i % 4}" for i in range(n)]}, ITEMS)
    judged = with_schema(
        {"kind": ["label"] * labelled, "item_id": ids[:labelled], "value": list(sides[:labelled])}, JUDGEMENTS
    )
    joined = with_schema(
        {
            "src_id": [ids[i] for i, _ in pairs],
            "dst_id": [ids[j] for _, j in pairs],
            "context": ["my friend" if sides[i] == sides[j] else "he is wrong" for i, j in pairs],
        },
        LINKS,
    )
    return Project("links", items, judged, joined), sides


def test_a_saved_model_predicts_the_unlabelled_texts_and_says_why(tmp_path):
    given, sides = project()
    saved = train(given, tmp_path / "model.accord", settings={"inference": "lbp"}, progress=quiet)
    table = predict(saved, given)
    assert list(table.columns) == ["item_id", "label", "probability", "given", "p.against", "p.for"]
    assert table["given"].sum() == 30
    assert (table["label"].to_numpy()[:30] == sides[:30]).all()
    assert np.mean(table["label"].to_numpy()[30:] == sides[30:]) > 0.9
    told = explain(saved, given, "t35")
    assert list(told.columns) == ["reason", "effect", "kind"]
    assert told.attrs["label"] in ("for", "against")
    assert {"word", "link"} <= set(told["kind"])


def test_a_project_without_labels_is_refused():
    given, _ = project()
    with pytest.raises(InputError, match="labelled texts"):
        links.train(Project("links", given.item_table, JUDGEMENTS.empty_table(), given.link_table), {}, quiet)


def test_a_label_that_was_never_trained_is_refused():
    given, _ = project()
    model = links.train(given, {}, quiet)
    frame = given.judgement_table.to_pandas()
    frame["value"] = np.where(frame["item_id"] == "t2", "undecided", frame["value"].astype(str))
    other = Project("links", given.item_table, with_schema({k: frame[k] for k in frame}, JUDGEMENTS), given.link_table)
    with pytest.raises(InputError, match=r"row 3 has 'undecided'. Use one of against, for"):
        links.predict(model, other)
    # The label of the text that is explained is set aside, whatever it is.
    assert len(links.explain(model, other, "t2"))
    with pytest.raises(InputError, match="must be one that was trained"):
        links.explain(model, other, "t3")


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ("implicit=2.5", "'implicit' of CollectiveClassifier must be a whole number"),
        ("implicit=null", "'implicit' of CollectiveClassifier must be a whole number"),
        ("n_folds=null", "'n_folds' of CollectiveClassifier must be a whole number"),
        ("alpha=null", "'alpha' of CollectiveClassifier must be a number"),
        ("alpha=NaN", "'alpha' of CollectiveClassifier must be a number"),
        ("theta=[1]", "'theta' of CollectiveClassifier must be a number"),
        ("beta=x", "'beta' of CollectiveClassifier must be a number"),
        ("coupling=-1", "'coupling' of CollectiveClassifier must be a number"),
        ("training=average", "'training' of CollectiveClassifier must be 'dual' or 'joint'"),
        ("vectoriser=foo", "'vectoriser' of CollectiveClassifier must be a scikit-learn transformer"),
        ("link_vectoriser=foo", "'link_vectoriser' of CollectiveClassifier must be a scikit-learn transformer"),
        ("content=foo", "'content' of CollectiveClassifier must be a scikit-learn classifier"),
        ("link=3", "'link' of CollectiveClassifier must be a scikit-learn classifier"),
    ],
)
def test_settings_of_the_wrong_kind_are_one_sentence_at_the_command_line(written, rule, tmp_path, capsys):
    given, _ = project(n=8, labelled=8)
    given.save(tmp_path / "texts.accord")
    arguments = ["train", "links", str(tmp_path / "texts.accord"), "--model", str(tmp_path / "m"), "--set", written]
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert rule in error
    assert "Traceback" not in error
