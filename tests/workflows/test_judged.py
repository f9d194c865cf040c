"""Labels and scores of judges: measured against people, used where they are sure, harmless where they know nothing."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from accord.cli.main import main
from accord.data.annotators import annotator_table
from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.workflows.judged import (
    BY_JUDGES,
    disputed,
    doubtful,
    judged,
    learning_project,
    learnt_from,
    people_only,
    soft_labels,
)
from accord.workflows.kinds import trained


def quiet(what, done, total):
    pass


def label_project(seed, *, skill, n_items=300, n_labelled=60, kind="threads"):
    """Texts whose words lean to their label; people label some, three judges all, right ``skill`` of the time or so."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(["bad", "good"], n_items, p=[0.4, 0.6])
    words = {label: [f"{label}{k}" for k in range(30)] for label in ("bad", "good")}
    mixed = words["bad"] + words["good"]
    texts = [" ".join([*rng.choice(words[label], 2), *rng.choice(mixed, 4)]) for label in truth]
    ids = [f"c{i}" for i in range(n_items)]
    rows = [(ids[i], truth[i], "ada") for i in range(n_labelled)]
    for judge in ("m-1", "m-2", "n-1"):
        for i in range(n_items):
            said = truth[i] if rng.random() < skill else rng.choice(["bad", "good"])
            rows.append((ids[i], said, judge))
    items = with_schema({"item_id": ids, "text": texts, "group_id": [f"t{i // 5}" for i in range(n_items)]}, ITEMS)
    item, value, who = zip(*rows, strict=True)
    table = with_schema(
        {"kind": ["label"] * len(rows), "item_id": item, "value": value, "annotator_id": who}, JUDGEMENTS
    )
    who = annotator_table({"annotator_id": ["m-1", "m-2", "n-1"], "kind": ["judge"] * 3, "family": ["m", "m", "n"]})
    return Project(kind, items, table, annotator_table=who), truth


def test_good_judges_are_used_and_measured():
    project, truth = label_project(0, skill=0.85)
    (one,) = judged(project)
    assert one.used
    assert one.judges["n_shared"].tolist() == [60, 60, 60]
    assert ((one.judges["low"] < 0.93) & (one.judges["high"] > 0.9)).all()
    cells = one.confusion.groupby(["annotator", "people"])["probability"].sum()
    assert cells.to_numpy() == pytest.approx(1.0)
    learnt = learning_project(project).answered()
    own, added = learnt[learnt["annotator_id"] == "ada"], learnt[learnt["annotator_id"] == BY_JUDGES]
    assert len(own) == 60
    assert len(added) == one.n_added > 150
    place = added["item_id"].str[1:].astype(int).to_numpy()
    assert np.mean(truth[place] == added["value"].to_numpy()) > 0.9
    assert not set(added["item_id"]) & set(own["item_id"])
    soft = soft_labels(project).set_index("item_id")
    assert soft.loc["c0", "given"]
    assert not soft.loc["c299", "given"]


def test_without_judges_nothing_changes_and_people_are_never_outvoted():
    project, truth = label_project(1, skill=0.85)
    alone = people_only(project)
    assert learning_project(alone) is alone
    assert people_only(alone) is alone
    wrong = project.judgement_table.to_pandas()
    wrong.loc[wrong["annotator_id"] != "ada", "value"] = "bad"  # all judges say the same of everything
    against = Project("threads", project.item_table, with_schema(dict(wrong), JUDGEMENTS),
                      annotator_table=project.annotator_table)  # fmt: skip
    labels = learning_project(against).labels()
    assert (labels[:60] == truth[:60]).all()
    assert all(label is None for label in labels[60:])


@pytest.mark.parametrize(("skill", "least"), [(0.85, 0.02), (0.0, -0.005)])
def test_a_classifier_gains_from_good_judges_and_loses_nothing_from_useless_ones(skill, least):
    gains = []
    for seed in range(4):
        project, _ = label_project(seed, skill=skill, n_labelled=40)
        fresh, truth = label_project(100 + seed, skill=skill)
        accuracy = []
        for given in (people_only(project), learning_project(project)):
            labels = given.labels()
            known = np.flatnonzero(~pd.isna(labels))
            texts, new = project.items().texts, fresh.items().texts
            words = CountVectorizer().fit(texts)
            model = LogisticRegression().fit(words.transform(texts[known]), labels[known].astype(str))
            accuracy.append(np.mean(model.predict(words.transform(new)) == truth))
        gains.append(accuracy[1] - accuracy[0])
    assert np.mean(gains) > least


def test_a_model_of_threads_is_trained_on_people_and_sure_judges():
    project, _ = label_project(2, skill=0.85, n_items=60, n_labelled=30)
    model = trained(project, {"model": "local"}, quiet)
    assert model.classes_.tolist() == ["bad", "good"]


