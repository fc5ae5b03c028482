"""Seconds in words: what something took, and, rounded to what is known of it, what is still to come."""

from __future__ import annotations

ESTIMATING = "estimating the time left…"


def duration(seconds: float) -> str:
    """What was measured: `42 s`, `7 min 16 s`, `3 h 05 min`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def rough_duration(seconds: float) -> str:
    """What is expected, in steps that it is not wrong by: seconds below 10, then 5 of them, then minutes, then 5."""
    if seconds < 10:
        return f"{max(round(seconds), 1)} s"
    if seconds < 57.5:
        return f"{5 * round(seconds / 5)} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(5 * round(minutes / 5), 60)
    return f"{hours} h {minutes:02d} min" if minutes else f"{hours} h"


def describe_left(seconds: float | None, between: tuple[float, float] | None = None) -> str:
    """`about 7 min left`, `10 to 40 s left`; of what cannot be told yet, that it is being estimated."""
    if seconds is None:
        return ESTIMATING
    low, high = (rough_duration(end) for end in between or (seconds, seconds))
    if low == high:
        return f"about {rough_duration(seconds)} left"
    (n_low, unit), (n_high, other) = low.split(" ", 1), high.split(" ", 1)
    return f"{n_low if unit == other else low} to {n_high} {other} left"
