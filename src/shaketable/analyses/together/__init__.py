"""Analyses of everything shaken at once."""
