"""Rationales: classes of texts, learnt from highlighted words too."""

from accord.rationales.estimator import RationaleClassifier
from accord.rationales.highlights import PredictedRationale

__all__ = ["PredictedRationale", "RationaleClassifier"]
