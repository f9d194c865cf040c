"""Names for the array types that pass between the layers."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["AnyArray", "BoolArray", "FloatArray", "IntArray", "ObjectArray", "Progress"]

FloatArray: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
ObjectArray: TypeAlias = NDArray[np.object_]
AnyArray: TypeAlias = NDArray[Any]

# Long work reports to one of these: what is being done, how much of it is done, how much there is.
Progress: TypeAlias = Callable[[str, int, int], None]
