"""``accord datasets``."""

import json

import pytest

from accord.cli.main import main


def test_the_list_says_where_each_is_looked_for(tmp_path, capsys):
    assert main(["datasets", "--root", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert f"not found; looked at: {tmp_path / 'convarg'}" in out
    assert "licence: CC BY 4.0" in out
    assert "ACCORD_DATA" in out
    assert main(["datasets", "--root", str(tmp_path), "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["datasets"]
    assert len(listed) == 6
    assert {entry["kind"] for entry in listed} == {"pairs", "threads", "aspects", "links", "rationales"}


def test_a_check_without_the_corpora_is_one_sentence(tmp_path, capsys):
    assert main(["datasets", "check", "--root", str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert "ACCORD_DATA" in captured.err
    assert "6 of 6 corpora are not whole" in captured.err
    assert "missing" in captured.out


@pytest.mark.corpora
def test_all_corpora_are_whole(accord_data, capsys):
    assert main(["datasets", "check", "--root", str(accord_data), "--json"]) == 0
    reports = json.loads(capsys.readouterr().out)["datasets"]
    assert [report["ok"] for report in reports] == [True] * 6
    assert all(cell["found"] == cell["published"] for report in reports for cell in report["counts"].values())
