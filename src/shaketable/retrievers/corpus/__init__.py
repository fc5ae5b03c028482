"""Passages on disk: corpora, how they are read, and the folders of indexes."""
