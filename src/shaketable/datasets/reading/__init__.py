"""Rows, sentences and selections: what loaders share."""
