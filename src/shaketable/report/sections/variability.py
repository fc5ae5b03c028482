"""How much repeated answers differ: the spread against temperature, and types of question compared by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shaketable.analyses.evidence.type_contrasts import TypeContrast
from shaketable.analyses.evidence.variability import Spread, Variability
from shaketable.analyses.floors import cell_of, nothing_to_lose_at
from shaketable.analyses.spread import CROSSES_ZERO
from shaketable.factors import Cell, word_for
from shaketable.report.claim_words import UNADJUSTED, describe_unshown
from shaketable.report.evidence_marks import (
    make_spark,
    metrics_in_order,
    name_variation,
)
from shaketable.report.section import Headline, Page, Section, Table
from shaketable.report.sections.variability_figure import make_figure
from shaketable.report.tables import TableLine, make_tables
from shaketable.report.words import (
    count_questions,
    format_interval,
    format_level,
    format_number,
    format_value,
    name_part,
    sentence_case,
)
from shaketable.types import NothingToLose

NUMBERS = {False: "Coefficient of variation", True: "Flip rate"}
"""How the page names the number, by whether the metric is a share."""
BETWEEN = {
    "per_question": "between runs of a question",
    "ratio_of_means": "between runs",
    "pooled": "between runs",
    "across_questions": "between questions",
}


def section(result: Variability, page: Page) -> Section:
    headlines = tuple(_headline(spread, result, page) for spread in _with_headline(result))
    compared = [contrast for contrast in result.contrasts if contrast.cell.temperature is None]
    metrics = metrics_in_order(result.spreads, result.metric)
    figures = [make_figure(metric, result, headlines, page) for metric in metrics]
    return Section(
        chapter="dice",
        title="Spread of repeated answers",
        question="How much do repeated answers to the same question differ?",
        headlines=(
            *headlines,
            *(_type_headline(contrast, page) for contrast in compared if contrast.difference.low is not None),
        ),
        figures=tuple(figure for figure in figures if figure is not None),
        tables=(*_spread_tables(result, page), *_type_tables(result, page)),
        caveats=_caveats(result),
    )


# --- sentences ------------------------------------------------------------------------------------


def _with_headline(result: Variability) -> list[Spread]:
    """One per system, at the temperature where answers vary most; greedy answers do not vary."""
    peaks: dict[Cell, Spread] = {}
    for spread in result.spreads:
        cell, value = spread.cell, spread.cv.value
        is_spoken_of = spread.metric == result.metric and result.unit in ("score", "share")
        if is_spoken_of and cell.group is None and cell.is_undisturbed and value is not None and cell.temperature:
            line = _line(cell)
            peak = peaks.get(line)
            if peak is None or value > (peak.cv.value or 0.0):
                peaks[line] = spread
    return list(peaks.values())


def _headline(spread: Spread, result: Variability, page: Page) -> Headline:
    system, baseline = page.name(spread.cell), spread.baseline
    line = [
        other for other in result.spreads if other.metric == spread.metric and _line(other.cell) == _line(spread.cell)
    ]
    n_hot = sum(other.among is not None for other in line)
    cv = spread.among or spread.cv
    most = f" It varies most there, of {n_hot} temperatures." if n_hot > 1 else ""
    held = (
        " The interval holds for all of them at once, and the largest is drawn towards their mean." if n_hot > 1 else ""
    )
    of_evidence = " with unchanged evidence" if spread.cell.perturbation is not None else ""
    at, is_share = f"At temperature {spread.cell.temperature:g}", cv.unit == "share"
    if is_share:
        sentence = f"{at} two answers of {system} to the same question are judged differently in {format_level(cv)}."
        what = "This is the flip rate, 2 p (1 − p) of the share p of right answers to a question"
    else:
        between = f"{format_level(cv)} {BETWEEN[result.level]}"
        sentence = f"{at} the {word_for(spread.metric)} of {system} varies by {between}."
        what = "This is the standard deviation divided by the mean"
    steady = "" if baseline is None else f"; over all temperatures it is {format_level(baseline)} on average"
    return Headline(
        kind="variability",
        cell=spread.cell,
        system=system,
        sentence=f"{sentence}{most}",
        detail=f"{what}{of_evidence}{steady} ({count_questions(cv.n)}).{held}{_noise_words(line, page)}",
        number=format_value(cv),
        interval=format_interval(cv),
        is_clear=page.is_applied(spread.cell) and _floor(spread, page) is None,
        links=(name_variation(spread.metric),),
        spark_title=f"{NUMBERS[cv.unit == 'share']} by temperature",
        spark=make_spark((other.cell, other.cv) for other in line),
    )


def _noise_words(line: Sequence[Spread], page: Page) -> str:
    """Where each answer is other noise of the same score, which a small spread does not tell."""
    systems = {replace(spread.cell, temperature=None, perturbation=None) for spread in line}
    ruined = [
        entry.temperature
        for entry in page.findings.nothing_to_lose
        if entry.temperature is not None and entry.metric == line[0].metric and cell_of(entry) in systems
    ]
    if not ruined:
        return ""
    where = ", ".join(f"{temperature:g}" for temperature in sorted(ruined))
    return f" At temperature {where} answers score no more than chance: a small spread there is no stability."


def _floor(spread: Spread, page: Page) -> NothingToLose | None:
    """Where the answers score no more than chance, so that a small spread is no stability."""
    return nothing_to_lose_at(spread.cell, page.findings, spread.metric, is_of_evidence=False)


def _line(cell: Cell) -> Cell:
    """Whatever the temperature."""
    return replace(cell, temperature=None)


def _type_headline(contrast: TypeContrast, page: Page) -> Headline:
    difference, system, claim = contrast.difference, page.name(contrast.cell), page.claim_of(contrast.subject)
    size = (
        f"the coefficient of variation of its {word_for(contrast.metric)} differs by {format_level(difference)} "
        f"({count_questions(difference.n)})"
    )
    if claim is None or not claim.is_shown:
        types = f"{contrast.type} and {contrast.other}"
        sentence = f"{system}: that answers to {types} questions vary unlike is not shown; {size}. "
        sentence += f"{sentence_case(describe_unshown(claim))}."
    else:
        is_more = (difference.value or 0.0) > 0
        more, less = (contrast.type, contrast.other) if is_more else (contrast.other, contrast.type)
        sentence = f"{system} varies more between runs on {more} than on {less} questions: {size}."
    headline = Headline(kind="variability_of_types", cell=contrast.cell, system=system, sentence=sentence)
    return headline.with_claims(claim)


def _caveats(result: Variability) -> tuple[str, ...]:
    caveats = [UNADJUSTED] if result.contrasts else []
    if result.crossing_zero:
        caveats.append(f"{', '.join(result.crossing_zero)} has no coefficient of variation: {CROSSES_ZERO}.")
    has_coefficients = any(spread.cv.value and spread.cv.unit == "ratio" for spread in result.spreads)
    if result.formula == "published":
        caveats.append("Coefficients are as published studies compute them: of few runs they are too small.")
    elif result.level in ("per_question", "ratio_of_means") and has_coefficients:
        caveats.append(
            "Deviations are corrected for few runs: within 4 % of the true coefficient where that is below 0.5 and "
            "scores spread over a range (simulated). Where answers jump between few scores that is not enough: of 3 "
            "runs of which 1 in 10 scores half, two thirds of the true coefficient is seen. "
            "variability(level='pooled') has no such bias."
        )
    if any(spread.n_zero_mean for spread in result.spreads):
        caveats.append("A question whose mean is 0 has no coefficient of variation; such questions are counted apart.")
    if any(spread.n_single_run for spread in result.spreads):
        caveats.append("A question with a single run has no spread; such questions are counted apart.")
    return tuple(caveats)


# --- tables ---------------------------------------------------------------------------------------


def _spread_tables(result: Variability, page: Page) -> tuple[Table, ...]:
    groups: dict[object, list[Spread]] = {}
    for spread in result.spreads:
        if spread.metric == result.metric and spread.cv.value is not None:
            groups.setdefault(replace(spread.cell, temperature=None), []).append(spread)
    return make_tables(
        NUMBERS[result.unit == "share"],
        ("Evidence", "Lowest temperature", "Highest temperature", "Over temperatures", "Stability baseline"),
        [_spread_line(line) for line in groups.values()],
        page,
        is_folded=True,
    )


def _spread_line(line: Sequence[Spread]) -> TableLine:
    cool, hot = (pick(line, key=lambda spread: spread.cell.temperature or 0.0) for pick in (min, max))
    mean = sum(spread.cv.value or 0.0 for spread in line) / len(line)
    return TableLine(
        cell=cool.cell,
        metric=cool.metric,
        entries=(
            name_part(cool.cell.perturbation or "no evidence"),
            *(f"{format_level(spread.cv)} at {spread.cell.temperature:g}" for spread in (cool, hot)),
            format_number(mean, cool.cv.unit) + (" %" if cool.cv.unit == "share" else ""),
            None if cool.baseline is None else format_level(cool.baseline),
        ),
        n=cool.cv.n,
    )


def _type_tables(result: Variability, page: Page) -> tuple[Table, ...]:
    return make_tables(
        "Coefficient of variation, types of question compared",
        ("Types", "Temperature", "Difference"),
        [
            TableLine(
                cell=contrast.cell,
                metric=contrast.metric,
                entries=(
                    f"{contrast.type} − {contrast.other}",
                    "all" if contrast.cell.temperature is None else f"{contrast.cell.temperature:g}",
                    format_level(contrast.difference),
                ),
                n=contrast.difference.n,
            )
            for contrast in result.contrasts
        ],
        page,
        is_folded=True,
    )
