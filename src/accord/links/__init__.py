"""Collective classification of texts that cite, answer or mention each other."""

from accord.links.estimator import CollectiveClassifier
from accord.links.iterative import IterativeClassifier

__all__ = ["CollectiveClassifier", "IterativeClassifier"]
