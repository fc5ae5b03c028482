"""`300 calls`, `2 usd`, `10 min` → the limits of a run."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from shaketable.errors import UsageError, did_you_mean
from shaketable.types import Limits

AMOUNT = re.compile(r"(?P<dollar>\$)?\s*(?P<number>[-+]?\d[\d,_]*(?:\.\d+)?|[-+]?\.\d+)\s*(?P<unit>[^\W\d_]*)")
CALLS = ("call", "calls")
MONEY = ("usd", "dollar", "dollars", "$")
MINUTES = {
    **dict.fromkeys(("min", "mins", "minute", "minutes"), 1.0),
    **dict.fromkeys(("h", "hour", "hours"), 60.0),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1 / 60),
}
KINDS = ("max_calls", "max_cost", "max_minutes")
ADVICE = "Give an amount above 0 and its unit: '300 calls', '2 usd' or '10 min'; several as '500 calls, 2 usd'."


def parse_budget(texts: Sequence[str]) -> Limits:
    """All amounts together; what is reached first ends the run."""
    limits = Limits()
    for text in texts:
        for amount in re.split(r",\s+|,(?=\s*\D)|;|\band\b|\+", text):
            limits = _with(limits, amount.strip(), text)
    return limits


def _with(limits: Limits, amount: str, text: str) -> Limits:
    match = AMOUNT.fullmatch(amount.casefold())
    if match is None:
        raise UsageError(f"--budget '{text}': '{amount}' is no amount. {ADVICE}")
    number = float(match["number"].replace(",", "").replace("_", ""))
    unit = match["unit"] or match["dollar"]
    if number <= 0 or not math.isfinite(number):
        raise UsageError(f"--budget '{text}': the amount is {number:g}, and nothing could be asked. {ADVICE}")
    if not unit:
        raise UsageError(f"--budget '{text}': {amount} of what? {ADVICE}")
    if unit in CALLS and number < 1:
        raise UsageError(f"--budget '{text}': this is less than one call. {ADVICE}")
    own = _limit(unit, number, text)
    for kind in KINDS:
        if getattr(own, kind) is not None and getattr(limits, kind) is not None:
            raise UsageError(f"--budget '{text}': {unit} is given twice. Give each kind of limit once.")
    return Limits(
        max_calls=own.max_calls or limits.max_calls,
        max_cost=own.max_cost or limits.max_cost,
        max_minutes=own.max_minutes or limits.max_minutes,
    )


def _limit(unit: str, number: float, text: str) -> Limits:
    if unit in CALLS:
        return Limits(max_calls=int(number))
    if unit in MONEY:
        return Limits(max_cost=number)
    if unit in MINUTES:
        return Limits(max_minutes=number * MINUTES[unit])
    near = did_you_mean(unit, ("calls", "usd", "minutes", "hours", "seconds"))
    raise UsageError(f"--budget '{text}': unknown unit '{unit}'.{near} Units: calls, usd, s, min, h. {ADVICE}")
