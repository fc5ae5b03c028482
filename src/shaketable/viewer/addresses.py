"""The addresses of pages: all that a page shows is told by its address, so each can be sent and come back to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from shaketable.errors import RunError

PER_PAGE = 50


@dataclass(frozen=True, kw_only=True)
class Pages:
    number: int
    n: int
    before: str | None
    after: str | None


def pages_of(path: str, given: Mapping[str, str], n: int) -> Pages:
    """The pages of a list of n."""
    number, last = int(given.get("page", "1")), max(1, math.ceil(n / PER_PAGE))

    def at(page: int) -> str:
        return f"{path}?{urlencode({**given, 'page': page})}"

    before, after = at(number - 1) if number > 1 else None, at(number + 1) if number < last else None
    return Pages(number=number, n=last, before=before, after=after)


def read_number(text: str, name: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 8 and int(text)):
        raise RunError(f"'{name}' is '{text[:40]}', expected a whole number from 1.")
    return int(text)


def read_metric(given: Mapping[str, str], name: str, metrics: Sequence[str]) -> str | None:
    """Return the metric that an address names; None: it names none."""
    metric = given.get(name)
    if metric and metric not in metrics:
        known = ", ".join(metrics) or "none yet"
        raise RunError(f"'{name}' is '{metric[:40]}', expected a score of this run: {known}.")
    return metric or None


def link(home: str, *steps: str, **given: object) -> str:
    """The address of a page of a run: `link(home, "record", key)`."""
    path = "/".join([home, *(quote(step, safe="") for step in steps)])
    asked = urlencode({name: value for name, value in given.items() if value is not None})
    return f"{path}?{asked}" if asked else path
