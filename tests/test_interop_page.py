"""What the page on other tools shows is what Accord does."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from accord.cli.main import main
from accord.data.formats.registry import format_names, format_of
from accord.data.project import Project

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "interop.md").read_text(encoding="utf-8")
SAMPLES = ROOT / "tests" / "data" / "formats" / "samples"
RECIPES = dict(re.findall(r"^## ([^\n]+)\n.*?```console\n(.*?)```", PAGE, flags=re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("tool", [name for name in RECIPES if name != "Hugging Face"])
def test_the_commands_of_each_tool_run(tool, tmp_path, monkeypatch, capsys):
    shutil.copytree(SAMPLES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    lines = RECIPES[tool].splitlines()
    if tool == "Plain tables":
        lines += RECIPES["Hugging Face"].splitlines()
    for line in lines:
        program, *arguments = shlex.split(line.removeprefix("$ "))
        assert program == "accord"
        assert main(arguments) == 0, capsys.readouterr().err
        out = Path(arguments[-1])
        if arguments[0] == "import":
            assert sum(Project.load(out).counts.values()) > 0
        else:
            assert any(path.is_file() for path in out.rglob("*"))


def test_every_format_is_on_the_page():
    lines = PAGE[: PAGE.index("\n## ")].splitlines()
    rows = {name: line for line in lines if (name := line.split("`")[1] if line.startswith("| `") else "")}
    assert list(rows) == ["tables", *sorted_as_on_page()]
    for name in format_names():
        writes = rows[name].split("|")[3].strip()
        assert (writes == "–") == (format_of(name).write is None)


def sorted_as_on_page():
    order = re.findall(r"^\| `([a-z-]+)`", PAGE, flags=re.MULTILINE)[1:]
    assert sorted(order) == sorted(format_names())
    return order


def test_a_format_of_another_package_is_found_and_read(tmp_path, monkeypatch, capsys):
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    names = {}
    exec(block, names)

    class Entry:
        name = "my-tool"

        def load(self):
            return names["FORMAT"]

    monkeypatch.setattr("accord.data.formats.registry.entry_points", lambda *, group: [Entry()])
    (tmp_path / "x.mine").write_text("Short.\nThis line is rather long.\n", encoding="utf-8")
    assert main(["import", str(tmp_path / "x.mine"), "--out", str(tmp_path / "p")]) == 0
    assert "its name ends in .mine" in capsys.readouterr().out
    assert Project.load(tmp_path / "p").labels().tolist() == ["short", "long"]
