"""Context × temperature: TempPerturb-Eval, arXiv 2512.01183. The paper prints its results as figures and text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from shaketable.analyses.claims import Subject
from shaketable.analyses.evidence.correctness import Correctness, Level
from shaketable.analyses.evidence.dominance import Dominance, Weighing
from shaketable.analyses.evidence.guidelines import Guidelines
from shaketable.analyses.evidence.heat_ceilings import Ceiling
from shaketable.analyses.evidence.onsets import Onset
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
)
from shaketable.report.published.verdicts import (
    Judgement,
    inside,
    is_known,
    least,
    mean_estimate,
    ordered,
    signed,
    unlike,
    within,
)
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
PUBLISHED_TEMPERATURES = "GPT 1.4, Llama 0.6, deepseek-reasoner none (it ignores its temperature)"
NO_DECLINE = "no decline was found"
TYPES = ("bridge", "comparison")
NO_MODEL = "the system is none of the study's models"
RUNS = 3
"""Of each question in each condition."""


def _unlike(own: Own, cell: Cell, metric: str | None, *, models: str = "", runs: bool = False) -> Judgement | None:
    """What of a system is not as in the study: model, dataset, metric, and where it matters the number of runs.

    `models`: the one model that the study says it of.
    """
    has_encoder = any(text.startswith("bertscore") and "roberta-large" in text for text in own.study.metrics)
    is_model = _model(own, cell) is not None
    return unlike(
        (is_model, NO_MODEL),
        (not (models and is_model) or own.model(cell, {models: models}) is not None, f"the study says it of {models}"),
        ("hotpot" in (cell.dataset or "").casefold(), "the dataset is not HotpotQA"),
        (metric == "bertscore" and has_encoder, "needs bertscore(encoder='roberta-large')"),
        (not runs or own.study.repeats == RUNS, f"published of {RUNS} runs, this run has {own.study.repeats}"),
    )


def level(own: Own) -> Iterator[Comparison]:
    levels = [level for level in _unchanged(own) if level.metric == "bertscore" and level.cell.group is None]
    for cell, of_system in by_system(levels).items():
        system = own.name(cell)
        span = mean_estimate([level.mean for level in of_system if (level.cell.temperature or 0.0) < HOT])
        judgement = _unlike(own, cell, "bertscore") or inside(span, *LEVELS[str(_model(own, cell))], ROUNDING)
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
                subject = Subject(kind="heat", cell=replace(fall.cell, temperature=fall.hottest), metric=fall.metric)
                yield compare(
                    claim="Answers begin to get worse at this temperature",
                    published=PUBLISHED_TEMPERATURES,
                    system=own.name(fall.cell),
                    own=fall.onset,
                    judgement=_unlike(own, fall.cell, fall.metric) or own.settle(_judge_onset(own, fall), subject),
                )


def _judge_onset(own: Own, fall: Onset) -> Judgement:
    wanted = ONSETS[str(_model(own, fall.cell))]
    if wanted is not None:
        return within(fall.onset, wanted)
    if not fall.is_applied:
        return Judgement("agrees", "temperature was not applied, so nothing fell")
    if is_known(fall.onset):
        return Judgement("differs", "published none")
    if fall.onset.value is None and fall.onset.reason == NO_DECLINE:
        return Judgement("agrees", NO_DECLINE)
    return Judgement("cannot be said", fall.onset.reason or "it has no interval")


def ceiling(own: Own) -> Iterator[Comparison]:
    claim = "The highest temperature that loses no more than the margin"
    for result in own.results(Guidelines):
        for limit in result.ceilings:
            # It is shown to lie no lower than its bound, and the means say how high it may be.
            ceiling = replace(limit.ceiling, low=limit.ceiling.value, high=limit.by_means)
            yield compare(
                claim=claim,
                published=PUBLISHED_TEMPERATURES,
                system=own.name(limit.cell),
                own=ceiling,
                judgement=_unlike(own, limit.cell, limit.metric) or _judge_ceiling(own, ceiling, limit),
            )


def _judge_ceiling(own: Own, ceiling: Estimate, limit: Ceiling) -> Judgement:
    wanted = ONSETS[str(_model(own, limit.cell))]
    if wanted is not None:
        return within(ceiling, wanted)
    if ceiling.value is not None and ceiling.value >= limit.hottest:
        return Judgement("agrees", f"none up to {limit.hottest:g}")
    if limit.by_means is not None and limit.by_means < limit.hottest:
        return Judgement("differs", "published none")
    return Judgement("cannot be said", ceiling.reason or "the interval holds the margin")


def _model(own: Own, cell: Cell) -> str | None:
    """Which of the study's models it is of; None: none of them."""
    return own.model(cell, MODELS)


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
            judgement=_unlike(own, system, every[0].metric, models="gpt-4o")
            or (stops_early if hottest < 2 else least(hot, "entity_masking")),
        )


