"""Metrics, significance, splits, agreement and calibration."""
