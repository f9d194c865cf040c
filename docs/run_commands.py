"""Two directives for pages that show real output: what a page's commands print is what its readers see.

```{accord-file} votes.csv        shows its content and writes it into the folder of the page
```{accord-run}                   runs each `$ accord …` line there and shows what is printed

`:head: 5` and `:tail: 5` show the first or last lines only, `:exit: 1` is the exit code that is expected.
"""

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_FOLDERS: dict[str, tempfile.TemporaryDirectory[str]] = {}
WIDTH = "100"


def folder_of(page: str) -> Path:
    """The folder in which a page's commands run, made when it is first asked for."""
    if page not in _FOLDERS:
        _FOLDERS[page] = tempfile.TemporaryDirectory(prefix="accord-docs-")
    return Path(_FOLDERS[page].name)


def run_command(line: str, folder: Path) -> tuple[str, int]:
    """What one `accord …` line prints, and its exit code."""
    program, *arguments = shlex.split(line, comments=True)
    if program != "accord":
        raise ValueError(f"only accord is run on these pages, and the line is: {line}")
    environment = os.environ | {"COLUMNS": WIDTH, "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-W", "ignore", "-m", "accord", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )
    lines = [text.rstrip() for text in io.StringIO(done.stdout if done.returncode in (0, 1) else done.stderr)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n"), done.returncode


class File(SphinxDirective):
    """A file of the page."""

    has_content = True
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content) + "\n"
        (folder_of(self.env.docname) / self.arguments[0]).write_text(text, encoding="utf-8")
        block = nodes.literal_block(text, text, language="text")
        caption = nodes.caption("", self.arguments[0])
        return [nodes.container("", caption, block, literal_block=True, classes=["literal-block-wrapper"])]


class Run(SphinxDirective):
    """Commands with what they print."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = dict.fromkeys(("head", "tail", "exit"), directives.nonnegative_int)

    def run(self) -> list[nodes.Node]:
        shown = []
        for line in self.content:
            if not line.strip():
                continue
            said, code = run_command(line.removeprefix("$ "), folder_of(self.env.docname))
            if code != self.options.get("exit", 0):
                raise self.error(f"{line} ended with exit code {code}: {said}")
            lines = said.splitlines()
            if "head" in self.options and len(lines) > self.options["head"]:
                lines = [*lines[: self.options["head"]], "…"]
            if "tail" in self.options:
                lines = lines[-self.options["tail"] :] if self.options["tail"] else []
            shown += [line, *lines]
        text = "\n".join(shown)
        return [nodes.literal_block(text, text, language="console")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("accord-file", File)
    app.add_directive("accord-run", Run)
    return {"parallel_read_safe": False, "version": "1"}
