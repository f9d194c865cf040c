"""Blocks in several processes of this machine, by joblib."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from joblib import Parallel, delayed

from accord.scale.serial import work

__all__ = ["JoblibBackend"]


def _numbered(place: int, function: Callable[..., Any], block: Any, shared: Any, seed: int) -> tuple[int, Any]:
    return place, work(function, block, shared, seed)


class JoblibBackend:
    """joblib's own processes: large arrays are shared by memory map, and each process computes with one thread."""

    def __init__(self, blocks: list[Any], n_workers: int | None) -> None:
        self._blocks = blocks
        self._parallel = Parallel(
            n_jobs=n_workers or -1, backend="loky", inner_max_num_threads=1, return_as="generator_unordered"
        ).__enter__()

    def run(self, function: Callable[..., Any], shared: Any, seeds: Sequence[int]) -> Iterator[tuple[int, Any]]:
        """Results as they come."""
        tasks = (
            delayed(_numbered)(place, function, block, shared, seed)
            for place, (block, seed) in enumerate(zip(self._blocks, seeds, strict=True))
        )
        yield from self._parallel(tasks)

    def close(self) -> None:
        """Let the processes go."""
        self._parallel.__exit__(None, None, None)
