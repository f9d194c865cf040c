"""From the installation to results, as somebody goes who has a spreadsheet: at most three commands for each.

``python .ci/first_hour.py [WHEEL]`` installs the wheel, built first unless it is given, in an environment of its own
that has nothing of the repository, and runs the commands below there on spreadsheets as people have them. Nothing but
the package index is needed; packages that were installed before come from uv's cache.
"""

import resource
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PEOPLE = ROOT / "tests" / "data" / "people"
FILES = {"votes.xlsx": "votes_two_sheets.xlsx", "reviews.xlsx": "reviews_by_month.xlsx"}
NEW = "review\nThe lasagne was warm and lovely.\nThe noodles came cold and late.\n"
# What people type, and what has to stand in the answer.
RANKING = (("accord rank votes.xlsx", "Lovely room"),)
REVIEWS = (
    ("accord evaluate aspects reviews.xlsx", "48 scores"),
    ("accord train aspects reviews.xlsx --model reviews.accord", "reviews.accord"),
    ("accord predict reviews.accord new.csv --out predicted.csv", "predicted.csv"),
)


def seconds() -> float:
    """What the programs that were started have used of a processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def build(folder: Path) -> Path:
    """The wheel of the repository."""
    uv = Path(sys.executable).with_name("uv")
    subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", folder, ROOT], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, folder: Path) -> Path:
    """A fresh environment with the wheel; returns its ``accord``."""
    venv.create(folder, with_pip=False)
    python, uv = folder / "bin" / "python", Path(sys.executable).with_name("uv")
    command = [uv, "pip", "install", "--quiet", "--python", python, "-c", ROOT / "constraints.txt", wheel]
    subprocess.run(command, check=True)
    return python.with_name("accord")


def run(accord: Path, folder: Path) -> None:
    """Run the commands in a folder with the spreadsheets, and check what they say."""
    for name, source in FILES.items():
        shutil.copy(PEOPLE / source, folder / name)
    (folder / "new.csv").write_text(NEW, encoding="utf-8")
    for path in (RANKING, REVIEWS):
        for line, expected in path:
            before = seconds()
            command = [accord, *line.split()[1:]]
            said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            if said.returncode or expected not in said.stdout:
                raise SystemExit(f"{line!r} ended with {said.returncode}: {said.stdout[-800:]}{said.stderr[-800:]}")
            print(f"{seconds() - before:5.1f} s  {line}", flush=True)
    rows = (folder / "predicted.csv").read_text(encoding="utf-8-sig").splitlines()
    if len(rows) != 5:  # two reviews, two aspects, and the names of the columns
        raise SystemExit(f"predicted.csv has {len(rows)} lines, not 5.")


def main(given: list[str]) -> None:
    """Build if need be, install, run."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        wheel = Path(given[0]).resolve() if given else build(folder / "dist")
        accord = install(wheel, folder / "env")
        print(f"{seconds():5.1f} s  pip install {wheel.name}", flush=True)
        (folder / "desk").mkdir()
        run(accord, folder / "desk")


if __name__ == "__main__":
    main(sys.argv[1:])
