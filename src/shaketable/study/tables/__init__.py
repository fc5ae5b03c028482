"""The tables of a study file, one module each: their keys, what these mean and what they cost."""
