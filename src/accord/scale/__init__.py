"""One seam for running a function over blocks of work: in this process, in several, or on a Dask cluster."""

from accord.scale.blocks import Blocks, map_blocks, open_blocks, reduce_blocks
from accord.scale.partition import cut
from accord.scale.workers import Workers, joblib_on

__all__ = ["Blocks", "Workers", "cut", "joblib_on", "map_blocks", "open_blocks", "reduce_blocks"]
