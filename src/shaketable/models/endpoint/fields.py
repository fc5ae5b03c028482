"""Fields of a reply, each as what it should be or as None: servers put anything anywhere."""

from __future__ import annotations

MOST_TOKENS = 100_000_000
"""In one call: more than any model reads or writes."""
LEAST_LOGPROB, LARGEST_LOGPROB = -1e5, 1e-3
"""What is less is how servers write that it cannot be. A probability is 1 at most, or a little more by rounding."""
LONGEST_NAME = 200
LONGEST_TEXT = 1_000_000
"""Characters: what is longer is no answer to a question, and would lie in the run for ever."""


def count_of(value: object) -> int | None:
    """A number of tokens; None: it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_TOKENS:
        return None
    return int(value) if value == int(value) else None


def logprob_of(value: object) -> float | None:
    """A finite log-probability; None: it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if LEAST_LOGPROB <= value <= LARGEST_LOGPROB else None


def name_of(value: object) -> str | None:
    """A short text, such as the name of a model; None: it is none."""
    return value[:LONGEST_NAME] if isinstance(value, str) else None


def mapping_of(value: object) -> dict[str, object]:
    """Empty where it is none."""
    return value if isinstance(value, dict) else {}
