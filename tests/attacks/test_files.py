"""A kill or a full disk leaves the old file or none, never half of one."""

import os
import signal
import subprocess
import sys

import pandas as pd
import pytest

from accord.data.replacing import replacing
from accord.workflows.export import FORMATS, export_as, write_frame
from accord.workflows.projects import open_example

DIES = """
import os, signal, sys
from accord.workflows import export
from accord.cli.main import main

def half(frame, path):
    path.write_text("half of")
    os.kill(os.getpid(), signal.SIGKILL)

export.FORMATS["csv"] = half
main(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    from accord.cli.main import main

    path = tmp_path_factory.mktemp("model") / "m"
    assert main(["train", "aspects", "example:cafe-reviews", "--model", str(path)]) == 0
    return path


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("command", ["export", "predict"])
def test_a_kill_leaves_the_old_file_or_none(there, command, model, tmp_path):
    out = tmp_path / "out"
    if there:
        out.mkdir()
        (out / "items.csv").write_text("old")
    words = {
        "export": ["export", "example:cafe-reviews", "--out", str(out)],
        "predict": ["predict", str(model), "example:cafe-reviews", "--out", str(out / "items.csv")],
    }[command]
    done = subprocess.run([sys.executable, "-c", DIES, *words], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    seen = [
        path for path in out.rglob("*.csv") if not any(part.startswith(".") for part in path.relative_to(out).parts)
    ]
    assert [(path.name, path.read_text()) for path in seen] == ([("items.csv", "old")] if there else [])


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    def full(frame, path):
        path.write_text("half of")
        raise OSError(28, "No space left on device")

    path = tmp_path / "table.csv"
    path.write_text("old")
    monkeypatch.setitem(FORMATS, "csv", full)
    with pytest.raises(OSError, match="No space"):
        write_frame(pd.DataFrame({"a": [1]}), path)
    assert path.read_text() == "old"
    with pytest.raises(OSError, match="No space"):
        export_as(open_example("cafe-reviews"), tmp_path / "new", form="csv")
    assert [entry.name for entry in tmp_path.iterdir()] == ["table.csv"]


def test_links_pipes_and_devices_stay_what_they_are(tmp_path):
    real, link, pipe = (tmp_path / name for name in ("real", "link", "pipe"))
    link.symlink_to(real)
    with replacing(link) as part:
        part.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    os.mkfifo(pipe)
    with replacing(pipe) as part:
        assert part == pipe
    with replacing("/dev/null") as part:
        part.write_text("nothing")
    assert not os.path.isfile("/dev/null")
