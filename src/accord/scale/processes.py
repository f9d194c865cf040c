"""Blocks in several processes of this machine, by joblib.

Blocks and what they have in common are written once to a temporary folder, and each process reads what it works on and
keeps it; a run then sends only what it shares. A process that is killed ends the run of all of them: what is not done
yet is run again.
"""

import math
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import joblib
from joblib import Parallel, delayed
from joblib.externals.loky import process_executor
from joblib.externals.loky.process_executor import TerminatedWorkerError

from accord.errors import InputError
from accord.scale.losses import Losses
from accord.scale.serial import load, work

__all__ = ["JoblibBackend", "run_each"]

# In a worker process: the folder whose blocks it holds, and those blocks by file name.
_held: dict[str, Any] = {}
_held_of = ""


def _numbered(
    place: int, function: Callable[..., Any], folder: str, block: Any, common: bool, shared: Any, seed: int, keep: bool
) -> tuple[int, Any]:
    _grow_freely()
    found = _fetched(folder, f"{place}.block", keep) if block is None else block
    if callable(found) and keep:
        found = _held[f"{place}.block"] = load(found)
    return place, work(function, found, _fetched(folder, "common", True) if common else None, shared, seed)


def _grow_freely() -> None:
    """What a process keeps here is wanted.

    joblib takes a process that has grown by 300 MB for a leaking one and replaces it, which loses the blocks it keeps
    and now and then waits for ever.
    """
    process_executor._MAX_MEMORY_LEAK_SIZE = math.inf


def _grown(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    _grow_freely()
    return function(*arguments)


def run_each(function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], *, n_jobs: int) -> Iterator[Any]:
    """``function(*a)`` for each ``a`` of the arguments, in their order, as soon as they are done.

    Runs in processes of this machine, or where :func:`~accord.scale.workers.joblib_on` says.
    """
    tasks = (delayed(_grown)(function, each) for each in arguments)
    return iter(Parallel(n_jobs=n_jobs, return_as="generator")(tasks))


def _exit_codes(error: BaseException) -> str:
    """How processes ended, as loky says it: ``SIGKILL(-9)``."""
    return ", ".join(sorted(set(re.findall(r"[A-Z]+\(-?\d+\)", str(error)))))


def _fetched(folder: str, name: str, keep: bool) -> Any:
    global _held_of
    if _held_of != folder:
        _held.clear()
        _held_of = folder
    if name in _held:
        return _held[name]
    value = joblib.load(Path(folder) / name)
    if keep:
        _held[name] = value
    return value


class JoblibBackend:
    """joblib's own processes, each computing with one thread."""

    def __init__(self, blocks: list[Any], n_workers: int | None, retries: int, common: Any, keep: bool) -> None:
        self._retries, self._keep, self._common = retries, keep, common is not None
        self._folder = tempfile.mkdtemp(prefix="accord-blocks-")
        # Loaders that are used once travel with their task; everything else is written once.
        self._loaders = [block if callable(block) and not keep else None for block in blocks]
        try:
            for place, block in enumerate(blocks):
                if self._loaders[place] is None:
                    joblib.dump(block, Path(self._folder) / f"{place}.block")
            if self._common:
                joblib.dump(common, Path(self._folder) / "common")
        except BaseException:  # a full disk, or Ctrl-C: nobody has this backend yet to close it
            self.close()
            raise
        self._n_workers = n_workers or -1

    def run(
        self, function: Callable[..., Any], shared: Any, seeds: Sequence[int], which: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Results as they come."""
        waiting, losses = dict.fromkeys(which), Losses(self._retries, "process")
        # A process that ends takes all others with it. If nothing was done meanwhile, blocks run one at a time, until
        # one is done: then it is known which block was at work.
        alone, at_work = False, Counter[int]()
        while waiting:
            given = list(waiting)[:1] if alone else list(waiting)
            tasks = (
                delayed(_numbered)(
                    place, function, self._folder, self._loaders[place], self._common, shared, seeds[place], self._keep
                )
                for place in given
            )
            # With one process joblib would work in this one.
            n_jobs = 2 if alone else self._n_workers
            parallel = Parallel(n_jobs=n_jobs, backend="loky", inner_max_num_threads=1, return_as="generator_unordered")
            try:
                before, alone = alone, True
                for place, result in parallel(tasks):
                    alone = False
                    del waiting[place]
                    losses.done()
                    yield place, result
            except TerminatedWorkerError as error:
                at_work[given[0]] += before
                losses.ended(1)
                try:
                    pause = losses.lose(given[0], at_work[given[0]], _exit_codes(error))
                except InputError as refusal:
                    raise refusal from error
                time.sleep(pause)

    def close(self) -> None:
        """Remove what was written; the processes end by themselves when they are no longer used."""
        shutil.rmtree(self._folder, ignore_errors=True)
