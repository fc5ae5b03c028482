"""Trials of a source, those that share a prompt together."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from shaketable.stages.sources import Planned, Source

MOST_OF_A_PROMPT = 512
"""Trials of one prompt that stay together: they fill several batches, so that reading the prompt again is little."""


class Groups:
    """All temperatures and repeats of a wording under one condition go to one worker, which reads their prompt once."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.taken: deque[Planned] = deque()

    def has_more(self) -> bool:
        """Whether there is something to answer now."""
        self.taken.extend(() if self.taken else self.source.take(1))
        return bool(self.taken)

    def put_back(self, trials: Sequence[Planned]) -> None:
        """What a worker that is gone has not answered comes first again, in its order."""
        self.taken.extendleft(reversed(trials))

    def take(self, n: int) -> list[Planned]:
        """Whole groups, until there are n trials or more; fewer while no more can be started, none at the end."""
        trials: list[Planned] = []
        while len(trials) < n and (group := self._next(n)):
            trials += group
        return trials

    def _next(self, n: int) -> list[Planned]:
        group: list[Planned] = []
        while len(group) < MOST_OF_A_PROMPT:
            if not self.taken:
                self.taken.extend(self.source.take(n))
            if not self.taken or (group and not _share_prompt(group[0], self.taken[0])):
                break
            group.append(self.taken.popleft())
        return group


def _share_prompt(first: Planned, other: Planned) -> bool:
    (trial, condition), (next_trial, next_condition) = first, other
    return next_condition is condition and next_trial.variant == trial.variant
