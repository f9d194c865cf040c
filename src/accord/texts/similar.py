"""Texts as weighted words, for telling how alike they are before anything is learnt from them."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

from accord.texts.words import WordAnalyser

__all__ = ["weighted_words"]

_COLUMNS = 2**14


def weighted_words(texts: Sequence[str]) -> sp.csr_array:
    """Words weighted by how rare they are, rows of length 1 (0 without words), shape (n_texts, n_columns).

    Examples
    --------
    >>> words = weighted_words(["good food", "good food", "slow"])
    >>> (words @ words.T).toarray().round(3).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    counts = HashingVectorizer(
        analyzer=WordAnalyser(), n_features=_COLUMNS, alternate_sign=False, norm=None, dtype=np.float32
    ).transform(texts)
    return sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(counts))
