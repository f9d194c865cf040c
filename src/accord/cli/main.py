"""The entry point: finds the command's file, runs it, and turns what goes wrong into one sentence and an exit code.

Exit codes: 0 done; 2 bad input, one sentence on standard error; 130 stopped by Ctrl-C; 141 the reader of the output
went away, as of ``accord … | head``; 1 a bug in Accord, with its traceback. A command's file is imported only when the
command is used, so that ``accord --help`` is fast.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from accord import __version__
from accord.errors import InputError

__all__ = ["COMMANDS", "main"]

# Command: the file in this folder that has its ``app``, and what it does.
COMMANDS = {
    "import": ("import_", "Read tables or another tool's files into a project."),
    "train": ("train", "Train a model on a project and save it."),
    "predict": ("predict", "Apply a model to a project."),
    "evaluate": ("evaluate", "Say how good a model is on your own judgements."),
    "rank": ("rank", "Rank texts by votes, with intervals, or find the best comments."),
    "ask": ("ask", "Say which questions are worth asking next."),
    "simulate": ("simulate", "Replay a project to see how fast each way of asking learns."),
    "explain": ("explain", "Say why a model judges a text as it does."),
    "agree": ("agree", "Say how much people agree, beyond chance."),
    "estimate": ("estimate", "Estimate a share, a mean or ranks from few people and many judges."),
    "report": ("report", "Write a project's report as one HTML page."),
    "reproduce": ("reproduce", "Rebuild a paper's tables beside its own figures."),
    "datasets": ("datasets", "List the public corpora, say how to get them, and check them."),
    "studio": ("studio", "Open the web page where people judge."),
    "export": ("export", "Write a project as tables or as another tool's files."),
    "completion": ("completion", "Print what makes the Tab key complete commands in a shell."),
}
# What people want to do, and the commands for it.
_AIMS = {
    "Bring judgements in, and collect more": ("import", "studio", "ask"),
    "See what people think": ("rank", "agree", "estimate", "report"),
    "Learn, and judge new texts": ("evaluate", "train", "predict", "explain"),
    "Take results elsewhere": ("export", "completion"),
    "Check Accord itself": ("simulate", "reproduce", "datasets"),
}
_BAD_INPUT, _INTERRUPTED, _CLOSED_PIPE = 2, 130, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stderr is None:  # closed by whoever started this: there is nobody to tell, but the exit code
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - kept until the process ends
    if sys.stdout is None:
        return _fail("there is nowhere to write to: standard output is closed. Send it to a file, or to /dev/null.")
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit) as error:  # the framework turns a closed pipe into SystemExit
        if isinstance(error, SystemExit) and error.code in (0, None):
            return 0
        _silence_stdout()
        return _CLOSED_PIPE
    except KeyboardInterrupt:
        _say("stopped.")
        return _INTERRUPTED
    except InputError as error:
        return _fail(str(error))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fail(f"{where}{error.strerror or error}.")
    return code


def _dispatch(arguments: Sequence[str]) -> int:
    if not arguments or arguments[0] in ("--help", "-h", "help"):
        sys.stdout.write(_help())
        return 0
    if arguments[0] in ("--version", "-V"):
        sys.stdout.write(f"accord {__version__}\n")
        return 0
    name, *rest = arguments
    if name not in COMMANDS:
        from difflib import get_close_matches

        what = "option" if name.startswith("-") else "command"
        close = get_close_matches(name, COMMANDS, 1)
        meant = f"Did you mean 'accord {close[0]}'?" if close else "Try 'accord --help'."
        raise InputError(f"there is no {what} {name!r}; the commands are {', '.join(COMMANDS)}. {meant}")
    return _run(name, _command_module(name), rest)


def _command_module(name: str) -> ModuleType:
    path = f"accord.cli.{COMMANDS[name][0]}"
    try:
        return import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
        raise InputError(f"'accord {name}' is not part of this version ({__version__}).") from None


def _run(name: str, module: ModuleType, arguments: Sequence[str]) -> int:
    import typer

    command = typer.main.get_command(module.app)
    try:
        result = command.main(args=list(arguments), prog_name=f"accord {name}", standalone_mode=False)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except _usage_error() as error:
        raise InputError(f"{error.format_message().rstrip('.')}. Try 'accord {name} --help'.") from None
    if result == _INTERRUPTED:
        raise KeyboardInterrupt
    return result if isinstance(result, int) else 0


def _usage_error() -> Any:
    """The class of all errors of usage: older releases of typer raise click's, newer ones their own copy."""
    import typer

    return next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = {name: f"  {name:<{width}}  {what}" for name, (_, what) in COMMANDS.items()}
    rows = "\n\n".join(f"{aim}:\n" + "\n".join(lines[name] for name in names) for aim, names in _AIMS.items())
    return (
        "Usage: accord COMMAND [OPTIONS]\n\n"
        "Accord learns from what people judge about texts.\n\n"
        f"{rows}\n\n"
        "Options:\n  --help     Show this, or after a command the help of that command.\n"
        "  --version  Show the version.\n"
    )


def _fail(sentence: str) -> int:
    _say(sentence)
    return _BAD_INPUT


def _say(sentence: str) -> None:
    sys.stderr.write(f"accord: {' '.join(sentence.split())}\n")


def _silence_stdout() -> None:
    """Keep the interpreter from complaining about the closed pipe once more when it flushes at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # a captured stdout has no file behind it
        return
