"""Tallies and the trials under way → the work that is done and the work that is left."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from random import Random
from statistics import fmean

from shaketable.stages.forecast.drawn_rest import Kin, Paused, draw_seconds
from shaketable.stages.forecast.stepping import Stepping
from shaketable.stages.forecast.survival import UNSEEN, Endings, length_tail
from shaketable.stages.forecast.tally import Kind, Tally, Underway, seconds_a_token

N_DRAWS = 8
DRAWN_TRIALS = 2000
"""In all draws together, so that a forecast takes milliseconds; of many trials one draw says as much as several."""
USUAL_CALLS = 3.0
SPREAD = (0.5, 0.8, 1.1, 1.6)
"""Before trials have ended, four stand for them, with so many times the usual calls."""
WIDE_SPREAD = (0.6, 1.0, 2.0, 4.0)
"""Of a method that does not say how often it asks, and has not run on this machine: each stands for half a trial."""
FEW = 16
"""Replies that say as much as what is usual."""
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
        self.is_told, self.stepping = stepping is not None, stepping if stepping and stepping.is_seen else None
        self.a_token = seconds_a_token(own for tally in known for own in (tally.first, tally.later))
        self.correction = 1.0
        if self.stepping:
            a_step, a_row, _ = self.stepping.costs()
            a_token = a_row + a_step / self.stepping.mean_rows
            # Reading may have been taken for writing where prompts differ, or rows were fewer and fewer.
            self.a_token = min(self.a_token, a_token)
            self.correction = self.a_token / a_token
        self.first_reading = fmean([tally.first.reading(self.a_token) for tally in known if tally.first.n] or [0.0])
        self.n_rows = max(stepping.most_rows, 1) if stepping else len(waiting) + 1
        self.kind_of_tally = {id(tally): kind for kind, tally in tallies.items()}
        self.alike: dict[tuple[object, ...], Endings] = {}
        """What several kinds share."""
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
            if trial.n_tokens and trial.max_tokens >= trial.tally.max_tokens:
                self.reached_tokens[*_alike(kind), trial.n_calls > 0].append(trial.n_tokens)
            if trial.n_calls:
                self.reached_calls[kind.model, kind.method].append(trial.n_calls)
        self.ends_short = self._ends_short()
        self.usual_length = {kind.model: self._usual_length(kind.model) for kind in self.tallies}

    def _usual_length(self, model: str) -> float:
        """Tokens of a reply, those under way counted."""
        ended = [lengths for calls, lengths in self.lengths.items() if calls[0] == model]
        reached = sum(sum(tokens) for calls, tokens in self.reached_tokens.items() if calls[0] == model)
        n_tokens = sum(length * n for lengths in ended for length, n in lengths.items())
        return (n_tokens + reached) / max(sum(lengths.total() for lengths in ended), 1)

    def pace(self, elapsed: float, work: float, before: float) -> float:
        """Seconds that pass for one of work that is left, of which there is some. `before`: work that was done before
        this model began.

        Where steps were seen it is known what work takes, and searches come between. Else it goes on as it went: of a
        model that does not tell, as many replies as are written at once are half done, on average; long ones are met
        more often.
        """
        if self.stepping:
            return elapsed / self.stepping.busy
        replies = [own for tally in self.tallies.values() for own in (tally.first, tally.later)]
        done = sum(own.seconds for own in replies) - before
        for trial in self.waiting:
            if trial.n_tokens:
                done += self._reading(trial.tally, trial.n_calls) + self.a_token * trial.tally.share * trial.n_tokens
        a_reply = sum(own.seconds_squared for own in replies) / sum(own.seconds for own in replies)
        half = 0.0 if self.is_told else min(done / elapsed * a_reply, work) / 2
        return elapsed * (work - half) / (done + half) / work if work and done > 0 else 0.0

    def draws(self, shift: float) -> list[float]:
        """Work that is left, drawn a few times; `shift`: standard errors by which replies are longer and calls more
        than it looks."""
        a_step, a_row, _ = self.stepping.costs(shift) if self.stepping else (0.0, self.a_token, 0.0)
        a_step, a_row = self.correction * a_step, self.correction * a_row
        self.alike = {}
        kin = {
            id(tally): self._kin(kind, tally, a_row, shift) for kind, tally in self.tallies.items() if tally.max_tokens
        }
        waiting = [_paused(trial, kin[id(trial.tally)]) for trial in self.waiting if id(trial.tally) in kin]
        unstarted = [(kin[id(tally)], tally.n_unstarted) for tally in self.tallies.values() if id(tally) in kin]
        # A trial of a kind that was not asked yet is taken to go as one of the others.
        n_unknown = sum(tally.n_unstarted for tally in self.tallies.values() if id(tally) not in kin)
        unstarted += [(own, n_unknown / len(kin)) for own in kin.values()]
        rng = Random(0)
        n_draws = min(max(DRAWN_TRIALS // (len(waiting) + 1), 1), N_DRAWS)
        return [draw_seconds(waiting, unstarted, self.n_rows, a_step, rng) for _ in range(n_draws)]

    def _kin(self, kind: Kind, tally: Tally, a_row: float, shift: float) -> Kin:
        return Kin(
            first=self._lengths((*_alike(kind), False), tally.max_tokens, shift),
            later=self._lengths((*_alike(kind), True), tally.max_tokens, shift),
            short=self._short(kind, shift),
            ends_short=self.ends_short[kind.model, kind.method],
            calls=self._calls(kind, tally, shift),
            a_token=tally.share * a_row,
            first_reading=self._reading(tally, 0),
            later_reading=self._reading(tally, 1),
        )

    def _lengths(self, calls: Calls, limit: int, shift: float) -> Endings:
        key = (calls, limit)
        if key not in self.alike:
            ends, reached = self.lengths[calls], self.reached_tokens[calls]
            tail = length_tail(ends, reached, self.usual_length[calls[0]])
            self.alike[key] = Endings(ends, reached, limit, shift, tail=tail, unseen=UNSEEN)
        return self.alike[key]

    def _short(self, kind: Kind, shift: float) -> Endings:
        """As of all methods of the model: they complete answers alike."""
        key = (kind.model,)
        if key not in self.alike:
            known = [tally for own, tally in self.tallies.items() if own.model == kind.model and tally.short_limit]
            ends = sum((tally.short for tally in known), Counter[int]())
            limit = max((tally.short_limit for tally in known), default=1)
            self.alike[key] = Endings(ends, (), limit, shift, tail=length_tail(ends, (), limit), unseen=UNSEEN)
        return self.alike[key]

    def _ends_short(self) -> dict[System, float]:
        """By method, as far as its trials have ended, and as of all methods."""
        last: Counter[System] = Counter()
        several: Counter[System] = Counter()
        for kind, tally in self.tallies.items():
            last[kind.model, kind.method] += tally.n_short_last
            several[kind.model, kind.method] += tally.calls.total() - tally.calls[1]
        usual = last.total() / max(several.total(), 1)
        return {system: (last[system] + 2 * usual) / (several[system] + 2) for system in last}

    def _calls(self, kind: Kind, tally: Tally, shift: float) -> Endings:
        ended, reached = self.calls[kind.model, kind.method], self.reached_calls[kind.model, kind.method]
        limit = tally.max_calls or MOST_CALLS
        middle = min(USUAL_CALLS, (1 + limit) / 2)
        usual, spread = (tally.usual_calls, SPREAD) if tally.usual_calls else (middle, WIDE_SPREAD)
        ends: dict[int, float] = dict(ended)
        for share in spread:
            place = min(max(round(usual * share), 1), limit)
            ends[place] = ends.get(place, 0) + (1.0 if tally.usual_calls else 0.5)
        unseen = 0.0 if tally.usual_calls else UNSEEN
        return Endings(ends, reached, limit, shift, tail=length_tail(ended, reached, usual), unseen=unseen)

    def _reading(self, tally: Tally, n_calls: int) -> float:
        """Of a prompt of a trial, as far as it pays for it."""
        if n_calls:
            return self._later_reading(tally)
        own = tally.first
        return tally.share * own.reading(self.a_token) if own.n else self.first_reading

    def _later_reading(self, tally: Tally) -> float:
        """As of those so far of the method, and of a prompt of their length that is read for one trial alone: those
        that end first are short, and read together with others."""
        kind = self.kind_of_tally[id(tally)]
        alike = [
            other.later
            for kin, other in self.tallies.items()
            if kin[:2] == kind[:2] and (kin.temperature > 0) == (kind.temperature > 0) and other.later.n
        ]
        n, n_answered = sum(own.n for own in alike), sum(own.n_answered for own in alike)
        usual = self._reading(tally, 0)
        if self.is_told:
            longer = sum(own.n_prompt_tokens for own in alike) / n / self._prompt_tokens(tally) if n else 1.0
            usual *= tally.n_sharing * max(longer, 1.0)
        known = sum(own.n * own.reading(self.a_token) for own in alike)
        return (known + FEW * usual) / (n_answered + FEW)

    def _prompt_tokens(self, tally: Tally) -> float:
        """Of the first prompt of a trial."""
        own = tally.first
        if own.n:
            return own.n_prompt_tokens / own.n
        known = [other.first for other in self.tallies.values() if other.first.n]
        return sum(own.n_prompt_tokens for own in known) / sum(own.n for own in known)


def _paused(trial: Underway, kin: Kin) -> Paused:
    if trial.max_tokens >= trial.tally.max_tokens:
        return Paused(kin, trial.n_calls, trial.n_tokens)
    return Paused(kin, trial.n_calls, trial.n_tokens, is_short=True, last=trial.tally.short_is_last)


def _alike(kind: Kind) -> tuple[str, str, float]:
    return kind.model, kind.method, kind.temperature
