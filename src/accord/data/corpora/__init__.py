"""Readers of the public corpora, one module each."""
