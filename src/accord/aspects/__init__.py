"""Aspects: several ranks of one text, decided together."""

from accord.aspects.estimator import AspectRanker

__all__ = ["AspectRanker"]
