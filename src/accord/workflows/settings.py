"""Settings of a model as people write them: ``key=value``."""

import json
from collections.abc import Mapping, Sequence
from inspect import signature
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
    """An estimator with some of its parameters set; a name it does not have, or text for a number, is refused."""
    known = {name: entry.default for name, entry in signature(kind).parameters.items()}
    for key, value in settings.items():
        if key not in known:
            raise InputError(f"{kind.__name__} has no setting {key!r}; it has {', '.join(sorted(known))}.")
        if isinstance(known[key], int | float) and isinstance(value, str | list | dict):
            raise InputError(f"the setting {key!r} of {kind.__name__} must be a number; got {value!r}.")
        if key == "random_state" and value is not None and not (isinstance(value, int) and value >= 0):
            raise InputError(f"the setting 'random_state' must be null or a whole number of at least 0; got {value!r}.")
    return kind(**settings)
