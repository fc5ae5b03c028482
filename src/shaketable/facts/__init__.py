"""Factual robustness: the score, the scans over temperatures, and the curves."""
