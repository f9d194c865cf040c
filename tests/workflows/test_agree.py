"""Agreement of the people of a project, by what they judged."""

import json
from dataclasses import replace

import krippendorff
import numpy as np
import pytest

from accord.cli.main import main
from accord.data.annotators import annotator_table
from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.errors import InputError
from accord.evaluation.agreement import krippendorff_alpha
from accord.workflows.agree import agree, agree_judges
from accord.workflows.agree_spans import judged_highlights
from accord.workflows.judged import judged


def project(of, texts, **columns):
    items = with_schema({"item_id": [f"t{i}" for i in range(len(texts))], "text": texts}, ITEMS)
    return Project(of, items, with_schema(columns, JUDGEMENTS))


def test_a_vote_means_the_same_whichever_text_is_named_first():
    votes = project(
        "pairs",
        ["A", "B"],
        kind=["pair"] * 3,
        item_id=["t0", "t1", "t0"],
        other_id=["t1", "t0", "t1"],
        value=["1", "0", "0.5"],
        annotator_id=["ann", "bob", "cleo"],
    )
    (found,) = agree(votes)
    assert (found.what, found.n_shared) == ("votes", 1)
    people = found.people.set_index("annotator_id")["agreement"]
    assert people["ann"] == people["bob"] == 0.5  # one of the two others answers alike
    assert people["cleo"] == 0.0


def test_scores_are_compared_aspect_by_aspect_on_their_own_scale():
    rng = np.random.default_rng(0)
    values = rng.integers(1, 6, (3, 20))
    columns = {"kind": [], "item_id": [], "aspect": [], "value": [], "annotator_id": []}
    for aspect, shift in (("food", 0), ("room", 1)):
        for who in range(3):
            for text in range(20):
                row = ("score", f"t{text}", aspect, str((values[who, text] + shift) % 5 + 1), f"p{who}")
                for name, cell in zip(columns, row, strict=True):
                    columns[name].append(cell)
    found = {one.what: one for one in agree(project("aspects", ["x"] * 20, **columns))}
    assert set(found) == {"score: food", "score: room"}
    expected = krippendorff_alpha(values % 5 + 1, level="ordinal")
    assert found["score: food"].measures["value"][0] == pytest.approx(expected)


def test_highlights_agree_by_the_characters_that_are_marked():
    texts = ["abcdefghij", "klmnopqrst"]
    rows = [("t0", 0, 5, "ann"), ("t0", 0, 4, "bob"), ("t1", 2, 8, "ann"), ("t1", 3, 8, "bob")]
    item, start, end, who = zip(*rows, strict=True)
    spans = project("rationales", texts, kind=["span"] * 4, item_id=item, start=start, end=end, annotator_id=who)
    (found,) = agree(spans)
    marks = np.zeros((2, 20), dtype=int)
    for text, a, b, name in rows:
        marks[["ann", "bob"].index(name), int(text[1]) * 10 + a : int(text[1]) * 10 + b] = 1
    assert found.measures["value"][0] == pytest.approx(krippendorff_alpha(marks))
    assert found.n_shared == 2
    assert found.people["n_answers"].tolist() == [2, 2]
    assert found.people["agreement"].tolist() == pytest.approx([krippendorff_alpha(marks)] * 2)


def test_who_read_and_marked_nothing_disagrees_with_who_marked_and_skipped_rows_say_nothing():
    texts = ["abcdefghij", "klmnopqrst", "uvwxyz", "0123"]
    rows = [
        ("span", "t0", 0, 5, "ann", None, None),
        ("span", "t0", None, None, "bob", None, "done"),
        ("span", "t0", 0, 9, "bob", None, "skipped"),
        ("span", "t1", 2, 8, "ann", None, None),
        ("span", "t1", 3, 8, "bob", None, None),
        ("span", "t2", None, None, "ann", None, None),
        ("span", "t2", None, None, "bob", None, None),
        ("span", "t3", 0, 2, "ann", None, None),
        ("label", "t3", None, None, "bob", "yes", None),  # does not say that t3 was read for marks
    ]
    names = ("kind", "item_id", "start", "end", "annotator_id", "value", "status")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    found = {one.what: one for one in agree(project("rationales", texts, **columns))}
    marks = np.zeros((2, 26), dtype=int)
    marks[0, :5] = marks[0, 12:18] = marks[1, 13:18] = 1
    assert found["highlights"].measures["value"][0] == pytest.approx(krippendorff_alpha(marks))
    assert found["highlights"].people["n_answers"].tolist() == [4, 3]


