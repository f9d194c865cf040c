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
