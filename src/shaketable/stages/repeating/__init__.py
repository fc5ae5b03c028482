"""Repeats that go on until the mean of a condition is known well enough: by which number, what is asked next, what came
of it."""
