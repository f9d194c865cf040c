import pytest

from accord.evaluation.resume import FinishedParts, source_key


def test_a_finished_part_is_not_computed_again(tmp_path, monkeypatch):
    monkeypatch.setenv("ACCORD_CACHE", str(tmp_path))
    finished = FinishedParts.of("word", "content")
    assert finished.get("part", lambda: {"figure": 0.5}) == {"figure": 0.5}
    again = FinishedParts.of("word", "content")
    assert again.get("part", lambda: pytest.fail("computed twice")) == {"figure": 0.5}
    assert FinishedParts.of("word", "other content").get("part", lambda: 1) == 1
    again.clear()
    assert again.get("part", lambda: 2) == 2


def test_a_part_that_fails_leaves_nothing_behind(tmp_path):
    finished = FinishedParts(tmp_path / "parts")
    with pytest.raises(ZeroDivisionError):
        finished.get("part", lambda: 1 / 0)
    assert finished.get("part", lambda: 3) == 3
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["part.json"]


def test_without_a_folder_nothing_is_kept():
    values = iter([1, 2])
    finished = FinishedParts()
    assert [finished.get("part", lambda: next(values)) for _ in range(2)] == [1, 2]
    finished.clear()


def test_the_key_depends_on_the_content():
    assert source_key("a") == source_key("a") != source_key("b")
