"""Thresholds of a release: what is measured for each, and whether it is shown to hold."""
