"""Names for what passes between the layers: arrays, progress reports and the five words."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

__all__ = ["WORDS", "AnyArray", "BoolArray", "FloatArray", "IntArray", "ObjectArray", "Progress", "Word"]

FloatArray: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
ObjectArray: TypeAlias = NDArray[np.object_]
AnyArray: TypeAlias = NDArray[Any]

# Long work reports to one of these: what is being done, how much of it is done, how much there is.
Progress: TypeAlias = Callable[[str, int, int], None]

# The five kinds of judgement; the same word names the file in every layer.
Word: TypeAlias = Literal["pairs", "threads", "aspects", "links", "rationales"]
WORDS: tuple[str, ...] = get_args(Word)
