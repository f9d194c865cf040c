"""Blocks one after the other, in this process."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

__all__ = ["SerialBackend", "load", "work"]


def load(block: Any) -> Any:
    """The block itself, or what its loader loads."""
    return block() if callable(block) else block


def work(function: Callable[..., Any], block: Any, shared: Any, seed: int) -> Any:
    """Run a function over one block, with the block's own random numbers."""
    return function(load(block), shared, np.random.default_rng(seed))


class SerialBackend:
    """The plainest backend, and the one that all others must agree with."""

    def __init__(self, blocks: list[Any]) -> None:
        self._blocks = blocks

    def run(self, function: Callable[..., Any], shared: Any, seeds: Sequence[int]) -> Iterator[tuple[int, Any]]:
        """Results in the order of the blocks."""
        for place, (block, seed) in enumerate(zip(self._blocks, seeds, strict=True)):
            yield place, work(function, block, shared, seed)

    def close(self) -> None:
        """Nothing is held."""
