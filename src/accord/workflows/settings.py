"""Settings of a model as people write them: ``key=value``."""

import json
from collections.abc import Mapping, Sequence
from inspect import Parameter, signature
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin

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
    """An estimator with some of its parameters set; a name it does not have, or a value of another kind, is refused."""
    known = signature(kind).parameters
    for key, value in settings.items():
        if key not in known:
            raise InputError(f"{kind.__name__} has no setting {key!r}; it has {', '.join(sorted(known))}.")
        rule = _broken_rule(known[key], value)
        if rule is not None:
            raise InputError(f"the setting {key!r} of {kind.__name__} must be {rule}; got {json.dumps(value)}.")
        if key == "random_state" and value is not None and not (isinstance(value, int) and value >= 0):
            raise InputError(f"the setting 'random_state' must be null or a whole number of at least 0; got {value!r}.")
    return kind(**settings)


def _broken_rule(parameter: Parameter, value: Any) -> str | None:
    """What a value should have been, judged by the parameter's default and its type; ``None`` where it may be so."""
    kinds = get_args(parameter.annotation) or (parameter.annotation,)
    default = parameter.default
    if isinstance(default, bool):
        return None if isinstance(value, bool) else "true or false"
    if not isinstance(default, int | float) or (value is None and NoneType in kinds):
        return None
    if isinstance(value, list):
        return None if any(get_origin(kind) is Sequence for kind in kinds) else "a number"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "a number"
    whole = isinstance(default, int) and float not in kinds
    return "a whole number" if whole and not isinstance(value, int) else None
