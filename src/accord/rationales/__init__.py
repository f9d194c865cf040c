"""Rationales: classes of texts, learnt from highlighted words too."""

from accord.rationales.arrays import marked_texts
from accord.rationales.estimator import RationaleClassifier
from accord.rationales.predicted import PredictedRationale

__all__ = ["PredictedRationale", "RationaleClassifier", "marked_texts"]
