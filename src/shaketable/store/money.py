"""What a run has spent, by system; answers that it took from other runs cost it nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from shaketable import catalog
from shaketable.errors import ShaketableError
from shaketable.identity import canonical
from shaketable.protocols import WhiteBoxModel
from shaketable.store.codec import decode
from shaketable.store.database import Database
from shaketable.store.dimensions import UsedPart
from shaketable.store.underway import Underway

PLANNED = "planned_by_system"
"""Where the plan's numbers of trials stand: a list of model, method and number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemSpent:
    """What the trials of a model and method took, answered or failed."""

    model: str
    method: str
    n_trials: int
    n_reused: int
    """Taken from other runs; no other number counts them."""
    n_calls: int
    n_tokens: int
    """Read and written."""
    n_priced: int
    """Trials whose cost is known."""
    dollars: float | None
    """Of those; None: of none."""
    dollars_reused: float | None = None
    """What the answers of other runs had cost them; None: not known of any."""
    n_planned: int | None = None
    """Trials in all; None: not known, or asked adaptively."""
    is_local: bool = False
    """Whether its model runs on machines of one's own: nobody is paid for its answers."""

    @property
    def n_left(self) -> int | None:
        return None if self.n_planned is None else max(self.n_planned - self.n_trials - self.n_reused, 0)

    @property
    def dollars_left(self) -> float | None:
        """What the trials that are left would cost, as those before on average; None: not known."""
        if self.n_left is None or self.dollars is None:
            return None
        return self.n_left * self.dollars / self.n_priced


@dataclass(frozen=True, kw_only=True, slots=True)
class Lost:
    """Calls of trials that have not ended, as the run stopped before: spent, and no record tells of them. Those whose
    replies are kept count again when their trials go on."""

    n_calls: int
    dollars: float


def spent_by_system(store: Database) -> tuple[SystemSpent, ...]:
    """Those that were asked, and those of the plan that were not yet."""
    rows = store.rows(
        """SELECT c.model, c.method, SUM(NOT r.reused), SUM(r.reused), SUM(r.n_generations * (NOT r.reused)),
                  SUM((r.n_prompt_tokens + r.n_tokens) * (NOT r.reused)),
                  SUM(NOT r.reused AND r.dollars IS NOT NULL), SUM(CASE WHEN r.reused THEN NULL ELSE r.dollars END),
                  SUM(CASE WHEN r.reused THEN r.dollars END)
           FROM records r JOIN conditions c ON c.id = r.condition GROUP BY 1, 2 ORDER BY MIN(c.id)"""
    )
    planned = {(model, method): n for model, method, n in json.loads(store.meta().get(PLANNED, "[]"))}
    names = ("model", "method", "n_trials", "n_reused", "n_calls", "n_tokens", "n_priced", "dollars", "dollars_reused")
    asked = {(row[0], row[1]): dict(zip(names, row, strict=True)) for row in rows}
    nothing = dict.fromkeys(names[2:7], 0) | {"dollars": None}
    local = _local_models(store)
    return tuple(
        SystemSpent(
            **(nothing | {"model": model, "method": method} | asked.get((model, method), {})),
            n_planned=planned.get((model, method)),
            is_local=model in local,
        )
        for model, method in dict.fromkeys((*asked, *planned))
    )


def _local_models(store: Database) -> set[str]:
    """By their labels."""
    rows = store.rows("SELECT parts FROM conditions")
    parts = {canonical(part): part for (every,) in rows for part in json.loads(every) if part["kind"] == "model"}
    return {part["label"] for part in parts.values() if is_local(decode(UsedPart, part))}


def is_local(part: UsedPart) -> bool:
    """Whether a model runs on machines of one's own."""
    if part.version is None:  # Its answers were made elsewhere.
        return False
    try:
        return isinstance(catalog.build("model", catalog.write(part.name, dict(part.settings))), WhiteBoxModel)
    except (ShaketableError, OSError):
        return False


def note_planned(planned: Mapping[tuple[str, str], int] | None) -> dict[str, str]:
    """What the plan's numbers of trials are noted as; None: they show on the way."""
    return {PLANNED: canonical([[*system, n] for system, n in (planned or {}).items()])}


def lost(store: Underway) -> Lost:
    meta, (n_calls, dollars) = store.meta(), store.spent_underway()
    return Lost(
        n_calls=int(meta.get("lost_calls", 0)) + n_calls,
        dollars=float(meta.get("lost_dollars", 0.0)) + dollars,
    )
