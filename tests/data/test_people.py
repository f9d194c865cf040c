"""Files as people have them: each is read by the plain command or one --map, or refused with the cure."""

import csv
import shlex
from pathlib import Path

import pytest

from accord.cli.main import main
from accord.data.project import Project

FOLDER = Path(__file__).parent / "people"
with (FOLDER / "expected.csv").open(encoding="utf-8", newline="") as file:
    CASES = list(csv.DictReader(file))
COUNTS = ("pair", "label", "score", "span")


def test_there_are_forty_files_and_each_is_expected():
    names = {name for case in CASES for name in case["files"].split()}
    there = {path.name for path in FOLDER.iterdir()} - {"expected.csv", "label_studio_pairwise.xml"}
    assert names == there
    assert len(names) >= 40


@pytest.mark.parametrize("case", CASES, ids=[f"{case['files']} {case['options']}".strip() for case in CASES])
def test_every_judgement_of_the_file_is_read_or_the_cure_is_said(case, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(FOLDER)
    options = shlex.split(case["options"])
    kind = [options.pop(0)] if options and not options[0].startswith("-") else []
    code = main(["import", *kind, *case["files"].split(), *options, "--out", str(tmp_path / "p")])
    said = capsys.readouterr()
    if case["refused"]:
        assert code == 2, said.out
        assert case["refused"] in said.err
        assert said.err.count("\n") == 1
        assert "/tmp" not in said.err
        assert not (tmp_path / "p").exists()
        return
    assert code == 0, said.err
    project = Project.load(tmp_path / "p")
    judged = project.frames()["judgements"]
    found = {name: int((judged["kind"] == name).sum()) for name in COUNTS}
    assert found == {name: int(case[name]) for name in COUNTS}, said.out
    assert project.kind == case["kind"]
    assert (project.counts["items"], project.counts["links"]) == (int(case["items"]), int(case["links"])), said.out
    assert judged["annotator_id"].nunique() == int(case["people"]), said.out


def read(name, tmp_path, capsys):
    """The project of a file, and what was said about it."""
    assert main(["import", str(FOLDER / name), "--out", str(tmp_path / "p")]) == 0
    return Project.load(tmp_path / "p"), capsys.readouterr().out


def test_every_row_of_a_merged_cell_has_its_value(tmp_path, capsys):
    project, said = read("reviews_merged_topics.xlsx", tmp_path, capsys)
    groups = project.frames()["items"]["group_id"]
    assert groups.value_counts().to_dict() == {f"Trip {i}": 3 for i in range(4)}
    assert "4 merged cells" in said


def test_answers_in_words_keep_their_order(tmp_path, capsys):
    project, said = read("likert_agree.csv", tmp_path, capsys)
    with (FOLDER / "likert_agree.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    levels = ["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"]
    wanted = {(row["Respondent"], name): 1.0 + levels.index(row[name]) for row in rows for name in list(row)[2:]}
    judged = project.frames()["judgements"]
    found = dict(zip(zip(judged["annotator_id"], judged["aspect"], strict=True), judged["value"], strict=True))
    assert {key: float(value) for key, value in found.items()} == wanted
    assert "words of a scale" in " ".join(said.split())


def test_rows_that_are_left_out_are_counted(tmp_path, capsys):
    _, said = read("reviews_totals.csv", tmp_path, capsys)
    assert "rows that sum up the others (such as a total) are left out (2)" in said
    assert "between two ranks" not in said  # which only the average is
    (tmp_path / "p").rename(tmp_path / "first")
    _, said = read("reviews_empty_rows_at_end.csv", tmp_path, capsys)
    assert "rows without anything in them are left out (3)" in said


def test_a_text_that_begins_with_total_is_a_text(tmp_path, capsys):
    file = tmp_path / "notes.csv"
    file.write_text("id,review,stars\n1,Total,4\n2,A long and happy day,5\n3,Average,2\n4,Never again for me,\n")
    assert main(["import", str(file), "--out", str(tmp_path / "p")]) == 0
    assert Project.load(tmp_path / "p").counts["items"] == 4


def test_a_draw_between_winner_and_loser_is_half_a_vote_and_other_words_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(FOLDER)
    assert main(["import", "winners_and_draws.csv", "--out", str(tmp_path / "p")]) == 0
    assert Project.load(tmp_path / "p").comparisons().value.tolist() == [1.0, 0.5, 1.0]
    (tmp_path / "odd.csv").write_text("winner,loser,tie\na,b,maybe\n", encoding="utf-8")
    assert main(["import", str(tmp_path / "odd.csv"), "--out", str(tmp_path / "q")]) == 2
    assert "a tie must be yes or no" in capsys.readouterr().err
