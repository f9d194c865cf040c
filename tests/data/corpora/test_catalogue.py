"""The catalogue says what is missing, damaged or miscounted."""

import gzip
import shutil
from dataclasses import replace

import pytest

from accord.data.corpora import catalogue
from accord.errors import InputError


def test_every_corpus_says_how_to_get_it_and_whom_to_cite():
    assert set(catalogue.CORPORA) == {"convarg", "cqa", "we8there", "multiaspect", "convote", "rationales"}
    for corpus in catalogue.CORPORA.values():
        assert corpus.source
        assert corpus.licence
        assert corpus.citation
        assert all(len(known) == 64 for known in corpus.files.values())


def test_a_missing_corpus_is_reported_not_raised(tmp_path):
    report = catalogue.check("convote", tmp_path)
    assert not report.ok
    assert report.folder is None
    assert "ACCORD_DATA" in report.problems[0]
    with pytest.raises(InputError, match="there is no 'foo'"):
        catalogue.check("foo", tmp_path)


@pytest.fixture
def reviews(tmp_path, accord_data):
    """A copy of the smallest corpus."""
    shutil.copytree(accord_data / "we8there", tmp_path / "we8there")
    return tmp_path / "we8there"


@pytest.mark.corpora
def test_a_changed_file_is_named(reviews):
    assert catalogue.check("we8there", reviews.parent).ok
    rows = gzip.decompress((reviews / "ratings.csv.gz").read_bytes()).splitlines(keepends=True)
    rows[1] = b"1,0,5,5,5,5\n"
    (reviews / "ratings.csv.gz").write_bytes(gzip.compress(b"".join(rows)))
    report = catalogue.check("we8there", reviews.parent)
    assert any("ratings.csv.gz is not the known one" in problem for problem in report.problems)
    assert "complete reviews must number 6,117; there are 6,116." in report.problems
    assert report.counts["complete reviews"] == (6116, 6117)


@pytest.mark.corpora
def test_a_missing_file_is_named(reviews):
    (reviews / "terms.txt").unlink()
    report = catalogue.check("we8there", reviews.parent)
    assert "the file terms.txt is missing." in report.problems
    assert report.counts["reviews"] == (None, 6166)


def test_the_archive_of_published_files_may_be_missing(tmp_path, monkeypatch):
    (tmp_path / "cqa").mkdir()
    monkeypatch.setitem(catalogue.SHA256, "cqa", {"original.tar.xz": "0" * 64})
    corpus = replace(catalogue.CORPORA["cqa"], counts={"a": 1}, reader=lambda root: {"a": 1})
    monkeypatch.setitem(catalogue.CORPORA, "cqa", corpus)
    assert catalogue.check("cqa", tmp_path).ok
