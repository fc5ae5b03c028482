"""What the trials took so far → the time that the others will take.

Trials of one kind are asked alike and cost alike. Of each kind it is known how long its replies become, how many of
them a trial asks for, and what reading a prompt takes; a token takes as long in one as in another. Replies under way
count for as far as they have come, as in survival analysis: long ones finish last, and would be missed at first.
"""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from time import perf_counter
from typing import NamedTuple

from shaketable.stages.plan import Condition
from shaketable.types import Completion, Trial

MIN_SECONDS = 5.0
MIN_REPLIES = 8
"""Before so much was seen, nothing is said: no number is better than a wrong one."""


class Kind(NamedTuple):
    """Trials that are asked alike."""

    model: str
    method: str
    retriever: str | None
    perturbation: str | None
    temperature: float


def kind_of(condition: Condition, temperature: float) -> Kind:
    labels = condition.labels
    assert labels["model"] is not None and labels["method"] is not None
    return Kind(labels["model"], labels["method"], labels["retriever"], labels["perturbation"], temperature)


@dataclass(slots=True, eq=False)
class Tally:
    """What is known of one kind of trials."""

    n_unstarted: float = 0.0
    usual_calls: float = 1.0
    """Of a trial of this system in its last run on this machine; 1: it has not run here."""
    max_tokens: int = 0
    """Of one reply; 0: none was asked for yet."""
    replies: Counter[int] = field(default_factory=Counter)
    """New tokens → replies of this length."""
    calls: Counter[int] = field(default_factory=Counter)
    """Replies → finished trials that asked for so many."""
    n_replies: float = 0.0
    """Those that answer several trials at once count once; so do their tokens and seconds."""
    n_tokens: float = 0.0
    seconds: float = 0.0
    """That the replies took by the model's own account, reading and writing."""
    tokens_squared: float = 0.0
    seconds_squared: float = 0.0
    tokens_by_seconds: float = 0.0
    """Sums over the replies, of which the time of a token is worked out."""

    def note(self, reply: Completion, share: float) -> None:
        """`share`: of the reply, where others get the same one."""
        # Of a model that does not tell its time, all tokens are taken to be alike.
        n_tokens, seconds = reply.n_tokens, reply.seconds or reply.n_tokens + 1.0
        self.replies[n_tokens] += 1
        self.n_replies += share
        self.n_tokens += share * n_tokens
        self.seconds += share * seconds
        self.tokens_squared += share * n_tokens * n_tokens
        self.seconds_squared += share * seconds * seconds
        self.tokens_by_seconds += share * n_tokens * seconds

    def reading(self, a_token: float) -> float:
        """Seconds of a reply that writing does not explain."""
        return max(self.seconds - a_token * self.n_tokens, 0.0) / self.n_replies


class Underway(NamedTuple):
    """A trial that waits for a reply."""

    tally: Tally
    n_calls: int
    """Replies that it has."""
    n_tokens: int
    """Of the one it waits for, so far."""


class Survival:
    """How far a count goes that has come so far, after Kaplan and Meier (1958): whoever is under way counts among those
    who got as far as that. Beyond the longest that was seen, all that are left go on to the limit."""

    def __init__(self, ends: Mapping[int, int], underway: Sequence[int], limit: int) -> None:
        self.places = sorted(ends)
        waiting = sorted(underway)
        last = max([*self.places[-1:], *waiting[-1:], 0])
        self.limit = max(limit, last)
        self.shares = []
        """Of all that go beyond each place."""
        share, n_longer = 1.0, sum(ends.values())
        for place in self.places:
            n_there = n_longer + len(waiting) - bisect.bisect_left(waiting, place)
            share *= 1 - ends[place] / n_there
            n_longer -= ends[place]
            self.shares.append(share)

    def mean(self) -> float:
        """Of one that is not begun."""
        beyond_nothing = self.shares[0] if self.places[:1] == [0] else 1.0
        return self.rest(0) * beyond_nothing

    def rest(self, reached: int) -> float:
        """How much is still to come, on average, of one that goes beyond `reached`."""
        at = bisect.bisect_right(self.places, reached)
        share = self.shares[at - 1] if at else 1.0
        if share <= 0:
            return 0.0
        widths = [b - a for a, b in pairwise([reached, *self.places[at:], max(self.limit, reached)])]
        return sum(width * height for width, height in zip(widths, [share, *self.shares[at:]], strict=True)) / share


class Amount(NamedTuple):
    """Work of one kind, in seconds by the model's own account. They need not add up to the time that passes: replies
    may be written side by side, and one row may answer several trials."""

    done: float
    left: float
    a_trial: float


def seconds_a_token(tallies: Iterable[Tally]) -> float:
    """The slope of time over length within kinds, by least squares; between kinds the prompts differ too."""
    known = [tally for tally in tallies if tally.n_replies]
    n_tokens, seconds = sum(tally.n_tokens for tally in known), sum(tally.seconds for tally in known)
    most = seconds / n_tokens if n_tokens else 0.0
    spread = sum(tally.tokens_squared - tally.n_tokens**2 / tally.n_replies for tally in known)
    together = sum(tally.tokens_by_seconds - tally.n_tokens * tally.seconds / tally.n_replies for tally in known)
    return min(max(together / spread, 0.0), most) if spread > 0 else most


