"""Sources whose conditions were looked at → what the run's folder keeps of it."""

from __future__ import annotations

from collections.abc import Sequence

from shaketable.stages.plan import Plan
from shaketable.stages.repeating.source import Repeated
from shaketable.store import RecordStore
from shaketable.store.repeats import AdaptiveRepeats, note_repeats


def note_outcome(plan: Plan, store: RecordStore, sources: Sequence[Repeated]) -> dict[str, str]:
    """`sources`: one for each model of the plan."""
    return note_repeats(
        AdaptiveRepeats(
            until=sources[0].precision.until,
            confidence=plan.study.confidence,
            metric=sources[0].judge.number,
            n_asked=len(store.keys()),
            n_most=plan.n_trials,
            cells=tuple(cell for source in sources for cell in source.result()),
        )
    )
