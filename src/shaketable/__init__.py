"""Shaketable puts question-answering systems on a shake table."""

import os

# Intel's matrix library promises the same bits for a row whatever the batch around it only in this
# mode, and reads the variable once, before its first product (docs/decisions/0003).
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")

__version__ = "0.1.0"
