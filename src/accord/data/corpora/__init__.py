"""Readers of the public corpora, one module each.

``<name>.load(root=None)`` reads the prepared files; :mod:`accord.data.corpora.locate` says where they are looked for,
:mod:`accord.data.corpora.catalogue` what each corpus is, how to get it and whether it is whole, and
:mod:`original_files` reads the files as first published.
"""
