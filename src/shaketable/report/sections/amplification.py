"""What disturbed evidence costs when it is hot, against when it is cool: a matrix of ratios, and slopes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shaketable.analyses.claims import Claim
from shaketable.analyses.evidence.amplification import Amplification, Ratio, Slope
from shaketable.report.claim_words import FAMILY, UNADJUSTED, describe_unshown
from shaketable.report.grouping import group_lines
from shaketable.report.matrices import Line, make_matrices
from shaketable.report.section import NOTHING, Headline, MatrixCell, Page, Section
from shaketable.report.words import (
    describe_bootstrap,
    format_cost,
    format_lines,
    format_p,
    name_part,
    name_questions,
    sentence_case,
)


def section(result: Amplification, page: Page) -> Section:
    pooled = [slope for slope in result.slopes if slope.cell.group is None and slope.slope.value is not None]
    spoken_of = [slope for slope in pooled if slope.metric == result.metric]
    return Section(
        chapter="evidence",
        question="Does temperature amplify the harm of disturbed evidence?",
        headlines=tuple(_headline(slope, page) for slope in spoken_of),
        matrices=make_matrices(_matrix_lines(result, page), page, last="Slope per unit"),
        notes=("Cells hold the drop as a multiple of that at the lowest temperature.",),
        caveats=_caveats(result, page),
    )


def _claim(slope: Slope, page: Page) -> Claim | None:
    return page.claim("amplification", slope.cell, slope.metric)


def _headline(slope: Slope, page: Page) -> Headline:
    claim = _claim(slope, page)
    is_shown = claim is not None and claim.is_shown
    behind = "" if is_shown else f"; {describe_unshown(claim)}"
    detail = f"Measured on {name_questions(slope.slope.n)}{behind}."
    headline = page.headline("amplification", slope.cell, _sentence(slope, page, is_shown=is_shown), detail)
    return headline.with_amount(slope.slope, is_clear=page.is_applied(slope.cell)).with_claims(claim)


def _sentence(slope: Slope, page: Page, *, is_shown: bool) -> str:
    cause, system = name_part(slope.cell.perturbation or ""), page.name(slope.cell)
    per = f"{format_cost(slope.slope, slope.metric)} per unit of temperature"
    if not is_shown:
        return f"{sentence_case(cause)}: no change of its cost with temperature is shown for {system} ({per})."
    more = "more" if (slope.slope.value or 0.0) > 0 else "less"
    return f"The higher the temperature of {system}, the {more} {cause} costs it: {per}."


def _matrix_lines(result: Amplification, page: Page) -> list[Line]:
    slopes = {(slope.metric, slope.cell): slope for slope in result.slopes}
    return [
        _matrix_line(line, slopes.get((line[0].metric, replace(line[0].cell, temperature=None))), page)
        for line in group_lines(result.ratios)
    ]


def _matrix_line(line: Sequence[Ratio], slope: Slope | None, page: Page) -> Line:
    return Line(
        cell=line[0].cell,
        metric=line[0].metric,
        cells={ratio.cell.temperature: _matrix_cell(ratio) for ratio in line},
        last=NOTHING if slope is None else _slope_cell(slope, page),
    )


def _matrix_cell(ratio: Ratio) -> MatrixCell:
    lines = format_lines(ratio.ratio)
    if ratio.ratio.value is None:
        return replace(NOTHING, lines=lines)
    return MatrixCell(look="even", mark=f"× {lines[0]}", lines=lines[1:])


def _slope_cell(slope: Slope, page: Page) -> MatrixCell:
    claim, lines = _claim(slope, page), (*format_lines(slope.slope), format_p(slope.p))
    if slope.slope.value is None:
        return NOTHING
    if claim is None:  # Types of question and other metrics are explored, and get no verdict.
        return MatrixCell(look="quiet", mark="", lines=lines)
    if not claim.is_shown:
        return MatrixCell(look="quiet", mark="○ not shown", lines=lines)
    if slope.slope.value > 0:
        return MatrixCell(look="bad", mark="▲ grows", lines=lines)
    return MatrixCell(look="even", mark="▼ shrinks", lines=lines)


def _caveats(result: Amplification, page: Page) -> tuple[str, ...]:
    caveats = [
        f"{describe_bootstrap(page.bootstrap)} Slopes are tested by flipping the signs of questions at random.",
        FAMILY,
        UNADJUSTED,
        "Where temperature alone ruins every answer, nothing is left for disturbed evidence to cost: a falling cost is "
        "then no sign of robustness.",
    ]
    if any(ratio.ratio.reason and ratio.ratio.n for ratio in result.ratios):
        caveats.append(f"Ratios are left out where the drop they are divided by may be below {result.min_drop:g}.")
    if any(ratio.coolest for ratio in result.ratios):
        caveats.append("Temperature 0 was not tried; ratios are to the lowest temperature there is.")
    return tuple(caveats)
