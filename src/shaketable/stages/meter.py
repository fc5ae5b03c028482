"""What a run has spent, what it may spend, and what the rest would take.

No trial is begun that, as far as those before it tell, could not be ended within the limits; no call is made beyond
`max_calls`, nor when `max_cost` is spent. What is under way then may still cost more than was expected of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Literal, NamedTuple

from shaketable.errors import RunError, StudyError
from shaketable.protocols import BatchedModel, Model, PricedModel, WhiteBoxModel
from shaketable.types import Completion, Cost, Failure, Limits

ENOUGH_PRICED = 8
"""Trials whose price must be known before it is told what the others will cost."""
AT_FIRST = 4
"""Trials that are begun before it is known what one takes, where calls or money are limited."""

Limit = Literal["max_cost", "max_calls", "max_minutes"]


class System(NamedTuple):
    model: str
    method: str


class Prices(NamedTuple):
    """USD for a million tokens."""

    read: float
    written: float

    def dollars(self, n_prompt_tokens: int, n_tokens: int) -> float:
        return (n_prompt_tokens * self.read + n_tokens * self.written) / 1e6


@dataclass(slots=True)
class Spent:
    """What the trials of one system took that have ended, those of other runs left out."""

    n_trials: int = 0
    n_calls: int = 0
    dollars: float = 0.0
    n_priced: int = 0
    """Trials whose price is known."""

    def add(self, cost: Cost) -> None:
        self.n_trials += 1
        self.n_calls += cost.n_generations
        if cost.dollars is not None:
            self.dollars += cost.dollars
            self.n_priced += 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Money:
    """Of one system, in USD; None: not known."""

    model: str
    method: str
    spent: float | None
    left: float | None
    """What is still to come, as far as those before tell."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stop:
    """A run that reached a limit before its end."""

    limit: Limit
    n_left: float
    """Trials that were not answered, as many as are known."""
    calls: float | None
    """That they would take, as those before; so the others. None: not known."""
    dollars: float | None
    seconds: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Before:
    """What earlier goes at the same run spent."""

    systems: Mapping[System, Spent] = field(default_factory=dict)
    lost_calls: int = 0
    """Of trials that have not ended; so the dollars."""
    lost_dollars: float = 0.0
    seconds: float = 0.0


