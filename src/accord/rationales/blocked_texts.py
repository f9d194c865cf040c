"""The model of the annotator as a sum over blocks of texts."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from accord.rationales.annotator import MarkedTexts
from accord.scale.blocks import Blocks
from accord.scale.partition import MOST_BLOCKS, cut
from accord.scale.workers import Workers
from accord.typing import FloatArray

__all__ = ["BlockedTexts", "in_blocks"]

# Words and tokens of a block: some hundred long texts.
BLOCK_COST = 400_000


@dataclass(frozen=True, eq=False)
class BlockedTexts(MarkedTexts):
    """Texts whose losses are summed where their blocks are."""

    blocks: Any = None  # Blocks

    def data_loss(self, theta: FloatArray, phi: FloatArray, C: float) -> tuple[float, FloatArray, FloatArray]:
        """The sum of the blocks' losses."""
        blocks: Blocks = self.blocks
        value, by_theta, by_phi = blocks.sum(_of_block, (theta, phi, C), what="loss")
        return value, by_theta, by_phi


def _of_block(
    texts: MarkedTexts, shared: tuple[FloatArray, FloatArray, float], rng: np.random.Generator
) -> tuple[float, FloatArray, FloatArray]:
    return texts.data_loss(*shared)


@contextmanager
def in_blocks(texts: MarkedTexts, workers: Workers) -> Iterator[MarkedTexts]:
    """The same texts, with their losses computed by the workers while the context lasts."""
    costs = np.bincount(texts.chain_text, np.diff(texts.offsets), minlength=texts.n_texts) + 50.0
    parts = [texts.subset(np.arange(texts.n_texts)[part]) for part in cut(costs, BLOCK_COST, most=MOST_BLOCKS)]
    with workers.open(parts) as blocks:
        yield BlockedTexts(**{entry.name: getattr(texts, entry.name) for entry in fields(MarkedTexts)}, blocks=blocks)
