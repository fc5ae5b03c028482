"""Analyses of questions that are asked in other words."""
