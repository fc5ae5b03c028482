"""What is known of each kind of trials: those to come, replies and their time, calls of a trial."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from shaketable.stages.plan import Condition
from shaketable.types import Completion

MANY_ALIKE = 8


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
class Replies:
    """Sums over replies. Those that answer several trials at once count once; so do their tokens and seconds."""

    lengths: Counter[int] = field(default_factory=Counter)
    """New tokens → replies of this length that had the kind's own limit."""
    n_answered: int = 0
    """Replies, each counted."""
    n: float = 0.0
    n_prompt_tokens: float = 0.0
    n_tokens: float = 0.0
    seconds: float = 0.0
    """That the replies took by the model's own account, reading and writing."""
    tokens_squared: float = 0.0
    seconds_squared: float = 0.0
    tokens_by_seconds: float = 0.0

    def note(self, reply: Completion, share: float) -> None:
        # Of a model that does not tell its time, all tokens are taken to be alike.
        n_tokens, seconds = reply.n_tokens, reply.seconds or reply.n_tokens + 1.0
        self.n += share
        self.n_prompt_tokens += share * reply.n_prompt_tokens
        self.n_tokens += share * n_tokens
        self.seconds += share * seconds
        self.tokens_squared += share * n_tokens * n_tokens
        self.seconds_squared += share * seconds * seconds
        self.tokens_by_seconds += share * n_tokens * seconds

    def reading(self, a_token: float) -> float:
        """Seconds of a reply that writing does not explain."""
        return max(self.seconds - a_token * self.n_tokens, 0.0) / self.n


@dataclass(slots=True, eq=False)
class Tally:
    """What is known of one kind of trials."""

    n_unstarted: float = 0.0
    usual_calls: float | None = None
    """Of a trial of this system in its last run on this machine; None: it has not run here."""
    max_calls: int | None = None
    """Of a trial, by the method's own limits; None: it states none."""
    n_sharing: int = 1
    """Rows that go on from the first prompt of a trial; later prompts hold what was written, and are a trial's own."""
    max_tokens: int = 0
    """Of one reply; 0: none was asked for yet."""
    calls: Counter[int] = field(default_factory=Counter)
    """Replies → finished trials that asked for so many."""
    short: Counter[int] = field(default_factory=Counter)
    """Lengths of replies with a lower limit of tokens than others of the trial: most complete an answer."""
    n_short_last: int = 0
    """Of these, the last of their trial."""
    short_limit: int = 0
    """0: none was asked for yet."""
    first: Replies = field(default_factory=Replies)
    """To the first prompt of a trial, which its repeats share."""
    later: Replies = field(default_factory=Replies)

    def note(self, reply: Completion, share: float, n_calls: int, max_tokens: int) -> None:
        """`share`: of the reply, where others get the same one. `n_calls`: replies that the trial had before."""
        if max_tokens < self.max_tokens:
            self.short[reply.n_tokens] += 1
            self.short_limit = max_tokens
        replies = self.later if n_calls else self.first
        replies.note(reply, share)
        replies.n_answered += 1
        if max_tokens >= self.max_tokens:
            replies.lengths[reply.n_tokens] += 1

    def end(self, n_calls: int, max_tokens: int) -> None:
        """A trial has ended with as many replies, the last of them with this limit."""
        self.calls[n_calls] += 1
        if max_tokens < self.max_tokens:
            self.n_short_last += 1

    @property
    def short_is_last(self) -> float:
        """The chance that a call with a lower limit is the last of its trial."""
        return (self.n_short_last + 1) / (self.short.total() + 2)

    @property
    def n_replies(self) -> float:
        return self.first.n + self.later.n

    @property
    def seconds(self) -> float:
        return self.first.seconds + self.later.seconds

    @property
    def share(self) -> float:
        """Of a reply, that a trial pays for on average."""
        n_answered = self.first.n_answered + self.later.n_answered
        return self.n_replies / n_answered if n_answered else 1.0


class Underway(NamedTuple):
    """A trial that waits for a reply."""

    tally: Tally
    n_calls: int
    """Replies that it has."""
    n_tokens: int
    """Of the one it waits for, so far."""
    max_tokens: int
    """Of the one it waits for."""


def seconds_a_token(replies: Iterable[Replies]) -> float:
    """The slope of time over length within kinds, by least squares; between kinds the prompts differ too."""
    known = [own for own in replies if own.n]
    n_tokens, seconds = sum(own.n_tokens for own in known), sum(own.seconds for own in known)
    most = seconds / n_tokens if n_tokens else 0.0
    spread = sum(own.tokens_squared - own.n_tokens**2 / own.n for own in known)
    together = sum(own.tokens_by_seconds - own.n_tokens * own.seconds / own.n for own in known)
    if spread > 0:
        return min(max(together / spread, 0.0), most)
    # Replies that are all of one length do not tell what a token takes. Of one or two it is taken to be all; of many,
    # such as the names that a pipeline gives, nothing, else one that is longer would be thought to take minutes.
    return most if sum(own.n for own in known) < MANY_ALIKE else 0.0
