"""Trials that are not at their end → how many steps, tokens and prompts they will still take, drawn by chance.

Rows of a batch advance together, so at its end a run takes as long as the longest trial goes on, however little is
left. So the rest of the run is drawn a few times: each trial with its calls, each call with its tokens, as many at once
as the model takes.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from shaketable.stages.forecast.survival import Endings

DRAWN_TRIALS = 384
"""Of those that are not started: so many stand for all."""


@dataclass(frozen=True, slots=True)
class Kin:
    """How trials of one kind go on."""

    first: Endings
    """Tokens of the first reply of a trial."""
    later: Endings
    short: Endings
    """Of a reply that completes an answer."""
    ends_short: float
    """The share of trials of several calls whose last reply is such a one."""
    calls: Endings
    """Replies of a trial."""
    a_token: float
    """Seconds of a row in a step."""
    first_reading: float
    """Seconds, of the first prompt of a trial."""
    later_reading: float


@dataclass(frozen=True, slots=True)
class Paused:
    """A trial that waits for a reply."""

    kin: Kin
    n_calls: int
    n_tokens: int
    """Of the reply, so far; 0: it is not begun."""
    is_short: bool = False
    """Whether the reply has a lower limit than others of its kind, and may complete an answer."""
    last: float = 0.0
    """The chance that it then is the last."""


def draw_seconds(
    waiting: Sequence[Paused], unstarted: Sequence[tuple[Kin, float]], n_rows: int, a_step: float, rng: Random
) -> float:
    """What one drawing of the rest takes. `waiting`: in the order in which they get rows."""
    ends: list[int] = []
    seconds, n_steps = 0.0, 0
    for paused in waiting:
        n_tokens, cost = _rest(paused, rng)
        seconds += cost
        n_steps = max(n_steps, _seat(ends, n_tokens, n_rows))
    n_trials = sum(n for _, n in unstarted)
    if n_trials < 0.5:
        return seconds + a_step * n_steps
    n_drawn, tokens = min(max(round(n_trials), 1), DRAWN_TRIALS), 0
    for kin in rng.choices([kin for kin, _ in unstarted], [n for _, n in unstarted], k=n_drawn):
        n_tokens, cost = _rest(Paused(kin, 0, 0), rng)
        seconds += cost * n_trials / n_drawn
        tokens += n_tokens
        n_steps = max(n_steps, _seat(ends, n_tokens, n_rows))
    # Those that were not drawn fill the rows in between.
    n_steps_between = tokens * max(n_trials / n_drawn - 1, 0.0) / n_rows
    return seconds + a_step * (n_steps + n_steps_between)


def _rest(paused: Paused, rng: Random) -> tuple[int, float]:
    """Tokens that a trial will still write, and the seconds that its rows and prompts take."""
    kin, reached = paused.kin, paused.n_tokens
    lengths = kin.short if paused.is_short else kin.later if paused.n_calls else kin.first
    n_tokens = lengths.drawn(reached, rng.random()) - reached
    n_further = kin.calls.drawn(paused.n_calls, rng.random()) - paused.n_calls - 1
    if paused.is_short and rng.random() < paused.last:
        n_further = 0
    n_tokens = max(n_tokens, 1) + sum(kin.later.drawn(0, rng.random()) for _ in range(n_further - 1))
    if n_further:
        n_tokens += (kin.short if rng.random() < kin.ends_short else kin.later).drawn(0, rng.random())
    reading = n_further * kin.later_reading
    if not reached:
        reading += kin.later_reading if paused.n_calls else kin.first_reading
    return n_tokens, reading + n_tokens * kin.a_token


def _seat(ends: list[int], n_tokens: int, n_rows: int) -> int:
    """Give a trial the row that is free first; returns the step at which it ends."""
    end = n_tokens if len(ends) < n_rows else heapq.heappop(ends) + n_tokens
    heapq.heappush(ends, end)
    return end