def bridge_above_comparison(own: Own) -> Iterator[Comparison]:
    levels = [level for level in _unchanged(own) if level.metric == own.findings.main_metric]
    claim = "Bridge questions score above comparison questions"
    for cell, of_system in by_system(levels).items():
        means = {kind: [level.mean for level in of_system if level.cell.group == kind] for kind in TYPES}
        yield _compare_types(own, cell, claim, "all models", means, higher="bridge", lower="comparison")


def _compare_types(
    own: Own,
    cell: Cell,
    claim: str,
    published: str,
    estimates: Mapping[str, Sequence[Estimate]],
    *,
    higher: str,
    lower: str,
    subject: Subject | None = None,
    runs: bool = False,
) -> Comparison:
    """Whether one type of question lies above the other, each by the mean of its estimates.

    `subject`: what the run's own report says of them; `runs`: whether the number of runs matters.
    """
    above, below = mean_estimate(estimates[higher]), mean_estimate(estimates[lower])
    judgement = ordered(below, above) if subject is None else own.settle(ordered(below, above), subject)
    different = _unlike(own, cell, own.findings.main_metric, runs=runs)
    words = [f"{kind} {format_own(known)}" for kind, known in ((higher, above), (lower, below)) if is_known(known)]
    return compare(claim, published, own.name(cell), "; ".join(words), different or judgement)


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
                judgement=_judge_weighing(own, weighing),
            )


def _judge_weighing(own: Own, weighing: Weighing) -> Judgement:
    subject = Subject(kind="dominance", cell=weighing.cell, metric=weighing.metric, other=weighing.outcome)
    if _model(own, weighing.cell) == "deepseek-reasoner":
        return Judgement("not comparable", "the study does not say it of this model")
    different = _unlike(own, weighing.cell, weighing.metric, runs=weighing.outcome == "cv")
    return different or own.settle(signed(weighing.difference, 1), subject)


def comparison_varies_more(own: Own) -> Iterator[Comparison]:
    claim = "CV is larger for comparison questions than for bridge questions"
    contrasts = {
        replace(contrast.cell, perturbation=None): contrast.subject
        for result in own.results(Variability)
        for contrast in result.contrasts
        if contrast.cell.temperature is None and {contrast.type, contrast.other} == set(TYPES)
    }
    for cell, spreads in by_system(_spreads(own)).items():
        cvs = {kind: [spread.published_cv for spread in spreads if spread.cell.group == kind] for kind in TYPES}
        yield _compare_types(
            own,
            cell,
            claim,
            "most models",
            cvs,
            higher="comparison",
            lower="bridge",
            subject=contrasts.get(cell),
            runs=True,
        )


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
            judgement=_unlike(own, cell, own.findings.main_metric, runs=True) or least(of_evidence, UNCHANGED),
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
                    judgement=_unlike(own, system, losses[0].metric) or _sides(known, allowed[losses[0].metric]),
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


def is_spoken_of(own: Own) -> bool:
    """Whether the run has what the study is about: disturbed evidence."""
    return any(result.evidence_drops for result in own.results(Correctness))
