"""The table of words: which module does what for each kind of judgement."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from accord.errors import InputError
from accord.typing import WORDS

__all__ = ["check_word", "experiment_module", "has_word", "verb_of", "word_module"]


def check_word(word: str) -> str:
    """The word itself, if it is one of the five."""
    if word not in WORDS:
        raise InputError(f"the kind of judgement must be one of {', '.join(WORDS)}; got {word!r}.")
    return word


def word_module(word: str) -> ModuleType:
    """``accord.workflows.<word>``: train, predict and explain for one kind of judgement."""
    return _module(f"accord.workflows.{check_word(word)}", f"the model of {word}")


def has_word(word: str) -> bool:
    """Whether this version of Accord has the model of a word."""
    return find_spec(f"accord.workflows.{check_word(word)}") is not None


def experiment_module(word: str) -> ModuleType:
    """``accord.experiments.<word>``: the tables of one paper."""
    return _module(f"accord.experiments.{check_word(word)}", f"the experiment of {word}")


def verb_of(word: str, verb: str) -> Callable[..., Any]:
    """One function of a word's module; a verb that the word does not know is bad input, not a bug."""
    module = word_module(word)
    if not hasattr(module, verb):
        raise InputError(f"'{verb}' means nothing for {word}. Use it with another kind of judgement.")
    function: Callable[..., Any] = getattr(module, verb)
    return function


def _module(path: str, what: str) -> ModuleType:
    try:
        return import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
        raise InputError(f"{what} is not part of this version of Accord.") from None
