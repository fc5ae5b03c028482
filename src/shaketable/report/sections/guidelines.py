"""How hot each system may run, where it begins to fall, and which system to choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shaketable.analyses.evidence.choices import Choice, Noise
from shaketable.analyses.evidence.correctness import Correctness
from shaketable.analyses.evidence.guidelines import Guidelines
from shaketable.analyses.evidence.heat_ceilings import Ceiling
from shaketable.analyses.evidence.margins import Margin
from shaketable.analyses.evidence.onsets import Onset
from shaketable.factors import title_of
from shaketable.report.charts.marks import Point
from shaketable.report.claim_words import FAMILY, UNADJUSTED
from shaketable.report.evidence_marks import make_spark, name_scores
from shaketable.report.grouping import group_by_metric
from shaketable.report.margins import describe_margin
from shaketable.report.section import Headline, Page, Section
from shaketable.report.sections.guidelines_tables import guideline_tables, is_of_system
from shaketable.report.sections.guidelines_words import (
    ceiling_detail,
    ceiling_sentence,
    choice_detail,
    choice_sentence,
    describe_ceilings,
    heat_claim,
    is_heat_shown,
    is_shown_safe,
    name_sample,
    needs_words,
    noise_detail,
    noise_sentence,
    onset_sentence,
    settle,
)
from shaketable.report.words import (
    MISSING,
    format_value,
    name_part,
    name_resamples,
    name_wording,
)
from shaketable.statistics.intervals import NO_SCORES


def section(result: Guidelines, page: Page) -> Section:
    margins = {margin.metric: margin for margin in result.margins}
    result = replace(
        result,
        ceilings=tuple(settle(ceiling, page) for ceiling in result.ceilings),
        pair_ceilings=tuple(settle(ceiling, page) for ceiling in result.pair_ceilings),
    )
    ceilings = [ceiling for ceiling in result.ceilings if has_headline(ceiling)]
    onsets = [onset for onset in result.onsets if is_of_system(onset.cell) and _is_fall(onset, page)]
    noise = group_noise(result.noise)
    shown = (
        *(
            _ceiling_headline(ceiling, margins[ceiling.metric], _n_smallest(ceiling, result), page)
            for ceiling in ceilings
        ),
        *(_onset_headline(onset, page) for onset in onsets),
        *(_choice_headline(choice, page) for choice in result.choices if choice.metric == result.metric),
    )
    return Section(
        chapter="dice",
        title="Ceiling and onset",
        question="How high may each model's temperature be, which disturbance hurts where, and which model to choose?",
        headlines=(*shown, *(_noise_headline(line, page) for line in noise if line[0].metric == result.metric)),
        shown=shown,
        tables=guideline_tables(result, page),
        caveats=_caveats(result, page),
    )


def has_headline(ceiling: Ceiling) -> bool:
    """That over all wordings says more than those of single ones."""
    return not ceiling.is_part and ceiling.ceiling.reason != NO_SCORES


def group_noise(noise: Sequence[Noise]) -> list[list[Noise]]:
    """What is known of all questions of a system together."""
    known = [own for own in noise if own.cell.group is None and own.cost.value is not None]
    return group_by_metric(known, "perturbation", "temperature")


def _is_fall(onset: Onset, page: Page) -> bool:
    """Where a line begins to fall is told only where it is shown to."""
    return onset.onset.value is not None and is_heat_shown(onset.cell, onset.metric, page)


# --- headlines ------------------------------------------------------------------------------------


def _n_smallest(ceiling: Ceiling, result: Guidelines) -> int:
    """Questions of the smallest pair of evidence and type that a ceiling is over."""
    of_pairs = (
        pair.ceiling.n
        for pair in result.pair_ceilings
        if (pair.metric, pair.cell.dataset, pair.cell.system)
        == (ceiling.metric, ceiling.cell.dataset, ceiling.cell.system)
        if ceiling.cell.variation in (None, pair.cell.variation)
    )
    return min(of_pairs, default=ceiling.ceiling.n)


def _ceiling_headline(ceiling: Ceiling, margin: Margin, n_smallest: int, page: Page) -> Headline:
    """Without a card where the study has too few questions for any ceiling."""
    needs = needs_words(ceiling, n_smallest, margin, page)
    evidence = [name_part(part) for part in (ceiling.worst.perturbation,) if part is not None]
    worst = ", ".join([f"{title_of(ceiling.metric)} by temperature", *evidence, *_wording_and_group(ceiling)])
    return Headline(
        kind="ceiling",
        cell=ceiling.worst,
        system=page.name(ceiling.cell),
        sentence=ceiling_sentence(ceiling, margin, page),
        detail=" ".join(filter(None, [needs, ceiling_detail(ceiling, margin, page)])),
        number="" if needs else _ceiling_number(ceiling, margin, page),
        is_clear=is_shown_safe(ceiling, margin, page),
        links=(name_scores(ceiling.metric),),
        spark_title=worst,
        spark=_spark(ceiling, page),
    )


def _ceiling_number(ceiling: Ceiling, margin: Margin, page: Page) -> str:
    if ceiling.ceiling.value is None:
        return "no ceiling"
    return f"≤ {format_value(ceiling.ceiling)}" if is_shown_safe(ceiling, margin, page) else "not shown"


def _wording_and_group(ceiling: Ceiling) -> list[str]:
    wording = ceiling.worst.variation if ceiling.cell.variation is None else None
    return [part for part in (wording and name_wording(wording), ceiling.worst.group) if part]


def _spark(ceiling: Ceiling, page: Page) -> tuple[Point, ...]:
    """How good the answers of the pair are that decides."""
    correctness = page.result(Correctness)
    levels = () if correctness is None else correctness.levels
    return make_spark(
        (level.cell, level.mean)
        for level in levels
        if level.metric == ceiling.metric and replace(level.cell, temperature=None) == ceiling.worst
        if level.cell.temperature is not None
    )


def _onset_headline(onset: Onset, page: Page) -> Headline:
    headline = page.headline("onset", onset.cell, onset_sentence(onset, page), name_sample(onset))
    claimed = headline.with_level(onset.onset).with_claims(heat_claim(onset.cell, onset.metric, page))
    return replace(claimed, links=(name_scores(onset.metric),))


def _choice_headline(choice: Choice, page: Page) -> Headline:
    claim = page.claim("choice", choice.cell, choice.metric, other=choice.name_other())
    headline = page.headline("choice", choice.cell, choice_sentence(choice, page), choice_detail(choice, page))
    return headline.with_amount(choice.lead, is_clear=page.is_applied(choice.cell)).with_claims(claim)


def _noise_headline(line: Sequence[Noise], page: Page) -> Headline:
    """A sentence without a card: costs of evidence have one elsewhere."""
    claims = [page.claim("evidence", noise.cell, noise.metric) for noise in line]
    shown = [noise for noise, claim in zip(line, claims, strict=True) if claim is not None and claim.is_shown]
    largest = max(shown or line, key=lambda noise: abs(noise.cost.value or 0.0))
    headline = page.headline("noise", largest.cell, noise_sentence(line, page), noise_detail(largest, page))
    return headline.with_claims(*claims)


def _caveats(result: Guidelines, page: Page) -> tuple[str, ...]:
    caveats = [
        *(describe_margin(margin) for margin in result.margins),
        f"Intervals hold {name_resamples(page.bootstrap)}.",
        *(describe_ceilings(margin, page) for margin in result.margins if result.bound == "interval"),
        "A ceiling is a rule for questions like these and for the worst case tried; few questions make it lower, "
        "because less can be ruled out.",
    ]
    if result.bound == "point":
        caveats.append("Ceilings go by point values: chance alone can put them too high.")
    if any(not ceiling.is_applied for ceiling in result.ceilings):
        caveats.append("A model that does not apply the temperature is flat whatever is asked; that is no robustness.")
    if result.noise:
        caveats += [FAMILY, UNADJUSTED]
    rows = (result.ceilings, result.losses, result.onsets, result.noise, result.choices)
    if any(row.n_missing for table in rows for row in table):
        caveats.append(MISSING)
    return tuple(caveats)
