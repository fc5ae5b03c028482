"""Context × temperature: TempPerturb-Eval, arXiv 2512.01183. The paper prints its results as figures and text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from shaketable.analyses.evidence.correctness import Correctness, Level
from shaketable.analyses.evidence.dominance import Dominance
from shaketable.analyses.evidence.guidelines import Guidelines
from shaketable.analyses.evidence.ranking import Ranking
from shaketable.analyses.evidence.variability import Spread, Variability
from shaketable.factors import UNCHANGED, Cell
from shaketable.report.published.comparison import (
    Claim,
    Comparison,
    Own,
    by_system,
    compare,
    format_own,
    model_of,
)
from shaketable.report.published.verdicts import Judgement, is_known, least, mean_estimate, ordered, signed, within
from shaketable.types import Estimate

MODELS = {
    "gpt-3.5-turbo": "GPT",
    "gpt-4o": "GPT",
    "llama-3.1-8b": "Llama",
    "llama-3.2-1b": "Llama",
    "deepseek-reasoner": "deepseek-reasoner",
}
LEVELS = {"GPT": (0.95, 0.97), "Llama": (0.92, 0.93), "deepseek-reasoner": (0.90, 0.90)}
"""Mean BERTScore F1 below temperature 1.4, as read from the text."""
ONSETS: dict[str, float | None] = {"GPT": 1.4, "Llama": 0.6, "deepseek-reasoner": None}
ROUNDING = 0.005
COOL, HOT = 0.6, 1.4
TYPES = ("bridge", "comparison")
NO_MODEL = "the system is none of the study's models"


def level(own: Own) -> Iterator[Comparison]:
    has_encoder = any("roberta-large" in text for text in own.study.metrics)
    levels = [level for level in _unchanged(own) if level.metric == "bertscore" and level.cell.group is None]
    for cell, of_system in by_system(levels).items():
        system = own.name(cell)
        model = _model(own, cell)
        span = mean_estimate([level.mean for level in of_system if (level.cell.temperature or 0.0) < HOT])
        judgement = Judgement(
            "cannot be said", NO_MODEL if model is None else "needs bertscore(encoder='roberta-large')"
        )
        if model is not None and has_encoder and span.value is not None:
            low, high = LEVELS[model]
            is_inside = low - ROUNDING <= span.value <= high + ROUNDING
            judgement = Judgement("agrees" if is_inside else "differs", "the mean beside the published range")
        yield compare(
            claim="Mean BERTScore below temperature 1.4",
            published="; ".join(
                f"{name} {low:g}" + f" to {high:g}" * (high > low) for name, (low, high) in LEVELS.items()
            ),
            system=system,
            own=span,
            judgement=judgement,
        )


def onset(own: Own) -> Iterator[Comparison]:
    for result in own.results(Guidelines):
        for fall in result.onsets:
            if fall.cell.group is None and fall.cell.perturbation == UNCHANGED:
                yield _temperature(own, fall.cell, fall.onset, "Answers begin to get worse at this temperature")


def ceiling(own: Own) -> Iterator[Comparison]:
    claim = "The highest temperature that loses no more than the margin"
    for result in own.results(Guidelines):
        for limit in result.ceilings:
            # It is shown to lie no lower than its bound, and the means say how high it may be.
            ceiling = replace(limit.ceiling, low=limit.ceiling.value, high=limit.by_means)
            yield _temperature(own, limit.cell, ceiling, claim)


def _temperature(own: Own, cell: Cell, estimate: Estimate, claim: str) -> Comparison:
    model = _model(own, cell)
    wanted = None if model is None else ONSETS[model]
    judgement = Judgement("cannot be said", NO_MODEL)
    if model is not None and estimate.value is None:
        judgement = Judgement("cannot be said", estimate.reason or "the run has no such temperature")
    elif wanted is not None:
        is_inside = within(estimate, wanted).verdict == "agrees"
        judgement = Judgement("agrees" if is_inside else "differs", f"published {wanted:g}")
    return compare(
        claim=claim,
        published="GPT 1.4, Llama 0.6, deepseek-reasoner none (it ignores its temperature)",
        system=own.name(cell),
        own=estimate,
        judgement=judgement,
    )


def _model(own: Own, cell: Cell) -> str | None:
    """Which of the study's models it is of; None: none of them."""
    return None if cell.system is None else model_of(own.written(cell.system.model), MODELS)


def masking_hurts_least_when_hot(own: Own) -> Iterator[Comparison]:
    drops = [drop for result in own.results(Ranking) for drop in result.drops if drop.cell.group is None]
    for system, every in by_system(drops).items():
        hottest = max(drop.cell.temperature or 0.0 for drop in every)
        hot = {str(drop.cell.perturbation): drop.drop for drop in every if drop.cell.temperature == hottest}
        stops_early = Judgement("cannot be said", "the run stops below temperature 2")
        yield compare(
            claim="At temperature 2 masked entities cost least of the three disturbances",
            published="gpt-4o",
            system=own.name(system),
            own=hot.get("entity_masking"),
            judgement=stops_early if hottest < 2 else least(hot, "entity_masking"),
        )


