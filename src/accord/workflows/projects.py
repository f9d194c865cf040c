"""Open what people name on the command line: a project's folder, an example, or raw tables."""

from importlib.resources import files
from pathlib import Path

from accord.data.project import Project
from accord.errors import InputError
from accord.workflows.import_ import project_of_tables

__all__ = ["example_names", "open_example", "open_project"]


def example_names() -> list[str]:
    """The example projects that ship with Accord."""
    folder = files("accord") / "examples"
    return sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and (entry / "project.json").is_file())


def open_example(name: str) -> Project:
    """One of the example projects."""
    if name not in example_names():
        raise InputError(f"there is no example {name!r}; there are {', '.join(example_names())}.")
    return Project.load(Path(str(files("accord") / "examples" / name)))


def open_project(path: str | Path, *, word: str | None = None) -> Project:
    """A project's folder, or a raw table; ``word`` says which kind of judgement it must have."""
    path = Path(path)
    if path.is_file() and word is not None:
        return project_of_tables(word, [path])
    project = Project.load(path)
    if word is not None and project.word != word:
        raise InputError(f"{path} is a project of {project.word}; a project of {word} is needed.")
    return project
