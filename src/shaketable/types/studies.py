"""A study: what one experiment crosses, and where it stops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from shaketable.types.plain import NOTHING, Json


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasetChoice:
    name: str
    settings: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """What the loader takes: path, part ..."""
    where: Mapping[str, tuple[Json, ...]] = field(default_factory=lambda: NOTHING)
    """Tag → the values of which a question must have one, before it can be drawn; empty: every question can."""
    with_rewrites: bool = False
    """Whether a question must have a rewrite in a file of the study's variations, before it can be drawn."""
    balance_by: tuple[str, ...] = ()
    """Tags whose combinations make the cells of a balanced selection."""
    per_cell: int | None = None
    """Questions per cell; None: all."""
    limit: int | None = None
    """Questions in all, balanced over the cells; None: no limit."""
    shard: tuple[int, int] | None = None
    """Which part of these questions, counted from 1, of how many; None: all of them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scan:
    """How the temperatures of one fact are walked through, and which facts are walked at all."""

    strategy: Literal["full", "incremental", "curtailed", "bisection", "curtailed_bisection", "sequential", "none"] = (
        "full"
    )
    """`none`: no temperature above 0 is sampled; curves alone tell."""
    known: str | None = "exact_match"
    """The metric that must be 1 at temperature 0; None: every question is scanned."""
    limit: int | None = None
    """Known facts per condition and dataset, the first in order; None: all."""
    union: bool = False
    """One list of facts for all evidence and wordings of a model: a fact known in any of them counts once, and is
    scanned in each in which it is known."""
    correct: str = "contains"
    """The metric that judges sampled answers."""
    threshold: float = 0.5
    """A fact is broken where the share of correct answers lies strictly below this."""
    curves: Literal["none", "known", "all"] = "none"
    """For which questions the curve over all temperatures is estimated from the model's logits."""
    curve_budget: int = 400
    """Token positions that the model may compute for a curve, samples included."""
    curve_samples: int = 90
    """Paths at most that are sampled of what a curve's bounds leave open; 0: bounds alone."""
    curve_end: float = 4.0
    """The hottest temperature of a curve: where a breaking temperature is looked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gate:
    """What a run must hold to be released. A threshold of None: not asked."""

    min_accuracy: float | None = None
    """Of the main metric, in its unit, where nothing is shaken."""
    max_drop: float | None = None
    """From there to the worst condition, in the unit of the main metric."""
    max_flip_rate: float | None = None
    """The chance that an answer in the worst condition is judged otherwise than one where nothing is shaken."""
    min_breaking_temperature: float | None = None
    """The mean over known facts; those that never break count at the hottest temperature."""
    min_frs: float | None = None
    """The mean Factual Robustness Score of known facts."""
    max_cost: float | None = None
    """Dollars for an answer."""
    max_failures: float | None = None
    """The share of trials without an answer, as counted in the run."""
    max_regression: float = 0.0
    """Against a base: how much worse, in the unit of the main metric."""
    max_broken: int | None = None
    """Against a base: how many answers may be right in all its runs and wrong in all of this one."""
    confidence: float = 0.95
    """One-sided: of each bound that a threshold is held against."""
    undecided: Literal["pass", "fail"] | None = None
    """What a threshold counts as that the interval straddles; None: a promise fails, a regression passes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Where a run stops of itself, all goes at it together. None: there is no such limit."""

    max_cost: float | None = None
    """USD."""
    max_calls: int | None = None
    """Of models, failed ones too."""
    max_minutes: float | None = None
    """Of answering, loading of models included."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shake:
    """Ask adaptively, where the system seems to break, until a limit is reached."""

    screened: int = 12
    """Questions that each way to ask gets at first, at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Precision:
    """Repeat the questions of a condition until its mean is known so well."""

    until: float
    """Half the width of the interval over repeats of the main metric: 0.03 is ±3 points of a share."""
    least: int = 2
    """Repeats of each question, at least."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Study:
    """What one experiment crosses. Parts are texts; the plan builds them. See `load_study` and `make_study`.

    >>> import dataclasses, shaketable
    >>> study = shaketable.load_study("demo")
    >>> dataclasses.replace(study, repeats=5).repeats
    5
    """

    name: str
    seed: int
    datasets: tuple[DatasetChoice, ...]
    models: tuple[str, ...]
    methods: tuple[str, ...]
    retrievers: tuple[str, ...]
    perturbations: tuple[str, ...]
    variations: tuple[str, ...]
    temperatures: tuple[float, ...]
    repeats: int
    """Of each question in each condition; at most, where `precision` tells when a condition stops."""
    generation: Mapping[str, Json]
    """max_tokens, top_p, top_k, repetition_penalty, library_defaults, logprobs."""
    generation_of: Mapping[str, Mapping[str, Json]] = field(default_factory=lambda: NOTHING)
    """Model, as `models` has it → the values of `generation` that differ for it."""
    metrics: tuple[str, ...]
    analyses: tuple[str, ...]
    reference: str = "short"
    """What answers are compared with: short, template, or the model that writes a sentence for each question."""
    reference_prompt: str | None = None
    """What that model is asked, word for word, with the slots {question} and {answer}; None: our own prompt."""
    reference_temperature: float = 0.0
    reference_max_tokens: int = 100
    """How that model is sampled."""
    scan: Scan | None = None
    """None: every question is asked at every temperature."""
    shake: Shake | None = None
    """None: all that is crossed is asked."""
    precision: Precision | None = None
    """None: every condition has all repeats."""
    main_metric: str | None = None
    """The number that findings, cards and pages speak of; None: the first of `metrics` of which more is better."""
    without_flags: tuple[str, ...] = ()
    """Records whose evidence carries one of these flags have no value in any analysis: a filter."""
    confidence: float = 0.95
    """Of every interval."""
    n_resamples: int = 2000
    """Of the questions, behind every bootstrap interval."""
    margin: float | str | None = None
    """How much of the main metric is too little to matter, in its unit, or in its spread as `0.2 sd`; None: 5 points
    of a share, 0.2 sd of anything else."""
    gate: Gate = field(default_factory=Gate)
    limits: Limits = Limits()
    """They are no part of any key: what is answered does not depend on when a run stops."""
    in_process: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: NOTHING)
    """Kind → name → place of parts that a script or notebook registered; no other process has them by itself."""
