"""Blocks one after the other, in this process."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

__all__ = ["SerialBackend", "load", "work"]


def load(block: Any) -> Any:
    """The block itself, or what its loader loads."""
    return block() if callable(block) else block


def work(function: Callable[..., Any], block: Any, common: Any, shared: Any, seed: int) -> Any:
    """Run a function over one block, with the block's own random numbers."""
    return function(load(block), shared if common is None else (common, shared), np.random.default_rng(seed))


class SerialBackend:
    """The plainest backend, and the one that all others must agree with."""

    def __init__(self, blocks: list[Any], common: Any, keep: bool) -> None:
        self._blocks, self._common, self._keep = blocks, common, keep

    def run(
        self, function: Callable[..., Any], shared: Any, seeds: Sequence[int], which: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Results in the order asked for."""
        for place in which:
            if self._keep:
                self._blocks[place] = load(self._blocks[place])
            yield place, work(function, self._blocks[place], self._common, shared, seeds[place])

    def close(self) -> None:
        """Let the blocks go."""
        self._blocks = []
