import json

import numpy as np
import pandas as pd
import pytest

from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.errors import InputError
from accord.rationales.task import ask, explain, predict, train
from accord.workflows import explain as explain_verb
from accord.workflows import predict as predict_verb
from accord.workflows import train as train_verb
from accord.workflows.export import write_frame

TEXTS = ["a superb film", "a dull film", "superb and warm", "dull and weak", "a warm plot", "a weak plot", "no class"]
LABELS = ["+", "-", "+", "-", "+", "-"]
CUES = ("superb", "dull", "warm", "weak")
SETTINGS = {"C": 0.1, "theta_variance": 1.0, "min_count": 1}


def quiet(what, done, total):
    pass


def project(*, marked=4, labelled=6, more=()):
    judgements = [("label", f"t{i}", label, None, None) for i, label in enumerate(LABELS[:labelled])]
    for i, text in enumerate(TEXTS[:marked]):
        judgements += [("span", f"t{i}", None, text.index(w), text.index(w) + len(w)) for w in CUES if w in text]
    judgements += more
    kind, item, value, start, end = map(list, zip(*judgements, strict=True)) if judgements else ([], [], [], [], [])
    items = {"item_id": [f"t{i}" for i in range(len(TEXTS))], "text": TEXTS}
    columns = {"kind": kind, "item_id": item, "value": value, "start": start, "end": end}
    columns["annotator_id"] = ["ann"] * len(kind)
    return Project("rationales", with_schema(items, ITEMS), with_schema(columns, JUDGEMENTS))


def test_a_project_is_trained_saved_and_applied(tmp_path):
    saved = train_verb.train(project(), tmp_path / "model.accord", settings=SETTINGS, progress=quiet)
    table = predict_verb.predict(saved, project())
    assert table.columns.tolist() == ["item_id", "label", "probability", "given", "p.+", "p.-", "highlights"]
    assert table["given"].tolist() == [True] * 6 + [False]
    assert np.allclose(table[["p.+", "p.-"]].sum(axis=1), 1)
    assert table["label"].tolist()[:6] == LABELS
    assert ((table["probability"] >= 0.5) & (table["probability"] <= 1)).all()
    why = explain_verb.explain(saved, project(), "t0")
    assert why.columns.tolist() == ["reason", "effect", "kind"]
    assert why.attrs["label"] == "+"
    assert why["reason"][0] == "superb"
    assert why["effect"][0] > 0


def test_highlights_point_into_the_text():
    found = predict(train(project(), {**SETTINGS, "C": 1.0}, quiet), project())
    for text, spans in zip(TEXTS, found["highlights"], strict=True):
        assert all(text[start:end] == quote for start, end, quote in spans)


def test_highlights_are_written_flat_and_as_records(tmp_path):
    found = predict(train(project(), {**SETTINGS, "C": 1.0}, quiet), project())
    found.at[0, "highlights"] = [(2, 8, "superb")]
    for form in ("csv", "jsonl", "parquet"):
        write_frame(found, tmp_path / f"found.{form}")
    assert json.loads(pd.read_csv(tmp_path / "found.csv")["highlights"][0]) == [[2, 8, "superb"]]
    assert pd.read_json(tmp_path / "found.jsonl", lines=True)["highlights"][0] == [[2, 8, "superb"]]
    (record,) = pd.read_parquet(tmp_path / "found.parquet")["highlights"][0]
    assert record == {"start": 2, "end": 8, "quote": "superb"}


def test_the_annotator_of_the_project_is_kept():
    assert train(project(), SETTINGS, quiet).annotators_.tolist() == ["ann"]


def test_without_highlights_the_classes_alone_are_learnt():
    model = train(project(marked=0), SETTINGS, quiet)
    assert "highlights" not in predict(model, project(marked=0))
    assert explain(model, project(), "t1")["kind"].unique().tolist() == ["word"]


def test_ask_names_texts_with_a_class_and_no_highlights():
    asked = ask(train(project(), SETTINGS, quiet), project(), 5)
    assert set(asked["item_id"]) == {"t4", "t5"}
    with pytest.raises(InputError, match="none to ask"):
        ask(train(project(), SETTINGS, quiet), project(marked=6), 1)


def test_a_project_without_classes_is_refused():
    with pytest.raises(InputError, match="Import labels first"):
        train(project(labelled=0), SETTINGS, quiet)
    with pytest.raises(InputError, match="no setting 'depth'"):
        train(project(), {"depth": 3}, quiet)


def test_a_highlight_for_a_class_that_nobody_gave_the_text_is_refused():
    with pytest.raises(InputError, match=r"one in 't1' is for '\+', but the text is '-'"):
        train(project(more=[("span", "t1", "+", 2, 6)]), SETTINGS, quiet)


def test_a_highlight_for_a_class_that_was_outvoted_is_a_reason_for_that_class():
    votes = [("label", "t4", "+", None, None), ("label", "t4", "-", None, None)]
    plain = train(project(more=votes), SETTINGS, quiet)
    more = train(project(more=[*votes, ("span", "t4", "-", 7, 11)]), SETTINGS, quiet)  # "plot" speaks for "-"
    column = more.columns_.words[0].tolist().index("plot")
    negative = more.classes_.tolist().index("-")
    assert more.class_weights_[negative, column] > plain.class_weights_[negative, column] + 1e-3
    named = [("span", "t4", "+", 2, 6), ("span", "t5", "a tag that is no class", 2, 6)]
    assert train(project(more=named), SETTINGS, quiet).unmarked_.tolist() == []


def test_somebody_who_marked_nothing_is_that_somebody():
    read = [("span", "t4", None, None, None), ("span", "t5", None, None, None)]
    model = train(project(more=read), SETTINGS, quiet)
    assert model.annotators_.tolist() == ["ann"]
    assert model.n_annotated_ == 6
