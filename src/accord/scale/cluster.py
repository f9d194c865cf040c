"""Blocks on a Dask cluster: one of this machine's own, or one that is running already.

Each block is put on a worker once and stays there; what all blocks need is sent to one worker once a run, and the
others fetch it from each other when they first need it. A worker that dies takes its blocks with it: they are put on
another worker and tried again.

Nothing is sent to all workers at once (``broadcast``): Dask's scheduler then tries for ever to reach a worker that died
meanwhile, and lets nobody else copy anything.
"""

import pickle
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

import dask
from distributed import Client, LocalCluster, as_completed, get_worker
from distributed.client import FutureCancelledError
from distributed.comm.core import CommClosedError
from distributed.scheduler import KilledWorker

from accord.errors import InputError
from accord.scale.losses import Losses
from accord.scale.serial import load, work

__all__ = ["DaskBackend", "connect", "local_cluster"]

_LOST = (KilledWorker, CancelledError, FutureCancelledError, CommClosedError)
# What sending may raise when a worker dies meanwhile; the KeyError is the scheduler's, which has just forgotten it.
_FLAWS = (*_LOST, OSError, TimeoutError, KeyError)
_PAUSES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # seconds, for what could not be sent
_TOLD = 0.1  # seconds in which a worker's message reaches the scheduler
_DONE = " done"


@cache
def _threads_to_one() -> None:
    """Once in a worker process: as many computations at a time as there are workers, not as there are cores."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def _settled(value: Any) -> Any:
    """A copy in memory of its own.

    Arrays arrive as slices of messages, at any byte; on such arrays NumPy adds up in another order, and compiled
    functions are compiled once more.
    """
    return pickle.loads(pickle.dumps(value, protocol=5))


# In a worker process: what the blocks that it works on have in common, under the name it was sent with.
_common: dict[str, Any] = {}


def _work(
    function: Callable[..., Any], block: Any, name: str, common: Any, shared: Any, seed: int, mark: str | None
) -> Any:
    _threads_to_one()
    if mark is not None:  # lost before: say that it begins and ends, so that it is known whether it ends its worker
        get_worker().log_event(name, mark)
        time.sleep(_TOLD)
    held = _common.get(name)
    if common is not None and held is None:
        held = _settled(common)
        _common.clear()
        _common[name] = held
    result = work(function, block, held, _settled(shared), seed)
    if mark is not None:
        get_worker().log_event(name, f"{mark}{_DONE}")
    return result


def connect(address: str) -> Client:
    """A client of the scheduler at an address."""
    try:
        return Client(address, timeout=10)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(
            f"a Dask scheduler must listen at {address}; none answered ({type(error).__name__}). "
            "Start one with 'dask scheduler', or leave the address out."
        ) from error


@contextmanager
def local_cluster(n_workers: int | None) -> Iterator[LocalCluster]:
    """A scheduler and worker processes on this machine; a worker that dies is started again, however often."""
    # Dask looks at a place some seconds after a death and gives it up if another death has just left it empty. Work
    # that was on a worker that died comes back here at once, where it is known what else was lost.
    settings = {"distributed.deploy.lost-worker-timeout": "1 day", "distributed.scheduler.allowed-failures": 0}
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster,
    ):
        yield cluster


class DaskBackend:
    """Runs blocks through a Dask client."""

    def __init__(
        self, blocks: list[Any], target: Any, n_workers: int | None, retries: int, common: Any, keep: bool
    ) -> None:
        self._blocks, self._retries, self._keep = blocks, retries, keep
        self._common, self._sent_common, self._name = common, None, uuid.uuid4().hex
        self._opened = ExitStack()
        if isinstance(target, Client):
            self._client = target
        elif target == "dask":
            self._client = self._opened.enter_context(Client(self._opened.enter_context(local_cluster(n_workers))))
        else:
            self._client = self._opened.enter_context(connect(target))
        self._places: list[Any] = [None] * len(blocks)
        self._put(range(len(blocks)))
        self._send_common()

    def _put(self, which: Sequence[int] | range) -> None:
        """Put blocks on workers, round robin; a loader that is used once travels with its task and needs no place."""
        data = [place for place in which if not callable(self._blocks[place])]
        if data:
            futures = self._scatter([self._blocks[place] for place in data])
            for place, future in zip(data, futures, strict=True):
                self._places[place] = self._client.submit(_settled, future, pure=False, retries=self._retries)
        for place in which:
            if self._keep and callable(self._blocks[place]):
                self._places[place] = self._client.submit(load, self._blocks[place], pure=False, retries=self._retries)

    def _send_common(self) -> None:
        if self._common is not None:
            (self._sent_common,) = self._scatter([self._common])

    def run(
        self, function: Callable[..., Any], shared: Any, seeds: Sequence[int], which: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Results as they come; a block whose worker died is tried again."""
        sent, run = self._share(shared), uuid.uuid4().hex
        losses, workers = Losses(self._retries, "worker"), self._workers()

        def submit(place: int) -> Any:
            held = self._places[place]
            return self._client.submit(
                _work, function, self._blocks[place] if held is None else held, self._name, self._sent_common, sent,
                seeds[place], f"{run}-{place}" if losses.again(place) else None, pure=False, retries=self._retries,
            )  # fmt: skip

        waiting = {submit(place): place for place in which}
        try:
            completed = as_completed(list(waiting))
            for future in completed:
                place = waiting.pop(future)
                try:
                    result = future.result()
                except _LOST as error:
                    here = self._workers() or workers
                    losses.ended(len(workers - here))
                    workers = here
                    try:
                        pause = losses.lose(place, self._cut_off(f"{run}-{place}"))
                    except InputError as refusal:
                        raise refusal from error
                    time.sleep(pause)
                    self._put([place])
                    if self._is_lost(self._sent_common):
                        self._send_common()
                    if self._is_lost(sent):
                        sent = self._share(shared)
                    again = submit(place)
                    waiting[again] = place
                    completed.add(again)
                    continue
                losses.done()
                yield place, result
        finally:
            if waiting:  # stopped half-way: nobody waits for these any more
                self._client.cancel(list(waiting))

    def _workers(self) -> frozenset[str]:
        """The workers that the scheduler knows of; none where it does not answer now."""
        try:
            return frozenset(self._client.nthreads())
        except _FLAWS:
            return frozenset()

    def _cut_off(self, mark: str) -> int:
        """How often a block that was lost before said that it begins, and not that it is done."""
        try:
            told = [said for _, said in self._client.get_events(self._name)]
        except _FLAWS:
            return 0
        return told.count(mark) - told.count(f"{mark}{_DONE}")

    def _share(self, shared: Any) -> Any:
        """What a run shares, on a worker; nothing needs no place."""
        return None if shared is None else self._scatter([shared])[0]

    def _is_lost(self, future: Any) -> bool:
        """Whether no worker has something that was sent; the client itself may not have heard of it."""
        if future is None:
            return False
        try:
            return not self._client.who_has([future]).get(future.key)
        except _FLAWS:
            return True

    def _scatter(self, values: list[Any]) -> list[Any]:
        """Send each of some values to a worker, in turn; where one dies meanwhile, again."""
        for pause in _PAUSES:
            try:
                return list(self._client.scatter(values, hash=False))
            except _FLAWS:
                time.sleep(pause)
        try:
            return list(self._client.scatter(values, hash=False))
        except _FLAWS as error:
            raise InputError(
                f"the cluster has no worker that answers ({type(error).__name__}). Start workers, and run this again."
            ) from error

    def close(self) -> None:
        """Take the blocks off the workers; close what was opened here."""
        self._places, self._sent_common = [], None
        self._opened.close()
