"""Readers of the public corpora, one module each.

``<name>.load(root=None)`` reads the prepared files; :mod:`accord.data.corpora.locate` says where they are looked for.
"""
