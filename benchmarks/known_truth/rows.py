"""One line of the table: what was measured, with its Monte-Carlo error, against what must hold."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from shaketable.identity import seed_from
from shaketable.types import Estimate

Verdict = Literal["ok", "wide", "NOT", "–"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    part: str
    what: str
    n: int
    """Questions."""
    hits: int
    """Draws in which it was so."""
    n_draws: int
    """0: there was nothing to measure."""
    least: float | None = None
    """What must hold of the share of hits; None: no bound on that side."""
    most: float | None = None
    kinds: tuple[str, ...] = ()
    """What the hits were, each draw's once."""
    note: str = ""

    @property
    def measured(self) -> float:
        return self.hits / max(self.n_draws, 1)

    @property
    def error(self) -> float:
        """Monte-Carlo standard error; a share of 0 or 1 counts as if one draw more had been otherwise."""
        share = min(max(self.measured, 1 / (self.n_draws + 1)), 1 - 1 / (self.n_draws + 1))
        return math.sqrt(share * (1 - share) / max(self.n_draws, 1))

    @property
    def verdict(self) -> Verdict:
        """Against the bounds, with two errors of grace. `wide`: intervals that cover more than they need to."""
        if not self.n_draws or (self.least is None and self.most is None):
            return "–"
        if self.least is not None and self.measured < self.least - self._grace(self.least):
            return "NOT"
        if self.most is not None and self.measured > self.most + self._grace(self.most):
            return "NOT" if self.least is None else "wide"
        return "ok"

    def _grace(self, bound: float) -> float:
        """Two Monte-Carlo errors of a share that lies on the bound."""
        return 2 * math.sqrt(max(bound * (1 - bound), 0.0) / self.n_draws)

    @property
    def cells(self) -> tuple[str, ...]:
        measured = f"{100 * self.measured:.1f} ± {100 * self.error:.1f}" if self.n_draws else "nothing"
        often = (f"{kind} {100 * count / self.n_draws:.1f}" for kind, count in Counter(self.kinds).most_common(4))
        notes = ", ".join(filter(None, (self.note, *often)))
        return self.part, self.what, str(self.n), self.nominal, measured, self.verdict, notes

    @property
    def nominal(self) -> str:
        if self.least is not None and self.most is not None:
            return f"{100 * self.least:.0f}–{100 * self.most:.0f}"
        if self.least is not None:
            return f"≥ {100 * self.least:.0f}"
        return "" if self.most is None else f"≤ {100 * self.most:.0f}"


COLUMNS = ("part", "what", "n", "nominal %", "measured %", "verdict", "")


def covered(what: str, n: int, truth: float, estimates: Sequence[Estimate]) -> Row:
    """How many intervals hold the truth, of those that there are."""
    known = [(own.low, own.high) for own in estimates if own.low is not None and own.high is not None]
    missing = 1 - len(known) / max(len(estimates), 1)
    return Row(
        part="coverage",
        what=what,
        n=n,
        hits=sum(low - 1e-9 <= truth <= high + 1e-9 for low, high in known),
        n_draws=len(known),
        least=0.9 if n < 12 else 0.93,
        most=0.98,
        note=f"{missing:.0%} without an interval" if missing > 0.005 else "",
    )


def merge(rows: Iterable[Row]) -> list[Row]:
    """Draws of the same together, in the order of their first."""
    merged: dict[tuple[str, str, int], Row] = {}
    for row in rows:
        same = (row.part, row.what, row.n)
        known = merged.get(same)
        merged[same] = (
            row
            if known is None
            else replace(
                known, hits=known.hits + row.hits, n_draws=known.n_draws + row.n_draws, kinds=known.kinds + row.kinds
            )
        )
    return list(merged.values())


def seed_of(*words: object) -> int:
    return seed_from("honesty", *(str(word) for word in words))


def format_table(rows: Iterable[Row]) -> str:
    lines = [COLUMNS, *(row.cells for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def format_markdown(rows: Sequence[Row]) -> str:
    """A line for each kind of number, a column for each number of questions; what does not hold is in bold."""
    sizes = sorted({row.n for row in rows})
    lines: dict[tuple[str, str], dict[int, Row]] = {}
    for row in rows:
        lines.setdefault((row.part, row.what), {})[row.n] = row
    table = [("", "%", *(f"n = {n}" for n in sizes)), ("---",) * (2 + len(sizes))]
    for (_, what), by_size in lines.items():
        nominal = "; ".join(dict.fromkeys(filter(None, (row.nominal for row in by_size.values()))))
        table.append((what, nominal, *(_cell(by_size.get(n)) for n in sizes)))
    return "\n".join(f"| {' | '.join(line)} |" for line in table)


def _cell(row: Row | None) -> str:
    if row is None or not row.n_draws:
        return ""
    text = f"{100 * row.measured:.1f} ± {100 * row.error:.1f}"
    return f"**{text}**" if row.verdict == "NOT" else text
