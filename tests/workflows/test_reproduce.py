import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import accord
from accord.cli.main import main
from accord.evaluation.tables import Row
from accord.workflows.reproduce import Origin, Reproduction, wide_table

PAGES = Path(__file__).parents[2] / "docs" / "results"


def result(value):
    return Reproduction("pairs", False, 1.0, (Row("strict", "gppl", "accuracy", 0.8, value, 0.7, 0.9, 32),))


def test_a_new_page_holds_the_tables(tmp_path):
    page = tmp_path / "results" / "pairs.md"
    result(0.83).write(page)
    assert "| row | accuracy | paper |" in page.read_text()
    assert "| gppl | 0.8300 ± 0.1000 | 0.8 |" in page.read_text()


def test_sizes_of_one_thing_share_a_line(tmp_path):
    rows = tuple(
        Row("active", f"{name}@{size}", metric, None, size / 100, size / 100, size / 100, 1)
        for name in ("gppl", "random")
        for size in (50, 100)
        for metric in ("accuracy", "p_over_random")
    )
    lines = wide_table(rows)
    assert lines.count("| row | @50 | @100 |") == 2
    assert lines.count("| random | 0.5000 | 1.000 |") == 2
    page = tmp_path / "pairs.md"
    Reproduction("pairs", False, 1.0, rows).write(page)
    assert "![pairs, active: ours and the paper's](pairs-table-active.svg)" in page.read_text()
    assert (tmp_path / "pairs-table-active.svg").read_text().startswith("<?xml")


def test_a_figure_that_is_missing_is_a_dash():
    rows = [Row("strict", "gppl", "auc", None, 0.9, 0.9, 0.9, 1), Row("strict", "longer", "cee", 0.5, 0.4, 0.3, 0.5, 2)]
    assert wide_table(rows)[-2:] == ["| gppl | 0.9000 | – | – | 1 |", "| longer | – | 0.4000 ± 0.1000 | 0.5 | 2 |"]


def test_what_stands_around_the_tables_stays(tmp_path):
    page = tmp_path / "pairs.md"
    result(0.83).write(page)
    page.write_text(
        page.read_text().replace("# Results: pairs\n", "# Results: pairs\n\nRead this first.\n") + "\nA picture.\n"
    )
    result(0.84).write(page)
    text = page.read_text()
    assert text.index("Read this first.") < text.index("0.84") < text.index("A picture.")
    assert "0.83" not in text


def test_curves_of_a_word_are_drawn_beside_its_page(tmp_path):
    rows = tuple(Row("figure_2/we8there", "prank", f"loss@{i}", None, 0.7, 0.6, 0.8, 2) for i in (1, 2))
    Reproduction("aspects", False, 1.0, rows).write(tmp_path / "aspects.md")
    assert (tmp_path / "aspects-figure-2-we8there.svg").read_text().startswith("<?xml")


def test_the_rows_are_kept_beside_the_page_with_what_they_were_made_with(tmp_path):
    page = tmp_path / "pairs.md"
    run = Reproduction("pairs", False, 150.0, result(0.83).rows, Origin("1.2.3", "0123456789", "2 processes"))
    run.write(page)
    assert "Accord 1.2.3 at commit 0123456789: 2 minutes, 2 processes." in page.read_text()
    kept = json.loads(page.with_suffix(".json").read_text())
    assert Reproduction.from_json(kept) == run


def test_rows_of_an_earlier_run_stand_beside_those_of_a_later_one_and_the_page_says_so(tmp_path):
    page = tmp_path / "pairs.md"
    old = replace(result(0.7), rows=(*result(0.7).rows, Row("rank", "longer", "kendall", None, 0.46, 0.4, 0.5, 32)))
    result(0.83).beside(old, "The row longer is older.").write(page)
    text = page.read_text()
    assert "Parts of one run of `accord reproduce pairs`" in text
    assert "The row longer is older.\n" in text
    assert "0.8300" in text
    assert "0.4600" in text
    assert "0.7000" not in text
    kept = Reproduction.from_json(json.loads(page.with_suffix(".json").read_text()))
    assert kept.notes == ("The row longer is older.",)
    assert [row.table for row in kept.rows] == ["strict", "rank"]


