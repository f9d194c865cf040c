"""What the README shows is what Accord does."""

import importlib
import re
import sys
from pathlib import Path

import pytest

from accord.cli.main import COMMANDS
from accord.typing import KINDS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
sys.path.append(str(ROOT / "docs"))
readme_output = importlib.import_module("readme_output")
SECTIONS = dict(re.findall(r"^\*\*(\w+)\.\*\*.*?```console\n(.*?)```", README, flags=re.MULTILINE | re.DOTALL))


def test_there_is_one_example_a_kind():
    assert [name.lower() for name in SECTIONS] == list(KINDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("readme")


BLOCKS = list(readme_output.BLOCKS.finditer(README))


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block["commands"].splitlines()[-1][2:40])
def test_what_is_shown_is_what_the_commands_print(block, folder):
    """Every line that is shown, in its order; figures may differ a little between machines."""
    said = readme_output.printed(block["commands"], folder)
    assert block["shown"].strip()
    assert readme_output.differences(block["shown"], said) == []


def test_every_kind_shows_its_output_and_so_does_make_run():
    shown = [block["commands"] for block in BLOCKS]
    assert all(any(section.startswith(commands) for commands in shown) for section in SECTIONS.values())
    (first,) = re.findall(
        r"^run: .*?\n\t@\$\(BIN\)/(accord .*?)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M | re.S
    )
    assert shown[0] == f"$ {first}\n"


def test_a_line_that_was_not_printed_is_found():
    assert readme_output.differences("│ 1 │ +1.20 │ tea\n│ 2 │ +0.50 │ milk\n", ["│ 1 │ +1.25 │ tea"]) == [
        "│ 2 │ +0.50 │ milk"
    ]
    assert readme_output.differences("│ 1 │ +1.20 │ tea\n", ["│ 1 │ +2.60 │ tea"]) != []


def test_how_good_it_is_says_what_the_pages_of_results_say():
    how_good = importlib.import_module("how_good")
    shown = README.split(how_good.START, 1)[1].split(how_good.END, 1)[0]
    assert shown == how_good.table()
    assert all(f"[{kind}](docs/results/{kind}.md)" in shown for kind in KINDS)


def test_the_readme_is_short():
    assert len(README.splitlines()) < 150


def test_the_python_example_runs(capsys):
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    exec(block, {})
    assert "street-04" in capsys.readouterr().out


def test_every_command_is_documented():
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert all(f"`accord {name}" in page for name in COMMANDS)
