"""A plan → what it would cost, before anything is spent."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from shaketable import catalog, weights
from shaketable.stages.answer import Scheduler
from shaketable.stages.plan import Condition, Plan
from shaketable.stages.sources import Listed
from shaketable.types import Completion, Failure, Json, Prompt, Record

REHEARSED = 64
CHARACTERS_PER_TOKEN = 4.0
"""English text in common vocabularies; the estimate says so."""


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What one model would do. Tokens are upper bounds: every answer of full length."""

    model: str
    trials: int
    calls: int
    prompt_tokens: int
    new_tokens: int
    seconds: float | None
    """None: this model has not run on this machine yet."""
    dollars: float | None
    """None: the part has no price settings, or the model is local."""


@dataclass
class _Rehearsal:
    """Stands in for model and store: says nothing, and counts."""

    records: list[tuple[Record, Any]] = field(default_factory=list)

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion | Failure]:
        return [
            Completion(
                text="",
                finish_reason="length",
                n_prompt_tokens=int(sum(len(m.content) for m in prompt.messages) / CHARACTERS_PER_TOKEN) + 1,
                n_tokens=prompt.sampling.max_tokens,
                seconds=0.0,
            )
            for prompt in prompts
        ]

    def environment(self) -> Mapping[str, Json]:
        return {}

    def append(self, records: Sequence[tuple[Record, Condition]], environment: Mapping[str, Json]) -> None:
        self.records += records


def estimate(plan: Plan) -> list[Forecast]:
    """Rehearse a sample of each model's trials with empty replies, and scale up."""
    forecasts = []
    by_model: dict[str, list[Condition]] = {}
    for condition in plan.conditions:
        by_model.setdefault(catalog.label(condition.model), []).append(condition)
    for label, conditions in by_model.items():
        rehearsal = _Rehearsal()
        sample = itertools.islice(_spread(plan, conditions), REHEARSED)
        Scheduler(plan, rehearsal, lambda tick: None).run(rehearsal, Listed(sample))
        trials = plan.n_trials * len(conditions) // len(plan.conditions)
        scale = trials / len(rehearsal.records)
        calls, prompt_tokens, new_tokens = (
            int(scale * sum(getattr(record.cost, name) for record, _ in rehearsal.records))
            for name in ("n_generations", "n_prompt_tokens", "n_tokens")
        )
        rate = known_rates().get(label)
        model = conditions[0].model
        price_in, price_out = getattr(model, "price_in", None), getattr(model, "price_out", None)
        dollars = None
        if price_in is not None and price_out is not None:
            dollars = (prompt_tokens * price_in + new_tokens * price_out) / 1e6
        forecasts.append(
            Forecast(
                model=label,
                trials=trials,
                calls=calls,
                prompt_tokens=prompt_tokens,
                new_tokens=new_tokens,
                seconds=new_tokens / rate if rate else None,
                dollars=dollars,
            )
        )
    return forecasts


def _spread(plan: Plan, conditions: Sequence[Condition]) -> Any:
    """The first trial of every wording and condition."""
    for variant in plan.asked:
        for condition in conditions:
            yield next(plan.trials_of(variant, condition))


def known_rates() -> dict[str, float]:
    """New tokens per second that each model reached in its last run on this machine."""
    path = weights.home() / "rates.json"
    try:
        return dict(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError):
        return {}


def remember_rate(model: str, n_tokens: int, seconds: float) -> None:
    path = weights.home() / "rates.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps({**known_rates(), model: round(n_tokens / seconds, 3)}, indent=1), "utf-8")
    temporary.replace(path)
