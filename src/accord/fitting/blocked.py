"""Losses as sums over blocks, so that an optimiser may run over data that are never in one place."""

from collections.abc import Callable
from typing import Any

import numpy as np

from accord.fitting.optimise import Loss
from accord.scale.blocks import Blocks
from accord.typing import FloatArray

__all__ = ["summed_loss"]

BlockLoss = Callable[[FloatArray, Any], tuple[float, FloatArray]]


class _OfBlock:
    """``loss(weights, block)`` as the function that runs over blocks; picklable where the loss is."""

    def __init__(self, loss: BlockLoss) -> None:
        self.loss = loss

    def __call__(self, block: Any, weights: FloatArray, rng: np.random.Generator) -> tuple[float, FloatArray]:
        value, gradient = self.loss(weights, block)
        return float(value), gradient


def summed_loss(loss: BlockLoss, blocks: Blocks) -> Loss:
    """Weights to the (value, gradient) summed over all blocks; only weights and sums travel.

    Parameters
    ----------
    loss : callable
        ``(weights, block) -> (value, gradient)`` of one block.
    blocks : Blocks
        Opened by :func:`accord.scale.open_blocks`.
    """
    run = _OfBlock(loss)

    def total(weights: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = blocks.sum(run, weights, what="loss")
        return value, gradient

    return total
