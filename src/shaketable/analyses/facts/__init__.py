"""Analyses of facts that a model knows: how firmly it holds them."""
