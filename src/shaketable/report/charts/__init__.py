"""One finding → one picture, plain functions."""
