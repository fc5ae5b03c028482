"""How good the answers are, and what disturbed evidence and temperature cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from shaketable.analyses.claims import Claim
from shaketable.analyses.evidence.correctness import Correctness, EvidenceDrop, HeatDrop, Level
from shaketable.factors import Cell, title_of
from shaketable.report.claim_words import FAMILY, UNADJUSTED, describe_failed
from shaketable.report.evidence_marks import make_spark, name_drops, name_scores
from shaketable.report.known_facts import fill_table
from shaketable.report.section import Headline, Page, Section, Table
from shaketable.report.sections.correctness_figures import make_figures
from shaketable.report.sections.correctness_words import (
    describe_as_asked,
    describe_floor,
    describe_level,
    describe_when_hot,
    evidence_sentence,
    heat_sentence,
    name_subject,
)
from shaketable.report.words import (
    Entry,
    caveats_of_agreement,
    count_questions,
    format_level,
    name_questions,
    name_resamples,
)
from shaketable.types import Estimate


def section(result: Correctness, page: Page) -> Section:
    headlines = make_headlines(result, page)
    has_evidence = any(level.cell.perturbation is not None for level in result.levels)
    causes = "perturbed evidence and temperature" if has_evidence else "temperature"
    return Section(
        chapter="evidence" if has_evidence else "answers",
        question=f"How good are the answers, and what does {causes} cost?",
        headlines=headlines,
        shown=(),
        figures=make_figures(result, headlines, page),
        tables=_tables(result, page),
        caveats=_caveats(result, page),
    )


Rank = tuple[bool, float]
"""Clear effects before unclear ones, large before small."""


class Pooled(NamedTuple):
    """What is known of the number that is spoken of, on questions of all types."""

    levels: list[Level]
    evidence_drops: list[EvidenceDrop]
    heat_drops: list[HeatDrop]


def make_headlines(result: Correctness, page: Page) -> tuple[Headline, ...]:
    """Temperature before evidence before levels, clear and large effects first."""
    pooled = _pooled(result)
    temperatures = [level.cell.temperature or 0.0 for level in pooled.levels]
    if not temperatures:
        return ()
    coolest, hottest = min(temperatures), max(temperatures)
    heat = [_heat_headline(drop, pooled, page) for drop in pooled.heat_drops if drop.cell.is_undisturbed]
    evidence = [
        _evidence_headline(drop, pooled, hottest, page)
        for drop in pooled.evidence_drops
        if drop.cell.temperature == coolest and not drop.is_as_asked
    ]
    levels = [
        _level_headline(level, page) for level in pooled.levels if coolest == hottest and level.cell.is_undisturbed
    ]
    return tuple(
        headline for ranked in (heat, evidence, levels) for _, headline in sorted(ranked, key=lambda pair: pair[0])
    )


def _pooled(result: Correctness) -> Pooled:
    def is_spoken_of(metric: str, cell: Cell, estimate: Estimate) -> bool:
        return metric == result.metric and cell.group is None and estimate.value is not None

    return Pooled(
        [level for level in result.levels if is_spoken_of(level.metric, level.cell, level.mean)],
        [drop for drop in result.evidence_drops if is_spoken_of(drop.metric, drop.cell, drop.drop)],
        [drop for drop in result.heat_drops if is_spoken_of(drop.metric, drop.cell, drop.drop)],
    )


def _rank(drop: Estimate, claim: Claim | None) -> Rank:
    return claim is None or not claim.is_shown, -abs(drop.value or 0.0)


# --- temperature ----------------------------------------------------------------------------------


def _heat_headline(heat: HeatDrop, pooled: Pooled, page: Page) -> tuple[Rank, Headline]:
    line = _levels_of(heat.cell, pooled.levels)
    system, claim = page.name(heat.cell), page.claim("heat", heat.cell, heat.metric)
    cool = next(level for level in line if level.cell.temperature == heat.coolest)
    hot = next(level for level in line if level.cell.temperature == heat.cell.temperature)
    headline = Headline(
        kind="heat",
        cell=heat.cell,
        system=system,
        sentence=heat_sentence(heat, system, claim),
        detail=f"{name_subject(cool, page)} {describe_level(cool)}, {format_level(hot.mean)} at "
        f"{hot.cell.temperature:g} ({count_questions(cool.mean.n)})."
        f"{describe_floor(heat.metric, cool.mean, heat.drop, page.floor(heat.cell, heat.metric))}"
        f"{describe_failed(heat, heat.drop)}",
        is_clear=page.is_applied(heat.cell),
        links=(name_scores(heat.metric),),
        spark_title=f"{title_of(heat.metric)} by temperature",
        spark=make_spark((level.cell, level.mean) for level in line),
    )
    headline = headline.with_loss(heat.drop, heat.metric, is_clear=headline.is_clear)
    return _rank(heat.drop, claim), headline.with_claims(claim)


# --- evidence -------------------------------------------------------------------------------------


def _is_clean_of(cell: Cell, disturbed: Cell) -> bool:
    return cell.is_undisturbed and replace(cell, perturbation=disturbed.perturbation) == disturbed


def _evidence_headline(drop: EvidenceDrop, pooled: Pooled, hottest: float, page: Page) -> tuple[Rank, Headline]:
    line = sorted(
        (
            other
            for other in pooled.evidence_drops
            if replace(other.cell, temperature=None) == replace(drop.cell, temperature=None)
        ),
        key=lambda other: other.cell.temperature or 0.0,
    )
    as_asked = next((own for own in line if own.is_as_asked and own.cell == drop.cell), None)
    plain = [own for own in line if not own.is_as_asked]
    hot = next((own for own in plain if own.cell.temperature == hottest and own is not drop), None)
    claim = page.claim("evidence", drop.cell, drop.metric)
    when_hot = None if hot is None else page.claim("evidence", hot.cell, hot.metric)
    clean = next((level for level in pooled.levels if hot is not None and _is_clean_of(level.cell, hot.cell)), None)
    before = next((level.mean for level in pooled.levels if _is_clean_of(level.cell, drop.cell)), None)
    floor = page.floor(drop.cell, drop.metric)
    headline = Headline(
        kind="evidence",
        cell=drop.cell,
        system=page.name(drop.cell),
        sentence=evidence_sentence(drop, page.name(drop.cell), claim),
        detail=describe_when_hot(drop, hot, clean, when_hot)
        + (describe_floor(drop.metric, before, drop.drop, floor) if before is not None else "")
        + describe_as_asked(as_asked)
        + describe_failed(drop, drop.drop),
        is_clear=page.is_applied(drop.cell),
        links=(name_drops(drop.metric),),
        spark_title="Loss by temperature",
        spark=make_spark(((own.cell, own.drop) for own in plain), is_difference=True),
    )
    headline = headline.with_loss(drop.drop, drop.metric, is_clear=headline.is_clear)
    headline = replace(headline.with_claims(claim), claims=tuple(filter(None, (claim, when_hot))))
    return _rank(drop.drop, claim), headline


# --- levels ---------------------------------------------------------------------------------------


def _level_headline(level: Level, page: Page) -> tuple[Rank, Headline]:
    sentence = f"{name_subject(level, page)} {describe_level(level)}."
    floor = describe_floor(level.metric, level.mean, None, page.floor(level.cell, level.metric))
    headline = page.headline("level", level.cell, sentence, f"Measured on {name_questions(level.mean.n)}.{floor}")
    rank = False, -(level.mean.value or 0.0)
    return rank, headline.with_level(level.mean, is_clear=page.is_applied(level.cell))


def _levels_of(cell: Cell, levels: Sequence[Level]) -> list[Level]:
    """The same condition at all temperatures, the coolest first."""
    same = [level for level in levels if replace(level.cell, temperature=None) == replace(cell, temperature=None)]
    return sorted(same, key=lambda level: level.cell.temperature or 0.0)


def _tables(result: Correctness, page: Page) -> tuple[Table, ...]:
    """What runs and questions add to the spread of scores, where questions were answered more than once."""
    rows: list[dict[str, Entry]] = [
        {
            "System": page.labels.name(level.cell, "dataset", "variation"),
            "Evidence": level.cell.perturbation or "none",
            "Temperature": level.cell.temperature,
            "Mean": level.mean.value,
            "Variance over runs": level.variance_runs,
            "Deviation over runs": level.sd_runs,
            "Deviation over questions": level.sd_questions,
            "Questions": level.mean.n,
        }
        for level in _pooled(result).levels
        if level.variance_runs is not None
    ]
    return fill_table("Spread of scores over runs and over questions", rows, is_folded=True)


def _caveats(result: Correctness, page: Page) -> tuple[str, ...]:
    estimates = [
        *(level.mean for level in result.levels),
        *(drop.drop for drop in result.evidence_drops),
        *(drop.drop for drop in result.heat_drops),
    ]
    caveats = [
        f"Intervals hold {name_resamples(page.bootstrap)}; they speak of questions like these, not of others.",
        FAMILY,
        UNADJUSTED,
        *caveats_of_agreement(estimates),
    ]
    if any(drop.is_as_asked for drop in result.evidence_drops):
        caveats.append(
            "'As asked' leaves out questions whose evidence carries a flag, such as a fallback; see the flags."
        )
    if any(level.n_missing for level in result.levels):
        caveats.append("Records without a score are left out of the means and counted; they are never zeros.")
    return tuple(caveats)
