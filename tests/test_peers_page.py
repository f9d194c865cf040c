"""What docs/peers.md says of Accord is so, cell by cell."""

import re
import tomllib
from pathlib import Path

import pytest

import accord

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| ")]
CELLS = {row[0]: row[1] for row in ROWS if row[1] != "Accord"}


def text(name: str) -> str:
    """A file of the repository; it has to be there."""
    return (ROOT / name).read_text(encoding="utf-8")


def scripts() -> int:
    """How many scripts the gallery has."""
    return len(list((ROOT / "examples").glob("t*/plot_*.py")))


def targets() -> str:
    """What `make docs` and `make test` run."""
    return text("Makefile")


def extensions(*names: str) -> bool:
    """Whether the documentation is built with these extensions."""
    return all(f'"{name}"' in text("docs/conf.py") for name in names)


WORKFLOW = text(".github/workflows/tests.yml")
CHECKS = {
    "install page and a first tutorial": lambda cell: (
        "pip install" in text("docs/install.md") and "```{accord-run}" in text("docs/tutorial.md")
    ),
    "examples run at build, with pictures": lambda cell: (
        cell == f"{scripts()} scripts (sphinx-gallery)" and extensions("sphinx_gallery.gen_gallery")
    ),
    "page an exported name": lambda cell: (
        cell == f"yes, all {len(accord.__all__) - 1}" and ":toctree: api" in text("docs/reference.md")
    ),
    "coming from other tools": lambda cell: (
        {"five": 5}[cell] == len(re.findall(r"^## ", text("docs/coming-from.md"), re.MULTILINE))
    ),
    "benchmarks": lambda cell: (
        "Written by `make bench`" in text("docs/benchmarks.md") and "benchmarks/run.py" in targets()
    ),
    "published tables rebuilt": lambda cell: all(
        text(f"docs/results/{kind}.md") and (ROOT / "src" / "accord" / kind / "paper" / "tables.py").is_file()
        for kind in ("pairs", "threads", "aspects", "links", "rationales")
    ),
    "docs tested": lambda cell: (
        "docs/run_snippets.py" in targets()
        and "docs/check_links.py" in targets()
        and "def test_a_documented_command_is_understood" in text("tests/cli/test_documented_commands.py")
        and "def test_what_is_shown_is_what_the_commands_print" in text("tests/test_readme.py")
        and "def test_every_parameter_of_an_exported_name" in text("tests/test_documentation.py")
    ),
    "search, copy buttons, dark mode": lambda cell: (
        extensions("sphinx_copybutton", "furo") and "pygments_dark_style" in text("docs/conf.py")
    ),
    "changelog by release": lambda cell: (
        f"## [{accord.__version__}]" in text("CHANGELOG.md")
        and "### What to change when you come" in text("CHANGELOG.md")
    ),
    "Python versions tested by hosted checks": lambda cell: (
        re.findall(r"3\.\d+", cell) == re.findall(r"3\.\d+", re.findall(r"matrix: \{python: (.*?)\}", WORKFLOW)[0])
    ),
    "lowest versions of dependencies tested": lambda cell: (
        "run: .ci/lowest" in WORKFLOW and "--resolution lowest-direct" in text(".ci/lowest")
    ),
    "types checked": lambda cell: tomllib.loads(text("pyproject.toml"))["tool"]["mypy"]["strict"] is True,
    "layers checked": lambda cell: "lint-imports" in targets() and "[tool.importlinter]" in text("pyproject.toml"),
    "fast code against a plain twin": lambda cell: (
        "def plain_belief_propagation" in text("tests/oracles.py")
        and "def enumerate_graphs" in text("tests/oracles.py")
    ),
    "actions of hosted checks pinned to commits": lambda cell: all(
        re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", use) for use in re.findall(r"uses: (\S+)", WORKFLOW)
    ),
    "dependency updates configured": lambda cell: (
        {"pip", "github-actions"} <= set(re.findall(r"package-ecosystem: (\S+)", text(".github/dependabot.yml")))
    ),
    "pre-commit": lambda cell: all(
        tool in text(".pre-commit-config.yaml") for tool in ("ruff check", "ruff format", "mypy", "lint-imports")
    ),
    "templates for issues and changes": lambda cell: (
        bool(text(".github/pull_request_template.md")) and len(list((ROOT / ".github/ISSUE_TEMPLATE").iterdir())) >= 2
    ),
    "citation file": lambda cell: "cff-version" in text("CITATION.cff"),
    "security policy": lambda cell: "## Reporting" in text("SECURITY.md"),
    "code of conduct": lambda cell: bool(text("CODE_OF_CONDUCT.md")),
    "locked versions": lambda cell: (
        re.search(r"^numpy==", text("constraints.txt"), re.MULTILINE) is not None
        and "://" not in text("constraints.txt")
    ),
    "on the package index": lambda cell: (
        cell.startswith("not yet") == ("not yet on" in " ".join(text("docs/install.md").split()))
    ),
}


def test_every_row_has_a_check():
    assert [*CHECKS, "years in use by many people"] == list(CELLS)


@pytest.mark.parametrize("row", CHECKS)
def test_what_stands_of_accord_is_so(row):
    assert CHECKS[row](CELLS[row])


def test_every_row_has_a_cell_a_project():
    assert {len(row) for row in ROWS} == {7}
