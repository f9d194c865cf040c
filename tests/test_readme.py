"""What the README shows is what Accord does."""

import re
import shlex
from pathlib import Path

import pytest

from accord.cli.main import COMMANDS, main
from accord.typing import KINDS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^\*\*(\w+)\.\*\*.*?```console\n(.*?)```", README, flags=re.MULTILINE | re.DOTALL))


def test_there_is_one_example_a_kind():
    assert [name.lower() for name in SECTIONS] == list(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_commands_of_each_kind_run_and_print_what_is_shown(kind, tmp_path, monkeypatch, capsys):
    """A line that is shown may end early, with an ellipsis; the width of columns may differ."""
    monkeypatch.chdir(tmp_path)
    printed: list[str] = []
    for line in SECTIONS[kind.capitalize()].splitlines():
        if line.startswith("$ "):
            program, *arguments = shlex.split(line.removeprefix("$ "))
            assert program == "accord"
            capsys.readouterr()
            assert main(arguments) == 0, capsys.readouterr().err
            printed = [" ".join(one.split()) for one in capsys.readouterr().out.splitlines()]
        else:
            shown = " ".join(line.removesuffix("…").split())
            assert any(one.startswith(shown) for one in printed), (line, printed)


def test_the_python_example_runs(capsys):
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    exec(block, {})
    assert "street-04" in capsys.readouterr().out


def test_the_ranking_shown_is_the_one_printed(capsys):
    """The interval, score and order of every text; the width of the terminal may differ."""
    assert main(["rank", "--example", "arguments", "--method", "bradley_terry"]) == 0
    cells = re.compile(r"│ +(\d+) │ +(\d+) │ (\S+) │ (\S+ … \S+) │ +(\S+) │ +(\d+ %) │ +(\d+ %) │ +(\d+) │ (\S+):")
    printed = cells.findall(capsys.readouterr().out)
    shown = cells.findall(README)
    assert len(shown) == 20
    assert shown == printed[:20]


def test_every_command_is_documented():
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert all(f"`accord {name}" in page for name in COMMANDS)
