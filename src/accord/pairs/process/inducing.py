"""Inducing points: few items that stand for many."""

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import MiniBatchKMeans, kmeans_plusplus

from accord.pairs.process.kernels import Inputs

__all__ = ["choose_points"]

_SAMPLE = 20_000


def choose_points(x: Inputs, n: int, rng: np.random.Generator) -> Inputs:
    """``n`` inducing points for the items of ``x``.

    Dense features: centres of k-means started by k-means++, as in [SG18]. Sparse features: the items that k-means++
    picks, because centres of sparse rows are not sparse. Without features: items at random.
    """
    seed = int(rng.integers(2**31))
    if not x.parts:
        return x.take(np.sort(rng.permutation(x.n)[:n]))
    rows = np.sort(rng.permutation(x.n)[:_SAMPLE]) if x.n > _SAMPLE else np.arange(x.n)
    sample = x.take(rows)
    if any(sp.issparse(part) for part in x.parts):
        stacked = sp.hstack([sp.csr_array(part) for part in sample.parts], format="csr")
        _, picked = kmeans_plusplus(sp.csr_matrix(stacked), n, random_state=seed)
        return x.take(np.unique(rows[picked]))
    stacked = np.hstack(sample.parts)
    means = MiniBatchKMeans(n, init="k-means++", n_init=1, max_iter=20, batch_size=2048, random_state=seed).fit(stacked)
    ends = np.cumsum([part.shape[1] for part in sample.parts])[:-1]
    parts = tuple(np.ascontiguousarray(part) for part in np.split(means.cluster_centers_, ends, axis=1))
    return Inputs(parts, np.full(n, -1, dtype=np.int64))
