"""Somebody's questions and documents → a first study of them."""
