from accord.experiments.report import Row
from accord.workflows.reproduce import Reproduction


def result(value):
    return Reproduction("pairs", False, 1.0, (Row("strict", "gppl", "accuracy", 0.8, value, 0.7, 0.9, 32),))


def test_a_new_page_holds_the_tables(tmp_path):
    page = tmp_path / "results" / "pairs.md"
    result(0.83).write(page)
    assert "| gppl | accuracy | 0.8 | 0.83 | 0.7 … 0.9 | 32 |" in page.read_text()


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
