"""Pairs: which of two texts is better."""

from accord.pairs.estimator import PreferenceRanker

__all__ = ["PreferenceRanker"]
