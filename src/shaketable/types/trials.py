"""One trial and what came of it: a record, and the curve that goes on from its prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shaketable.types.plain import NOTHING, Json
from shaketable.types.prompts import Failure
from shaketable.types.steps import Answer, Reply, Step
from shaketable.types.wordings import Variant


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    key: str
    """Digest of everything that determines the output."""
    question_id: str
    variant: Variant
    method: str
    """Parts are written as labels here: the settings that differ from the defaults."""
    retriever: str | None
    """None: the method does not search."""
    perturbation: str | None
    model: str
    temperature: float
    repeat: int
    seed: int
    """Derived from the study seed and the key."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """A step with its reply, as the trace keeps it."""

    step: Step
    reply: Reply | Failure


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    n_searches: int = 0
    n_generations: int = 0
    n_prompt_tokens: int = 0
    n_tokens: int = 0
    seconds: float = 0.0
    dollars: float | None = None
    """None: not known, which is not 0: there is no price of one of its calls."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Effort:
    """What one trial takes at most, by its method's own limits."""

    n_calls: int
    """Of the model."""
    n_tokens: int
    """New ones, of all calls together."""
    n_passages: int = 0
    """In one prompt."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """One trial and what came of it.

    >>> import shaketable
    >>> study = shaketable.make_study("rehearsal", models="scripted(replies=('Paris',))", limit=1, metrics="contains")
    >>> [record] = shaketable.run(study, "runs/one").store.records()
    >>> isinstance(record, shaketable.Record), record.answer.text, record.trial.temperature
    (True, 'Paris', 0.0)
    """

    trial: Trial
    answer: Answer | None
    """None: the trial failed."""
    failure: Failure | None = None
    trace: tuple[Event, ...] = ()
    cost: Cost = Cost()
    environment: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """Engine, version, dtype, threads, model revision."""
    reused: bool = False
    """Whether another run asked it: its cost is what it took there, and this run paid nothing for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """The probability of a correct answer to one prompt, for all temperatures at once."""

    key: str
    """Of the record at temperature 0 whose prompt the curve continues."""
    temperatures: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    """Certified: correct paths found so far, at each temperature."""
    high: tuple[float, ...] = ()
    """Certified: one minus the wrong paths found so far."""
    value: tuple[float | None, ...] = ()
    """The estimate between the bounds; None where too few samples can say."""
    value_low: tuple[float | None, ...] = ()
    value_high: tuple[float | None, ...] = ()
    value_reason: str | None = None
    """Why there is no estimate at some temperatures; None: there is one at all."""
    n_effective: tuple[float, ...] = ()
    """To how many equally weighted samples those behind the estimate amount, at each temperature."""
    level: float = 0.95
    """Of the interval from value_low to value_high, which samples leave open."""
    breaking: float | None = None
    """The temperature at which the estimate first falls below the threshold, 0: it starts below; None: it never does
    up to `scan_to` of the settings, or may do unseen where there is no estimate."""
    breaking_low: float | None = None
    """Certified: not broken below this temperature."""
    breaking_high: float | None = None
    """Certified: broken at this temperature; None: not certified anywhere."""
    position_losses: tuple[float, ...] = ()
    """Mass lost to wrong tokens at each position of the answer, at the breaking temperature (or at 1)."""
    wrong: tuple[Mapping[str, Json], ...] = ()
    """The most likely wrong answers found: text, probability, temperature."""
    n_expanded: int = 0
    """Tree nodes whose next token was computed."""
    n_positions: int = 0
    """Token positions computed in all, samples included."""
    n_samples: int = 0
    settings: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """Threshold, match, truncation, budget, scan step: what the numbers mean."""
    reason: str | None = None
    """Why there is no curve; None: there is one."""
