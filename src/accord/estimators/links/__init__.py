"""Collective classification of texts that cite, answer or mention each other."""

from accord.estimators.links.collective import CollectiveClassifier
from accord.estimators.links.iterative import IterativeClassifier

__all__ = ["CollectiveClassifier", "IterativeClassifier"]
