"""Evaluation on people's own judgements: nothing leaks, figures are those of known truth, one sentence says it."""

import json

import numpy as np
import pytest

from accord.cli.main import main
from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.errors import InputError
from accord.workflows import evaluate as workflow
from accord.workflows.evaluate import evaluate


def quiet(what, done, total):
    pass


def notes(n=60, noise=0.0, seed=0):
    """Texts whose label is in their words, but for a share that is turned round."""
    rng = np.random.default_rng(seed)
    good = np.arange(n) % 2 == 0
    numbers = rng.integers(9, size=n)
    words = [f"{'lovely warm' if g else 'cold rude'} place number {w}" for g, w in zip(good, numbers, strict=True)]
    labels = np.where(good ^ (rng.random(n) < noise), "good", "bad").astype(object)
    ids = [f"n{i}" for i in range(n)]
    items = with_schema({"item_id": ids, "text": words}, ITEMS)
    return Project(
        "rationales", items, with_schema({"kind": ["label"] * n, "item_id": ids, "value": labels}, JUDGEMENTS)
    )


def test_labels_that_stand_in_the_words_are_found_and_chance_is_not_beaten():
    found = evaluate(notes(), progress=quiet)
    table = found.table.set_index("model")
    assert table.loc["Accord", "right"] == 1.0
    assert table.loc["most frequent answer", "right"] <= 0.6
    assert found.n_judgements == 60
    assert found.sentence.startswith("With 60 labelled texts Accord is right 100 times in 100")
    random = evaluate(notes(noise=0.5), progress=quiet).table.set_index("model")
    assert random.loc["Accord", "low"] < 0.6


def test_no_model_sees_a_judgement_of_what_it_is_tested_on(monkeypatch):
    seen = []

    def spy(project, judged, rows, settings):
        left = set(project.frames()["judgements"]["item_id"])
        seen.append((left, set(judged.rows["item_id"].iloc[rows])))
        return workflow._majority(project, judged, rows)

    monkeypatch.setattr(workflow, "_accord", spy)
    evaluate(notes(), progress=quiet)
    assert len(seen) == 5 * (2 + 2)  # the default and the model without highlights, and two points of the curve
    assert all(left.isdisjoint(tested) for left, tested in seen)
    tested = [name for _, names in seen[::4] for name in names]
    assert sorted(tested) == sorted(f"n{i}" for i in range(60))  # each judgement once


def votes_of_a_known_order():
    rng = np.random.default_rng(1)
    pairs = [(a, b) for a, b in rng.integers(8, size=(200, 2)).tolist() if a != b]
    ids = [f"t{i}" for i in range(8)]
    columns = {
        "kind": ["pair"] * len(pairs),
        "item_id": [ids[a] for a, _ in pairs],
        "other_id": [ids[b] for _, b in pairs],
        "value": ["1" if a < b else "0" for a, b in pairs],
    }
    return Project("pairs", with_schema({"item_id": ids, "text": ids}, ITEMS), with_schema(columns, JUDGEMENTS))


def test_votes_on_one_pair_are_never_on_both_sides():
    project = votes_of_a_known_order()
    judged = workflow._judged(project)
    hidden = workflow._hidden(project, judged, np.flatnonzero(judged.group < 5)).frames()["judgements"]
    pairs = {frozenset(pair) for pair in hidden[["item_id", "other_id"]].to_numpy().tolist()}
    gone = {frozenset(pair) for pair in judged.rows[judged.group < 5].to_numpy().tolist()}
    assert pairs.isdisjoint(gone)
    assert len(gone) == 5
    found = evaluate(project, progress=quiet).table.set_index("model")
    assert found.loc["always the same side", "right"] < 0.6
    assert found.loc["Bradley–Terry", "right"] > 0.8
    assert found.loc["Accord", "right"] > 0.8


def test_the_interval_counts_groups_not_rows():
    values = np.repeat([1.0, 0.0], 50)
    by_row = workflow._mean_over_groups(values, np.arange(100))
    by_group = workflow._mean_over_groups(values, np.repeat(np.arange(10), 10))
    # Ten equal groups, five of ones: the standard error of a mean of ten draws, √(.25/9).
    np.testing.assert_allclose(by_group[2] - by_group[0], 1.96 * np.sqrt(0.25 / 9), rtol=1e-12)
    assert by_row[2] - by_row[1] < by_group[2] - by_group[1]


def test_too_few_judgements_are_refused():
    with pytest.raises(InputError, match="at least 10 texts and two different answers; there are 6 and 2"):
        evaluate(notes(n=6), progress=quiet)


def test_the_command_prints_figures_and_writes_a_page(tmp_path, capsys):
    notes(n=40).save(tmp_path / "p")
    page = tmp_path / "page.html"
    assert main(["evaluate", "rationales", str(tmp_path / "p"), "--json", "--report", str(page)]) == 0
    said = json.loads(capsys.readouterr().out)
    names = [row["model"] for row in said["table"]]
    assert names == ["Accord", "without highlights", "logistic regression", "most frequent answer"]
    assert sum(row["n"] for row in said["calibration"]) == 40
    assert [row["n_judgements"] for row in said["curve"]] == [8, 16, 32]
    assert "How good is it?" in page.read_text(encoding="utf-8")