def test_rows_of_a_later_run_take_the_place_of_earlier_ones_and_the_page_names_both_commits(tmp_path):
    page = tmp_path / "pairs.md"
    rows = (
        Row("strict", "gppl", "auc", None, 0.9, 0.8, 1.0, 32),
        Row("strict", "gppl_mlii", "auc", None, 0.7, 0.6, 0.8, 8),
        Row("strict", "svm", "auc", None, 0.88, 0.8, 0.9, 32),
        Row("significance", "gppl~gppl_mlii", "strict/auc", None, 0.01, 0.01, 0.01, 8),
        Row("significance", "gppl~svm", "strict/auc", None, 0.5, 0.5, 0.5, 32),
    )
    first = Reproduction("pairs", False, 600.0, rows, Origin("1.2.3", "0123456789", "2 processes"))
    fresh = (replace(rows[1], ours=0.75, n=32), Row("ard", "length", "median", None, 0.2, 0.1, 0.3, 32))
    later = Reproduction("pairs", False, 3000.0, fresh, Origin("1.2.4", "abcdef0123", "one process"))
    whole = first.renewed(later, "Rows `gppl_mlii`", gone=[("significance", "gppl~gppl_mlii")])
    assert [(row.row, row.n) for row in whole.rows] == [
        ("gppl", 32), ("gppl_mlii", 32), ("svm", 32), ("gppl~svm", 32), ("length", 32),
    ]  # fmt: skip
    whole.write(page)
    text = page.read_text()
    assert (
        "Parts of one run of `accord reproduce pairs`, Accord 1.2.3 at commit 0123456789: 10 minutes, 2 processes.\n"
        in text
    )
    assert "Rows `gppl_mlii`: a later run, Accord 1.2.4 at commit abcdef0123: 50 minutes, one process.\n" in text
    assert "0.7500" in text
    assert "0.7000" not in text
    kept = json.loads(page.with_suffix(".json").read_text())
    assert [run["origin"]["commit"] for run in kept["later"]] == ["abcdef0123"]
    assert Reproduction.from_json(kept) == whole


def test_the_commit_is_that_of_the_checkout_and_unknown_elsewhere(monkeypatch):
    def git(*arguments):
        return subprocess.run(
            ["git", *arguments], cwd=PAGES, capture_output=True, text=True, check=False
        ).stdout.strip()

    here = Origin.here("one process")
    head = git("rev-parse", "HEAD")
    assert here.version == accord.__version__
    assert here.commit is None if not head else head.startswith(here.commit.rstrip("+"))

    def absent(*_, **__):
        raise FileNotFoundError("git")

    monkeypatch.setattr(subprocess, "run", absent)
    assert Origin.here("one process").commit is None


@pytest.mark.parametrize("kept", sorted(PAGES.glob("*.json")), ids=lambda path: path.stem)
def test_the_published_page_holds_the_rows_that_are_kept_beside_it(kept, tmp_path, request):
    if kept.stem in ("links", "threads"):  # their pictures are drawn from the corpora
        request.getfixturevalue("accord_data")
    run = Reproduction.from_json(json.loads(kept.read_text(encoding="utf-8")))
    assert not run.quick
    run.write(tmp_path / kept.with_suffix(".md").name)
    written = (tmp_path / f"{kept.stem}.md").read_text(encoding="utf-8").partition("<!-- tables")[2]
    assert written.rstrip() in kept.with_suffix(".md").read_text(encoding="utf-8")


def test_a_folder_in_the_place_of_a_page_is_refused_before_the_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("accord.workflows.reproduce.reproduce", lambda *_, **__: pytest.fail("an hour was spent"))
    assert main(["reproduce", "links", "--results", str(tmp_path)]) == 2
    assert "names a page, such as results/links.md" in capsys.readouterr().err
    (tmp_path / "taken").write_text("")
    assert main(["reproduce", "links", "--results", str(tmp_path / "taken" / "links.md")]) == 2
