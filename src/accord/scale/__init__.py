"""One seam for running a function over blocks of work: in this process, in several, or on a Dask cluster."""

from accord.scale.blocks import Blocks, map_blocks, open_blocks, reduce_blocks

__all__ = ["Blocks", "map_blocks", "open_blocks", "reduce_blocks"]
