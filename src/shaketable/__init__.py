"""Shaketable puts question-answering systems on a shake table."""

__version__ = "0.1.0"