def test_somebody_who_answers_again_is_compared_with_before():
    labels = project(
        "links",
        ["A"],
        kind=["label"] * 3,
        item_id=["t0"] * 3,
        value=["yes", "no", "no"],
        annotator_id=["ann"] * 3,
        created_at=["2026-01-01", "2026-01-02", "2026-01-03"],
    )
    (found,) = agree(labels)
    assert found.people["same_again"][0] == 0.5
    assert found.n_shared == 0


def test_nobody_is_known():
    with pytest.raises(InputError, match="annotator is known"):
        agree(project("links", ["A"], kind=["label"], item_id=["t0"], value=["x"]))


def test_the_command_prints_figures_with_intervals(capsys):
    assert main(["agree", "example:arguments"]) == 0
    assert "Krippendorff's α" in capsys.readouterr().out
    assert main(["agree", "example:arguments", "--json"]) == 0
    (votes,) = json.loads(capsys.readouterr().out)["agreement"]
    assert {"measure", "value", "low", "high", "n"} == set(votes["measures"][0])
    assert all(row["low"] <= row["value"] <= row["high"] for row in votes["measures"])


def test_judges_are_measured_on_the_pairs_that_people_voted_on(tmp_path, capsys):
    votes = [
        "left,right,winner,annotator_id",
        *(f"a,b,{w},{p}" for w, p in zip("aab", ("ada", "bo", "cy"), strict=True)),
    ]
    votes += ["b,a,a,m-1", "b,a,b,m-1", "a,c,a,m-1"]  # as most people, against them, and alone
    (tmp_path / "votes.csv").write_text("\n".join(votes))
    (tmp_path / "annotators.csv").write_text("annotator_id,kind\nm-1,judge\n")
    assert (
        main(["import", str(tmp_path / "votes.csv"), str(tmp_path / "annotators.csv"), "-o", str(tmp_path / "p")]) == 0
    )
    said = capsys.readouterr().out.replace("│", " ").split()
    assert said[said.index("people") + 1] == "3"
    assert said[said.index("judges") + 1] == "1"
    assert main(["agree", str(tmp_path / "p"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(row["annotator"], row["n_shared"], row["agreement"]) for row in found["judges"][0]["judges"]] == [
        ("m-1", 2, 0.5)
    ]
    assert all(row["drift"] is None for row in found["agreement"][0]["people"])  # the votes have no times


def test_scores_have_an_alpha_of_distances_between_numbers_too():
    values = np.random.default_rng(3).integers(1, 6, (2, 25))
    rows = [(f"t{text}", str(values[who, text]), f"p{who}") for who in range(2) for text in range(25)]
    item, value, who = zip(*rows, strict=True)
    columns = {"kind": ["score"] * 50, "item_id": item, "value": value, "annotator_id": who, "aspect": ["food"] * 50}
    (found,) = agree(project("aspects", ["x"] * 25, **columns))
    measures = found.measures.set_index("measure")
    expected = krippendorff.alpha(values, level_of_measurement="interval")
    assert measures.loc["Krippendorff's α (interval)", "value"] == pytest.approx(expected, abs=1e-9)
    assert measures.loc["Krippendorff's α", "value"] == pytest.approx(
        krippendorff.alpha(values, level_of_measurement="ordinal"), abs=1e-9
    )


def with_judges(project, *names):
    table = annotator_table({"annotator_id": list(names), "kind": ["judge"] * len(names)})
    return replace(project, annotator_table=table)


def test_marks_of_each_label_and_of_judges_are_compared_character_by_character():
    texts = ["abcdefghij", "klmnopqrst", "uvwxyzuvwx"]
    rows = [
        ("t0", 0, 5, "ann", "good"), ("t0", 0, 4, "bob", "good"), ("t0", 6, 8, "ann", "bad"),
        ("t0", 7, 9, "bob", "bad"), ("t1", 2, 8, "ann", "good"), ("t1", 3, 8, "bob", "good"),
        ("t0", 0, 9, "m-1", "good"), ("t1", 0, 9, "m-1", "good"),
        ("t2", 0, 3, "m-1", "bad"),  # nobody else read it
    ]  # fmt: skip
    item, start, end, who, value = zip(*rows, strict=True)
    spans = {"kind": ["span"] * 9, "item_id": item, "start": start, "end": end, "annotator_id": who, "value": value}
    own = with_judges(project("rationales", texts, **spans), "m-1")

    def marked(name, labels):
        line = np.zeros(20, dtype=int)
        for text, a, b, by, label in rows:
            if by == name and label in labels and text != "t2":
                line[int(text[1]) * 10 + a : int(text[1]) * 10 + b] = 1
        return line

    (found,) = agree(own)
    for label in ("good", "bad"):
        expected = krippendorff_alpha([marked(name, [label]) for name in ("ann", "bob")])
        row = found.labels.set_index("label").loc[label]
        assert row["value"] == pytest.approx(expected, abs=1e-9)
        assert row["low"] <= row["value"] <= row["high"]
    ann, bob, judge = (marked(name, ["good", "bad"]) for name in ("ann", "bob", "m-1"))
    row = judged_highlights(own, ["m-1"]).iloc[0]
    expected = krippendorff_alpha([np.tile(judge, 2), np.concatenate([ann, bob])])  # of the pairs judge and person
    assert row["agreement"] == pytest.approx(expected, abs=1e-9)
    assert (row["n_answers"], row["n_shared"]) == (3, 2)
    assert row["marked"] == pytest.approx(judge.mean())
    assert row["people_marked"] == pytest.approx(np.concatenate([ann, bob]).mean())
    assert judged_highlights(own, []) is None


def test_a_judge_that_changes_with_time_is_seen_on_the_texts_that_people_answered():
    rows = [("label", f"t{k}", "yes", "ann", f"2026-01-{1 + k:02d}") for k in range(20)]
    rows += [("label", f"t{k}", "yes" if k < 10 else "no", "m-1", f"2026-02-{1 + k:02d}") for k in range(20)]
    rows += [("label", f"t{k}", "yes", "m-1", "2026-02-28") for k in range(4)]  # asked again: as before
    rows += [("label", f"t{k}", "no", "m-1", "2026-02-28") for k in range(4, 6)]  # asked again: otherwise
    columns = dict(
        zip(("kind", "item_id", "value", "annotator_id", "created_at"), zip(*rows, strict=True), strict=True)
    )
    own = with_judges(project("links", ["x"] * 20, **columns), "m-1")
    (found,) = agree_judges(own)
    row = found.judges.iloc[0]
    assert (row["n_again"], row["same_again"]) == (6, pytest.approx(4 / 6))
    assert row["drift_low"] < row["drift"] < row["drift_high"] < 1.0
    # Newest last: t6 to t9 are still "yes" in the earlier half, and t0 to t3 in the later one.
    assert row["drift"] == pytest.approx(4 / 10 - 4 / 10, abs=1e-9)
    assert found.pairs[["first", "second", "n"]].to_numpy().tolist() == [["ann", "m-1", 20]]
    at_once = {**columns, "created_at": ["2026-03-01"] * len(rows)}
    (found,) = agree_judges(with_judges(project("links", ["x"] * 20, **at_once), "m-1"))
    assert np.isnan(found.judges["drift"][0])  # all came in one moment
    assert agree_judges(replace(own, annotator_table=own.annotator_table.slice(0, 0))) == []


def test_where_people_tie_a_judge_is_right_in_part_whatever_it_says():
    rows = [("label", f"t{k}", answer, who) for k in range(30) for who, answer in (("ann", "yes"), ("bob", "no"))]
    rows += [("label", f"t{k}", ("yes", "no")[k % 2], "m-1") for k in range(30)]
    columns = dict(zip(("kind", "item_id", "value", "annotator_id"), zip(*rows, strict=True), strict=True))
    own = with_judges(project("links", ["x"] * 30, **columns), "m-1")
    (found,) = agree_judges(own)
    assert found.judges["agreement"].tolist() == [0.5]
    (measured,) = judged(own)
    assert measured.judges["agreement"].tolist() == [0.5]
