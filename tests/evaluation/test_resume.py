import numpy as np
import pytest
from numpy.testing import assert_array_equal

from accord.evaluation.resume import FinishedParts, kept_until_used, source_key


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


def test_parts_of_a_run_that_is_over_stay_until_its_results_are_used(tmp_path):
    finished = FinishedParts(tmp_path / "parts")

    def run_and_write(full):
        with kept_until_used():
            finished.get("part", lambda: 3)
            finished.clear()
            (tmp_path / full / "page.md").write_text("")

    with pytest.raises(FileNotFoundError):
        run_and_write("a folder that is not there")
    assert finished.get("part", lambda: pytest.fail("computed twice")) == 3
    with kept_until_used():
        finished.clear()
        assert finished.folder.exists()
    assert not finished.folder.exists()


def test_without_a_folder_nothing_is_kept():
    values = iter([1, 2])
    finished = FinishedParts()
    assert [finished.get("part", lambda: next(values)) for _ in range(2)] == [1, 2]
    finished.clear()


def test_the_key_depends_on_the_content():
    assert source_key("a") == source_key("a") != source_key("b")


def test_what_was_kept_comes_back_as_it_was(tmp_path):
    """Figures of folds are dictionaries by size or by table and row, with arrays of several types in them."""
    figures = {
        ("strict", "gppl"): {"accuracy": np.float64(0.5)},
        "right": {20: np.array([True, False]), 200: np.array([[1, 2], [3, 4]]), 400: np.array([0.1, np.nan])},
        "pair": (1, [2.5, None, "three"]),
    }
    computed = FinishedParts(tmp_path).get("part", lambda: figures)
    kept = FinishedParts(tmp_path).get("part", lambda: pytest.fail("computed twice"))
    assert computed is figures
    assert list(kept) == list(figures)
    assert kept["strict", "gppl"] == {"accuracy": 0.5}
    assert kept["pair"] == (1, [2.5, None, "three"])
    for size, array in figures["right"].items():
        assert kept["right"][size].dtype == array.dtype
        assert_array_equal(kept["right"][size], array)
