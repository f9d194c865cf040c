"""Readers and writers of other tools' files, one module each."""
