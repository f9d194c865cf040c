"""Highlights that the model expects in a text."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from accord.data.rationales import token_spans
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["PredictedRationale", "characters"]


@dataclass(frozen=True, eq=False)
class PredictedRationale:
    """The words that an annotator would highlight in a text of a given class."""

    label: Any
    spans: IntArray  # (n_spans, 2) characters of the tokens that are likely enough to be highlighted
    best_spans: IntArray  # (n_best, 2) characters of the single most likely highlighting, often none
    tokens: IntArray  # (n_tokens, 2) characters of each token
    probabilities: FloatArray  # (n_tokens,) that a token is highlighted

    def spans_above(self, threshold: float) -> IntArray:
        """Runs of tokens that are highlighted with at least this probability, as characters, shape (n, 2)."""
        return characters(self.probabilities >= threshold, self.tokens)


def characters(tags: BoolArray, tokens: IntArray) -> IntArray:
    """Runs of marked tokens as characters, shape (n, 2)."""
    runs = token_spans(tags)
    return np.stack([tokens[runs[:, 0], 0], tokens[runs[:, 1] - 1, 1]], axis=1) if len(runs) else runs
