"""Settings of estimators: what each may be, declared once, and how people write them (``key=value``)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from math import inf, isfinite
from numbers import Integral, Real
from typing import Any, Protocol, TypeVar

import numpy as np

from accord.errors import InputError, did_you_mean

__all__ = [
    "Choice",
    "Flag",
    "Many",
    "Number",
    "Object",
    "Rule",
    "Seed",
    "check_settings",
    "configured",
    "parse_settings",
]

Estimator = TypeVar("Estimator")


class Rule(Protocol):
    """What a setting may be."""

    def allows(self, value: Any) -> bool:
        """Whether a value keeps the rule."""

    def describe(self) -> str:
        """The rule in words, to stand behind "must be"."""


@dataclass(frozen=True)
class Number:
    """A finite number in a range, or one of a few words; ``None`` where ``none`` says what that means.

    Examples
    --------
    >>> Number(1, whole=True).describe()
    'a whole number of at least 1'
    >>> Number(0, above=True, words=("auto",)).describe()
    "a number above 0 or 'auto'"
    >>> Number(0, 1).allows(float("nan"))
    False
    """

    low: float = -inf
    high: float = inf
    whole: bool = False
    above: bool = False  # the lower end itself is not allowed
    below: bool = False  # the upper end itself is not allowed
    words: tuple[str, ...] = ()
    none: bool = False

    def allows(self, value: Any) -> bool:
        if value is None:
            return self.none
        if isinstance(value, str):
            return value in self.words
        if isinstance(value, bool | np.bool_) or not isinstance(value, Integral if self.whole else Real):
            return False
        number = float(value)
        over = number > self.low if self.above else number >= self.low
        under = number < self.high if self.below else number <= self.high
        return isfinite(number) and over and under

    def describe(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        low = f"{'above' if self.above else 'of at least'} {self.low:g}"
        high = f"{'below' if self.below else 'of at most'} {self.high:g}"
        ends = [text for text, end in ((low, self.low), (high, self.high)) if isfinite(end)]
        return _either([" ".join([kind, " and ".join(ends)]).strip(), *map(repr, self.words), *_none(self.none)])


@dataclass(frozen=True)
class Choice:
    """One of a few words; ``kinds`` are types of which any object will do.

    Examples
    --------
    >>> Choice(("lbp", "mean_field")).describe()
    "'lbp' or 'mean_field'"
    """

    words: tuple[str, ...]
    none: bool = False
    kinds: tuple[type, ...] = ()

    def allows(self, value: Any) -> bool:
        if value is None:
            return self.none
        return isinstance(value, self.kinds) or (isinstance(value, str) and value in self.words)

    def describe(self) -> str:
        kinds = (f"an object of {kind.__name__}" for kind in self.kinds)
        return _either([*map(repr, self.words), *kinds, *_none(self.none)])


@dataclass(frozen=True)
class Flag:
    """True or false; ``None`` where ``none`` says what that means."""

    none: bool = False

    def allows(self, value: Any) -> bool:
        return self.none if value is None else isinstance(value, bool | np.bool_)

    def describe(self) -> str:
        return _either(["true", "false", *_none(self.none)])


@dataclass(frozen=True)
class Many:
    """A list, not empty, of values that each keep a rule, or one such value where ``one``; ``None`` where ``none``.

    ``size`` is how many there must be.
    """

    each: Rule
    one: bool = False
    none: bool = False
    size: int | None = None

    def allows(self, value: Any) -> bool:
        if value is None:
            return self.none
        if isinstance(value, list | tuple | np.ndarray):
            return len(value) > 0 and len(value) == (self.size or len(value)) and all(map(self.each.allows, value))
        return self.one and self.each.allows(value)

    def describe(self) -> str:
        several = f"a list{f' of {self.size}' if self.size else ''} in which each is {self.each.describe()}"
        return _either([*([self.each.describe()] if self.one else []), several, *_none(self.none)])


@dataclass(frozen=True)
class Object:
    """An object of one of some types, which ``what`` describes; ``None`` where ``none``."""

    what: str
    types: tuple[Any, ...]
    none: bool = True

    def allows(self, value: Any) -> bool:
        return self.none if value is None else isinstance(value, self.types)

    def describe(self) -> str:
        return _either([self.what, *_none(self.none)])


@dataclass(frozen=True)
class Seed:
    """Where randomness starts: ``None``, a whole number, or a generator."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, np.random.Generator | np.random.RandomState) or Number(
            0, whole=True, none=True
        ).allows(value)

    def describe(self) -> str:
        return "null or a whole number of at least 0"


def _none(allowed: bool) -> list[str]:
    return ["null"] if allowed else []


def _either(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"


def check_settings(estimator: Any) -> None:
    """Refuse a setting that breaks the rule that the estimator's class declares for it in ``SETTINGS``."""
    for name, rule in getattr(type(estimator), "SETTINGS", {}).items():
        value = getattr(estimator, name)
        if not rule.allows(value):
            meant = did_you_mean(value, rule.words) if isinstance(rule, Choice) and isinstance(value, str) else ""
            raise InputError(
                f"the setting {name!r} of {type(estimator).__name__} must be {rule.describe()}; got {_shown(value)}."
                f"{meant}"
            )


def configured(kind: type[Estimator], settings: Mapping[str, Any]) -> Estimator:
    """An estimator with some of its settings; a name it does not have, or a value it may not have, is refused."""
    known = signature(kind).parameters
    for key in settings:
        if key not in known:
            meant = did_you_mean(key, known)
            raise InputError(f"{kind.__name__} has no setting {key!r}; it has {', '.join(sorted(known))}.{meant}")
    estimator = kind(**settings)
    check_settings(estimator)
    return estimator


def parse_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """``["alpha=0.1", "engine=lbp"]`` as a dictionary; values are read as JSON where they can be, else as text."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InputError(f"a setting is written key=value; got {pair!r}. Write, for example, random_state=1.")
        try:
            settings[key] = json.loads(value)
        except json.JSONDecodeError:
            settings[key] = value
    return settings


def _shown(value: Any) -> str:
    """A value as people wrote it."""
    try:
        return json.dumps(value)
    except (TypeError, ValueError):
        return repr(value)
