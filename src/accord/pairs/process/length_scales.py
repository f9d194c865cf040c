"""Base length-scales of kernels: medians of distances between items."""

import numpy as np
import scipy.sparse as sp

from accord.pairs.process.kernels import squared_distances
from accord.typing import AnyArray, FloatArray

__all__ = ["half_mean_square", "median_by_feature", "median_distance"]


def _sample(x: AnyArray, limit: int, rng: np.random.Generator) -> AnyArray:
    return x if x.shape[0] <= limit else x[np.sort(rng.permutation(x.shape[0])[:limit])]


def median_distance(x: AnyArray, rng: np.random.Generator, *, limit: int = 500) -> float:
    """Median Euclidean distance between different rows; 1 where all rows are alike."""
    part = _sample(x, limit, rng)
    distances = squared_distances(part, part)[np.triu_indices(part.shape[0], 1)]
    distances = distances[distances > 0.0]
    return float(np.sqrt(np.median(distances))) if distances.size else 1.0


def half_mean_square(x: AnyArray, rng: np.random.Generator, *, limit: int = 500) -> float:
    """Half the mean squared distance: what the linear kernel is divided by, so that scores differ by about 1."""
    part = _sample(x, limit, rng)
    distances = squared_distances(part, part)[np.triu_indices(part.shape[0], 1)]
    mean = float(distances.mean()) if distances.size else 0.0
    return 0.5 * mean if mean > 0.0 else 1.0


def median_by_feature(x: AnyArray, rng: np.random.Generator, *, limit: int = 200) -> FloatArray:
    """n_features × the median of the non-zero |x_d − x'_d| of every feature, as in the published runs of [SG18].

    A feature that is the same everywhere gets a length-scale of n_features.
    """
    columns = sp.csc_array(x, dtype=np.float64)
    columns.eliminate_zeros()
    part = sp.csc_array(_sample(sp.csr_array(x), limit, rng), dtype=np.float64)
    medians = np.ones(x.shape[1])
    for d in np.flatnonzero(np.diff(columns.indptr)):
        values = columns.data[columns.indptr[d] : columns.indptr[d + 1]]
        low, high = values.min(), values.max()
        if low == high and values.size < x.shape[0]:
            medians[d] = abs(low)  # presence: every difference that is not zero is the same
        elif low != high:
            seen = part.data[part.indptr[d] : part.indptr[d + 1]]
            gaps = np.abs(seen[:, None] - seen)[np.triu_indices(seen.size, 1)]
            absent = np.repeat(np.abs(seen), part.shape[0] - seen.size)
            gaps = np.concatenate([gaps, absent])
            gaps = gaps[gaps > 0.0]
            # A feature that the sample lacks differs almost always from an absent one.
            medians[d] = np.median(gaps if gaps.size else np.abs(values))
    return medians * x.shape[1]
