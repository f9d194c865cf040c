"""Why a score is what it is: shares of the kernel's terms, features of linear terms, and the items it leans on."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from accord.pairs.process.kernels import Inputs, Kernel
from accord.pairs.process.scorer import Scorer
from accord.pairs.process.sparse import SparseScorer
from accord.typing import FloatArray

__all__ = ["feature_shares", "neighbour_shares", "term_shares"]


def term_shares(scorer: Scorer | SparseScorer, x: Inputs) -> FloatArray:
    """Each term's part of each item's posterior mean score, shape (n_items, n_terms); the parts add up to the mean."""
    dual, kernel = scorer.dual(), scorer.kernel
    shares = np.empty((x.n, len(kernel.terms)))
    for k, (term, part) in enumerate(zip(kernel.terms, kernel.slices, strict=True)):
        shares[:, k] = Kernel((term,)).block(x, scorer.points).value(scorer.theta[part]) @ dual
    return shares


def feature_shares(scorer: Scorer | SparseScorer, x: Inputs) -> dict[int, FloatArray]:
    """Each feature's part of each item's score in the linear terms, by group number: shape (n_items, n_features)."""
    dual, found = scorer.dual(), {}
    for term, part in zip(scorer.kernel.terms, scorer.kernel.slices, strict=True):
        if len(term.factors) == 1 and term.factors[0].family == "linear":
            factor = term.factors[0]
            points, own = scorer.points.parts[factor.part], x.parts[factor.part]
            # f = Σ_d x_d w_d, w = v Zᵀ α / base
            weight = np.exp(scorer.theta[part.start]) / factor.base[0] * np.asarray(points.T @ dual).ravel()
            dense: Any = own.toarray() if sp.issparse(own) else own
            found[factor.part] = dense * weight
    return found


def neighbour_shares(scorer: Scorer | SparseScorer, x: Inputs) -> FloatArray:
    """Each inducing point's part of each item's score, shape (n_items, n_points)."""
    return np.asarray(scorer.kernel.block(x, scorer.points).value(scorer.theta) * scorer.dual())
