"""Threads: joint classification of the comments under a question."""

from accord.estimators.threads.classifier import ThreadClassifier

__all__ = ["ThreadClassifier"]
