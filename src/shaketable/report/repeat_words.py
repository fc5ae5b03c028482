"""What came of repeats that end when a mean is known well enough, in words."""

from __future__ import annotations

from shaketable.factors import word_for
from shaketable.store.repeats import AdaptiveRepeats


def describe_repeats(repeats: AdaptiveRepeats) -> str:
    """`asked 1,240 of at most 6,000 trials: 79 % saved; 31 of 44 conditions reached ±0.03 (…)`, and what that is of:
    nothing that new questions could change."""
    n = len(repeats.cells)
    # Rounded down: never more than it is. What stopped at a limit has saved nothing yet.
    saved = f": {int(100 * repeats.saved)} % saved" if repeats.is_over else " so far"
    return (
        f"asked {repeats.n_asked:,} of at most {repeats.n_most:,} trials{saved}; {repeats.n_narrow:,} of {n:,} "
        f"condition{'' if n == 1 else 's'} reached ±{repeats.until:g} ({100 * repeats.confidence:g} % confidence "
        f"intervals of {word_for(repeats.metric)} over repeats of these questions, not over other questions)"
    )
