"""What a study may claim: all candidates of its analyses are one family, adjusted here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Protocol, runtime_checkable

from shaketable.analyses.floors import N_LEAST, nothing_to_lose_at
from shaketable.analyses.rows import UNSETTLED
from shaketable.factors import Cell
from shaketable.statistics.family import detectable_effect, n_to_settle, n_to_show, standard_error, weighted_holm
from shaketable.types import Estimate, Findings, NothingToLose

Says = Literal["differs", "equivalent"]
TOO_FEW = f"fewer than {N_LEAST} questions"
NOTHING_TO_LOSE = "the baseline is at chance level"
FLOORS = {
    "shuffled answers": "answers to other questions",
    "closed book": "answers without evidence",
    "nothing right": "a system that is never right",
}
"""What a baseline is compared with."""
NOT_TESTED = "there was nothing to test"


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """What a claim is about. Claims of several analyses about the same are one."""

    kind: str
    cell: Cell
    metric: str = ""
    other: str = ""
    """What the cell is compared with, where the kind does not tell: another disturbance, type or system."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """Something that a study may say of its subject, if its evidence survives that of all other claims."""

    subject: Subject
    says: Says = "differs"
    """`differs`: the estimate is not 0. `equivalent`: it lies within the margin."""
    estimate: Estimate
    """What differs, positive as its kind has it."""
    margin: float | None = None
    """Of an equivalence, in the unit of the estimate."""
    p: float | None
    """By itself; None: there was nothing to test."""
    reason: str | None = None
    """Why nothing may be said whatever the p."""
    weight: float = 1.0
    """Details that one sentence sums up, such as the temperatures of a line, weigh 1 together."""
    p_adjusted: float | None = None
    """Over the family; None: it is not in it."""
    is_shown: bool = False
    detectable: float | None = None
    """The smallest difference that could have been seen; None: not known, as where a larger one was not."""
    n_needed: int | None = None
    """How many questions would settle what is not shown, if the estimate were true; None: not known, or shown."""
    n_least: int | None = None
    """The fewest questions with which anything could be shown beside so many claims; None: there are as many."""


@runtime_checkable
class ClaimingResult(Protocol):
    """A result that hands over what may be claimed of it."""

    def claims(self) -> Iterable[Claim]:
        """Candidates: of the number that is spoken of, not adjusted."""


@dataclass(frozen=True, kw_only=True)
class Claims:
    """The family of a study, with its verdicts."""

    every: tuple[Claim, ...] = ()

    @property
    def shown(self) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.every if claim.is_shown)

    def of(self, subject: Subject, says: Says = "differs") -> Claim | None:
        """None: no analysis handed it over."""
        return self._by_subject.get((subject, says))

    @cached_property
    def _by_subject(self) -> Mapping[tuple[Subject, Says], Claim]:
        return {(claim.subject, claim.says): claim for claim in self.every}


def weigh(place: int, n: int) -> float:
    """Of a claim at this place of a line of n: the first is spoken of, the others are its details."""
    return 1.0 if place == 0 else 1 / (n - 1)


def weigh_temperatures(cells: Iterable[Cell]) -> Mapping[float, float]:
    """The weight of a claim at each temperature of a line, from cool to hot."""
    temperatures = sorted({cell.temperature or 0.0 for cell in cells})
    return {temperature: weigh(place, len(temperatures)) for place, temperature in enumerate(temperatures)}


def claims_of(findings: Findings) -> Claims:
    """All candidates of a study with their verdicts; results told again as asked hand over none."""
    handed = [
        claim
        for finding in findings.findings
        if not finding.is_as_asked and isinstance(finding.result, ClaimingResult)
        for claim in finding.result.claims()
    ]
    candidates = [_restrict(claim, findings) for claim in _once(handed)]
    judged = _judge(candidates, 1 - findings.confidence)
    return Claims(every=tuple(claim if claim.is_shown else _with_floor(claim, findings) for claim in judged))


def _once(claims: Iterable[Claim]) -> list[Claim]:
    """The first of several claims of the same, with the weight of the heaviest and the reason of any."""
    kept: dict[tuple[Subject, Says], Claim] = {}
    for claim in claims:
        known = kept.setdefault((claim.subject, claim.says), claim)
        merged = replace(known, weight=max(known.weight, claim.weight), reason=known.reason or claim.reason)
        kept[claim.subject, claim.says] = merged
    return list(kept.values())


def _restrict(claim: Claim, findings: Findings) -> Claim:
    """With a reason where its data forbid it."""
    if claim.says == "equivalent":
        claim = _with_floor(claim, findings)
    if claim.p is None or claim.estimate.low is None:
        return replace(claim, reason=claim.reason or claim.estimate.reason or _too_few(claim) or NOT_TESTED)
    return replace(claim, reason=_too_few(claim) or claim.reason)


def _with_floor(claim: Claim, findings: Findings) -> Claim:
    """Answers that are no better than a baseline cannot get worse: that they do not says nothing."""
    entry = nothing_to_lose_at(claim.subject.cell, findings, claim.subject.metric)
    if entry is None or claim.reason is not None:
        return claim
    return replace(claim, reason=reason_of_floor(entry))


def reason_of_floor(entry: NothingToLose) -> str:
    """Why the absence of a drop says nothing there."""
    against = FLOORS[entry.against]
    if entry.is_confirmed:
        return f"{NOTHING_TO_LOSE}, no better than {against}"
    return f"too few questions to tell the baseline from {against}"


def _too_few(claim: Claim) -> str | None:
    return TOO_FEW if claim.estimate.n < N_LEAST else None


def _judge(claims: list[Claim], alpha: float) -> list[Claim]:
    """Only what may be said takes part: a claim that its data forbid costs the others nothing.

    What failures decide is found by looking at the difference itself, so it takes part and is never shown.
    """
    tested = [i for i, claim in enumerate(claims) if claim.reason in (None, UNSETTLED)]
    p_values = [1.0 if claims[i].reason else claims[i].p or 0.0 for i in tested]
    weights = [claims[i].weight for i in tested]
    adjusted = weighted_holm(p_values, weights, [claims[i].subject for i in tested])
    places = {claims[i].subject: claims[i].weight for i in tested}
    judged = list(claims)
    for i, p in zip(tested, adjusted, strict=True):
        judged[i] = replace(claims[i], p_adjusted=p, is_shown=p < alpha and _holds(claims[i]))
    shown = {judged[i].subject for i in tested if judged[i].is_shown}
    for i in tested:
        own = judged[i].subject
        left = sum(weight for subject, weight in places.items() if subject == own or subject not in shown)
        judged[i] = _with_power(judged[i], alpha * judged[i].weight, sum(places.values()), left)
    return judged


def _holds(claim: Claim) -> bool:
    """Whether the interval says the same as the test, so that no card contradicts the number beside it."""
    low, high = claim.estimate.low, claim.estimate.high
    if low is None or high is None:
        return False
    return claim.says == "equivalent" or low > 0 or high < 0


def _with_power(claim: Claim, alpha: float, whole: float, left: float) -> Claim:
    """`alpha`: the error times its weight, to be divided by the weights of the `whole` family or of what is `left`."""
    low, high, value = claim.estimate.low, claim.estimate.high, claim.estimate.value
    if claim.says != "differs" or low is None or high is None or value is None or low == high:
        return claim
    detectable = detectable_effect(standard_error(low, high, claim.estimate.level), alpha / whole)
    if claim.is_shown:
        return replace(claim, detectable=detectable)
    # Correlations and slopes are not tested by flipping signs, and have no such least p.
    if claim.estimate.unit != "ratio" and claim.estimate.n < (n_least := n_to_show(alpha / left)):
        return replace(claim, n_least=n_least)
    if abs(value) >= detectable:  # It was not seen, though it is as large: of few questions a normal law is wrong.
        return claim
    return replace(claim, detectable=detectable, n_needed=n_to_settle(claim.estimate.n, value, detectable))
