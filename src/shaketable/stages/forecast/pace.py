"""Things that are done alike, one after another or several at once → the time that the others will take."""

from __future__ import annotations

from time import perf_counter

MIN_SECONDS = 5.0
MIN_DONE = 8
"""Before so much was seen, nothing is told: no number is better than a wrong one."""


class Pace:
    """From the first that is finished on, they finish steadily."""

    def __init__(self) -> None:
        self.first: tuple[int, float] | None = None

    def seconds_left(self, done: int, of: int) -> float | None:
        """None: too little was seen to tell."""
        now = perf_counter()
        if self.first is None or done < self.first[0]:  # The next of several lists begins.
            self.first = (done, now)
        n_before, begun = self.first
        if now - begun < MIN_SECONDS or done - n_before < MIN_DONE:
            return None
        return (now - begun) / (done - n_before) * (of - done)
