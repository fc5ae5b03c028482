"""What the analyses of a run gave, and what holds for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shaketable.types.numbers import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """What one analysis gave.

    >>> import shaketable
    >>> study = shaketable.make_study("rehearsal", models="scripted(replies=('Paris',))", limit=2, metrics="contains")
    >>> [finding] = shaketable.run(study, "runs/two").findings().findings
    >>> isinstance(finding, shaketable.Finding), finding.analysis, finding.failure
    (True, 'correctness', None)
    """

    analysis: str
    """As the study writes it, settings included: `equivalence(margin=0.1)`."""
    result: object
    """A frozen value of the type that the analysis promises; None: it failed."""
    failure: str | None = None
    """What went wrong; None: nothing."""
    is_as_asked: bool = False
    """Of evidence that was disturbed as asked alone: told again without the questions that carry a flag."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NotApplied:
    """A system that temperature did not reach: it counts at its coolest, and nothing is said of its temperatures."""

    model: str
    method: str
    reason: str
    never_differed: bool = False
    """Whether this is known only from answers that are the same at all temperatures: facts held so firmly look alike,
    so their robustness is still scored."""


Crossed = Literal["methods", "retrievers", "evidence", "temperatures"]
"""What a study crosses; `evidence` is retrievers and perturbations."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NotVaried:
    """What a study crosses and a pipeline cannot vary: it is left out of the plan for it."""

    model: str
    factors: tuple[Crossed, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """Questions that are left out of the effect of a perturbation, because it changed nothing in their evidence."""

    perturbation: str
    n: int
    n_asked: int
    flags: tuple[str, ...]
    """Why, as the perturbation names it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Undone:
    """A perturbation of one system that did not do what it says on too many questions: it has no verdict."""

    dataset: str
    model: str
    method: str
    retriever: str | None
    perturbation: str
    n: int
    """Questions on which it was not done."""
    n_asked: int
    flags: tuple[str, ...]
    """Why, as the perturbation names it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NothingToLose:
    """A system whose baseline is not confirmed to be above chance level: the absence of a drop says nothing.

    The baseline is the original evidence in the wording that is named, at the coolest temperature or at a hotter one
    that has ruined the answers.
    """

    dataset: str
    model: str
    method: str
    retriever: str | None
    variation: str
    metric: str
    group: str | None = None
    """A type of question; None: all types."""
    temperature: float | None = None
    """At which there is nothing left to lose to anything else; None: at the coolest, and so at all."""
    level: Estimate
    """Of the clean case, of questions that have both."""
    baseline: Estimate
    against: Literal["shuffled answers", "closed book", "nothing right"]
    """What chance level is: baseline answers to other questions; the same model without evidence, where evidence alone
    has nothing to lose; or 0, of shares for which there is no other."""
    is_confirmed: bool = True
    """Whether the baseline is confirmed to be at or near chance level; False: too few questions to tell."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Floor:
    """What a score is worth that knows nothing of its question: the system's answers to other questions."""

    dataset: str
    model: str
    method: str
    retriever: str | None
    variation: str
    metric: str
    score: Estimate
    """Mean over questions."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """What the analyses of a run gave, and what holds for all of them."""

    findings: tuple[Finding, ...] = ()
    main_metric: str | None = None
    """The number that is spoken of; None: nothing was scored."""
    judging_metric: str | None = None
    """The number that tells right answers from wrong ones; None: no metric does."""
    confidence: float = 0.95
    """Of every interval."""
    n_resamples: int = 2000
    """Of the questions, behind every bootstrap interval."""
    not_applied: tuple[NotApplied, ...] = ()
    not_varied: tuple[NotVaried, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    undone: tuple[Undone, ...] = ()
    """Perturbations without a verdict."""
    nothing_to_lose: tuple[NothingToLose, ...] = ()
    floors: tuple[Floor, ...] = ()
    """Floors of continuous metrics, whose lowest level in practice is not 0."""