class TimeLeft:
    def __init__(self, tallies: Mapping[Kind, Tally]) -> None:
        self.tallies = dict(tallies)
        self.begun: float | None = None
        """When the present model began; None: it is being loaded."""
        self.earlier = 0.0
        """Seconds that the models before it took."""
        self.before: dict[Tally, float] = {}
        """Work of each kind that was done when it began."""

    def start(self, trial: Trial) -> Tally:
        """The tally that a trial counts in from now on."""
        kind = Kind(trial.model, trial.method, trial.retriever, trial.perturbation, trial.temperature)
        tally = self.tallies.get(kind)
        if tally is None:
            tally = self.tallies[kind] = Tally()
        tally.n_unstarted = max(tally.n_unstarted - 1, 0.0)
        return tally

    def expect(self, unstarted: Mapping[Kind, float]) -> None:
        """How many trials of some kinds are still to come, as far as can be told now."""
        for kind, n in unstarted.items():
            self.tallies.setdefault(kind, Tally()).n_unstarted = n

    def elapsed(self) -> float:
        """Seconds that were spent answering, without loading."""
        return self.earlier + (0.0 if self.begun is None else perf_counter() - self.begun)

    def begin(self) -> None:
        """A model is loaded; what came before says nothing about its speed."""
        if self.begun is None:
            self.begun = perf_counter()
            self.before = {tally: tally.seconds for tally in self.tallies.values()}

    def end(self) -> None:
        """All trials of a model are answered."""
        self.earlier, self.begun = self.elapsed(), None

    def seconds(self, underway: Iterable[Underway], *, is_told: bool) -> float | None:
        """Until all is answered; None: too little was seen. `is_told`: how far replies under way have come is known."""
        elapsed = 0.0 if self.begun is None else perf_counter() - self.begun
        waiting: dict[Tally, list[Underway]] = {tally: [] for tally in self.tallies.values()}
        for trial in underway:
            waiting[trial.tally].append(trial)
        replied = [tally for tally in waiting if tally.n_replies]
        n_replies = sum(tally.n_replies for tally in replied)
        if elapsed < MIN_SECONDS or n_replies < MIN_REPLIES or self._is_mostly_unseen(waiting):
            return None
        a_token = seconds_a_token(replied)
        reading = sum(tally.reading(a_token) for tally in replied) / len(replied)
        amounts = [self._amount(tally, own, a_token, reading) for tally, own in waiting.items() if tally.max_tokens]
        # A trial of a kind that was not asked yet is taken to cost as much as one of the others.
        a_trial = sum(amount.a_trial for amount in amounts) / len(amounts)
        n_unknown = sum(tally.n_unstarted for tally in waiting if not tally.max_tokens)
        done = sum(amount.done for amount in amounts)
        left = sum(amount.left for amount in amounts) + n_unknown * a_trial
        if not is_told:
            # As many replies as are written at once are half done, on average; long ones are met more often.
            begun = sum(tally.seconds_squared for tally in replied) / sum(tally.seconds for tally in replied)
            half = min(done / elapsed * begun, left) / 2
            done, left = done + half, left - half
        return elapsed * left / done if done else None

    def _is_mostly_unseen(self, waiting: Mapping[Tally, Sequence[Underway]]) -> bool:
        """Whether most that the present model has still to answer is of kinds that it was not asked yet."""
        present = {kind.model for kind, tally in self.tallies.items() if waiting[tally]}
        own = [tally for kind, tally in self.tallies.items() if kind.model in present]
        unseen = sum(tally.n_unstarted for tally in own if not tally.max_tokens)
        return unseen > sum(tally.n_unstarted + len(waiting[tally]) for tally in own) / 2

    def _amount(self, tally: Tally, waiting: Sequence[Underway], a_token: float, reading: float) -> Amount:
        """`reading`: of other kinds, where this one has no reply yet."""
        lengths = Survival(tally.replies, [trial.n_tokens for trial in waiting], tally.max_tokens)
        # Methods stop long before they must: whoever goes beyond what was seen goes on as usual, or for as long again.
        n_seen = max([*tally.calls, *(trial.n_calls for trial in waiting)], default=0)
        limit = round(tally.usual_calls) if n_seen < tally.usual_calls else 2 * n_seen + 1
        calls = Survival(tally.calls, [trial.n_calls for trial in waiting], limit)
        if tally.n_replies:
            share = tally.n_replies / tally.replies.total()
            reading, a_token = share * tally.reading(a_token), share * a_token
        a_reply = reading + a_token * lengths.mean()
        done = tally.seconds - self.before.get(tally, 0.0)
        left = tally.n_unstarted * max(calls.mean(), 1.0) * a_reply
        for trial in waiting:
            read = reading if trial.n_tokens else 0.0
            done += read + a_token * trial.n_tokens
            left += reading - read + a_token * lengths.rest(trial.n_tokens)
            left += max(calls.rest(trial.n_calls) - 1, 0.0) * a_reply
        return Amount(done=done, left=left, a_trial=max(calls.mean(), 1.0) * a_reply)


class Pace:
    """Things that are done alike, several at once: from the first that is finished on, they finish steadily."""

    def __init__(self) -> None:
        self.first: tuple[int, float] | None = None

    def seconds_left(self, done: int, of: int) -> float | None:
        """None: too little was seen to tell."""
        now = perf_counter()
        if self.first is None or done < self.first[0]:  # The next of several lists begins.
            self.first = (done, now)
        n_before, begun = self.first
        if now - begun < MIN_SECONDS or done - n_before < MIN_REPLIES:
            return None
        return (now - begun) / (done - n_before) * (of - done)
