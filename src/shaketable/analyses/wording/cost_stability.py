"""Does rewording change what an answer costs: searches, model calls, tokens?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from shaketable.analyses.claims import Claim
from shaketable.analyses.tables import Tables
from shaketable.analyses.wording.answers import NO_RECORDS, group_replies
from shaketable.analyses.wording.asked import Asked, Reply
from shaketable.analyses.wording.candidates import claim_differences
from shaketable.analyses.wording.measurements import (
    Measurement,
    measure_losses,
    measure_pairs_beside_noise,
    measure_sets,
    measure_sets_beside_noise,
)
from shaketable.analyses.wording.numbers import WordingNumber, estimate_numbers
from shaketable.statistics.stability import Steadiness, Zero, pair_steadiness, relative_change, steadiness

NOT_COUNTED = "no {what} were counted in these records"
Count = Callable[[Reply], int]


@dataclass(frozen=True, kw_only=True, slots=True)
class CostStability:
    """Does rewording change what an answer costs?"""

    zero: Zero
    """What relative change is where the original wording made no call."""
    steady: Steadiness
    numbers: tuple[WordingNumber, ...]
    """The means `n_…` with their losses, relative changes `re_…`, and steadiness `cvr_…` over all wordings.

    Changes, and steadiness by pair, beside their `noise_…` and `excess_…`.
    """
    reason: str | None = None
    """Why there are no numbers at all."""

    def claims(self) -> Iterable[Claim]:
        """How much more rewording changes the number of searches than chance does."""
        excesses = (number for number in self.numbers if number.metric == "excess_re_searches")
        return claim_differences(excesses, "cost")


def cost_stability(tables: Tables, *, zero: Zero = "one", steady: Steadiness = "inverse") -> CostStability:
    """Relative change (RE) and steadiness (CVR) of searches and model calls, and the mean of each, and of tokens.

    `re_searches` is |c - o| / max(o, 1) for the count o of the original and c of the rewording. `cvr_searches` is
    1 / (1 + CV) over all wordings of a question, 1 where all cost the same; `cvr_pair_searches` is the mean of that
    over all pairs of wordings. `noise_…` is the same between runs of the original wording; `excess_…`: the difference,
    of steadiness below 0 where rewording shakes costs. Model calls are those of the method itself where the run tells
    them apart; else all generations count. Tokens are all that was generated.
    """
    if tables.records.is_empty():
        reason = NO_RECORDS if tables.metrics else None
        return CostStability(zero=zero, steady=steady, numbers=(), reason=reason)
    counts = _counts(tables)
    numbers = [
        number
        for asked in group_replies(tables.records)
        for number in estimate_numbers(asked, _measure(asked, counts, zero, steady), tables.bootstrap)
    ]
    return CostStability(zero=zero, steady=steady, numbers=tuple(numbers))


def _counts(tables: Tables) -> Mapping[str, Count]:
    own = {} if tables.calls.is_empty() else dict(tables.calls.select("key", "n_calls").iter_rows())
    return {
        "searches": lambda reply: reply.n_searches,
        "calls": lambda reply: own[reply.key] if own else reply.n_generations,
        "tokens": lambda reply: reply.n_tokens,
    }


def _measure(asked: Asked, counts: Mapping[str, Count], zero: Zero, steady: Steadiness) -> list[Measurement]:
    measurements: list[Measurement] = []
    for what, count in counts.items():
        if what == "searches" and not asked.searches:
            continue
        if what != "searches" and not any(count(reply) for reply in asked.every_reply()):
            reason = NOT_COUNTED.format(what=what)
            measurements.append(Measurement(metric=f"n_{what}", variation=None, values={}, unit="count", reason=reason))
            continue
        measurements += _means(asked, what, count)
        if what != "tokens":
            measurements += _stability(asked, what, count, zero, steady)
    return measurements


def _means(asked: Asked, what: str, count: Count) -> list[Measurement]:
    return measure_losses(asked, f"n_{what}", lambda reply: float(count(reply)), "count")


def _stability(asked: Asked, what: str, count: Count, zero: Zero, steady: Steadiness) -> list[Measurement]:
    return [
        *measure_pairs_beside_noise(
            asked, f"re_{what}", lambda original, other: relative_change(count(original), count(other), zero)
        ),
        *measure_sets(asked, f"cvr_{what}", lambda run: steadiness([count(reply) for reply in run], steady)),
        *measure_sets_beside_noise(
            asked, f"cvr_pair_{what}", lambda run: pair_steadiness([count(reply) for reply in run], steady)
        ),
    ]
