"""Posteriors to losses, gradients and updates: pure functions on arrays."""
