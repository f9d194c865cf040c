"""The errors and warnings that Accord raises.

::

    AccordError
    └── InputError (ValueError)       what a person gave breaks a rule; the message says rule, value and cure
        ├── MissingDataError          a corpus or file is not where it was looked for
        └── MissingDependencyError    an optional library is not installed

    ConvergenceWarning (UserWarning)  an iteration stopped before its tolerance; names the residual and the cure

The command line turns every :class:`InputError` into one sentence and exit code 2; anything else is a bug.
"""

__all__ = ["AccordError", "ConvergenceWarning", "InputError", "MissingDataError", "MissingDependencyError"]


class AccordError(Exception):
    """Base of all errors that Accord raises on purpose."""


class InputError(AccordError, ValueError):
    """Something that a person gave breaks a rule.

    The message is one sentence, or two: the rule, the value it got and where, and the cure.
    """


class MissingDataError(InputError):
    """A corpus or a file is not where it was looked for."""


class MissingDependencyError(InputError):
    """An optional library is needed and not installed."""


class ConvergenceWarning(UserWarning):
    """An iteration stopped before it reached its tolerance."""
