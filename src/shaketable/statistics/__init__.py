"""Intervals, paired tests, shifts and ceilings: arrays in, estimates out, no tables, no words."""
