"""What a test may ask of the machine it runs on."""

import os

import pytest


def missing(reason: str) -> None:
    """Skip for a missing component; a failure where everything is required (ACCORD_REQUIRE_ALL=1)."""
    if os.environ.get("ACCORD_REQUIRE_ALL") == "1":
        pytest.fail(f"ACCORD_REQUIRE_ALL=1, but {reason}")
    pytest.skip(reason)
