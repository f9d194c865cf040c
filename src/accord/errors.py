"""The errors and warnings that Accord raises.

::

    AccordError
    └── InputError (ValueError)       what a person gave breaks a rule; the message says rule, value and cure
        ├── MissingDataError          a corpus or file is not where it was looked for
        └── MissingDependencyError    an optional library is not installed

    ConvergenceWarning (UserWarning)  an iteration stopped before its tolerance; names the residual and the cure

The command line turns every :class:`InputError` into one sentence and exit code 2; anything else is a bug.
"""

from collections.abc import Iterable

__all__ = [
    "AccordError",
    "ConvergenceWarning",
    "InputError",
    "MissingDataError",
    "MissingDependencyError",
    "did_you_mean",
]


class AccordError(Exception):
    """Base of all errors that Accord raises on purpose."""


# What ends a line or steers a terminal, as it is written in a string: messages quote what people's files contain.
_CONTROLS = {code: repr(chr(code))[1:-1] for code in (*range(32), *range(127, 160), 0x2028, 0x2029)}

_LONGEST = 1000


class InputError(AccordError, ValueError):
    """Something that a person gave breaks a rule.

    The message is one sentence, or two: the rule, the value it got and where, and the cure. It is always one line, and
    the middle of one that quotes too much is left out.

    Parameters
    ----------
    message : str
        What is wrong, and how to put it right.
    """

    def __init__(self, message: str = "") -> None:
        line = message.translate(_CONTROLS)
        super().__init__(line if len(line) <= _LONGEST else f"{line[:700]} … {line[-250:]}")


class MissingDataError(InputError):
    """A corpus or a file is not where it was looked for."""


class MissingDependencyError(InputError):
    """An optional library is needed and not installed."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The cure of a misspelt word, to be put behind a sentence; empty where no known word is close.

    Examples
    --------
    >>> did_you_mean("aspect", ["pairs", "aspects"]), did_you_mean("x", ["pairs"])
    (" Did you mean 'aspects'?", '')
    """
    from difflib import get_close_matches

    close = get_close_matches(word, [str(name) for name in known], 1)
    return f" Did you mean {close[0]!r}?" if close else ""


class ConvergenceWarning(UserWarning):
    """An iteration stopped before it reached its tolerance."""
