"""Aspects: several ranks of one text, decided together."""

from accord.estimators.aspects.explanation import AspectExplanation
from accord.estimators.aspects.ranker import AspectRanker

__all__ = ["AspectExplanation", "AspectRanker"]
