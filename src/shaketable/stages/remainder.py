"""Tallies and the trials under way → the work that is done and the work that is left."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from statistics import fmean

from shaketable.stages.drawn_rest import Kin, Paused, draw_seconds
from shaketable.stages.stepping import Stepping
from shaketable.stages.survival import UNSEEN, Endings, length_tail
from shaketable.stages.tally import Kind, Replies, Tally, Underway, seconds_a_token

N_DRAWS = 8
DRAWN_TRIALS = 2000
"""In all draws together, so that a forecast takes milliseconds; of many trials one draw says as much as several."""
USUAL_CALLS = 3.0
"""Of a method that asks more than once and does not say how often."""
SPREAD = (0.5, 0.8, 1.1, 1.6)
"""Before trials have ended, four stand for them, with so many times the usual calls."""
MOST_CALLS = 64
"""Of a trial that states no limit, or a higher one."""

System = tuple[str, str]
Calls = tuple[str, str, float, bool]
"""Model, method, temperature, and whether it is a later call of a trial."""


class Remainder:
    """All in seconds by the model's own account. They need not add up to the time that passes: replies may be written
    side by side, and searches come between them."""

    def __init__(self, tallies: Mapping[Kind, Tally], waiting: Sequence[Underway], stepping: Stepping | None) -> None:
        """`stepping`: what the steps of the batch took; None: the model does not tell how far its rows have come."""
        self.tallies, self.waiting = tallies, waiting
        known = [tally for tally in tallies.values() if tally.n_replies]
        self.a_token = seconds_a_token(own for tally in known for own in (tally.first, tally.later))
        self.first_reading = _mean_reading((tally.first for tally in known), self.a_token)
        self.later_reading = _mean_reading((tally.later for tally in known), self.a_token)
        costs = stepping.costs() if stepping else None
        self.a_step, self.a_row = costs or (0.0, self.a_token)
        self.n_rows = max(stepping.most_rows, 1) if stepping else len(waiting) + 1
        self.is_told = stepping is not None
        self.kind_of_tally = {id(tally): kind for kind, tally in tallies.items()}
        self._gather()

    def _gather(self) -> None:
        """Lengths by method and temperature, calls by method: evidence moves them little, and few say little."""
        self.lengths: dict[Calls, Counter[int]] = defaultdict(Counter)
        self.calls: dict[System, Counter[int]] = defaultdict(Counter)
        self.reached_tokens: dict[Calls, list[int]] = defaultdict(list)
        self.reached_calls: dict[System, list[int]] = defaultdict(list)
        for kind, tally in self.tallies.items():
            self.lengths[*_alike(kind), False] += tally.first.lengths
            self.lengths[*_alike(kind), True] += tally.later.lengths
            self.calls[kind.model, kind.method] += tally.calls
        for trial in self.waiting:
            kind = self.kind_of_tally[id(trial.tally)]
            if trial.n_tokens:
                self.reached_tokens[*_alike(kind), trial.n_calls > 0].append(trial.n_tokens)
            if trial.n_calls:
                self.reached_calls[kind.model, kind.method].append(trial.n_calls)
        self.usual_length = {kind.model: self._usual_length(kind.model) for kind in self.tallies}

    def _usual_length(self, model: str) -> float:
        """Tokens of a reply, those under way counted."""
        ended = [lengths for calls, lengths in self.lengths.items() if calls[0] == model]
        reached = sum(sum(tokens) for calls, tokens in self.reached_tokens.items() if calls[0] == model)
        n_tokens = sum(length * n for lengths in ended for length, n in lengths.items())
        return (n_tokens + reached) / max(sum(lengths.total() for lengths in ended), 1)

    @property
    def done(self) -> float:
        done = sum(tally.seconds for tally in self.tallies.values())
        for trial in self.waiting:
            if trial.n_tokens:
                done += self._reading(trial.tally, trial.n_calls) + self.a_token * trial.tally.share * trial.n_tokens
        return done

    def begun(self, elapsed: float, done: float) -> float:
        """Work on replies under way of a model that does not tell: as many as are written at once are half done, on
        average; long ones are met more often."""
        if self.is_told:
            return 0.0
        replies = [own for tally in self.tallies.values() for own in (tally.first, tally.later)]
        a_reply = sum(own.seconds_squared for own in replies) / sum(own.seconds for own in replies)
        return done / elapsed * a_reply / 2

    def seconds(self, shift: float) -> float:
        """Work that is left; `shift`: standard errors by which replies are longer and calls more than it looks."""
        kin = {id(tally): self._kin(kind, tally, shift) for kind, tally in self.tallies.items() if tally.max_tokens}
        waiting = [_paused(trial, kin[id(trial.tally)]) for trial in self.waiting if id(trial.tally) in kin]
        unstarted = [(kin[id(tally)], tally.n_unstarted) for tally in self.tallies.values() if id(tally) in kin]
        # A trial of a kind that was not asked yet is taken to go as one of the others.
        n_unknown = sum(tally.n_unstarted for tally in self.tallies.values() if id(tally) not in kin)
        unstarted += [(own, n_unknown / len(kin)) for own in kin.values()]
        rng = Random(0)
        n_draws = min(max(DRAWN_TRIALS // (len(waiting) + 1), 1), N_DRAWS)
        return fmean(draw_seconds(waiting, unstarted, self.n_rows, self.a_step, rng) for _ in range(n_draws))

    def _kin(self, kind: Kind, tally: Tally, shift: float) -> Kin:
        return Kin(
            first=self._lengths((*_alike(kind), False), tally.max_tokens, shift),
            later=self._lengths((*_alike(kind), True), tally.max_tokens, shift),
            calls=self._calls(kind, tally, shift),
            a_token=tally.share * self.a_row,
            first_reading=self._reading(tally, 0),
            later_reading=self._reading(tally, 1),
        )

    def _lengths(self, calls: Calls, limit: int, shift: float) -> Endings:
        ends, reached = self.lengths[calls], self.reached_tokens[calls]
        return Endings(
            ends, reached, limit, shift, tail=length_tail(ends, reached, self.usual_length[calls[0]]), unseen=UNSEEN
        )

    def _calls(self, kind: Kind, tally: Tally, shift: float) -> Endings:
        ended, reached = self.calls[kind.model, kind.method], self.reached_calls[kind.model, kind.method]
        limit = tally.max_calls or MOST_CALLS
        usual = min(tally.usual_calls or USUAL_CALLS, limit)
        ends: dict[int, float] = dict(ended)
        for share in SPREAD:
            place = min(max(round(usual * share), 1), limit)
            ends[place] = ends.get(place, 0) + 1
        return Endings(ends, reached, limit, shift, tail=1 / usual, unseen=0.0)

    def _reading(self, tally: Tally, n_calls: int) -> float:
        """Of a prompt of a trial; of other kinds, where this one has no reply to such a prompt yet."""
        own, usual = (tally.later, self.later_reading) if n_calls else (tally.first, self.first_reading)
        if own.n:
            return tally.share * own.reading(self.a_token)
        return self._reading(tally, 0) if usual is None and n_calls else usual or 0.0


def _paused(trial: Underway, kin: Kin) -> Paused:
    if trial.max_tokens >= trial.tally.max_tokens:
        return Paused(kin, trial.n_calls, trial.n_tokens)
    return Paused(kin, trial.n_calls, trial.n_tokens, trial.max_tokens, trial.tally.short_is_last)


def _alike(kind: Kind) -> tuple[str, str, float]:
    return kind.model, kind.method, kind.temperature


def _mean_reading(replies: Iterable[Replies], a_token: float) -> float | None:
    known = [own.reading(a_token) for own in replies if own.n]
    return fmean(known) if known else None
