"""What a release needs, said once and everywhere the same."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import accord

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def listed() -> list[Path]:
    """Every file that is kept, or everything outside hidden folders where this is not a clone."""
    found = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode == 0:
        return [path for name in found.stdout.split("\0") if name and (path := ROOT / name).is_file()]
    return [path for folder in ("src", "docs", "tests") for path in (ROOT / folder).rglob("*") if path.is_file()]


TEXTS = {".md", ".py", ".toml", ".txt", ".yml", ".yaml", ".cff", ".json", ".html", ".css", ".js", ".svg", ""}


def naming(pattern: str, suffixes: set[str]) -> list[str]:
    """The files in which a pattern occurs, except this one and the changelog, which speaks of what was."""
    passed = {"CHANGELOG.md", Path(__file__).name}
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in listed() if path.suffix in suffixes}
    found = [path for path, text in texts.items() if path.name not in passed and re.search(pattern, text)]
    return [str(path.relative_to(ROOT)) for path in found]


def test_the_version_is_the_same_everywhere():
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited is not None
    assert cited[1] == accord.__version__
    assert f"## [{accord.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_distribution_has_one_name():
    """`pip install accord` would fetch another project."""
    name = PROJECT["name"]
    assert naming(r"pip install (?:-\S+ )*[\"']?accord(?![\w-])|\baccord\[[a-z]", {".md", ".py", ".toml"}) == []
    for page in ("README.md", "docs/install.md"):
        assert f"pip install {name}" in (ROOT / page).read_text(encoding="utf-8")


def test_no_file_names_the_host_of_a_package_index():
    assert naming(r"--(?:extra-)?index-url[= ]\S|/simple/|files\.pythonhosted\.org", TEXTS) == []


def test_no_file_keeps_the_marks_of_a_merge():
    marks = re.compile(r"^(?:<{7}|>{7})(?: |$)", re.MULTILINE)
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in listed() if path.suffix in TEXTS}
    assert [str(path.relative_to(ROOT)) for path, text in texts.items() if marks.search(text)] == []


def test_the_package_opens_no_connection_to_another_computer():
    """docs/security.md says so. Servers (uvicorn), databases and clusters are given by their users."""
    clients = (
        r"(?m)^\s*(?:import|from) (?:urllib\.request|http\.client|httpx2?|requests|aiohttp|ftplib|smtplib|socket)\b"
    )
    package = [name for name in naming(clients, {".py"}) if name.startswith("src/accord/")]
    assert package == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_to_a_commit(path):
    uses = re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8"))
    assert uses
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", use) for use in uses)


def test_hosted_checks_are_the_ones_people_run():
    text = "\n".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    for command in (".ci/run", ".ci/lowest", "make docs", "make release"):
        assert f"run: {command}" in text
    for version in re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"])):
        assert f'"{version}"' in text


def test_pre_commit_runs_what_make_test_runs():
    config = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for tool in ("ruff check", "ruff format", "mypy", "lint-imports"):
        assert f".venv/bin/{tool}" in config
        assert f"$(BIN)/{tool}" in makefile


def test_every_make_target_is_explained():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    explained = re.findall(r"^# make ([\w-]+)", makefile, re.MULTILINE)
    assert set(phony.split()) - {"lint", "types", "layers", "clean"} == set(explained)
