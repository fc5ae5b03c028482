"""What a run has spent and what is still to come, in words; what nobody knows is said to be unknown."""

from __future__ import annotations

from shaketable.factors import short_name
from shaketable.report.words import count
from shaketable.store.money import SystemSpent
from shaketable.store.summary import RunSummary

NO_PRICE = "not known, no price is given"
LOCAL_MODEL = "nothing, a local model"
LOCAL = "nothing was paid for answers: all models are local"


def format_dollars(dollars: float) -> str:
    """Cents, and of less than ten cents two digits: `1.20 USD`, `0.0031 USD`."""
    if 0 < dollars < 0.0001:
        return "less than 0.0001 USD"
    return f"{dollars:,.2f} USD" if dollars >= 0.1 or dollars == 0 else f"{dollars:.2g} USD"


def describe_money(summary: RunSummary) -> str:
    """By system, in one line; of several without a price once."""
    if not summary.spent:
        return ""
    if all(system.dollars is None and not system.n_reused for system in summary.spent):
        return LOCAL if all(system.is_local for system in summary.spent) else NO_PRICE
    lines = [_describe(system, named=len(summary.spent) > 1) for system in summary.spent]
    lost = summary.lost.dollars
    return "; ".join([*lines, *([f"{format_dollars(lost)} for trials that were let go at a limit"] if lost else [])])


def describe_reused(summary: RunSummary) -> str:
    """How many answers other runs asked for, and what they had cost them; empty: none."""
    n = sum(system.n_reused for system in summary.spent)
    if not n:
        return ""
    costs = [system.dollars_reused for system in summary.spent if system.dollars_reused is not None]
    cost = f", which had cost them {format_dollars(sum(costs))}" if costs else ""
    return f"{n:,} {'answer' if n == 1 else 'answers'} of other runs{cost}"


def _describe(system: SystemSpent, *, named: bool) -> str:
    name = f"{short_name(system.model)} · {system.method}: " if named else ""
    if system.dollars is None and system.is_local:
        return f"{name}{LOCAL_MODEL}"
    if system.dollars is None:
        is_free = system.n_reused and not system.n_trials
        return name + (format_dollars(0.0) if is_free else NO_PRICE if system.n_trials else "nothing yet")
    least = "" if system.n_priced == system.n_trials else "at least "
    spent = f"{least}{format_dollars(system.dollars)} for {count(system.n_calls, 'call')}"
    if not system.n_left or system.dollars_left is None:
        return name + spent
    return f"{name}{spent}, about {format_dollars(system.dollars_left)} more for {count(system.n_left, 'trial')} left"