def test_harsh_and_compressed_judges_are_described_and_translated():
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 6, 200)
    rows = [(f"t{i}", "food", str(truth[i]), "ada") for i in range(100)]
    for i in range(200):
        rows.append((f"t{i}", "food", str(max(truth[i] - 1, 1)), "harsh"))
        rows.append((f"t{i}", "food", str(round(3 + 0.5 * (truth[i] - 3))), "narrow"))
    item, aspect, value, who = zip(*rows, strict=True)
    columns = {"kind": ["score"] * len(rows), "item_id": item, "aspect": aspect, "value": value, "annotator_id": who}
    items = with_schema({"item_id": [f"t{i}" for i in range(200)], "text": ["x"] * 200}, ITEMS)
    who = annotator_table({"annotator_id": ["harsh", "narrow"], "kind": ["judge"] * 2})
    project = Project("aspects", items, with_schema(columns, JUDGEMENTS), settings={"n_ranks": 5}, annotator_table=who)
    (one,) = judged(project)
    table = one.judges.set_index("annotator")
    assert table.loc["harsh", "bias_high"] < -0.5
    assert table.loc["narrow", "scale_high"] < 0.8
    scores = learning_project(project).answered()
    added = scores[scores["annotator_id"] == BY_JUDGES].set_index("item_id")["value"].astype(float)
    assert len(added) == 100
    assert np.mean(np.abs(added - pd.Series({f"t{i}": truth[i] for i in range(100, 200)}))) < 0.3


def test_what_judges_answer_differently_is_asked_first():
    columns = {
        "kind": ["label"] * 7,
        "item_id": ["a", "a", "b", "b", "c", "c", "c"],
        "value": ["x", "y", "x", "x", "x", "y", "y"],
        "annotator_id": ["m", "n", "m", "n", "m", "n", "ada"],
    }
    items = with_schema({"item_id": ["a", "b", "c"], "text": ["1", "2", "3"]}, ITEMS)
    who = annotator_table({"annotator_id": ["m", "n"], "kind": ["judge"] * 2})
    project = Project("links", items, with_schema(columns, JUDGEMENTS), annotator_table=who)
    assert disputed(project) == [("a",)]
    votes = {
        "kind": ["pair"] * 4,
        "item_id": ["a", "b", "a", "c"],
        "other_id": ["b", "a", "c", "a"],
        "value": ["1", "1", "1", "0"],
        "annotator_id": ["m", "n", "m", "n"],
    }
    assert disputed(Project("pairs", items, with_schema(votes, JUDGEMENTS), annotator_table=who)) == [("a", "b")]


def test_what_judges_are_known_to_get_wrong_is_asked_although_they_agree():
    rng = np.random.default_rng(0)
    truth = rng.random(120) < 0.5
    # Judges call most of what is bad good, so that their "bad" is sure and their "good" is not.
    says = truth | (rng.random((2, 120)) < 0.7)
    ids = [f"t{i:03d}" for i in range(120)]
    names = {True: "good", False: "bad"}
    columns = {
        "kind": ["label"] * 320,
        "item_id": [*ids, *ids, *ids[:80]],
        "value": [names[bool(one)] for one in (*says[0], *says[1], *truth[:80])],
        "annotator_id": ["m"] * 120 + ["n"] * 120 + ["ada"] * 80,
    }
    items = with_schema({"item_id": ids, "text": ids}, ITEMS)
    who = annotator_table({"annotator_id": ["m", "n"], "kind": ["judge"] * 2})
    project = Project("rationales", items, with_schema(columns, JUDGEMENTS), annotator_table=who)
    asked = {name for (name,) in doubtful(project)}
    assert {name for k, name in enumerate(ids) if k >= 80 and says[:, k].all()} <= asked
    assert not asked & {name for k, name in enumerate(ids) if k < 80 or not says[:, k].any()}
    assert learnt_from(project).endswith("320 are in the project")
    assert learnt_from(project).startswith("80 judgements of people and ")


def test_the_command_measures_judges_against_people(tmp_path, capsys):
    project, _ = label_project(4, skill=0.85, n_items=60)
    frame = project.judgement_table.to_pandas()
    ben = frame[frame["annotator_id"] == "ada"].assign(annotator_id="ben")
    both = with_schema(dict(pd.concat([frame.astype(object), ben.astype(object)])), JUDGEMENTS)
    folder = str(
        Project("threads", project.item_table, both, annotator_table=project.annotator_table).save(tmp_path / "p")
    )
    assert main(["agree", folder, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["annotator_id"] for row in found["agreement"][0]["people"]} == {"ada", "ben"}
    assert [row["annotator"] for row in found["judges"][0]["judges"]] == ["m-1", "m-2", "n-1"]
    assert main(["agree", folder]) == 0
    said = capsys.readouterr().out
    assert "judges against people" in said
    assert "where people say" in said


def test_soft_labels_are_written(tmp_path, capsys):
    project, _ = label_project(5, skill=0.85, n_items=60)
    folder = str(project.save(tmp_path / "p"))
    assert main(["export", folder, "--format", "soft-labels", "--out", str(tmp_path / "out")]) == 0
    rows = [json.loads(line) for line in (tmp_path / "out" / "soft_labels.jsonl").read_text().splitlines()]
    assert len(rows) == 60
    assert all(sum(row["probabilities"].values()) == pytest.approx(1.0) for row in rows)
    assert all(row["probabilities"][row["label"]] == max(row["probabilities"].values()) for row in rows)
    assert rows[0]["given"]
