"""Aspects: several ranks of one text, decided together."""

from accord.aspects.estimator import AspectRanker
from accord.aspects.explanation import AspectExplanation

__all__ = ["AspectExplanation", "AspectRanker"]
