"""What `accord` exports: sorted, lazy, documented by examples that run."""

import inspect
import subprocess
import sys

import pytest

import accord

ESTIMATORS = ["AspectRanker", "CollectiveClassifier", "PreferenceRanker", "RationaleClassifier", "ThreadClassifier"]
RECORDS = ["AspectRatings", "Comparisons", "Items", "Links", "Rationales", "Threads"]
OTHERS = [
    "AnchoredRanker",
    "BradleyTerryRanker",
    "IterativeClassifier",
    "MaskingSVMClassifier",
    "PersonalRanker",
    "Project",
]
FUNCTIONS = ["load_model", "open_example", "open_project", "save_model"]
ERRORS = ["AccordError", "ConvergenceWarning", "InputError", "MissingDataError", "MissingDependencyError"]


def test_the_surface_is_the_designed_one_and_sorted():
    assert accord.__all__ == ["__version__", *sorted([*ESTIMATORS, *RECORDS, *OTHERS, *FUNCTIONS, *ERRORS])]
    assert dir(accord) == sorted(accord.__all__)


@pytest.mark.parametrize("name", accord.__all__[1:])
def test_every_exported_name_is_there_and_documented(name):
    found = getattr(accord, name)
    assert found.__name__ == name
    assert inspect.getdoc(found)


@pytest.mark.parametrize("name", [*ESTIMATORS, *RECORDS, *OTHERS, *FUNCTIONS])
def test_every_class_and_function_shows_an_example(name):
    assert ">>> " in inspect.getdoc(getattr(accord, name))


def test_importing_accord_loads_nothing_heavy():
    heavy = "{'pandas', 'sklearn', 'scipy', 'numba', 'sqlalchemy', 'typer'}"
    code = f"import sys, accord; print(sorted({heavy} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        accord.Nothing  # noqa: B018
