"""Words → one stage call → words."""

from shaketable.cli.app import main

__all__ = ["main"]
