"""Names for what passes between the layers: arrays, progress reports and the five kinds."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

__all__ = ["KINDS", "AnyArray", "BoolArray", "FloatArray", "IntArray", "Kind", "ObjectArray", "Progress"]

FloatArray: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
ObjectArray: TypeAlias = NDArray[np.object_]
AnyArray: TypeAlias = NDArray[Any]

# Long work reports to one of these: what is being done, how much of it is done, how much there is.
Progress: TypeAlias = Callable[[str, int, int], None]

# The five kinds of judgement; each has a package of its name, its room.
Kind: TypeAlias = Literal["pairs", "threads", "aspects", "links", "rationales"]
KINDS: tuple[str, ...] = get_args(Kind)
