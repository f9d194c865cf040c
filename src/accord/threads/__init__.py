"""Threads: joint classification of the comments under a question."""

from accord.threads.estimator import ThreadClassifier

__all__ = ["ThreadClassifier"]
