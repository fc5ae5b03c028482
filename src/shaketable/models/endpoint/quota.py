"""Stated limits of requests and tokens per minute, held in any minute."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

MINUTE_SECONDS = 60.0
SHORTER_SECONDS = (10.0, 1.0)
"""The requests of a minute are held in a sixth of it and in a second too: many servers count by the second, and refuse
what comes at once."""


FEW_CALLS = 4
"""So many are sent at first where there is a limit of tokens, as long as it is not known what one takes."""
N_COUNTED = 20
"""Calls by which it is known what the next one takes."""


@dataclass(slots=True)
class Taken:
    """What one call takes of a limit."""

    at: float
    amount: float
    estimate: float = 0.0
    """Of tokens: by the length of the request, before anything was learnt."""


class Scale:
    """Estimates of tokens → what calls take, by those that were counted lately. None is made smaller: where texts
    are as long as they look, an estimate is the most that a call may take."""

    def __init__(self) -> None:
        self._counted: deque[tuple[float, float]] = deque(maxlen=N_COUNTED)

    def learn(self, estimate: float, counted: float) -> None:
        self._counted.append((estimate, counted))

    @property
    def is_known(self) -> bool:
        return bool(self._counted)

    def likely(self, estimate: float) -> float:
        estimated, counted = (sum(pair[i] for pair in self._counted) for i in (0, 1))
        return estimate * max(counted / estimated, 1.0) if estimated else estimate


class Quota:
    """So much, at most, in any stretch of so many seconds."""

    def __init__(self, limit: float, seconds: float) -> None:
        self.limit, self.seconds = limit, seconds
        self._taken: deque[Taken] = deque()
        self._total = 0.0

    def ready_at(self, now: float, amount: float) -> float:
        """When so much may be taken. What is more than the whole limit may go when nothing else does."""
        self._forget(now)
        ready, total = now, self._total
        for taken in self._taken:
            if total + amount <= self.limit:
                break
            total -= taken.amount
            ready = taken.at + self.seconds
        return ready

    def take(self, taken: Taken) -> None:
        self._taken.append(taken)
        self._total += taken.amount

    def correct(self, taken: Taken, change: float) -> None:
        if self._taken and taken.at >= self._taken[0].at:
            self._total += change

    def _forget(self, now: float) -> None:
        while self._taken and self._taken[0].at <= now - self.seconds:
            self._total -= self._taken.popleft().amount


class Quotas:
    """The limits of a model: requests and tokens per minute."""

    def __init__(self, requests_per_minute: float | None, tokens_per_minute: float | None) -> None:
        self._requests: tuple[Quota, ...] = ()
        if requests_per_minute is not None:
            shorter = [
                Quota(math.ceil(requests_per_minute * seconds / MINUTE_SECONDS), seconds) for seconds in SHORTER_SECONDS
            ]
            self._requests = Quota(requests_per_minute, MINUTE_SECONDS), *shorter
        # Not so for tokens: calls are estimated by the most they may take, often a good part of a sixth.
        self._tokens = () if tokens_per_minute is None else (Quota(tokens_per_minute, MINUTE_SECONDS),)
        self._scale = Scale()

    @property
    def counts_tokens(self) -> bool:
        return bool(self._tokens)

    def ready_at(self, now: float, n_tokens: float) -> float:
        ready = [quota.ready_at(now, 1) for quota in self._requests]
        return max([now, *ready, *(quota.ready_at(now, self._expect(n_tokens)) for quota in self._tokens)])

    def take(self, now: float, n_tokens: float) -> Taken:
        request, tokens = Taken(at=now, amount=1), Taken(now, self._expect(n_tokens), n_tokens)
        for quota in self._requests:
            quota.take(request)
        for quota in self._tokens:
            quota.take(tokens)
        return tokens

    def _expect(self, estimate: float) -> float:
        if not self._tokens:
            return estimate
        least = 0.0 if self._scale.is_known else self._tokens[0].limit / FEW_CALLS
        return max(self._scale.likely(estimate), least)

    def count(self, tokens: Taken, n_tokens: float) -> None:
        """The call took so many tokens, and the next ones will be like it. What is more than the limit is no count."""
        if self._tokens:
            self._scale.learn(tokens.estimate, min(n_tokens, self._tokens[0].limit))
        self.correct(tokens, n_tokens)

    def lose(self, tokens: Taken) -> None:
        """The call failed, and what it took will not be known."""
        self.correct(tokens, self._scale.likely(tokens.estimate))

    def correct(self, tokens: Taken, n_tokens: float) -> None:
        """The call took another number of tokens than was estimated."""
        for quota in self._tokens:
            quota.correct(tokens, n_tokens - tokens.amount)
        tokens.amount = n_tokens
