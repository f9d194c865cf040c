"""Run the Python blocks of pages, each page in a fresh namespace and an empty folder, as `make docs` does.

python docs/run_snippets.py docs/*.md
"""

import ast
import builtins
import contextlib
import io
import os
import re
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_GIVEN = {*dir(builtins), "__name__", "__file__"}


def snippets(page: Path) -> list[str]:
    """The Python blocks of a page."""
    return _BLOCK.findall(page.read_text(encoding="utf-8"))


def undefined_names(code: str) -> set[str]:
    """Names that are read somewhere in the code and made nowhere in it."""
    made, read = set(_GIVEN), set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else made).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            made.add(node.name)
        elif isinstance(node, ast.arg):
            made.add(node.arg)
        elif isinstance(node, ast.alias):
            made.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            made.add(node.name)
    return read - made


def run_page(page: Path) -> str:
    """Run the blocks of a page one after the other; what they print."""
    said, names = io.StringIO(), {"__name__": "page"}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(said), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.chdir(folder)
        try:
            for number, code in enumerate(snippets(page), start=1):
                exec(compile(code, f"{page.name}, block {number}", "exec"), names)
        finally:
            os.chdir(before)
    return said.getvalue()


def main(pages: list[Any]) -> None:
    """Run pages and say how long each took."""
    for page in map(Path, pages):
        if snippets(page):
            start = time.perf_counter()
            run_page(page.resolve())
            print(f"{page.name}: {len(snippets(page))} blocks ran in {time.perf_counter() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
