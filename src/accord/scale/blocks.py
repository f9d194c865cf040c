"""Blocks of work, and the functions that run over them.

A block is a bundle of flat arrays: hundreds of threads, debates or documents, or tens of thousands of votes; never one
object a task. What all blocks need (the weights of a model) is sent once to each worker, not once a block. Results
come back in the order of the blocks and are added up in that order, so they do not depend on the number of workers.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import numpy as np

from accord.errors import InputError, MissingDependencyError
from accord.typing import Progress

__all__ = ["Blocks", "map_blocks", "open_blocks", "reduce_blocks"]

Result = TypeVar("Result")
_Function = Callable[[Any, Any, np.random.Generator], Any]


class Backend(Protocol):
    """Runs a function once a block. Made with the blocks, which stay where they are put."""

    def run(
        self, function: _Function, shared: Any, seeds: Sequence[int], which: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Results of some blocks as (block, result), in any order; ``seeds`` has one entry a block, run or not."""
        ...

    def close(self) -> None:
        """Give back what is held."""
        ...


class Blocks:
    """Blocks that a backend holds, ready to be run over again and again.

    Made by :func:`open_blocks`. The function that is run takes ``(block, shared, rng)``; ``rng`` is a generator of the
    block's own, the same whichever worker runs it. Where the blocks were opened with something ``common`` to all,
    ``shared`` is the pair of that and of what this run shares.
    """

    def __init__(self, backend: Backend, n_blocks: int, progress: Progress | None) -> None:
        self._backend = backend
        self._progress = progress
        self._drawn: tuple[int, list[int]] | None = None
        self.n_blocks = n_blocks

    def map(
        self,
        function: _Function,
        shared: Any = None,
        *,
        seed: int = 0,
        what: str = "blocks",
        which: Sequence[int] | None = None,
    ) -> list[Any]:
        """The result of every block, or of those at some places, in the order of the blocks (or of the places)."""
        return list(self._in_order(function, shared, seed, what, which))

    def _in_order(
        self, function: _Function, shared: Any, seed: int, what: str, which: Sequence[int] | None
    ) -> Iterator[Any]:
        """Results in order, each as soon as all before it are there; only those that came too early are held."""
        wanted = list(range(self.n_blocks)) if which is None else [int(place) for place in which]
        early: dict[int, Any] = {}
        following = iter(wanted)
        awaited = next(following, None)
        run = self._backend.run(function, shared, self._seeds(seed), wanted)
        for done, (place, result) in enumerate(run, start=1):
            if self._progress is not None:
                self._progress(what, done, len(wanted))
            early[place] = result
            while awaited in early:
                yield early.pop(awaited)
                awaited = next(following, None)

    def _seeds(self, seed: int) -> list[int]:
        """The seeds of the blocks; an optimiser asks for the same ones again and again."""
        if self._drawn is None or self._drawn[0] != seed:
            self._drawn = seed, block_seeds(seed, self.n_blocks)
        return self._drawn[1]

    def sum(
        self,
        function: _Function,
        shared: Any = None,
        *,
        seed: int = 0,
        what: str = "blocks",
        which: Sequence[int] | None = None,
    ) -> Any:
        """The sum of the results, added in the order of :meth:`map`; a tuple is added entry by entry."""
        results = self._in_order(function, shared, seed, what, which)
        total = next(results, None)
        if total is None:
            raise InputError("a sum over blocks needs at least one block; there is none.")
        for result in results:
            total = add(total, result)
        return total


def add(total: Any, result: Any) -> Any:
    """Entry by entry for tuples, ``+`` for everything else."""
    if isinstance(result, tuple):
        return tuple(add(a, b) for a, b in zip(total, result, strict=True))
    return total + result


def block_seeds(seed: int, n_blocks: int) -> list[int]:
    """A seed for each block that depends on the seed and the block alone."""
    return [int(child.generate_state(1, np.uint64)[0]) for child in np.random.SeedSequence(seed).spawn(n_blocks)]


@contextmanager
def open_blocks(
    blocks: Sequence[Any],
    *,
    backend: Any = "serial",
    n_workers: int | None = None,
    retries: int = 3,
    common: Any = None,
    keep: bool = True,
    progress: Progress | None = None,
) -> Iterator[Blocks]:
    """Hand blocks to a backend and keep them there while the context lasts.

    Parameters
    ----------
    blocks : sequence
        The blocks themselves, or functions without arguments that load them (so that the data need never be in one
        place).
    backend : {"serial", "joblib", "dask"}, a scheduler's address, or a Dask client
        "dask" starts a cluster on this machine; an address such as ``tcp://host:8786`` joins a running one.
    n_workers : int, optional
        Processes of "joblib" and "dask"; by default one a core.
    retries : int
        How often a block is tried again after its worker died.
    common : object, optional
        What all blocks need in every run; each worker gets it once.
    keep : bool
        Whether workers keep what they loaded for the next run. Without it a block is loaded for each run and let go
        after it, so that memory does not grow with the number of blocks.
    progress : Progress, optional

    Yields
    ------
    Blocks
    """
    if n_workers is not None and n_workers < 1:
        raise InputError(f"the number of workers is at least 1; got {n_workers}.")
    runner = _make(backend, list(blocks), n_workers, retries, common, keep)
    try:
        yield Blocks(runner, len(blocks), progress)
    finally:
        runner.close()


def _make(backend: Any, blocks: list[Any], n_workers: int | None, retries: int, common: Any, keep: bool) -> Backend:
    if backend == "serial":
        from accord.scale.serial import SerialBackend

        return SerialBackend(blocks, common, keep)
    if backend == "joblib":
        from accord.scale.processes import JoblibBackend

        return JoblibBackend(blocks, n_workers, retries, common, keep)
    if isinstance(backend, str) and backend != "dask" and "://" not in backend:
        raise InputError(
            f"a backend is 'serial', 'joblib', 'dask' or a scheduler's address; got {backend!r}. "
            "An address looks like tcp://host:8786."
        )
    try:
        from accord.scale.cluster import DaskBackend
    except ModuleNotFoundError as error:
        raise missing_dask(error) from error
    return DaskBackend(blocks, backend, n_workers, retries, common, keep)


def missing_dask(error: ModuleNotFoundError) -> MissingDependencyError:
    """What to say where Dask, which only clusters need, is not installed."""
    return MissingDependencyError(f"a cluster needs {error.name}. Install accord-learn[dask].")


def map_blocks(
    function: _Function, blocks: Sequence[Any], *, shared: Any = None, seed: int = 0, **options: Any
) -> list[Any]:
    """Run ``function(block, shared, rng)`` once a block; results in the order of the blocks.

    The options are those of :func:`~accord.scale.blocks.open_blocks`.
    """
    with open_blocks(blocks, **options) as opened:
        return opened.map(function, shared, seed=seed)


def reduce_blocks(
    function: _Function, blocks: Sequence[Any], *, shared: Any = None, seed: int = 0, **options: Any
) -> Any:
    """The sum of ``function(block, shared, rng)`` over all blocks, added in their order."""
    with open_blocks(blocks, **options) as opened:
        return opened.sum(function, shared, seed=seed)