class Meter:
    def __init__(self, limits: Limits | None = None, before: Before | None = None) -> None:
        self.limits, before = limits or Limits(), before or Before()
        self.systems = {system: replace(spent) for system, spent in before.systems.items()}
        self.before = Spent(n_calls=before.lost_calls, dollars=before.lost_dollars)
        self.n_calls = self._ended.n_calls
        self.dollars = self._ended.dollars
        self.n_pending = 0
        """Calls without a reply."""
        self.now = Spent()
        """Of the present model, in this go: what is expected of its next trials."""
        self.seconds_before = before.seconds
        self.begun = perf_counter()
        self.is_local = False
        self.is_kept = False
        """Whether replies of the present model are kept until its trials end, in whichever go: none is lost."""
        self.prices: Prices | None = None
        """Of the present model, as it is asked for each reply."""
        self.unpaid: set[System] = set()
        """Systems of models that run here: nobody is paid for them."""
        self.reached: Limit | None = None
        """The limit that stands against the next call or trial; None: none does."""

    def begin(self, model: Model, *, in_batches: bool = False) -> None:
        """Another model is asked from now on."""
        self.now = Spent()
        self.is_local = isinstance(model, WhiteBoxModel)
        self.is_kept = in_batches
        self.prices = prices_of(model, in_batches=in_batches)

    def seconds(self) -> float:
        """Of all goes."""
        return self.seconds_before + perf_counter() - self.begun

    def deadline(self) -> float | None:
        """When the minutes are over, by `perf_counter`; None: they are not limited."""
        most = self.limits.max_minutes
        return None if most is None else self.begun + 60 * most - self.seconds_before

    def is_late(self) -> bool:
        most = self.limits.max_minutes
        late = most is not None and self.seconds() >= 60 * most
        if late:
            self.reached = "max_minutes"
        return late

    def n_to_start(self, n: int, n_underway: int) -> int:
        """How many of n trials may be begun beside those under way."""
        limits, now = self.limits, self.now
        if limits.max_calls is None and limits.max_cost is None:
            return n
        if not self.may_call():
            return 0
        if not now.n_trials:
            return max(min(n, AT_FIRST - n_underway), 0)
        for limit, most, spent, a_trial in (
            ("max_calls", limits.max_calls, self._ended.n_calls, now.n_calls / now.n_trials),
            ("max_cost", limits.max_cost, self._ended.dollars, now.dollars / max(now.n_priced, 1)),
        ):
            if most is not None and a_trial > 0:
                room = int((most - spent) / a_trial + 1e-9) - n_underway
                if limit == "max_cost":
                    room = math.ceil(room / 2)  # The mean of the first ones may mislead: it is looked at again halfway.
                if room < n:
                    self.reached = limit  # type: ignore[assignment]
                    n = max(room, 0)
        return n

    def n_affordable(self) -> float:
        """Trials that the limits allow in all, those before among them, at what they took on average."""
        limits, spent = self.limits, self._ended
        n = max(spent.n_trials, 1)
        shares = (
            limits.max_calls and max(spent.n_calls, n) / n / limits.max_calls,
            limits.max_cost and spent.dollars / n / limits.max_cost,
            limits.max_minutes and self.seconds() / n / (60 * limits.max_minutes),
        )
        most = max(share or 0.0 for share in shares)
        return 1 / most if most else math.inf

    def may_call(self) -> bool:
        limits = self.limits
        if limits.max_calls is not None and self.n_calls + self.n_pending >= limits.max_calls:
            self.reached = "max_calls"
            return False
        if limits.max_cost is not None and self.dollars >= limits.max_cost:
            self.reached = "max_cost"
            return False
        return True

    def note(self, dollars: float | None, n_calls: int = 1) -> None:
        """A reply came; as many calls stand behind it as it says."""
        self.n_pending -= 1
        self.n_calls += n_calls
        self.dollars += dollars or 0.0

    def recall(self, n_calls: int, dollars: float | None) -> None:
        """A reply that an earlier go kept is used: its trial will tell what it cost."""
        self.before.n_calls -= n_calls
        self.before.dollars -= dollars or 0.0

    def take_back(self) -> None:
        """Trials under way are let go, and their replies are kept: a later go counts them."""
        ended = self._ended
        self.n_pending, self.n_calls, self.dollars = 0, ended.n_calls, ended.dollars

    def end(self, system: System, cost: Cost) -> None:
        """A trial has ended."""
        self.systems.setdefault(system, Spent()).add(cost)
        self.now.add(cost)
        if self.is_local:
            self.unpaid.add(system)

    @property
    def lost(self) -> Spent:
        """Calls whose trials never ended, those without a reply among them."""
        if self.is_kept:
            return self.before
        now, ended, before = self, self._ended, self.before
        return Spent(
            n_calls=now.n_calls + now.n_pending - ended.n_calls + before.n_calls,
            dollars=now.dollars - ended.dollars + before.dollars,
        )

    @property
    def _ended(self) -> Spent:
        """All that is in records, and what earlier goes lost."""
        every = [*self.systems.values(), self.before]
        return Spent(
            n_trials=sum(spent.n_trials for spent in every),
            n_calls=sum(spent.n_calls for spent in every),
            dollars=sum(spent.dollars for spent in every),
        )

    # --- what is told -------------------------------------------------------------------------

    def money(self, left: Mapping[System, float]) -> tuple[Money, ...]:
        """Spent and to come, by system that may be paid for. `left`: trials that are still to be answered."""
        return tuple(
            Money(
                model=system.model,
                method=system.method,
                spent=spent.dollars if spent.n_priced else None,
                left=left.get(system, 0.0) * spent.dollars / spent.n_priced
                if spent.n_priced >= ENOUGH_PRICED
                else None,
            )
            for system, spent in self.systems.items()
            if system not in self.unpaid
        )

    def stop(self, left: Mapping[System, float]) -> Stop:
        assert self.reached is not None
        n_left = sum(left.values())
        n_trials = sum(spent.n_trials for spent in self.systems.values())
        known = [(n, self.systems.get(system, Spent())) for system, n in left.items() if n]
        is_counted = all(spent.n_trials for _, spent in known)
        is_priced = all(spent.n_priced for _, spent in known)
        return Stop(
            limit=self.reached,
            n_left=n_left,
            calls=sum(n * spent.n_calls / spent.n_trials for n, spent in known) if is_counted else None,
            dollars=sum(n * spent.dollars / spent.n_priced for n, spent in known) if is_priced else None,
            seconds=self.seconds() * n_left / n_trials if n_trials else None,
        )


def asked_in_batches(model: Model) -> bool:
    """Whether the trials of a run are: what else is asked of the model is asked call by call."""
    return isinstance(model, BatchedModel) and model.batch


def prices_of(model: Model, *, in_batches: bool = False) -> Prices | None:
    """None: the model does not say both."""
    if not isinstance(model, PricedModel) or model.price_in is None or model.price_out is None:
        return None
    share = model.batch_price if in_batches and isinstance(model, BatchedModel) else 1.0
    return Prices(model.price_in * share, model.price_out * share)


def price_of(reply: Completion | Failure, prices: Prices | None) -> float | None:
    """What a reply cost in USD: as the system says, else by the model's prices; None: not known. A call that failed is
    taken to cost nothing where there are prices."""
    if isinstance(reply, Completion) and reply.dollars is not None:
        return reply.dollars
    if prices is None:
        return None
    if isinstance(reply, Failure):
        return 0.0
    return prices.dollars(reply.n_prompt_tokens, reply.n_tokens)


def refuse_unpriced(limits: Limits, models: Mapping[str, Model]) -> None:
    """`max_cost` means nothing where nobody knows what a call costs. Who tells its costs itself shows that later."""
    if limits.max_cost is None:
        return
    for name, model in models.items():
        if isinstance(model, PricedModel) and prices_of(model) is None:
            raise StudyError(
                f"limits.max_cost is {limits.max_cost:g}, and the price of {name} is not known. Give price_in and "
                "price_out, in USD per million tokens, or limit max_calls or max_minutes instead."
            )


def refuse_untold(limits: Limits, name: str) -> None:
    """The same of a system that could have told what it costs, and did not."""
    if limits.max_cost is not None:
        raise RunError(
            f"limits.max_cost is {limits.max_cost:g}, and {name} does not tell what its answers cost. What was "
            "answered is kept. Let it tell its cost, or limit max_calls or max_minutes instead."
        )
