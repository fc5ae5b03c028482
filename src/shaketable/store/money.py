"""What a run has spent, by system; answers that it took from other runs cost it nothing."""

from __future__ import annotations

from dataclasses import dataclass

from shaketable.store.database import Database


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Lost:
    """Calls of trials that were let go when the run stopped at a limit: spent, and no record tells of them."""

    n_calls: int
    dollars: float


def spent_by_system(store: Database) -> tuple[SystemSpent, ...]:
    rows = store.rows(
        """SELECT c.model, c.method, SUM(NOT r.reused), SUM(r.reused), SUM(r.n_generations * (NOT r.reused)),
                  SUM((r.n_prompt_tokens + r.n_tokens) * (NOT r.reused)),
                  SUM(NOT r.reused AND r.dollars IS NOT NULL), SUM(CASE WHEN r.reused THEN NULL ELSE r.dollars END)
           FROM records r JOIN conditions c ON c.id = r.condition GROUP BY 1, 2 ORDER BY MIN(c.id)"""
    )
    names = ("model", "method", "n_trials", "n_reused", "n_calls", "n_tokens", "n_priced", "dollars")
    return tuple(SystemSpent(**dict(zip(names, row, strict=True))) for row in rows)


def lost(store: Database) -> Lost:
    meta = store.meta()
    return Lost(n_calls=int(meta.get("lost_calls", 0)), dollars=float(meta.get("lost_dollars", 0.0)))
