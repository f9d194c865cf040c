"""Check that the built release is whole, try its wheel in an environment of its own, and write its notes."""

import re
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path

import first_hour

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
NAME = "accord_learn"


def read(name: str) -> str:
    """A file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def version() -> str:
    """The version of the package, which CITATION.cff has too."""
    found = re.search(
        r'^__version__ = "(.+)"$', (ROOT / "src/accord/__init__.py").read_text(encoding="utf-8"), re.MULTILINE
    )
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    if found is None or cited is None or found[1] != cited[1]:
        raise SystemExit("src/accord/__init__.py and CITATION.cff have to name the same version.")
    return found[1]


def notes(release: str) -> str:
    """The section of the changelog about this release."""
    text = read("CHANGELOG.md")
    section = re.search(rf"^## \[{re.escape(release)}\][^\n]*\n(.*?)(?=^## \[|^\[|\Z)", text, re.MULTILINE | re.DOTALL)
    if section is None or not section[1].strip():
        raise SystemExit(f"CHANGELOG.md has no section [{release}]. Rename [Unreleased] to it, with the date.")
    return section[1].strip() + "\n"


def unreleased() -> int:
    """How many entries of the changelog belong to no release yet, and so are not in the notes."""
    section = re.search(r"^## \[Unreleased\]\n(.*?)(?=^## \[)", read("CHANGELOG.md"), re.MULTILINE | re.DOTALL)
    return 0 if section is None else len(re.findall(r"^- ", section[1], re.MULTILINE))


def check_files(wheel: Path, source: Path) -> None:
    """Every file of the package that is in the repository is in the wheel, and the source package has the tests."""
    said = subprocess.run(["git", "ls-files", "src/accord"], cwd=ROOT, capture_output=True, text=True, check=True)
    listed = said.stdout.split()
    with zipfile.ZipFile(wheel) as packed:
        missing = {name.removeprefix("src/") for name in listed} - set(packed.namelist())
    if missing:
        raise SystemExit(f"{wheel.name} lacks {len(missing)} files, the first is {min(missing)}.")
    with tarfile.open(source) as packed:
        if not any(name.endswith("tests/test_readme.py") for name in packed.getnames()):
            raise SystemExit(f"{source.name} lacks the tests.")


def try_wheel(wheel: Path, release: str) -> None:
    """Install the wheel alone, ask for its version, and run the first commands of people with it."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        accord = first_hour.install(wheel, folder / "env")
        code = "import accord; print(accord.__version__)"
        python = accord.with_name("python")
        said = subprocess.run([python, "-I", "-c", code], cwd=folder, capture_output=True, text=True, check=True)
        if said.stdout.strip() != release:
            raise SystemExit(f"the installed wheel calls itself {said.stdout.strip()}, not {release}.")
        first_hour.run(accord, folder)


def main() -> None:
    """Check, try, write ``dist/NOTES.md`` and print what is left to do."""
    release = version()
    wheel, source = DIST / f"{NAME}-{release}-py3-none-any.whl", DIST / f"{NAME}-{release}.tar.gz"
    check_files(wheel, source)
    try_wheel(wheel, release)
    (DIST / "NOTES.md").write_text(notes(release), encoding="utf-8")
    print(f"{wheel.name} and {source.name} are whole; the wheel installs and does what people begin with.")
    print("The notes are in dist/NOTES.md. What is left to do:")
    if n := unreleased():
        print(f"  name the version: {n} entries under [Unreleased] in CHANGELOG.md are not in the notes")
    print(f"  git tag --annotate v{release} --file dist/NOTES.md --cleanup=verbatim && git push origin v{release}")
    print(f"  twine upload dist/{NAME}-{release}*")


if __name__ == "__main__":
    main()
