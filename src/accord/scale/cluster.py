"""Blocks on a Dask cluster: one of this machine's own, or one that is running already.

Each block is put on a worker once and stays there; what all blocks need is sent to every worker once a run. A worker
that dies takes its blocks with it: they are put on another worker and tried again.
"""

import pickle
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

import dask
from distributed import Client, LocalCluster, as_completed
from distributed.client import FutureCancelledError
from distributed.comm.core import CommClosedError
from distributed.scheduler import KilledWorker

from accord.errors import InputError
from accord.scale.serial import load, work

__all__ = ["DaskBackend", "connect", "local_cluster"]

_LOST = (KilledWorker, CancelledError, FutureCancelledError, CommClosedError)
# What sending may raise when a worker dies meanwhile; the KeyError is the scheduler's, which has just forgotten it.
_FLAWS = (*_LOST, OSError, TimeoutError, KeyError)
_MAX_LOSSES = 50
_PAUSES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # seconds; a worker that starts again takes some


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


def _work(function: Callable[..., Any], block: Any, name: str, common: Any, shared: Any, seed: int) -> Any:
    _threads_to_one()
    held = _common.get(name)
    if common is not None and held is None:
        held = _settled(common)
        _common.clear()
        _common[name] = held
    return work(function, block, held, _settled(shared), seed)


def _is_lost(future: Any) -> bool:
    return future is not None and future.status != "finished"


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
    # Dask looks at a place some seconds after a death and gives it up if another death has just left it empty.
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"}),
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
            futures = self._scatter([self._blocks[place] for place in data], broadcast=False)
            for place, future in zip(data, futures, strict=True):
                self._places[place] = self._client.submit(_settled, future, pure=False, retries=self._retries)
        for place in which:
            if self._keep and callable(self._blocks[place]):
                self._places[place] = self._client.submit(load, self._blocks[place], pure=False, retries=self._retries)

    def _send_common(self) -> None:
        if self._common is not None:
            self._sent_common = self._scatter(self._common, broadcast=True)

    def run(
        self, function: Callable[..., Any], shared: Any, seeds: Sequence[int], which: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Results as they come; a block whose worker died is tried again."""
        sent = self._share(shared)
        # How often a block was lost: at all, and since any block was done. A block is lost when its worker dies; not
        # every block on that worker is to blame; one to blame is lost again and again while nothing else gets done.
        lost, fruitless = Counter[int](), Counter[int]()

        def submit(place: int) -> Any:
            held = self._places[place]
            return self._client.submit(
                _work, function, self._blocks[place] if held is None else held, self._name, self._sent_common, sent,
                seeds[place], pure=False, retries=self._retries,
            )  # fmt: skip

        waiting = {submit(place): place for place in which}
        try:
            completed = as_completed(list(waiting))
            for future in completed:
                place = waiting.pop(future)
                try:
                    result = future.result()
                except _LOST as error:
                    lost[place] += 1
                    fruitless[place] += 1
                    if fruitless[place] > self._retries or lost[place] > _MAX_LOSSES:
                        raise InputError(
                            f"block {place} was lost with its worker {lost[place]} times; the workers may have too "
                            "little memory. Give them more, or make the blocks smaller."
                        ) from error
                    time.sleep(_PAUSES[min(fruitless[place], len(_PAUSES)) - 1])
                    self._put([place])
                    if _is_lost(self._sent_common):
                        self._send_common()
                    if _is_lost(sent):
                        sent = self._share(shared)
                    again = submit(place)
                    waiting[again] = place
                    completed.add(again)
                    continue
                fruitless.clear()
                yield place, result
        finally:
            if waiting:  # stopped half-way: nobody waits for these any more
                self._client.cancel(list(waiting))

    def _share(self, shared: Any) -> Any:
        """What a run shares, on every worker; nothing needs no place."""
        return None if shared is None else self._scatter(shared, broadcast=True)

    def _scatter(self, value: Any, *, broadcast: bool) -> Any:
        """Send something to one worker or to all; where one dies meanwhile, again."""
        for pause in _PAUSES:
            try:
                return self._client.scatter(value, broadcast=broadcast, hash=False)
            except _FLAWS:
                time.sleep(pause)
        try:
            return self._client.scatter(value, broadcast=broadcast, hash=False)
        except _FLAWS as error:
            raise InputError(
                f"the cluster has no worker that answers ({type(error).__name__}). Start workers, and run this again."
            ) from error

    def close(self) -> None:
        """Take the blocks off the workers; close what was opened here."""
        self._places, self._sent_common = [], None
        self._opened.close()
