"""The page that lays two systems beside each other, made from the scores that there are."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from shaketable.errors import RunError
from shaketable.store import Run

N_KEPT = 8
"""Pages that are not made again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """A run, and its system by name."""

    run: str
    system: str | None
    """None: those that both sides have."""


def read_side(runs: Mapping[str, Run], address: str, name: str) -> Side:
    """`run`, or `run/system`."""
    run, _, system = address.partition("/")
    if run not in runs:
        raise RunError(f"'{name}' is '{address}', expected a run of {', '.join(runs)}, or run/system.")
    return Side(run=run, system=system or None)


class ComparisonPages:
    """One page for all who ask, made again when a run has other scores."""

    def __init__(self, runs: Mapping[str, Run]) -> None:
        self.runs = runs
        self._lock = threading.Lock()
        self._pages: dict[tuple[Side, Side, tuple[str | None, ...]], bytes] = {}

    def read(self, address: str, name: str) -> Side:
        return read_side(self.runs, address, name)

    def page(self, first: Side, second: Side) -> bytes:
        with self._lock, ExitStack() as stack:
            sides = list(dict.fromkeys([first.run, second.run]))
            runs = [stack.enter_context(self.runs[name].reading()) for name in sides]
            key = (first, second, tuple(_scored(run) for run in runs))
            if key not in self._pages:
                self._pages[key] = _make(runs, first, second)
                while len(self._pages) > N_KEPT:
                    del self._pages[next(iter(self._pages))]
            return self._pages[key]


def _scored(run: Run) -> str:
    """What its scores were made from. Looking at a page scores nothing: it may load weights, and it writes."""
    if not run.has_current_scores() or not run.has_baselines():
        raise RunError(f"{run.folder} has no scores of its present answers. Make them: shaketable score {run.folder}")
    return run.scores_source(run.asked_metrics())


def _make(runs: list[Run], first: Side, second: Side) -> bytes:
    # The drawing library takes a second to import; other pages do without.
    from shaketable.report.comparison.page import render_comparison
    from shaketable.stages.compare import compare

    systems = (first.system, second.system) if first.system and second.system else None
    told = compare(runs[0], runs[1] if len(runs) > 1 else None, systems=systems)
    return render_comparison(told).encode()
