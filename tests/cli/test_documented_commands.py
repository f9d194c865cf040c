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


INLINE = sorted(
    {
        (page.name, line)
        for page in DOCS.glob("*.md")
        for line in re.findall(r"`(accord [a-z]+ [^`\n]*--[^`\n]*)`", page.read_text(encoding="utf-8"))
    }
)


def test_the_documentation_shows_commands():
    assert {"aspects.md", "threads.md", "interop.md"} <= {page for page, _ in LINES}


@pytest.mark.parametrize("page, line", LINES)
def test_a_documented_command_is_understood(page, line):
    name, *arguments = shlex.split(line, comments=True)[1:]
    command = typer.main.get_command(import_module(f"accord.cli.{COMMANDS[name][0]}").app)
    command.make_context(f"accord {name}", arguments)


@pytest.mark.parametrize("page, line", INLINE)
def test_a_command_inside_a_sentence_has_the_options_it_shows(page, line):
    command = typer.main.get_command(import_module(f"accord.cli.{COMMANDS[line.split()[1]][0]}").app)
    options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert set(re.findall(r"(?<!\S)--[a-z-]+", line)) <= options
