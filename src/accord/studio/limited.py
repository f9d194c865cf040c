"""Work in a process of its own, with limits of time and memory: whatever goes wrong there stops nobody else."""

import contextlib
import logging
import math
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from accord.errors import InputError

__all__ = ["FailedError", "Job", "Limits", "prepare", "run"]

_LOG = logging.getLogger("accord.limited")
_METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
_CONTEXT: Any = multiprocessing.get_context(_METHOD)

# What the system sends to a process that has used up its seconds of the processor; there is no such thing on Windows.
_TIME_IS_UP = int(getattr(signal, "SIGXCPU", 0))

_is_prepared = False

Result = TypeVar("Result")


def prepare(*modules: str) -> None:
    """Import what processes need once, beside what else goes on; each is then a fork of that, and starts at once."""
    global _is_prepared
    if _METHOD == "forkserver" and not _is_prepared:
        _is_prepared = True
        from multiprocessing import forkserver

        _CONTEXT.set_forkserver_preload(["accord.studio.limited_work", *modules])
        with _interrupts_ignored():
            forkserver.ensure_running()


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """A process that is started here never hears of Ctrl-C: it would say where in its imports it was disturbed."""
    if threading.current_thread() is not threading.main_thread():  # nobody else may set handlers
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@dataclass(frozen=True)
class Limits:
    """What a piece of work may take, and what a person can do where that is too little."""

    seconds: float  # of the processor; a busy machine does not use them up
    megabytes: int
    cure: str
    nice: int = 0  # how far it stands back behind other processes, up to 19
    patience: float = 8.0  # work that waits is ended after so many times the seconds

    @property
    def wall(self) -> float:
        """The seconds after which work is ended whatever it did meanwhile."""
        return self.patience * self.seconds


class FailedError(Exception):
    """Work that did not end well; the text says why, and what can be done."""


class Job:
    """A function that runs in a process of its own.

    Parameters
    ----------
    work : callable
        A function of a module, and its arguments; the result must fit into a message of 1 GiB.
    limits : Limits
    """

    def __init__(self, work: Callable[..., Any], *arguments: Any, limits: Limits) -> None:
        prepare()
        self.limits, self.started = limits, time.monotonic()
        self._ours, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_child, args=(theirs, limits, work, arguments), daemon=True)
        self._process.start()
        theirs.close()

    @property
    def seconds(self) -> float:
        """How long the work has been going on."""
        return time.monotonic() - self.started

    def is_done(self, *, wait: float = 0.0) -> bool:
        """Whether there is a result or a failure to fetch."""
        left = self.limits.wall - self.seconds
        return self._ours.poll(max(0.0, min(wait, left))) or self.seconds > self.limits.wall

    def result(self) -> Any:
        """What the function returned; what it raised is raised here, bad input as it is and all else as a failure."""
        try:
            if not self._ours.poll(0.0):  # time is up
                raise FailedError(f"it was not done after {self.limits.wall:g} seconds. {self.limits.cure}")
            outcome, value = pickle.loads(self._ours.recv_bytes(2**30))
        except (EOFError, OSError) as error:
            self._process.join(5.0)
            code = self._process.exitcode
            if code == -_TIME_IS_UP:
                raise FailedError(
                    f"it took more than {self.limits.seconds:g} seconds of the processor. {self.limits.cure}"
                ) from error
            raise FailedError(
                f"its process ended with the code {code}, most likely because it took more than "
                f"{self.limits.megabytes:,} MB of memory. {self.limits.cure}"
            ) from error
        finally:
            self.stop()
        if outcome == "done":
            return value
        if outcome == "refused":
            raise value
        if outcome == "memory":
            raise FailedError(f"it took more than {self.limits.megabytes:,} MB of memory. {self.limits.cure}")
        _LOG.error("%s", value[1])
        raise FailedError(f"{value[0]}. This is a fault of Accord; please report it with the log of the server.")

    def stop(self) -> None:
        """End the process, whatever it does."""
        if self._process.is_alive():
            self._process.kill()
        self._process.join(5.0)
        self._ours.close()


def run(work: Callable[..., Result], *arguments: Any, limits: Limits) -> Result:
    """What a function returns, computed in a process of its own."""
    job = Job(work, *arguments, limits=limits)
    try:
        while not job.is_done(wait=1.0):
            pass
    except BaseException:
        job.stop()
        raise
    result: Result = job.result()
    return result


def _child(parent: Connection, limits: Limits, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    _limit(limits)
    _signal_at_end(parent, wanted=True)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    outcome: tuple[str, Any]
    try:
        outcome = ("done", work(*arguments))
    except InputError as error:
        outcome = ("refused", error)
    except MemoryError:
        outcome = ("memory", None)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent is told
        reason = f"{type(error).__name__}: {error}".rstrip(".")[:500]
        outcome = ("failed", (reason, traceback.format_exc()[-20_000:]))
    del arguments
    try:
        message = pickle.dumps(outcome, protocol=5)
    except MemoryError:
        message = pickle.dumps(("memory", None))
    _signal_at_end(parent, wanted=False)  # the parent's reading is a signal, too
    with contextlib.suppress(OSError):  # the parent is gone
        parent.send_bytes(message)
    sys.stdout.flush()
    os._exit(0)  # nothing is to be cleaned up, and a thread of a library may not want to end


def _end_with(parent: Connection) -> None:
    """End when the parent does: it never sends anything. Reading instead of polling would hold the signal back."""
    with contextlib.suppress(OSError):
        parent.poll(None)
    os._exit(1)


def _signal_at_end(parent: Connection, *, wanted: bool) -> None:
    """Let the system end this process when the parent ends: a search or a loop in C lets no thread of Python run."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return
    with contextlib.suppress(OSError):
        fcntl.fcntl(parent.fileno(), fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(parent.fileno(), fcntl.F_GETFL)
        signals = flags | os.O_ASYNC if wanted else flags & ~os.O_ASYNC
        fcntl.fcntl(parent.fileno(), fcntl.F_SETFL, signals)


def _limit(limits: Limits) -> None:
    if hasattr(os, "nice"):
        os.nice(limits.nice)
    try:
        import resource
    except ImportError:  # not on Windows
        return
    used = 0
    with contextlib.suppress(OSError):
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        used = next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmData:")), 0)
    most = used + limits.megabytes * 2**20
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # people's texts are not left on the disk
        seconds = math.ceil(limits.seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 10))
