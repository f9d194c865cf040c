"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from requirements import missing

pytest_plugins = ["databases"]

settings.register_profile("accord", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("accord")


@pytest.fixture(scope="session")
def accord_data() -> Path:
    """The folder of the real corpora."""
    folder = os.environ.get("ACCORD_DATA")
    if not folder:
        missing("ACCORD_DATA is not set: it names the folder of the real corpora.")
    path = Path(folder)
    if not path.is_dir():
        missing(f"ACCORD_DATA names {path}, which is not a folder.")
    return path


@pytest.fixture(scope="module", autouse=True)
def fresh_processes():
    """End joblib's processes after each file of tests, with the memory that they hold."""
    yield
    from joblib.externals.loky import reusable_executor

    if reusable_executor._executor is not None:
        reusable_executor._executor.shutdown(wait=True, kill_workers=True)
