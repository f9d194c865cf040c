"""Settings of a model as people write them: ``key=value``."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from accord.errors import InputError

__all__ = ["configured", "parse_settings"]

Estimator = TypeVar("Estimator")


def parse_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """``["alpha=0.1", "engine=lbp"]`` as a dictionary; values are read as JSON where they can be, else as text."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InputError(f"a setting is written key=value; got {pair!r}.")
        try:
            settings[key] = json.loads(value)
        except json.JSONDecodeError:
            settings[key] = value
    return settings


def configured(kind: type[Estimator], settings: Mapping[str, Any]) -> Estimator:
    """An estimator with some of its parameters set; a name it does not have is refused."""
    known = kind._get_param_names()  # type: ignore[attr-defined]  # every scikit-learn estimator has it
    for key in settings:
        if key not in known:
            raise InputError(f"{kind.__name__} has no setting {key!r}; it has {', '.join(known)}.")
    return kind(**settings)
