"""Warnings as a user meets them: ours in plain words, those of libraries not at all, unless they are asked for."""

import subprocess
import sys

CODE = """
import warnings
from shaketable.cli.console import guarded

@guarded
def warn():
    warnings.warn("What is missing is asked again.")
    warnings.warn("x is deprecated", FutureWarning)
    for category in (UserWarning, RuntimeWarning):
        warnings.warn_explicit("a flag was set", category, "lib.py", 1, module="transformers.generation", registry={})

before = warnings.filters[:], warnings.formatwarning
warn()
assert (warnings.filters[:], warnings.formatwarning) == before
"""


def told(*options):
    done = subprocess.run([sys.executable, *options, "-c", CODE], capture_output=True, text=True, check=True)
    return done.stderr


def test_one_line_of_ours_and_nothing_of_libraries():
    assert told() == "Warning: What is missing is asked again.\n"


def test_whoever_asks_for_them_gets_them():
    shown = told("-W", "default")
    assert "x is deprecated" in shown and shown.count("a flag was set") == 2