def bridge_above_comparison(own: Own) -> Iterator[Comparison]:
    levels = [level for level in _unchanged(own) if level.metric == own.findings.main_metric]
    claim = "Bridge questions score above comparison questions"
    for cell, of_system in by_system(levels).items():
        means = {kind: [level.mean for level in of_system if level.cell.group == kind] for kind in TYPES}
        yield _compare_types(claim, "all models", own.name(cell), means, higher="bridge", lower="comparison")


def _compare_types(
    claim: str, published: str, system: str, estimates: Mapping[str, Sequence[Estimate]], *, higher: str, lower: str
) -> Comparison:
    """Whether one type of question lies above the other, each by the mean of its estimates."""
    above, below = mean_estimate(estimates[higher]), mean_estimate(estimates[lower])
    words = f"{higher} {format_own(above)}; {lower} {format_own(below)}"
    return compare(claim=claim, published=published, system=system, own=words, judgement=ordered(below, above))


def _unchanged(own: Own) -> list[Level]:
    """How good answers are with evidence as it was found."""
    levels = [level for result in own.results(Correctness) for level in result.levels]
    return [level for level in levels if level.cell.perturbation == UNCHANGED]


def temperature_dominates(own: Own) -> Iterator[Comparison]:
    weighings = [weighing for result in own.results(Dominance) for weighing in result.weighings]
    for weighing in weighings:
        if weighing.cell.group is None:
            outcome = "CV" if weighing.outcome == "cv" else "score"
            yield compare(
                claim=f"Temperature matters more than evidence (partial epsilon squared, of the {outcome})",
                published="all models but deepseek-reasoner",
                system=own.name(weighing.cell),
                own=weighing.difference,
                judgement=signed(weighing.difference, 1),
            )


def comparison_varies_more(own: Own) -> Iterator[Comparison]:
    claim = "CV is larger for comparison questions than for bridge questions"
    for cell, spreads in by_system(_spreads(own)).items():
        cvs = {kind: [spread.published_cv for spread in spreads if spread.cell.group == kind] for kind in TYPES}
        yield _compare_types(claim, "most models", own.name(cell), cvs, higher="comparison", lower="bridge")


def original_varies_least(own: Own) -> Iterator[Comparison]:
    spreads = [spread for spread in _spreads(own) if spread.cell.group == "bridge"]
    for cell, of_system in by_system(spreads).items():
        of_evidence = {
            str(name): mean_estimate([spread.published_cv for spread in of_system if spread.cell.perturbation == name])
            for name in dict.fromkeys(spread.cell.perturbation for spread in of_system)
        }
        yield compare(
            claim="Of bridge questions, unchanged evidence has the lowest CV",
            published="all models",
            system=own.name(cell),
            own=of_evidence.get(UNCHANGED),
            judgement=least(of_evidence, UNCHANGED),
        )


def _spreads(own: Own) -> list[Spread]:
    """Of the number that is spoken of."""
    spreads = [spread for result in own.results(Variability) for spread in result.spreads]
    return [spread for spread in spreads if spread.metric == own.findings.main_metric]


def cool_is_safe_and_hot_is_not(own: Own) -> Iterator[Comparison]:
    for result in own.results(Guidelines):
        allowed = {margin.metric: margin.value for margin in result.margins}
        undisturbed = [loss for loss in result.losses if loss.cell.perturbation == UNCHANGED]
        for system, losses in by_system(undisturbed).items():
            for kind in dict.fromkeys(loss.cell.group for loss in losses):
                known = {
                    loss.cell.temperature or 0.0: loss.loss
                    for loss in losses
                    if loss.cell.group == kind and is_known(loss.loss)
                }
                name = own.name(system)
                yield compare(
                    claim="Up to temperature 0.6 little is lost, from 1.4 on much",
                    published="all models taken together",
                    system=name if kind is None else f"{name}, {kind}",
                    own="; ".join(
                        f"{temperature:g}: {loss.value:.3g}"
                        for temperature, loss in known.items()
                        if 0 < temperature <= COOL or temperature >= HOT
                    ),
                    judgement=_sides(known, allowed[losses[0].metric]),
                )


def _sides(losses: Mapping[float, Estimate], allowed: float) -> Judgement:
    """Does every cool loss lie within the margin, and every hot one beyond?"""
    cool = {_side(loss, allowed) for temperature, loss in losses.items() if 0 < temperature <= COOL}
    hot = {_side(loss, allowed) for temperature, loss in losses.items() if temperature >= HOT}
    if not cool or not hot:
        return Judgement("cannot be said", "the run has not both low and high temperatures")
    if cool == {"within"} and hot == {"beyond"}:
        return Judgement("agrees", "every interval lies on its side of the margin")
    if "beyond" in cool or "within" in hot:
        return Judgement("differs", "an interval lies on the other side of the margin")
    return Judgement("cannot be said", "the intervals hold the margin")


def _side(loss: Estimate, allowed: float) -> Literal["within", "beyond", "both"]:
    if loss.high is not None and loss.high <= allowed:
        return "within"
    return "beyond" if loss.low is not None and loss.low > allowed else "both"


CLAIMS: tuple[Claim, ...] = (
    level,
    onset,
    ceiling,
    cool_is_safe_and_hot_is_not,
    masking_hurts_least_when_hot,
    bridge_above_comparison,
    temperature_dominates,
    original_varies_least,
    comparison_varies_more,
)
