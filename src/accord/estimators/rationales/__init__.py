"""Rationales: classes of texts, learnt from highlighted words too."""

from accord.estimators.rationales.arrays import marked_texts
from accord.estimators.rationales.classifier import RationaleClassifier
from accord.estimators.rationales.predicted import PredictedRationale

__all__ = ["PredictedRationale", "RationaleClassifier", "marked_texts"]
