"""Pairs: which of two texts is better."""

from accord.estimators.pairs.ranker import PreferenceRanker

__all__ = ["PreferenceRanker"]
