"""Where corpora are looked for."""

import gzip

import pytest

from accord.data.corpora import convarg, cqa
from accord.data.corpora.locate import corpus_file, corpus_folder, read_json_lines, search_path
from accord.errors import InputError, MissingDataError


def test_an_explicit_root_is_the_only_place(tmp_path, monkeypatch):
    monkeypatch.setenv("ACCORD_DATA", "elsewhere")
    assert search_path(tmp_path) == [tmp_path]


def test_accord_data_comes_before_the_users_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ACCORD_DATA", str(tmp_path))
    places = search_path()
    assert places[0] == tmp_path
    assert places[1].name == "corpora"
    monkeypatch.delenv("ACCORD_DATA")
    assert search_path() == places[1:]


def test_a_missing_corpus_names_the_place_and_the_cure(tmp_path):
    with pytest.raises(MissingDataError, match=r"'convarg' must be a folder .*ACCORD_DATA") as caught:
        convarg.load(tmp_path)
    assert str(tmp_path / "convarg") in str(caught.value)
    (tmp_path / "convarg").mkdir()
    assert corpus_folder("convarg", tmp_path) == tmp_path / "convarg"
    with pytest.raises(MissingDataError, match=r"needs the file arguments\.jsonl\.gz"):
        corpus_file("convarg", "arguments.jsonl.gz", tmp_path)


def test_a_broken_file_is_named_with_its_line(tmp_path):
    path = tmp_path / "broken.jsonl"
    path.write_text('{"a": 1}\n[2]\n')
    with pytest.raises(InputError, match="line 2"):
        read_json_lines(path)
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(b'{"a": 1}\n' * 100)[:-12])
    with pytest.raises(InputError, match="readable file"):
        read_json_lines(cut)


def test_an_unknown_part_lists_the_parts(tmp_path):
    with pytest.raises(InputError, match="2015/train"):
        cqa.load("2017/train", tmp_path)
