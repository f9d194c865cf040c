"""Readers of the corpora as they were first published, one module each.

Each takes the folder of the published files, or ``original.tar.xz`` in the corpus's folder, which is read without being
unpacked. What the prepared files have and the published ones lack is said where it is missing.
"""
