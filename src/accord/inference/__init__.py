"""Scores to posteriors: pure functions on arrays that return frozen records."""
