"""Every command line in the documentation is one that the program takes."""

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
import typer

from accord.cli.main import COMMANDS

DOCS = Path(__file__).parents[2] / "docs"
LINES = sorted(
    {
        (page.name, line.removeprefix("$ "))
        for page in DOCS.glob("*.md")
        for block in re.findall(r"^```\w*\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
        if line.removeprefix("$ ").startswith("accord ")
    }
)


def test_the_documentation_shows_commands():
    assert {"aspects.md", "threads.md", "interop.md"} <= {page for page, _ in LINES}


@pytest.mark.parametrize("page, line", LINES)
def test_a_documented_command_is_understood(page, line):
    name, *arguments = shlex.split(line, comments=True)[1:]
    command = typer.main.get_command(import_module(f"accord.cli.{COMMANDS[name][0]}").app)
    command.make_context(f"accord {name}", arguments)
