"""Things that are done alike, one after another or several at once → the time that the others will take."""

from __future__ import annotations

from time import perf_counter

MIN_SECONDS = 5.0
MIN_DONE = 8
"""Before so much was seen, nothing is told: no number is better than a wrong one."""


class Recent:
    """Things that finish, and how fast they did in the last third of the time: a model that is being loaded, a server
    that wakes up and a connection that is made are slow at first, and say nothing about the rest."""

    def __init__(self) -> None:
        self.seen: list[tuple[float, int]] = []

    def note(self, elapsed: float, done: int) -> None:
        # What is older can never begin the last third again.
        self.seen = [entry for entry in self.seen if entry[0] >= elapsed * 2 / 3] + [(elapsed, done)]

    def seconds_each(self) -> float | None:
        """None: too few finished to tell."""
        (begun, n_before), (ended, n_done) = self.seen[0], self.seen[-1]
        return (ended - begun) / (n_done - n_before) if n_done - n_before >= MIN_DONE else None


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
